/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "named_functions.h"

void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel)
{
	size_t all = symbols_functions(symbols);

	if (named->name != name || strcmp(named->kernel, kernel) != 0) {
		*named = (struct named_functions) { .name = name };
		snprintf(named->kernel, sizeof(named->kernel), "%s", kernel);
	}
	for (; named->looked_at < all && named->count < NAMED_FUNCTIONS_MAX; named->looked_at++) {
		const struct function *function = symbols_get(symbols, (uint32_t)named->looked_at);

		if (function->known && tree_name(function, kernel) == name)
			named->functions[named->count++] = (uint32_t)named->looked_at;
	}
}
