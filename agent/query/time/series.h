/* SPDX-License-Identifier: MIT */
/*
 * What a line over time shows: all that is kept, or its last hour, in slots of equal width. For each reader of the
 * query the sums of each slice are kept, so that only slices that have changed are walked.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct query;
struct question;

enum { SERIES_SLOTS = 256 };		/* the most slots */
#define SERIES_NS (200 * NS_PER_MS)		/* the least width of a slot */
#define SERIES_REACH (3600 * NS_PER_SECOND)	/* from now into the past */

struct series_slot {			/* weights */
	uint64_t whole;			/* of all samples */
	uint64_t mode[MODES];		/* of those that pass the filter */
	uint64_t part;			/* of these, with the function anywhere in the stack */
};

/*
 * Slot i begins at begin + i * width. Widths are SERIES_NS, doubled as often as it takes. So
 * slots keep their places while time moves, and those of one width nest in those of the next.
 */
struct series {
	uint64_t begin, width;		/* ns of guest time */
	size_t count;			/* the last slot holds now */
	struct series_slot slots[SERIES_SLOTS];
};

/*
 * Of the question only filter and reader count. `of`: the tree_name of a function (tree.h); 0: none. `most`: slots, 1
 * to SERIES_SLOTS.
 */
void series_make(struct query *query, const struct question *question, uint64_t of, const char *kernel, size_t most,
	struct series *series);

/* ---- what a series is of ---- */

/* What a question about slots of time is about: the samples that pass a filter, and those of one function. */

struct budget;
struct match;
struct query_reader;
struct run;

/* Which stacks contain a function. */
struct holders {			/* starts as { 0 } */
	uint8_t *nodes;			/* by node: 1 if its function, or one above it, is the wanted one */
	uint32_t count, room;		/* of nodes */
	bool found;			/* `function` is the wanted one: a stack has it */
	uint32_t function;
	bool scarce;			/* there was no memory for all: the rest counts as without the function */
};

struct subject {			/* `budget` is to be set; all else starts as 0 */
	struct budget *budget;		/* borrowed */
	uint64_t renewed;		/* of the window: when it grows, names or filter have changed */
	uint64_t of;			/* the tree_name of a function; 0: none */
	bool plain;			/* everything passes, and no function is wanted */
	struct holders holders;
};

void subject_clear(struct subject *subject);

/*
 * Takes filter and function of a new question. False: what was summed under the last one is of no use, since names,
 * filter or function are others.
 */
bool subject_follow(struct subject *subject, struct query_reader *reader, const struct question *question, uint64_t of,
	const char *kernel);

/* Adds the weights of the samples that pass; to `part` those with the function in their stack, except idle time. */
void subject_add(const struct subject *subject, const struct match *match, const struct run *run,
	uint64_t mode[MODES], uint64_t *part);

#endif
