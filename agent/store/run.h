/* SPDX-License-Identifier: MIT */
/*
 * Counts in order of stack and who, packed: a slice of the store consists of runs. Each key is stored as its distance
 * from the key before. A count of one sample with weight 1 needs nothing else, so most counts take one or two bytes. A
 * run never changes (but for `marks`), and may be held by several. Used by one thread.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct who;

struct run_count {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	uint32_t who;			/* its number in a who_table */
	uint64_t samples, weight;
};

enum { RUN_MARKS = 6 };		/* a function's page asks five questions */

struct run {
	struct budget *budget;
	size_t size;			/* bytes of the run, counts included */
	unsigned holders;
	uint32_t counts;
	uint32_t marks[RUN_MARKS];	/* for those who sum up runs: see scan.c */
	uint8_t who_bits;		/* the low bits of a key that are the number of who */
	uint8_t bytes[];
};

/* ---- writing ---- */

enum { RUN_COUNT_MAX = 30 };		/* the most bytes that a count takes */

struct run_writer {
	struct run *run;
	uint8_t *at, *end;
	uint64_t key;			/* of the last count */
	size_t missing;			/* bytes of counts that found no room */
};

/* The bits that numbers below `whos` take. */
static inline uint8_t run_who_bits(uint32_t whos)
{
	return whos < 2 ? 0 : (uint8_t)(32 - __builtin_clz(whos - 1));
}

/*
 * Makes room for `bytes` bytes of counts. The caller puts the counts in growing order of (stack, who); STACKS_NONE
 * comes first. False: the budget has not that much left.
 */
bool run_begin(struct run_writer *writer, struct budget *budget, uint8_t who_bits, size_t bytes);
void run_put(struct run_writer *writer, const struct run_count *count);

/* The finished run, which the caller holds. NULL: the counts did not fit; `missing` more bytes are enough. */
struct run *run_end(struct run_writer *writer);

/* A new run with the counts of all, one or more; the caller keeps these. NULL: the budget has no room. */
struct run *run_merge(struct budget *budget, struct run *const *runs, uint32_t count);

/*
 * A new run in which each who has its number in `numbers`, all below `whos`. Several may become the same that is
 * forgotten (who_forgotten); the others keep their order, and come behind these as before. NULL: the budget has no
 * room.
 */
struct run *run_renumber(struct budget *budget, const struct run *run, const uint32_t *numbers, uint32_t whos);

struct run *run_hold(struct run *run);
void run_release(struct run *run);	/* the last holder frees it; NULL is allowed */

/* ---- reading ---- */

/* Reads a run's counts in order. A reader is valid as long as its run. */
struct run_reader {
	const struct run *run;
	const uint8_t *at;
	uint64_t key;
	uint32_t left;
};

static inline struct run_reader run_read(const struct run *run)
{
	return (struct run_reader) { .run = run, .at = run->bytes, .left = run->counts };
}

/* Reads one number of a count, in the form that run.c describes. */
static inline uint64_t run_number(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	while (**at & 0x80) {
		number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
		shift += 7;
	}
	return number | (uint64_t)(*(*at)++) << shift;
}

/* Reads the next count. False: there is none. */
static inline bool run_next(struct run_reader *reader, struct run_count *count)
{
	uint64_t number;

	if (reader->left == 0)
		return false;
	reader->left--;
	number = run_number(&reader->at);
	reader->key += number >> 1;
	count->stack = (uint32_t)(reader->key >> reader->run->who_bits) - 1;
	count->who = (uint32_t)reader->key & ((1u << reader->run->who_bits) - 1);
	count->samples = count->weight = 1;
	if (number & 1) {
		number = run_number(&reader->at);
		count->samples = count->weight = number >> 1;
		if (number & 1)
			count->weight = run_number(&reader->at);
	}
	return true;
}

/* ---- arrivals, sorted into runs ---- */

/*
 * Samples that have come to the store and are in no slice yet: 32,768 at most, in order of arrival, in memory
 * of a fixed size. Sorting them all at once is cheaper than finding a place for each, whatever order a guest
 * sends them in.
 */

struct arrivals;

enum { ARRIVALS_MAX = 1 << 15, ARRIVALS_SLICES = 1 << 13 };	/* the most samples; the most slices */

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *arrivals);

bool arrivals_full(const struct arrivals *arrivals);	/* true: arrivals_drain must come before the next add */

/*
 * Adds a sample to slice number `slice`, which is below ARRIVALS_SLICES. Must not be full. `who`: a number in the table
 * of the slices.
 */
void arrivals_add(struct arrivals *arrivals, uint32_t slice, uint32_t stack, uint32_t who, uint32_t weight);

/*
 * Sorts all arrivals, gives them to `take`, and forgets them. `take` gets the arrivals of each slice as one run, lower
 * slices first, with the sum of their weights. It holds the run, which is NULL if the budget has no room for it; then
 * these samples are given up. Returns the weight of those who are forgotten (who_forgotten), without those that were
 * given up.
 */
uint64_t arrivals_drain(struct arrivals *arrivals, struct budget *budget,
	void (*take)(void *context, uint32_t slice, struct run *run, uint64_t weight), void *context);

/* ---- who ---- */

/*
 * Who ran samples. Each that differs has a number, from 0, in order of arrival; the first ones are those whose thread
 * and CPU are forgotten. A table only grows. When a store gives numbers away, it makes a new table, and whoever holds
 * the old one still reads it. Used by one thread; who only reads a list may do so in any.
 */

struct who {
	uint32_t process, thread;	/* EVENT_KERNEL, EVENT_NONE and WHO_NO_CPU: forgotten */
	uint16_t cpu;
	uint8_t mode;			/* enum mode */
	uint8_t context;		/* enum context; UNTOLD unless the mode is MODE_KERNEL */
};

enum {
	WHO_NO_CPU = 0xffff,
	WHO_FORGOTTEN = CONTEXTS + MODES - 1,	/* below: each context of the kernel's mode, and each other mode */
	WHO_MOST = 1 << 20,			/* numbers */
};
#define WHO_NONE 0xffffffffu
_Static_assert(MODE_KERNEL == 0, "the other modes come after it");

struct who_table *who_table_new(struct budget *budget, uint32_t most);	/* at most so many numbers; WHO_MOST */
struct who_table *who_table_hold(struct who_table *table);
void who_table_release(struct who_table *table);	/* the last holder frees it; NULL is allowed */

/* The number of whoever this is, which is new if need be. WHO_NONE: there is none left. */
uint32_t who_table_number(struct who_table *table, const struct who *who);

uint32_t who_table_count(const struct who_table *table);
bool who_table_is_full(const struct who_table *table);	/* somebody got no number, since all are in use */
const struct who *who_table_list(const struct who_table *table);	/* by number; it never moves */

bool who_same(const struct who *a, const struct who *b);

/* The number of this mode and context when the rest is forgotten. */
static inline uint32_t who_forgotten(const struct who *who)
{
	return who->mode == MODE_KERNEL ? who->context : CONTEXTS + who->mode - 1u;
}

#endif
