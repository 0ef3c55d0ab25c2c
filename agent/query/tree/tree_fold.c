/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "agent/names/symbols.h"
#include "places.h"
#include "tree_fold.h"

/* The names on the way from the row to the top. Returns how many they are; 0: more than a stack can have. */
static uint32_t names_of(const struct tree_list *list, const struct tree_row *row, const struct symbols *symbols,
	const char *kernel, uint64_t names[TREE_FOLD])
{
	uint32_t count = 0;

	for (; row; row = row->parent < list->count ? &list->rows[row->parent] : NULL) {
		if (count == TREE_FOLD - 1)
			return 0;
		names[count++] = tree_name(symbols_get(symbols, row->function), kernel);
	}
	return count;
}

void tree_fold_of(struct tree_fold *fold, const struct tree_list *list, const struct tree_row *row,
	enum tree_order order, bool around, const struct symbols *symbols, const char *kernel)
{
	uint64_t names[TREE_FOLD], path = 0;
	uint32_t at = names_of(list, row, symbols, kernel, names), left = 0;

	for (uint32_t i = 0; i < at; i++)		/* the names with recursion folded */
		if (i + 1 == at || names[i] != names[i + 1])
			names[left++] = names[i];
	fold->count = left + 1;
	fold->paths[0] = row->path;
	while (left-- > 0)
		fold->paths[left + 1] = path = places_path(order, around, path, names[left]);
}

uint64_t tree_fold_find(struct tree_fold *fold, const struct tree_list *list)
{
	for (uint32_t i = 0; i < fold->count; i++)
		for (size_t row = 0; row < list->count; row++)
			if (list->rows[row].path == fold->paths[i]) {
				fold->count = i < TREE_FOLD_WAY ? 0 : fold->count;
				return list->rows[row].path;
			}
	return 0;
}
