/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "run.h"
#include "stacks.h"
#include "who.h"

/*
 * A count is up to three numbers, each in 7 bits a byte, low ones first, with the high bit set in all but
 * the last byte. The first is the key's distance << 1 | more. If `more`, samples << 1 | weighted follows.
 * If `weighted`, the weight follows; else it equals the samples. A key is (stack + 1) << who_bits | who.
 */
_Static_assert(RUN_COUNT_MAX >= 3 * 10, "each number takes ten bytes at most");

bool run_begin(struct run_writer *writer, struct budget *budget, uint8_t who_bits, size_t bytes)
{
	size_t size = offsetof(struct run, bytes) + bytes;
	struct run *run = budget_resize(budget, NULL, 0, size);

	if (!run)
		return false;
	/* One by one: there may be fewer bytes than a whole struct takes, with those at its end. */
	run->budget = budget;
	run->size = size;
	run->holders = 1;
	run->counts = 0;
	run->who_bits = who_bits;
	*writer = (struct run_writer) { .run = run, .at = run->bytes, .end = (uint8_t *)run + size };
	return true;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	while (number >= 0x80) {
		*at++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*at++ = (uint8_t)number;
	return at;
}

/* Returns the end of the count. */
static uint8_t *put_count(uint8_t *at, uint64_t distance, const struct run_count *count)
{
	bool weighted = count->weight != count->samples;
	bool more = count->samples != 1 || weighted;

	at = put_number(at, distance << 1 | more);
	if (more)
		at = put_number(at, count->samples << 1 | weighted);
	if (weighted)
		at = put_number(at, count->weight);
	return at;
}

/* For the last bytes. After a count that did not fit, none is written; `missing` sums up their sizes. */
static void put_at_end(struct run_writer *writer, uint64_t distance, const struct run_count *count)
{
	uint8_t bytes[RUN_COUNT_MAX];
	size_t size = (size_t)(put_count(bytes, distance, count) - bytes);

	if (writer->missing || size > (size_t)(writer->end - writer->at)) {
		writer->missing += size;
		return;
	}
	memcpy(writer->at, bytes, size);
	writer->at += size;
}

void run_put(struct run_writer *writer, const struct run_count *count)
{
	uint64_t stack = (uint32_t)(count->stack + 1);		/* STACKS_NONE: 0 */
	uint64_t key = stack << writer->run->who_bits | count->who;
	uint64_t distance = key - writer->key;

	if (writer->end - writer->at >= RUN_COUNT_MAX)
		writer->at = put_count(writer->at, distance, count);
	else
		put_at_end(writer, distance, count);
	writer->key = key;
	writer->run->counts++;
}

struct run *run_end(struct run_writer *writer)
{
	struct run *run = writer->run;
	size_t size = (size_t)(writer->at - (uint8_t *)run);

	if (writer->missing) {
		run_release(run);
		return NULL;
	}
	run = budget_trim(run->budget, run, run->size, size);
	run->size = size;
	return run;
}

struct run *run_hold(struct run *run)
{
	run->holders++;
	return run;
}

void run_release(struct run *run)
{
	if (run && --run->holders == 0)
		budget_free(run->budget, run, run->size);
}

/* ---- several into one ---- */

struct side {				/* one of the runs that are merged */
	struct run_reader reader;
	struct run_count count;
	uint64_t key;			/* past the last count: above all others */
};

static void side_next(struct side *side)
{
	side->key = run_next(&side->reader, &side->count) ?
		(uint64_t)(uint32_t)(side->count.stack + 1) << 32 | side->count.who : UINT64_MAX;
}

/* The side with the least key is at the top of the heap. What is at `at` may be too high there. */
static void sink(struct side **heap, uint32_t count, uint32_t at)
{
	struct side *side = heap[at];

	for (uint32_t below; (below = 2 * at + 1) < count; at = below) {
		below += below + 1 < count && heap[below + 1]->key < heap[below]->key;
		if (side->key <= heap[below]->key)
			break;
		heap[at] = heap[below];
	}
	heap[at] = side;
}

static void merge_counts(struct run_writer *writer, struct side **heap, uint32_t count)
{
	while (heap[0]->key != UINT64_MAX) {
		uint64_t key = heap[0]->key;
		struct run_count sum = heap[0]->count;

		for (side_next(heap[0]), sink(heap, count, 0); heap[0]->key == key; sink(heap, count, 0)) {
			sum.samples += heap[0]->count.samples;
			sum.weight += heap[0]->count.weight;
			side_next(heap[0]);
		}
		run_put(writer, &sum);
	}
}

/*
 * The bytes that most counts take under keys of so many bits: longer keys, and sums that may take a byte more than
 * their parts.
 */
static size_t likely_bytes(const struct run *run, uint8_t who_bits)
{
	unsigned longer = who_bits > run->who_bits ? who_bits - run->who_bits : 0;

	return run->size - offsetof(struct run, bytes) + (size_t)run->counts * ((longer + 6) / 7) + run->counts / 2;
}

/* NULL: the budget has no room (*missing is 0), or `bytes` is too few by *missing. */
static struct run *merge_into(struct budget *budget, struct run *const *runs, uint32_t count, uint8_t who_bits,
	size_t bytes, size_t *missing)
{
	struct run_writer writer;
	struct side *sides, **heap;

	*missing = 0;
	if (!run_begin(&writer, budget, who_bits, bytes))
		return NULL;
	sides = util_alloc(count * sizeof(*sides));
	heap = util_alloc(count * sizeof(struct side *));
	for (uint32_t i = 0; i < count; i++) {
		sides[i].reader = run_read(runs[i]);
		side_next(&sides[i]);
		heap[i] = &sides[i];
	}
	for (uint32_t i = count; i-- > 0;)
		sink(heap, count, i);
	merge_counts(&writer, heap, count);
	free(sides);
	free(heap);
	*missing = writer.missing;
	return run_end(&writer);
}

struct run *run_merge(struct budget *budget, struct run *const *runs, uint32_t count)
{
	size_t bytes = 0, missing;
	uint8_t who_bits = 0;
	struct run *run;

	for (uint32_t i = 0; i < count; i++)
		who_bits = runs[i]->who_bits > who_bits ? runs[i]->who_bits : who_bits;
	for (uint32_t i = 0; i < count; i++)
		bytes += likely_bytes(runs[i], who_bits);
	run = merge_into(budget, runs, count, who_bits, bytes, &missing);
	return missing ? merge_into(budget, runs, count, who_bits, bytes + missing, &missing) : run;
}

/* ---- others in the place of who ---- */

static struct run *renumber_into(struct budget *budget, const struct run *run, const uint32_t *numbers,
	uint8_t who_bits, size_t bytes, size_t *missing)
{
	struct run_reader reader = run_read(run);
	struct run_writer writer;
	struct run_count count;

	*missing = 0;
	if (!run_begin(&writer, budget, who_bits, bytes))
		return NULL;
	while (run_next(&reader, &count)) {
		count.who = numbers[count.who];
		run_put(&writer, &count);
	}
	*missing = writer.missing;
	return run_end(&writer);
}

struct run *run_renumber(struct budget *budget, const struct run *run, const uint32_t *numbers, uint32_t whos)
{
	size_t bytes = likely_bytes(run, run_who_bits(whos)), missing;
	struct run *other = renumber_into(budget, run, numbers, run_who_bits(whos), bytes, &missing);

	return missing ? renumber_into(budget, run, numbers, run_who_bits(whos), bytes + missing, &missing) : other;
}

/* Puts the sums of one stack, by the number of whoever is forgotten. */
static void put_sums(struct run_writer *writer, struct run_count sums[WHO_FORGOTTEN], uint32_t stack)
{
	for (uint32_t i = 0; i < WHO_FORGOTTEN; i++) {
		sums[i].stack = stack;
		sums[i].who = i;
		if (sums[i].samples)
			run_put(writer, &sums[i]);
		sums[i].samples = sums[i].weight = 0;
	}
}

static struct run *forget_into(struct budget *budget, const struct run *run, const struct who *list, size_t bytes,
	size_t *missing)
{
	struct run_count count, sums[WHO_FORGOTTEN] = { 0 };
	struct run_reader reader = run_read(run);
	uint32_t stack = STACKS_NONE;
	struct run_writer writer;

	*missing = 0;
	if (!run_begin(&writer, budget, run_who_bits(WHO_FORGOTTEN), bytes))
		return NULL;
	while (run_next(&reader, &count)) {
		struct run_count *sum = &sums[who_forgotten(&list[count.who])];

		if (count.stack != stack)
			put_sums(&writer, sums, stack);
		stack = count.stack;
		sum->samples += count.samples;
		sum->weight += count.weight;
	}
	put_sums(&writer, sums, stack);
	*missing = writer.missing;
	return run_end(&writer);
}

/* Memory is short when this is needed: the first pass only measures. */
struct run *run_forget(struct budget *budget, const struct run *run, const struct who *list)
{
	size_t missing;
	struct run *rest = forget_into(budget, run, list, 0, &missing);

	return missing ? forget_into(budget, run, list, missing, &missing) : rest;
}
