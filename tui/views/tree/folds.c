/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "folds.h"

static uint32_t place_of(const struct folds *folds, uint64_t path)
{
	uint32_t place = 0;

	while (place < folds->count && folds->unfolded[place] != path)
		place++;
	return place;
}

bool folds_has(const struct folds *folds, uint64_t path)
{
	return place_of(folds, path) < folds->count;
}

bool folds_add(struct folds *folds, uint64_t path)
{
	if (folds_has(folds, path))
		return true;
	if (folds->count == TREE_UNFOLDED)
		return false;
	folds->unfolded[folds->count++] = path;
	return true;
}

/* Each row that the answer has unfolded is unfolded for itself from now on, as far as there is room. */
static void keep(struct folds *folds, const struct tree *tree)
{
	for (int order = 0; tree && order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++)
			if (tree->lists[order].rows[i].unfolded)
				folds_add(folds, tree->lists[order].rows[i].path);
	folds->hot = folds->below = folds->find = 0;
}

void folds_leave(struct folds *folds, const struct tree *tree)
{
	if (folds->hot || folds->below || folds->find)
		keep(folds, tree);
}

void folds_remove(struct folds *folds, const struct tree *tree, uint64_t path)
{
	uint32_t place;

	folds_leave(folds, tree);
	place = place_of(folds, path);
	if (place == folds->count)
		return;
	memmove(&folds->unfolded[place], &folds->unfolded[place + 1],
		(folds->count - place - 1) * sizeof(*folds->unfolded));
	folds->unfolded[--folds->count] = 0;
}

void folds_wish(struct folds *folds, bool all, uint64_t path)
{
	if (folds->hot || folds->below)
		folds_add(folds, folds->hot ? folds->hot : folds->below);
	folds->hot = all ? 0 : path;
	folds->below = all ? path : 0;
}

void folds_find(struct folds *folds, uint64_t name)
{
	folds->find = name;
}

void folds_ask(const struct folds *folds, struct tree_question *question)
{
	question->hot = folds->hot;
	question->below = folds->below;
	question->find = folds->find;
	question->unfolded_count = folds->count;
	memcpy(question->unfolded, folds->unfolded, folds->count * sizeof(*folds->unfolded));
}

void folds_answered(struct folds *folds, const struct call_tree *answer)
{
	if (answer->tree && answer->hot == folds->hot && answer->below == folds->below && answer->find == folds->find)
		folds_leave(folds, answer->tree);
}
