/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/wire/event.h"
#include "run.h"
#include "stacks.h"

/*
 * A count is up to three numbers, each in 7 bits a byte, low ones first, with the high bit set in all but
 * the last byte. The first is the key's distance << 1 | more. If `more`, samples << 1 | weighted follows.
 * If `weighted`, the weight follows; else it equals the samples. A key is (stack + 1) << who_bits | who.
 */
_Static_assert(RUN_COUNT_MAX >= 3 * 10, "each number takes ten bytes at most");

int who_compare(const struct who *a, const struct who *b)
{
	uint64_t left = (uint64_t)a->process << 32 | a->thread;
	uint64_t right = (uint64_t)b->process << 32 | b->thread;

	if (left != right)
		return left < right ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->mode != b->mode)
		return a->mode < b->mode ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static uint8_t bits_for(uint32_t count)
{
	return count < 2 ? 0 : (uint8_t)(32 - __builtin_clz(count - 1));
}

bool run_begin(struct run_writer *writer, struct budget *budget, uint32_t who_count, size_t bytes)
{
	size_t size = sizeof(struct run) + who_count * sizeof(struct who) + bytes;
	struct run *run = budget_resize(budget, NULL, 0, size);

	if (!run)
		return false;
	*run = (struct run) {
		.budget = budget, .size = size, .who_count = who_count,
		.who_bits = bits_for(who_count),
	};
	*writer = (struct run_writer) {
		.run = run, .at = (uint8_t *)(run->who + who_count), .end = (uint8_t *)run + size,
	};
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
		run_free(run);
		return NULL;
	}
	run = budget_trim(run->budget, run, run->size, size);
	run->size = size;
	return run;
}

void run_free(struct run *run)
{
	if (run)
		budget_free(run->budget, run, run->size);
}

/* ---- two into one ---- */

struct side {				/* one of the runs that are merged */
	struct run_reader reader;
	uint32_t *who;			/* the new index of each element of the run's list */
	struct run_count count;
	bool here;
};

static void side_next(struct side *side)
{
	side->here = run_next(&side->reader, &side->count);
	if (side->here)
		side->count.who = side->who[side->count.who];
}

static void side_begin(struct side *side, const struct run *run, uint32_t *who)
{
	side->reader = run_read(run);
	side->who = who;
	side_next(side);
}

/* Past the last count: a key above all others. */
static uint64_t side_key(const struct side *side)
{
	return side->here ? (uint64_t)(uint32_t)(side->count.stack + 1) << 32 | side->count.who :
		UINT64_MAX;
}

/* Joins the two lists in `who`; of_a, of_b: the new index of each element. Returns how many there are. */
static uint32_t join_who(struct who *who, const struct run *a, uint32_t *of_a, const struct run *b,
	uint32_t *of_b)
{
	uint32_t count = 0, i = 0, k = 0;

	while (i < a->who_count || k < b->who_count) {
		int order = i == a->who_count ? 1 : k == b->who_count ? -1 :
			who_compare(&a->who[i], &b->who[k]);

		who[count] = order <= 0 ? a->who[i] : b->who[k];
		if (order <= 0)
			of_a[i++] = count;
		if (order >= 0)
			of_b[k++] = count;
		count++;
	}
	return count;
}

static void merge_counts(struct run_writer *writer, struct side *a, struct side *b)
{
	while (a->here || b->here) {
		uint64_t left = side_key(a), right = side_key(b);
		struct run_count count = left <= right ? a->count : b->count;

		if (left == right) {
			count.samples += b->count.samples;
			count.weight += b->count.weight;
		}
		run_put(writer, &count);
		if (left <= right)
			side_next(a);
		if (right <= left)
			side_next(b);
	}
}

static size_t counts_bytes(const struct run *run)
{
	return run->size - (size_t)((const uint8_t *)(run->who + run->who_count) -
		(const uint8_t *)run);
}

/*
 * The bytes that most merged runs take: a key with more bits is longer, and a sum may take a byte more than
 * its parts. It is not a bound: two keys that were neighbours in the old list of who may be a whole list
 * apart in the new one.
 */
static size_t likely_bytes(const struct run *a, const struct run *b, uint8_t who_bits)
{
	size_t counts = (size_t)a->counts + b->counts;
	unsigned longer = (unsigned)(who_bits - a->who_bits) > (unsigned)(who_bits - b->who_bits) ?
		who_bits - a->who_bits : who_bits - b->who_bits;

	return counts_bytes(a) + counts_bytes(b) + counts * ((longer + 6) / 7) + counts / 2;
}

/* The joined lists of who of two runs, and the new index of each element. */
struct joint {
	struct who *who;
	uint32_t count, most;
	uint32_t *places;		/* new indices: those of the first run, then those of the second */
};

static bool joint_init(struct joint *joint, struct budget *budget, const struct run *a,
	const struct run *b)
{
	*joint = (struct joint) { .most = a->who_count + b->who_count };
	joint->who = budget_resize(budget, NULL, 0, joint->most * sizeof(*joint->who));
	if (!joint->who)
		return false;
	joint->places = budget_resize(budget, NULL, 0, joint->most * sizeof(*joint->places));
	if (!joint->places)
		return false;
	joint->count = join_who(joint->who, a, joint->places, b, joint->places + a->who_count);
	return true;
}

static void joint_clear(struct joint *joint, struct budget *budget)
{
	if (joint->who)
		budget_free(budget, joint->who, joint->most * sizeof(*joint->who));
	if (joint->places)
		budget_free(budget, joint->places, joint->most * sizeof(*joint->places));
}

/* NULL: the budget has no room (*missing is 0), or `bytes` is too few by *missing. */
static struct run *merge_into(struct budget *budget, const struct run *a, const struct run *b,
	const struct joint *joint, size_t bytes, size_t *missing)
{
	struct run_writer writer;
	struct side left, right;

	*missing = 0;
	if (!run_begin(&writer, budget, joint->count, bytes))
		return NULL;
	memcpy(writer.run->who, joint->who, joint->count * sizeof(*joint->who));
	side_begin(&left, a, joint->places);
	side_begin(&right, b, joint->places + a->who_count);
	merge_counts(&writer, &left, &right);
	*missing = writer.missing;
	return run_end(&writer);
}

struct run *run_merge(struct budget *budget, const struct run *a, const struct run *b)
{
	struct run *run = NULL;
	struct joint joint;

	if (joint_init(&joint, budget, a, b)) {
		size_t bytes = likely_bytes(a, b, bits_for(joint.count)), missing;

		run = merge_into(budget, a, b, &joint, bytes, &missing);
		if (missing)		/* now the size is known */
			run = merge_into(budget, a, b, &joint, bytes + missing, &missing);
	}
	joint_clear(&joint, budget);
	return run;
}

/* ---- without who ---- */

/* What is left of who ran a stack: the modes other than the kernel's, and each context of the kernel's. */
enum { REMAINS = CONTEXTS + MODES - 1 };
_Static_assert(MODE_KERNEL == 0, "it comes first in a list of who, with its contexts");

static uint32_t remains_of(const struct who *who)
{
	return who->mode == MODE_KERNEL ? who->context : CONTEXTS + who->mode - 1u;
}

static struct who nobody(uint32_t remains)
{
	return (struct who) {
		.process = EVENT_KERNEL, .thread = EVENT_NONE, .cpu = WHO_NO_CPU,
		.mode = remains < CONTEXTS ? MODE_KERNEL : (uint8_t)(remains - CONTEXTS + 1),
		.context = remains < CONTEXTS ? (uint8_t)remains : CONTEXT_UNTOLD,
	};
}

static void put_sums(struct run_writer *writer, struct run_count sums[REMAINS], uint32_t stack)
{
	for (uint32_t i = 0; i < REMAINS; i++) {
		sums[i].stack = stack;
		sums[i].who = i;
		if (sums[i].samples)
			run_put(writer, &sums[i]);
		sums[i].samples = sums[i].weight = 0;
	}
}

/* NULL: the budget has no room (*missing is 0), or `bytes` is too few by *missing. */
static struct run *forget_into(struct budget *budget, const struct run *run, size_t bytes,
	size_t *missing)
{
	struct run_count count, sums[REMAINS] = { 0 };
	struct run_reader reader = run_read(run);
	uint32_t stack = STACKS_NONE;
	struct run_writer writer;

	*missing = 0;
	if (!run_begin(&writer, budget, REMAINS, bytes))
		return NULL;
	for (uint32_t i = 0; i < REMAINS; i++)
		writer.run->who[i] = nobody(i);
	while (run_next(&reader, &count)) {
		struct run_count *sum = &sums[remains_of(&run->who[count.who])];

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
struct run *run_forget(struct budget *budget, const struct run *run)
{
	size_t missing;
	struct run *rest = forget_into(budget, run, 0, &missing);

	return missing ? forget_into(budget, run, missing, &missing) : rest;
}
