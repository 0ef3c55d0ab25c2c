/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "tree.h"

/* No seed: a path outlives the process. A guest that makes two names collide gets one row for both, and no more. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_mix(hash ^ (unsigned char)*text, UINT64_C(0x9e3779b97f4a7c15));
	return hash_mix(hash + 1, UINT64_C(0xd6e8feb86659fd93));
}

const char *tree_kernel_object(const char *kernel, char name[TREE_KERNEL])
{
	util_print(name, TREE_KERNEL, "%s", *kernel ? kernel : "kernel");
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '-' : *c;
	return name;
}

uint64_t tree_name(const struct function *function, const char *kernel)
{
	uint64_t hash = add_text(UINT64_C(0x51ed270b35a1c0e7), function->name);
	char object[TREE_KERNEL];

	if (function->kernel && strcmp(function->object, "kernel") == 0)
		hash = add_text(hash, tree_kernel_object(kernel, object));
	else
		hash = add_text(hash, function->object);
	return hash ? hash : 1;
}

struct tree *tree_new(struct budget *budget)
{
	struct tree *tree = util_alloc(sizeof(*tree));

	tree->budget = budget;
	return tree;
}

void tree_free_list(struct tree *tree, struct tree_list *list)
{
	budget_free(tree->budget, list->rows, list->room * sizeof(*list->rows));
	*list = (struct tree_list) { .rows = NULL };
}

void tree_renew_list(struct tree *tree, enum tree_order order, size_t room)
{
	struct tree_list *list = &tree->lists[order];

	budget_charge(tree->budget, room * sizeof(*list->rows));
	list->rows = util_alloc(room * sizeof(*list->rows));
	list->room = room;
	list->count = 0;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (int order = 0; order < TREE_ORDERS; order++)
		tree_free_list(tree, &tree->lists[order]);
	budget_free(tree->budget, tree->trends, tree->trend_room * TREE_SECONDS * sizeof(*tree->trends));
	free(tree);
}

/* Charges without asking: the number of rows is bounded. */
struct tree_row *tree_add(struct tree *tree, enum tree_order order)
{
	struct tree_list *list = &tree->lists[order];

	if (list->count == list->room) {
		size_t room = 2 * list->room + 64;

		budget_charge(tree->budget, (room - list->room) * sizeof(*list->rows));
		list->rows = util_grow(list->rows, room, sizeof(*list->rows));
		list->room = room;
	}
	list->rows[list->count] = (struct tree_row) { .parent = TREE_TOP };
	return &list->rows[list->count++];
}

uint64_t *tree_add_trend(struct tree *tree, struct tree_row *row, size_t most)
{
	uint64_t *trend;

	if (!tree->trends) {
		tree->trends = budget_resize(tree->budget, NULL, 0, most * TREE_SECONDS * sizeof(*tree->trends));
		tree->trend_room = tree->trends ? most : 0;
	}
	if (!tree->trends || tree->trend_count == most) {
		tree->scarce = true;
		return NULL;
	}
	trend = tree->trends + tree->trend_count++ * TREE_SECONDS;
	memset(trend, 0, TREE_SECONDS * sizeof(*trend));
	row->trend = trend;
	return trend;
}
