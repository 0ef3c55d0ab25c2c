/*
 * What was sampled, as it came: time slices on the guest's own axis, each a count of
 * (stack, cpu, thread, mode). Slices are a quarter of a second for the last two minutes, then merge
 * into 1 s, 10 s and 60 s ones, so that memory is bounded. One owner thread.
 */
#ifndef STORE_H
#define STORE_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define STORE_SLICE_NS 250000000u

struct store;

struct store_key {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	uint32_t thread;
	uint32_t process;
	uint16_t cpu;
	uint8_t mode;			/* enum mode */
};

struct store_count {
	struct store_key key;
	uint32_t samples;
	uint64_t weight;
};

struct store_cpu {			/* of one CPU in one slice, weights */
	uint64_t mode[MODES];
	uint64_t missed;
};

struct slice {
	uint64_t begin, end;		/* ns of guest time */
	uint64_t version;		/* changes when a late event comes in */
	const struct store_count *counts;
	size_t count;
	const struct store_cpu *cpus;
	size_t cpu_count;
};

struct store *store_new(void);
void store_free(struct store *store);

/* A late event goes into its own slice; one older than the oldest slice into that. */
void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight);
void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks);

/* Moves "now" forward; never back. */
void store_advance(struct store *store, uint64_t now);
uint64_t store_now(const struct store *store);

/* Slices in order of time. A slice's pointers are good until the next call that changes the store. */
size_t store_slices(const struct store *store);
struct slice store_slice(const struct store *store, size_t index);
uint64_t store_given_up(const struct store *store);	/* weight dropped at the memory limit */

#endif
