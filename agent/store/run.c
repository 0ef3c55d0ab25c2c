/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "run.h"
#include "stacks.h"

/* ---- who ---- */

enum { STEP = 1 << 10 };		/* so many are paid for at once */

struct who_table {
	struct budget *budget;
	unsigned holders;
	struct who *list;		/* WHO_MOST; the system backs the pages in use */
	uint32_t count, room, most;	/* room: those that are paid for */
	bool full;
	struct hash by_who;
};

struct who_table *who_table_new(struct budget *budget, uint32_t most)
{
	struct who_table *table = util_alloc(sizeof(*table));

	table->budget = budget;
	table->holders = 1;
	table->most = most;
	table->list = util_alloc(WHO_MOST * sizeof(*table->list));
	hash_init(&table->by_who, budget);
	for (uint32_t i = 0; i < WHO_FORGOTTEN; i++)
		table->list[table->count++] = (struct who) {
			.process = EVENT_KERNEL, .thread = EVENT_NONE, .cpu = WHO_NO_CPU,
			.mode = i < CONTEXTS ? MODE_KERNEL : (uint8_t)(i - CONTEXTS + 1),
			.context = i < CONTEXTS ? (uint8_t)i : CONTEXT_UNTOLD,
		};
	return table;
}

struct who_table *who_table_hold(struct who_table *table)
{
	table->holders++;
	return table;
}

void who_table_release(struct who_table *table)
{
	if (!table || --table->holders)
		return;
	budget_give(table->budget, table->room * sizeof(*table->list));
	hash_clear(&table->by_who);
	free(table->list);
	free(table);
}

bool who_same(const struct who *a, const struct who *b)
{
	return a->thread == b->thread && a->process == b->process && a->cpu == b->cpu && a->mode == b->mode &&
		a->context == b->context;
}

static bool have_room(struct who_table *table)
{
	table->full = table->count >= table->most;
	if (table->full)
		return false;
	if (table->count >= table->room && budget_take(table->budget, STEP * sizeof(*table->list)))
		table->room += STEP;
	return table->count < table->room;
}

uint32_t who_table_number(struct who_table *table, const struct who *who)
{
	uint64_t task = (uint64_t)who->process << 32 | who->thread;
	uint64_t rest = (uint64_t)who->cpu << 16 | (uint64_t)who->mode << 8 | who->context;
	uint64_t value = hash_pair(&table->by_who, task, rest);
	uint32_t at = 0, number;

	if (who->thread == EVENT_NONE && who->cpu == WHO_NO_CPU && who->process == EVENT_KERNEL)
		return who_forgotten(who);
	while ((number = hash_next(&table->by_who, value, &at)) != HASH_NONE)
		if (who_same(&table->list[number], who))
			return number;
	if (!have_room(table) || !hash_add(&table->by_who, value, table->count))
		return WHO_NONE;
	table->list[table->count] = *who;
	return table->count++;
}

uint32_t who_table_count(const struct who_table *table)
{
	return table->count;
}

bool who_table_is_full(const struct who_table *table)
{
	return table->full;
}

const struct who *who_table_list(const struct who_table *table)
{
	return table->list;
}

/* ---- run ---- */

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
	memset(run->marks, 0, sizeof(run->marks));
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

static struct run *renumber_into(struct budget *budget, const struct run *run, const uint32_t *numbers,
	uint8_t who_bits, size_t bytes, size_t *missing)
{
	struct run_count count, sums[WHO_FORGOTTEN] = { 0 };
	struct run_reader reader = run_read(run);
	uint32_t stack = STACKS_NONE;
	struct run_writer writer;
	bool summed = false;

	*missing = 0;
	if (!run_begin(&writer, budget, who_bits, bytes))
		return NULL;
	while (run_next(&reader, &count)) {
		count.who = numbers[count.who];
		if (summed && (count.stack != stack || count.who >= WHO_FORGOTTEN))
			put_sums(&writer, sums, stack);
		stack = count.stack;
		summed = count.who < WHO_FORGOTTEN;
		if (summed) {
			sums[count.who].samples += count.samples;
			sums[count.who].weight += count.weight;
		} else {
			run_put(&writer, &count);
		}
	}
	put_sums(&writer, sums, stack);
	*missing = writer.missing;
	return run_end(&writer);
}

/* Memory may be short when this is needed: the first pass only measures. */
struct run *run_renumber(struct budget *budget, const struct run *run, const uint32_t *numbers, uint32_t whos)
{
	size_t missing;
	struct run *other = renumber_into(budget, run, numbers, run_who_bits(whos), 0, &missing);

	return missing ? renumber_into(budget, run, numbers, run_who_bits(whos), missing, &missing) : other;
}

/* ---- arrivals, sorted into runs ---- */

/* The key of an arrival is one word: slice, stack + 1 and number of who, from the high bits to the low ones. */
enum {
	WHO_BITS = 20, STACK_BITS = 22, SLICE_BITS = 13, SLICE_SHIFT = STACK_BITS + WHO_BITS,
	DIGIT_BITS = 10, DIGITS = 6,		/* of the words that are sorted */
	BUCKETS = 1 << DIGIT_BITS,
};
_Static_assert(1 << WHO_BITS >= WHO_MOST, "each who has a number");
_Static_assert(1 << STACK_BITS > STACKS_NODES_MAX, "each stack has one, and STACKS_NONE");
_Static_assert(1 << SLICE_BITS >= ARRIVALS_SLICES, "a slice has its bits");
_Static_assert(SLICE_BITS + SLICE_SHIFT <= DIGITS * DIGIT_BITS, "all of it is sorted");

struct arrival {
	uint64_t key;
	uint32_t weight;
};

struct arrivals {
	struct arrival *list, *other;		/* two of ARRIVALS_MAX: the sort copies from one to the other */
	uint32_t count;
};

struct arrivals *arrivals_new(void)
{
	struct arrivals *arrivals = util_alloc(sizeof(*arrivals));

	arrivals->list = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->list));
	arrivals->other = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->other));
	return arrivals;
}

void arrivals_free(struct arrivals *arrivals)
{
	free(arrivals->list);
	free(arrivals->other);
	free(arrivals);
}

bool arrivals_full(const struct arrivals *arrivals)
{
	return arrivals->count == ARRIVALS_MAX;
}

void arrivals_add(struct arrivals *arrivals, uint32_t slice, uint32_t stack, uint32_t who, uint32_t weight)
{
	uint64_t where = (uint64_t)slice << STACK_BITS | (uint32_t)(stack + 1);

	arrivals->list[arrivals->count++] = (struct arrival) { .key = where << WHO_BITS | who, .weight = weight };
}

static uint32_t who_of(uint64_t key)
{
	return (uint32_t)key & ((1u << WHO_BITS) - 1);
}

static uint32_t digit_of(uint64_t key, unsigned digit)
{
	return (uint32_t)(key >> digit * DIGIT_BITS) & (BUCKETS - 1);
}

/* Sorts by one digit; `counts`: how often each of its values occurs. Equal ones keep their order. */
static void sort_digit(struct arrivals *arrivals, unsigned digit, uint32_t counts[BUCKETS])
{
	struct arrival *list = arrivals->list;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < BUCKETS; i++) {
		uint32_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < arrivals->count; i++)
		arrivals->other[counts[digit_of(list[i].key, digit)]++] = list[i];
	arrivals->list = arrivals->other;
	arrivals->other = list;
}

/* Most digits are the same in all: few slices, and seldom many thousands who ran. */
static void sort(struct arrivals *arrivals)
{
	uint32_t counts[DIGITS][BUCKETS] = { 0 };

	for (uint32_t i = 0; i < arrivals->count; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			counts[digit][digit_of(arrivals->list[i].key, digit)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++)
		if (counts[digit][digit_of(arrivals->list[0].key, digit)] < arrivals->count)
			sort_digit(arrivals, digit, counts[digit]);
}

/* ---- runs ---- */

struct part {				/* the arrivals of one slice, sorted */
	const struct arrival *list;
	uint32_t count, whos;		/* whos: all bits of their numbers of who */
	uint64_t weight, forgotten;	/* of all; of those whose number is that of forgotten ones */
};

static struct part part_at(const struct arrivals *arrivals, uint32_t first)
{
	struct part part = { .list = arrivals->list + first };

	for (; first + part.count < arrivals->count &&
			part.list[part.count].key >> SLICE_SHIFT == part.list[0].key >> SLICE_SHIFT; part.count++) {
		const struct arrival *arrival = &part.list[part.count];
		uint32_t who = who_of(arrival->key);

		part.whos |= who;
		part.weight += arrival->weight;
		part.forgotten += who < WHO_FORGOTTEN ? arrival->weight : 0;
	}
	return part;
}

static struct run *make_run(struct budget *budget, const struct part *part)
{
	struct run_writer writer;

	if (!run_begin(&writer, budget, run_who_bits(part->whos + 1), (size_t)part->count * RUN_COUNT_MAX))
		return NULL;
	for (uint32_t i = 0; i < part->count;) {
		uint64_t key = part->list[i].key;
		struct run_count count = {
			.stack = ((uint32_t)(key >> WHO_BITS) & ((1u << STACK_BITS) - 1)) - 1, .who = who_of(key),
		};

		for (; i < part->count && part->list[i].key == key; i++) {
			count.samples++;
			count.weight += part->list[i].weight;
		}
		run_put(&writer, &count);
	}
	return run_end(&writer);
}

uint64_t arrivals_drain(struct arrivals *arrivals, struct budget *budget,
	void (*take)(void *context, uint32_t slice, struct run *run, uint64_t weight), void *context)
{
	uint64_t forgotten = 0;
	struct part part;

	if (!arrivals->count)
		return 0;
	sort(arrivals);
	for (uint32_t i = 0; i < arrivals->count; i += part.count) {
		struct run *run;

		part = part_at(arrivals, i);
		run = make_run(budget, &part);
		forgotten += run ? part.forgotten : 0;
		take(context, (uint32_t)(part.list[0].key >> SLICE_SHIFT), run, part.weight);
	}
	arrivals->count = 0;
	return forgotten;
}
