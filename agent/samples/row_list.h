/* SPDX-License-Identifier: MIT */
/* Rows of a sample set in memory. */
#ifndef ROW_LIST_H
#define ROW_LIST_H

#include <stdbool.h>

#include "sample_set.h"

struct row_list;

struct row_list *row_list_new(struct budget *budget);	/* NULL: no limit */
bool row_list_add(struct row_list *list, const struct set_row *row);	/* false: there is no memory */
void row_list_free(struct row_list *list);

/* Sorts the rows by time, and gives the list to the set. */
void row_list_give(struct row_list *list, struct sample_set *set);

#endif
