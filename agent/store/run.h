/* SPDX-License-Identifier: MIT */
/*
 * Counts in order of stack, packed: a slice of the store consists of runs. Each key is stored as its
 * distance from the key before. A count of one sample with weight 1 needs nothing else, so most counts take
 * one or two bytes. A run never changes.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct who {				/* whoever ran the stack */
	uint32_t process, thread;	/* EVENT_KERNEL, EVENT_NONE and WHO_NO_CPU: forgotten */
	uint16_t cpu;
	uint8_t mode;			/* enum mode */
	uint8_t context;		/* enum context; UNTOLD unless the mode is MODE_KERNEL */
};

enum { WHO_NO_CPU = 0xffff };

struct run_count {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	uint32_t who;			/* index in the run's list */
	uint64_t samples, weight;
};

struct run {
	struct budget *budget;
	size_t size;			/* bytes of the run, counts included */
	uint32_t counts;
	uint32_t who_count;
	uint8_t who_bits;		/* the low bits of a key that are an index in `who` */
	struct who who[];		/* sorted by who_compare, each once; the counts follow */
};

/* Orders by process, thread, CPU, mode, context. */
int who_compare(const struct who *a, const struct who *b);

/* ---- writing ---- */

enum { RUN_COUNT_MAX = 30 };		/* the most bytes that a count takes */

struct run_writer {
	struct run *run;
	uint8_t *at, *end;
	uint64_t key;			/* of the last count */
	size_t missing;			/* bytes of counts that found no room */
};

/*
 * Makes room for `bytes` bytes of counts. The caller fills in run->who, then puts the counts in growing
 * order of (stack, who); STACKS_NONE comes first. False: the budget has not that much left.
 */
bool run_begin(struct run_writer *writer, struct budget *budget, uint32_t who_count, size_t bytes);
void run_put(struct run_writer *writer, const struct run_count *count);

/* The finished run, which the caller owns. NULL: the counts did not fit; `missing` more bytes are enough. */
struct run *run_end(struct run_writer *writer);

/* A new run with the counts of both; the caller keeps a and b. NULL: the budget has no room. */
struct run *run_merge(struct budget *budget, const struct run *a, const struct run *b);

/* A new run with the same stacks, modes and contexts, but without who ran them. NULL: the budget has no room. */
struct run *run_forget(struct budget *budget, const struct run *run);

void run_free(struct run *run);

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
	return (struct run_reader) {
		.run = run, .at = (const uint8_t *)(run->who + run->who_count), .left = run->counts,
	};
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

#endif
