/* SPDX-License-Identifier: MIT */
/* Compares two sample sets, function by function. Functions of one name are one row. */
#ifndef SET_DIFF_H
#define SET_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/change.h"

struct budget;
struct sample_set;

struct diff_row {
	const char *name;		/* the set's */
	struct portion before, after;
	struct change change;		/* since `before` */
	uint64_t seen;			/* the sum that was added last: a function counts once in a stack */
};

struct set_diff {
	const struct sample_set *before, *after;
	bool total;			/* a function's share is that of all stacks it is in; else what it ran itself */
	struct budget *budget;
	struct diff_row *rows;		/* the largest change first */
	uint32_t count, room;
};

/* Both sets have to live as long as the diff, and have samples. False: no memory; clear it, too. */
bool set_diff_make(struct set_diff *diff, const struct sample_set *before, const struct sample_set *after, bool total,
	struct budget *budget);
void set_diff_clear(struct set_diff *diff);

/* The function whose share has grown most, by more than `points` and not by chance. NULL: none has. */
const struct diff_row *set_diff_grown(const struct set_diff *diff, double points);

#endif
