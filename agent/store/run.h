/* SPDX-License-Identifier: MIT */
/*
 * Counts in order of stack, packed: what a time slice of the store consists of. Each key is told by
 * its distance from the one before, and a count of one sample with weight 1 by nothing more: most
 * counts take one or two bytes. A run is never changed.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct who {				/* ran the stack */
	uint32_t process, thread;	/* EVENT_KERNEL, EVENT_NONE and WHO_NO_CPU: it is forgotten */
	uint16_t cpu;
	uint8_t mode;			/* enum mode */
};

enum { WHO_NO_CPU = 0xffff };

struct run_count {
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	uint32_t who;			/* of the run's list */
	uint64_t samples, weight;
};

struct run {
	struct budget *budget;
	size_t size;			/* bytes of all of it */
	uint32_t counts;
	uint32_t who_count;
	uint8_t who_bits;		/* as many low bits of a key are its place in `who` */
	struct who who[];		/* in order of who_compare, each once; then the counts */
};

/* By process, thread, CPU, mode. */
int who_compare(const struct who *a, const struct who *b);

/* ---- writing ---- */

enum { RUN_COUNT_MAX = 30 };		/* bytes of a count */

struct run_writer {
	struct run *run;
	uint8_t *at, *end;
	uint64_t key;			/* the last one */
	size_t missing;			/* bytes of the counts for which there was no room */
};

/*
 * Room for counts in `bytes` bytes. The caller fills in run->who, then puts counts by growing
 * (stack, who), STACKS_NONE before all. False: that much is not left in the budget.
 */
bool run_begin(struct run_writer *writer, struct budget *budget, uint32_t who_count, size_t bytes);
void run_put(struct run_writer *writer, const struct run_count *count);

/* Owned by the caller. NULL: they did not fit; `missing` bytes more are enough. */
struct run *run_end(struct run_writer *writer);

/* NULL: there is no room; both stay. */
struct run *run_merge(struct budget *budget, const struct run *a, const struct run *b);

/* The same stacks and modes; who ran them is forgotten. NULL: there is no room. */
struct run *run_forget(struct budget *budget, const struct run *run);

void run_free(struct run *run);

/* ---- reading ---- */

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

static inline uint64_t run_number(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	while (**at & 0x80) {
		number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
		shift += 7;
	}
	return number | (uint64_t)*(*at)++ << shift;
}

/* False behind the last. */
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
