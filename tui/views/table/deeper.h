/* SPDX-License-Identifier: MIT */
/* What one step deeper from a row of a table is: samples that a filter chooses, the code of a line, or nothing. */
#ifndef DEEPER_H
#define DEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/frame/view.h"

struct function_table;
struct row;
struct symbols;

/* The row of idle time has no code, so a function of this name in an object is another one. */
bool deeper_is_idle(const struct symbols *symbols, const struct row *row);

/* The tree_name (agent/query/tree/tree.h) of the row's function; 0: the row is none. */
uint64_t deeper_name(const struct function_table *functions, const struct row *row);

/* The words of a filter for the samples of the row; "": there are none. Returns `words`. */
const char *deeper_words(const struct function_table *functions, const struct row *row, char *words, size_t size);

/*
 * "mm/page.c:120", if the row is a line; `*of` is the function whose code it is. Of several functions it is the one
 * with the most time there. "": the row is no line, or its function is not known.
 */
const char *deeper_line(const struct function_table *functions, const struct row *row, struct view_chosen *of);

/* Why there is no step deeper: "not opened: why; what to do". */
const char *deeper_refusal(const struct function_table *functions, const struct row *row);

#endif
