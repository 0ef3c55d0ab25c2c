/* SPDX-License-Identifier: MIT */
/*
 * Sums over stacks: per function, and per pair of caller and callee. What the counts of one slice,
 * or of many, come to under a filter. One that is trimmed has left of it only the functions' self.
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/base/hash.h"
#include "agent/wire/event.h"
#include "question.h"

struct budget;
struct slice;
struct stacks;
struct threads;

struct digest_input {			/* what turns a slice into sums; borrowed */
	const struct stacks *stacks;
	struct threads *threads;
	const struct filter *filter;
	const uint32_t *functions;	/* by node */
	uint32_t idle, unknown;		/* functions for idle time, and for no stack at all */
	const atomic_bool *stop;	/* then the rest is left out; NULL: never */
};

enum { DIGEST_NO_EDGE = 0xffffffff };

struct digest_sum {
	uint32_t function;
	uint32_t callers;		/* the edge that came last of those to it; DIGEST_NO_EDGE */
	uint64_t stamp;			/* the stack that was counted last */
	uint64_t self, total, samples;
};

struct digest_self {
	uint32_t function;
	uint64_t weight;
};

struct digest_edge {
	uint32_t callee, caller;
	uint32_t next;			/* of the same callee; DIGEST_NO_EDGE */
	uint64_t stamp;
	uint64_t weight;		/* of stacks in which this caller called this callee */
};

struct digest {
	uint64_t begin, end, version;	/* of the slices in it */
	uint64_t serial;		/* the window's: another one whenever it has changed */
	uint32_t newest;		/* the highest leaf in it; 0 when there is none */
	uint64_t weight, samples, mode[MODES], missed;
	uint64_t time;			/* ns behind the weight, as far as the period was known */

	struct budget *budget;
	struct digest_sum *sums;
	uint64_t *cpus;			/* `words` of each sum: the CPUs that ran it */
	uint32_t sum_count, sum_room, words;
	struct hash by_function;

	struct digest_self *selfs;	/* trimmed: in order of function, instead of all else */
	uint32_t self_count;
	bool trimmed;

	enum kept_callers callers;	/* which edges are here */
	uint32_t callee;
	struct digest_edge *edges;
	uint32_t edge_count, edge_room;
	struct hash by_pair;
	uint64_t edges_refused;		/* calls that are not counted: there is no memory */
	uint64_t stamp;
};

enum { DIGEST_WORDS_MAX = 16 };	/* as many CPUs as a row of query.h tells apart */

/* For slices of up to this many CPUs; larger CPU numbers are counted, and not told apart. */
struct digest *digest_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget);
void digest_free(struct digest *digest);

/* Slices in order of time. Not once it is trimmed. */
void digest_add(struct digest *digest, const struct digest_input *input,
	const struct slice *slice);

void digest_trim(struct digest *digest);

/* The edges to a callee, one after the other, `last` being the one before; NULL: the first, and none. */
const struct digest_edge *digest_edge_to(const struct digest *digest, uint32_t callee,
	const struct digest_edge *last);

uint64_t digest_self(const struct digest *digest, uint32_t function);

#endif
