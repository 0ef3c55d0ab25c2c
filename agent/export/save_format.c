/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "export_csv.h"
#include "export_json.h"
#include "export_set.h"
#include "save_format.h"

static size_t count_sets(void)
{
	size_t count = 0;

	while (set_formats[count])
		count++;
	return count;
}

/* Those of sample sets follow the exporter's own. NULL: it is none of them. */
static const struct set_format *set_at(size_t number)
{
	return number >= EXPORTS && number < EXPORTS + count_sets() ? set_formats[number - EXPORTS] : NULL;
}

/* NULL: it is of a sample set, or there is no such number. */
static const struct export_format *own_at(size_t number)
{
	return number < EXPORTS ? export_formats[number] : number == EXPORTS + count_sets() ? &export_recording : NULL;
}

struct save_format save_format_at(size_t number)
{
	const struct export_format *own = own_at(number);
	const struct set_format *set = set_at(number);

	if (set)
		return (struct save_format) { set->name, set->ending, set->about };
	if (own)
		return (struct save_format) { own->name, own->ending, own->about };
	return (struct save_format) { .name = NULL };
}

bool save_format_named(const char *name, size_t *number)
{
	size_t at = 0;

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
	if (set.format)
		return export_set_choice(set);
	if (own_at(number) == &export_recording)
		return (struct export_choice) { .format = &export_recording };
	return number == EXPORT_JSON ? json_choice((struct json_options) { .facts = NULL }) :
		number == EXPORT_CSV ? csv_choice((struct csv_options) { .stop = NULL }) :
		export_stacks(EXPORT_FOLDED, stacks);
}
