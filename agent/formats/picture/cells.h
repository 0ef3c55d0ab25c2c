/* SPDX-License-Identifier: MIT */
/*
 * The tree of a picture. A cell is a function with the functions on the way to it. It has a weight now, and perhaps one
 * in an earlier set, with which the picture compares. A tree is made cell by cell, or out of a sample set; then it is
 * settled, and read. Any thread, one at a time.
 */
#ifndef CELLS_H
#define CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/samples/sample_set.h"

struct budget;

#define CELLS_ROOT 0u			/* the cell of all */

struct cell_amount {
	uint64_t weight, samples;
	uint64_t ns;			/* 0: not known */
	uint64_t before, samples_before;	/* in the set with which the picture compares */
};

struct cell {
	uint32_t parent;		/* SET_NONE: this is the root */
	uint32_t function;		/* in `functions`; SET_NONE: this is the root */
	uint32_t level;			/* 0: the root */
	uint32_t end;			/* the cells below it are those behind it, up to this one */
	uint8_t mode;			/* that of most of its weight: one of MODE_NAMES of contexts.h */
	struct cell_amount self, total;
};

/* What ran in one mode in a cell itself. */
struct cell_part {
	uint32_t cell;
	uint8_t mode;
	struct cell_amount amount;
};

struct cells {
	const struct cell *cells;	/* once settled: each before those below it; siblings by name */
	const struct cell_part *parts;
	const struct set_function *functions;	/* their texts are the caller's */
	uint32_t cell_count, part_count, function_count;
};

/* The budget, which may be NULL, pays for all of the tree. NULL: no memory. */
struct cells *cells_new(struct budget *budget);
void cells_free(struct cells *cells);	/* NULL is allowed */

/*
 * The cell of a function below another cell, which is added if there is none. Functions are the same if all about them
 * is equal. `function` needs to live only for the call, its texts as long as the tree. SET_NONE: no memory.
 */
uint32_t cells_child(struct cells *cells, uint32_t parent, const struct set_function *function);

/* Adds to what ran in a cell itself. Returns the index of the part; SET_NONE: no memory. */
uint32_t cells_add(struct cells *cells, uint32_t cell, uint8_t mode, const struct cell_amount *amount);

/*
 * Adds all of a set, which has to live as long as the tree. `part_of_sum`: gets the part of each of its sums; NULL: not
 * wanted. False: no memory.
 */
bool cells_add_set(struct cells *cells, const struct sample_set *set, uint32_t *part_of_sum);

/* Sorts the cells and sums them up. From then on, nothing is added. False: no memory. */
bool cells_settle(struct cells *cells);

#endif
