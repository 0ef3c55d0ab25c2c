/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "kernel_function.h"
#include "symbols.h"

static bool is_cold(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

/* f.cold, or f.cold.0 of older compilers. */
static const struct symbol *cold_of(const struct kernel_function *found)
{
	size_t size = strlen(found->function->name);

	for (uint32_t i = 0; i < found->count; i++)
		if (strncmp(found->all[i].name, found->function->name, size) == 0 &&
				strncmp(found->all[i].name + size, ".cold", 5) == 0)
			return &found->all[i];
	return NULL;
}

void kernel_function_find(const struct symbols *symbols, const char *name, struct kernel_function *found)
{
	uint32_t count;

	*found = (struct kernel_function) { .count = 0 };
	count = symbols_kernel_named(symbols, name, found->all, KERNEL_FUNCTION_CANDIDATES);
	found->count = count < KERNEL_FUNCTION_CANDIDATES ? count : KERNEL_FUNCTION_CANDIDATES;
	for (uint32_t i = 0; i < found->count; i++)
		if (strcmp(found->all[i].name, name) == 0) {
			found->several |= found->function && found->function->address != found->all[i].address;
			found->function = &found->all[i];
		} else {
			found->copies += !is_cold(found->all[i].name);
		}
	for (uint32_t i = 0; i < found->count && !found->function && found->copies == 1; i++)
		if (!is_cold(found->all[i].name)) {
			found->function = &found->all[i];
			found->copies = 0;
		}
	found->several |= !found->function && found->copies;
	found->cold = found->function ? cold_of(found) : NULL;
}

/* Where several have its name, a cold part may be of any of them. */
bool kernel_function_at(const struct symbols *symbols, uint64_t link_address, struct kernel_function *found)
{
	struct symbol one;

	if (!symbols_kernel_at(symbols, link_address, &one))
		return false;
	kernel_function_find(symbols, one.name, found);
	if (found->function && !found->several)
		return true;
	*found = (struct kernel_function) { .all = { one }, .count = 1 };
	found->function = &found->all[0];
	return true;
}

/* "f.isra.0 at 0xffffffff81000000, f.isra.1 at ...", in fresh memory. */
static char *list_of(const struct kernel_function *found)
{
	char *list = util_format("%s", "");

	for (uint32_t i = 0; i < found->count; i++) {
		const struct symbol *one = &found->all[i];
		char *longer;

		if (is_cold(one->name))
			continue;
		longer = util_format("%s%s%s at 0x%" PRIx64, list, *list ? ", " : "", one->name, one->address);
		free(list);
		list = longer;
	}
	return list;
}

char *kernel_function_remark(const struct kernel_function *found, const char *name)
{
	char *list = list_of(found), *said = NULL;

	if (!found->count || (!found->function && !found->several))
		said = util_format("%s: not traced: the kernel has no function of this name; it may be inlined into "
			"its callers, or a module's; name another one", name);
	else if (!found->function || found->several)
		said = util_format("%s: not traced: more than one is called so: %s; name one that is alone", name,
			list);
	else if (strcmp(found->function->name, name) != 0)
		said = util_format("%s: not called so: the compiler has made a copy; traced as %s", name,
			found->function->name);
	else if (found->copies)
		said = util_format("%s: the compiler has made copies that are not traced with it: %s; name them, too",
			name, list);
	free(list);
	return said;
}

/* It is short: longer names are cut, as the guest would do. A name is one word: "<T as Reader>::read" loses blanks. */
char *kernel_function_line(const struct kernel_function *found, const char *name)
{
	const struct symbol *function = found->function, *cold = found->cold;
	char word[64], *line;

	if (!function || found->several)
		return NULL;
	snprintf(word, sizeof(word), "%s", name);
	for (char *at = word; *at; at++)
		if (*at == ' ')
			*at = '_';
	line = util_format("function +%" PRIx64 " %" PRIx64 " %s", function->address, function->end, word);
	if (cold) {
		char *longer = util_format("%s %" PRIx64 " %" PRIx64, line, cold->address, cold->end);

		free(line);
		line = longer;
	}
	return line;
}
