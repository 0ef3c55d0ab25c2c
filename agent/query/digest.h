/* SPDX-License-Identifier: MIT */
/*
 * A digest: the sums over the stacks of one slice, or of many, under a filter. One sum for each function,
 * one edge for each pair of caller and callee. A digest that is trimmed keeps only each function's self
 * weight.
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"
#include "agent/query/question/question.h"
#include "agent/wire/event.h"
#include "passing.h"

struct budget;
struct grouping;
struct slice;
struct stacks;

struct digest_places {			/* starts as { 0 }; free `list` at the end */
	uint32_t *list;			/* by function: its sum, if it has one, in the digest that is added to */
	size_t count;
};

struct digest_input {			/* what turns a slice into sums; all borrowed */
	struct passing passing;
	const struct stacks *stacks;
	struct digest_places *places;	/* of use to digest_add alone */
	struct grouping *grouping;	/* what a sum stands for; if not a function, its row takes a function's place */
};

enum { DIGEST_NO_EDGE = 0xffffffff };

struct digest_sum {
	uint32_t function;
	uint32_t callers;		/* index of the newest edge to it; DIGEST_NO_EDGE: none */
	uint64_t stamp;			/* of the stack that was counted last */
	uint64_t self, total, samples;
	uint64_t kernel, user;		/* by who: the parts of self in these modes */
};

struct digest_self {
	uint32_t function;
	uint64_t weight;
};

/* By who, and by line: `callee` is a row, and `caller` a function that ran in it. */
struct digest_edge {
	uint32_t callee, caller;
	uint32_t next;			/* index of the edge to the same callee before this one; DIGEST_NO_EDGE: none */
	uint64_t stamp;
	uint64_t weight;		/* of the stacks in which this caller called this callee */
};

struct digest {
	uint64_t begin, end, version;	/* over its slices */
	size_t runs;			/* of the slice that was added last: so many of its runs are in here, */
	uint64_t merged;		/* and its `merged` then */
	uint64_t serial;		/* the window gives a new one at each change */
	bool counted;			/* it is in the sums over the range (range_sums.h) */
	uint32_t newest;		/* the highest leaf node that was looked at; 0: none */
	uint64_t weight, samples, mode[MODES], missed;
	uint64_t time;			/* the ns of CPU behind the weight, where the period was known */

	struct budget *budget;
	struct digest_sum *sums;
	uint64_t *cpus;			/* the CPUs that ran it: `words` words for each sum */
	uint32_t sum_count, sum_room, words;
	uint32_t cpu_count;		/* CPUs that these may have */
	struct hash by_function;	/* of the first sums; the others follow when one is looked for */

	struct digest_self *selfs;	/* sorted by function; NULL: not asked for since the last change */
	uint32_t self_count;
	bool trimmed;			/* `selfs` is in place of all else */

	enum kept_callers callers;	/* which edges are kept */
	uint32_t callee;
	struct digest_edge *edges;
	uint32_t edge_count, edge_room;
	struct hash by_pair;
	uint64_t edges_refused;		/* calls that found no memory for their edge */
	uint64_t stamp;			/* of the stack that is being counted */
};

enum { DIGEST_WORDS_MAX = 16 };	/* as many CPUs as a row of query.h distinguishes */

/* For slices of up to `cpu_count` CPUs. Samples of CPUs beyond that are summed up, but no row names those CPUs. */
struct digest *digest_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget);
void digest_free(struct digest *digest);

void digest_expect(struct digest *digest, uint32_t sums);	/* so many are likely: makes room for them at once */

/* Adds a slice; slices come in order of time. Not after digest_trim. */
void digest_add(struct digest *digest, const struct digest_input *input,
	const struct slice *slice);

/*
 * Adds what has come to the only slice that was added: the runs that are behind those in here. False: its runs are not
 * the same any more, or the slice is another one; then a new digest is made.
 */
bool digest_can_grow(const struct digest *digest, const struct slice *slice);
void digest_grow(struct digest *digest, const struct digest_input *input, const struct slice *slice);

/* The digest, of this slice alone and not trimmed, keeps the edges to this callee, and no others. By function only. */
void digest_call(struct digest *digest, const struct digest_input *input, const struct slice *slice, uint32_t callee);

/* Keeps each function's self weight, and frees the rest. */
void digest_trim(struct digest *digest);

/*
 * Goes through the edges to a callee. `last` is the edge that was returned last, or NULL for the first.
 * NULL: there is no more.
 */
const struct digest_edge *digest_edge_to(struct digest *digest, uint32_t callee,
	const struct digest_edge *last);

/* The self weight of a function; trimmed or not. */
uint64_t digest_self(struct digest *digest, uint32_t function);

#endif
