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

char *kernel_function_list(const struct kernel_function *found)
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
