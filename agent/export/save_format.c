/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "export_folded.h"
#include "export_set.h"
#include "save_format.h"

/* NULL: it is folded, or there is no such number. */
static const struct set_format *set_at(size_t number)
{
	const struct set_format *const *format = set_formats;

	for (size_t at = SAVE_FORMAT_FOLDED; *format; format++)
		if (++at == number)
			break;
	return number != SAVE_FORMAT_FOLDED ? *format : NULL;
}

struct save_format save_format_at(size_t number)
{
	const struct set_format *set = set_at(number);

	if (set)
		return (struct save_format) { set->name, set->ending, set->about };
	if (number == SAVE_FORMAT_FOLDED)
		return (struct save_format) { export_folded.name, export_folded.ending, export_folded.about };
	return (struct save_format) { .name = NULL };
}

bool save_format_named(const char *name, size_t *number)
{
	size_t at = SAVE_FORMAT_FOLDED;

	while (save_format_at(at).name && strcmp(save_format_at(at).name, name) != 0)
		at++;
	if (save_format_at(at).name)
		*number = at;
	return save_format_at(at).name;
}

struct export_choice save_format_choice(size_t number, const char *machine)
{
	struct stack_options stacks = { .kernel_mark = true };
	struct set_options set = { .format = set_at(number) };

	util_print(stacks.root, sizeof(stacks.root), "%s", machine);
	util_print(set.machine, sizeof(set.machine), "%s", machine);
	return set.format ? export_set_choice(set) : export_stacks(EXPORT_FOLDED, stacks);
}
