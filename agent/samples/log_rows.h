/* SPDX-License-Identifier: MIT */
/* Rows of a sample set out of a sample log: each has the sum that it was added to. */
#ifndef LOG_ROWS_H
#define LOG_ROWS_H

#include <stdbool.h>

#include "sample_set.h"

struct budget;
struct sample_log;

#define LOG_ROWS_NOBODY 0xfffffffeu

struct log_rows_map {			/* from rows of the log to those of the set; copied */
	const uint32_t *stacks;		/* by node: its stack in the set; SET_NONE: not in the set */
	const uint8_t *contexts;	/* by node: enum context */
	uint32_t nodes;
	const uint32_t *threads;	/* by who of the log: its thread in the set; LOG_ROWS_NOBODY: not in it */
	uint32_t idle, unknown;		/* stacks of idle time, and of samples without one */
	uint64_t from, to;		/* the other rows are left out: [from, to) */
};

/*
 * Gives the set the rows of this log, which it holds. A row whose sum is not in the set is left out: the set's filter
 * did not let it pass. False: there is no memory.
 */
bool log_rows_give(struct sample_set *set, struct sample_log *log, const struct log_rows_map *map,
	struct budget *budget);

#endif
