/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "row_list.h"

struct row_list {
	struct budget *budget;
	struct set_row *rows;
	uint32_t count, room;
};

struct set_rows {			/* a reader */
	const struct row_list *list;
	uint32_t at;
};

enum { COUNT_MAX = 1 << 30 };

struct row_list *row_list_new(struct budget *budget)
{
	struct row_list *list = util_alloc(sizeof(*list));

	list->budget = budget_hold(budget);
	return list;
}

bool row_list_add(struct row_list *list, const struct set_row *row)
{
	struct set_row *rows = list->count < COUNT_MAX ?
		budget_array(list->budget, list->rows, list->count, &list->room, sizeof(*rows)) : NULL;

	if (!rows)
		return false;
	list->rows = rows;
	rows[list->count++] = *row;
	return true;
}

void row_list_free(struct row_list *list)
{
	budget_free(list->budget, list->rows, list->room * sizeof(*list->rows));
	budget_release(list->budget);
	free(list);
}

static int by_time(const void *left, const void *right)
{
	const struct set_row *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->sum > b->sum) - (a->sum < b->sum);
}

static struct set_rows *open_rows(void *context)
{
	struct set_rows *rows = util_alloc(sizeof(*rows));

	rows->list = context;
	return rows;
}

static bool next_row(struct set_rows *rows, struct set_row *row)
{
	if (rows->at == rows->list->count)
		return false;
	*row = rows->list->rows[rows->at++];
	return true;
}

static bool never_failed(const struct set_rows *rows)
{
	(void)rows;
	return false;
}

static void close_rows(struct set_rows *rows)
{
	free(rows);
}

static void free_context(void *context)
{
	row_list_free(context);
}

static const struct set_rows_table table = {
	.open = open_rows, .next = next_row, .failed = never_failed, .close = close_rows, .free = free_context,
};

void row_list_give(struct row_list *list, struct sample_set *set)
{
	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), by_time);
	sample_set_give_rows(set, &table, list);
}
