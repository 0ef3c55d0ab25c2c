/* SPDX-License-Identifier: MIT */
/*
 * What was sampled, as it came: time slices on the guest's own axis, each a count of
 * (stack, cpu, thread, mode). Slices are a quarter of a second for the last two minutes, 1 s for
 * ten minutes, 10 s for two hours, 60 s for a day; what is older is one slice, and so is the oldest
 * part of what would not fit otherwise. When that one alone is half of everything, it forgets who
 * ran its stacks. A sixth of the budget is left to others. There is a slice only where something
 * came. One owner thread.
 */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"
#include "run.h"

#define STORE_SLICE_NS 250000000u

/* Counts of all slices: more would make the answer to a question about all of them too slow. */
enum { STORE_COUNTS_MAX = 8 << 20 };

struct budget;
struct cpus;
struct store;

struct store_key {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	struct who who;
};

struct slice {
	uint64_t begin, end;		/* ns of guest time */
	uint64_t version;		/* of the last event in it; grows over the whole store */
	struct run *const *runs;	/* one key may be in several */
	size_t run_count;
	uint64_t period;		/* ns of a CPU that a weight of 1 stands for; 0: not known */
	const struct cpus *cpus;	/* what was given up for want of memory is in these */
};

struct store *store_new(struct budget *budget, uint64_t counts_max);
void store_free(struct store *store);

/*
 * A late event goes into its own slice; one ahead of "now" moves it. Times are at most INT64_MAX.
 * A damaged CPU or mode is given up.
 */
void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight);
void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks);

/* What a weight of 1 stands for from now on, in ns of a CPU: the period of the sampling. */
void store_period(struct store *store, uint64_t ns);

/* Moves "now" forward; never back. */
void store_advance(struct store *store, uint64_t now);
uint64_t store_now(const struct store *store);
uint64_t store_version(const struct store *store);	/* grows with every change */

/* To be called before slices are read: what came since the last time goes into them. */
void store_settle(struct store *store);

/* Slices in order of time; their pointers are good until the next call that changes the store. */
size_t store_slices(const struct store *store);		/* 3000 at most */
struct slice store_slice(const struct store *store, size_t index);
uint64_t store_counts(const struct store *store);	/* in all of them */

uint64_t store_given_up(const struct store *store);	/* weight: no room, or damaged */
uint64_t store_forgotten(const struct store *store);	/* weight: kept, but not who ran it */

#endif
