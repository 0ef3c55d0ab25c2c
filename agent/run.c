#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "event.h"
#include "run.h"
#include "stacks.h"
#include "util.h"

/*
 * A count is up to three numbers of 7 bits a byte, the low ones first, the high bit set in all but
 * the last byte: the key's distance << 1 | more; then, when more, samples << 1 | weighted; then,
 * when weighted, the weight. A key is (stack + 1) << who_bits | who.
 */
enum { NUMBER_MAX = 10, COUNT_MAX = 3 * NUMBER_MAX };

int who_compare(const struct who *a, const struct who *b)
{
	uint64_t left = (uint64_t)a->process << 32 | a->thread;
	uint64_t right = (uint64_t)b->process << 32 | b->thread;

	if (left != right)
		return left < right ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (a->mode > b->mode) - (a->mode < b->mode);
}

static uint8_t bits_for(uint32_t count)
{
	return count < 2 ? 0 : (uint8_t)(32 - __builtin_clz(count - 1));
}

bool run_begin(struct run_writer *writer, struct budget *budget, uint32_t who_count, size_t counts,
	size_t bytes)
{
	size_t size = sizeof(struct run) + who_count * sizeof(struct who)
		+ (bytes ? bytes : counts * COUNT_MAX);
	struct run *run = budget_resize(budget, NULL, 0, size);

	if (!run)
		return false;
	*run = (struct run){
		.budget = budget, .size = size, .who_count = who_count,
		.who_bits = bits_for(who_count),
	};
	*writer = (struct run_writer){ .run = run, .at = (uint8_t *)(run->who + who_count) };
	return true;
}

static void put_number(struct run_writer *writer, uint64_t number)
{
	while (number >= 0x80) {
		*writer->at++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*writer->at++ = (uint8_t)number;
}

void run_put(struct run_writer *writer, const struct run_count *count)
{
	uint64_t stack = (uint32_t)(count->stack + 1);		/* STACKS_NONE: 0 */
	uint64_t key = stack << writer->run->who_bits | count->who;
	bool weighted = count->weight != count->samples;
	bool more = count->samples != 1 || weighted;

	put_number(writer, (key - writer->key) << 1 | more);
	if (more)
		put_number(writer, count->samples << 1 | weighted);
	if (weighted)
		put_number(writer, count->weight);
	writer->key = key;
	writer->run->counts++;
}

struct run *run_end(struct run_writer *writer)
{
	struct run *run = writer->run;
	size_t size = (size_t)(writer->at - (uint8_t *)run);

	budget_give(run->budget, run->size - size);
	run->size = size;
	return util_grow(run, size, 1);
}

void run_free(struct run *run)
{
	if (run)
		budget_free(run->budget, run, run->size);
}

/* ---- two into one ---- */

struct side {				/* one of the runs that are merged */
	struct run_reader reader;
	uint32_t *who;			/* where each of its list stands in the new one */
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

/* Behind the last: behind all keys. */
static uint64_t side_key(const struct side *side)
{
	return side->here ? (uint64_t)(uint32_t)(side->count.stack + 1) << 32 | side->count.who
		: UINT64_MAX;
}

/* The lists as one, into `who`, and where each element went. Returns how many there are. */
static uint32_t join_who(struct who *who, const struct run *a, uint32_t *of_a, const struct run *b,
	uint32_t *of_b)
{
	uint32_t count = 0, i = 0, k = 0;

	while (i < a->who_count || k < b->who_count) {
		int order = i == a->who_count ? 1 : k == b->who_count ? -1
			: who_compare(&a->who[i], &b->who[k]);

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

/*
 * What counts take that are read with one list of who and written with another: a key of more bits
 * is longer, and a sum may be a byte longer than its parts.
 */
static size_t merged_bytes(const struct run *a, const struct run *b, uint8_t who_bits)
{
	size_t counts = (size_t)a->counts + b->counts;
	unsigned longer = (unsigned)(who_bits - a->who_bits) > (unsigned)(who_bits - b->who_bits)
		? who_bits - a->who_bits : who_bits - b->who_bits;

	return a->size + b->size + counts * ((longer + 6) / 7) + counts / 2;
}

struct run *run_merge(struct budget *budget, const struct run *a, const struct run *b)
{
	size_t most = (size_t)a->who_count + b->who_count;
	uint32_t *places = util_grow(NULL, most + 1, sizeof(*places));
	struct who *who = util_grow(NULL, most + 1, sizeof(*who));
	uint32_t count = join_who(who, a, places, b, places + a->who_count);
	struct side left, right;
	struct run_writer writer;
	struct run *run = NULL;

	if (run_begin(&writer, budget, count, 0, merged_bytes(a, b, bits_for(count)))) {
		memcpy(writer.run->who, who, count * sizeof(*who));
		side_begin(&left, a, places);
		side_begin(&right, b, places + a->who_count);
		merge_counts(&writer, &left, &right);
		run = run_end(&writer);
	}
	free(places);
	free(who);
	return run;
}

/* ---- without who ---- */

static struct who nobody(uint8_t mode)
{
	return (struct who){
		.process = EVENT_KERNEL, .thread = EVENT_NONE, .cpu = WHO_NO_CPU, .mode = mode,
	};
}

static void put_modes(struct run_writer *writer, struct run_count modes[MODES], uint32_t stack)
{
	for (uint32_t mode = 0; mode < MODES; mode++) {
		modes[mode].stack = stack;
		modes[mode].who = mode;
		if (modes[mode].samples)
			run_put(writer, &modes[mode]);
		modes[mode].samples = modes[mode].weight = 0;
	}
}

/* A key may be longer than before, and a sum longer than its parts; few stacks take less. */
static size_t forgotten_bytes(const struct run *run)
{
	size_t most = MODES * sizeof(struct who) + 2 * run->size, stacks = 1;
	struct run_reader reader = run_read(run);
	uint32_t stack = STACKS_NONE;
	struct run_count count;

	while (run_next(&reader, &count)) {
		stacks += count.stack != stack;
		stack = count.stack;
	}
	return stacks * MODES * COUNT_MAX < most ? stacks * MODES * COUNT_MAX : most;
}

struct run *run_forget(struct budget *budget, const struct run *run)
{
	struct run_count count, modes[MODES] = { 0 };
	struct run_reader reader = run_read(run);
	uint32_t stack = STACKS_NONE;
	struct run_writer writer;

	if (!run_begin(&writer, budget, MODES, 0, forgotten_bytes(run)))
		return NULL;
	for (uint8_t mode = 0; mode < MODES; mode++)
		writer.run->who[mode] = nobody(mode);
	while (run_next(&reader, &count)) {
		uint32_t mode = run->who[count.who].mode;

		if (count.stack != stack)
			put_modes(&writer, modes, stack);
		stack = count.stack;
		modes[mode].samples += count.samples;
		modes[mode].weight += count.weight;
	}
	put_modes(&writer, modes, stack);
	return run_end(&writer);
}
