/* SPDX-License-Identifier: MIT */
/*
 * All samples of one boot, in slices of the guest's time; each slice counts (stack, cpu, thread, mode). A
 * slice takes a quarter of a second in the last two minutes, 1 s in the last ten minutes, 10 s in the last
 * two hours, 60 s in the last day. All that is older is one slice, the oldest one. If memory is short, further slices
 * join it early. Once the oldest slice has half of all counts, it forgets threads, CPUs and modes, and keeps the counts
 * by stack. When it has half of them again, it is dropped. A sixth of the budget is left to others. There is a slice
 * only where a sample came. Used by one thread.
 */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>
#include <stdint.h>

#include "cells.h"
#include "run.h"

#define STORE_SLICE_NS CELL_NS

/* The most counts in all slices: with more, a question about all of them would take too long. */
enum { STORE_COUNTS_MAX = 8 << 20 };

struct budget;
struct cpus;
struct recent_samples;
struct store;

struct store_key {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	struct who who;
};

struct slice {
	uint64_t begin, end;		/* ns of guest time */
	uint64_t version;		/* of the last event in it; see store_version */
	struct run *const *runs;	/* the same key may be in several */
	size_t run_count;
	uint64_t merged;		/* while it stays the same, runs come, and none goes or changes */
	uint64_t period;		/* the CPU time in ns that a weight of 1 stands for; 0: not known */
	const struct cpus *cpus;	/* these also count the samples that found no room */
};

struct store *store_new(struct budget *budget, uint64_t counts_max);
struct store *store_new_alone(struct budget *budget);	/* without recent samples */
void store_free(struct store *store);

/*
 * A late event goes into its own slice; an event later than "now" moves "now". Times are ns, INT64_MAX at
 * most. An event with a damaged CPU or mode is given up.
 */
void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight);
void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks);

/*
 * Sets the sampling period: from now on, a weight of 1 stands for so many ns of a CPU. The first one also counts for
 * what came before it.
 */
void store_period(struct store *store, uint64_t ns);

/* Moves "now" forward; an earlier time changes nothing. */
void store_advance(struct store *store, uint64_t now);
uint64_t store_now(const struct store *store);
uint64_t store_version(const struct store *store);	/* grows with every change */

/* Puts all that has come into slices. To be called before slices are read. */
void store_settle(struct store *store);

/* Slices in order of time. Their pointers are valid until the next call that changes the store. */
size_t store_slices(const struct store *store);		/* 3000 at most */
struct slice store_slice(const struct store *store, size_t index);

/* The newest samples in finer slots; see recent_samples.h. NULL: it is without. */
struct recent_samples *store_recent(const struct store *store);

uint64_t store_given_up(const struct store *store);	/* weight that was dropped: no room, or damaged */
uint64_t store_forgotten(const struct store *store);	/* weight that is kept, but not who ran it */

#endif
