#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "hash.h"
#include "run.h"
#include "util.h"

/* A key is slice, stack + 1 and who, from the high bits to the low ones. */
enum {
	WHO_BITS = 15, STACK_BITS = 32,
	DIGIT_BITS = 10, DIGITS = 6,		/* of a key that is sorted by */
	BUCKETS = 1 << DIGIT_BITS,
};
_Static_assert(1 << WHO_BITS >= ARRIVALS_MAX, "each arrival may be somebody else's");
_Static_assert(DIGITS * DIGIT_BITS >= WHO_BITS + STACK_BITS + 12, "all of a key is sorted");

struct arrival {
	uint64_t key;
	uint32_t weight;
};

struct arrivals {
	struct arrival *list, *other;		/* two of ARRIVALS_MAX: sorting goes to and fro */
	uint32_t count;

	struct who *who;			/* ARRIVALS_MAX; in order of arrival, then sorted */
	uint32_t who_count;
	struct hash by_who;

	uint32_t *place;			/* ARRIVALS_MAX: of each who, in a list that is made */
	uint64_t *seen;				/* a bit each: it is in that list */
};

enum { SEEN_WORDS = ARRIVALS_MAX / 64 };

struct arrivals *arrivals_new(void)
{
	struct arrivals *arrivals = util_alloc(sizeof(*arrivals));

	arrivals->list = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->list));
	arrivals->other = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->other));
	arrivals->who = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->who));
	arrivals->place = util_alloc(ARRIVALS_MAX * sizeof(*arrivals->place));
	arrivals->seen = util_alloc(SEEN_WORDS * sizeof(*arrivals->seen));
	hash_init(&arrivals->by_who, NULL);
	return arrivals;
}

void arrivals_free(struct arrivals *arrivals)
{
	hash_clear(&arrivals->by_who);
	free(arrivals->list);
	free(arrivals->other);
	free(arrivals->who);
	free(arrivals->place);
	free(arrivals->seen);
	free(arrivals);
}

bool arrivals_full(const struct arrivals *arrivals)
{
	return arrivals->count == ARRIVALS_MAX;
}

size_t arrivals_count(const struct arrivals *arrivals)
{
	return arrivals->count;
}

static uint32_t have_who(struct arrivals *arrivals, const struct who *who)
{
	uint64_t hash = hash_pair(&arrivals->by_who, (uint64_t)who->process << 32 | who->thread,
		(uint64_t)who->cpu << 8 | who->mode);
	uint32_t at = 0, position;

	while ((position = hash_next(&arrivals->by_who, hash, &at)) != HASH_NONE)
		if (who_compare(&arrivals->who[position], who) == 0)
			return position;
	hash_add(&arrivals->by_who, hash, arrivals->who_count);
	arrivals->who[arrivals->who_count] = *who;
	return arrivals->who_count++;
}

void arrivals_add(struct arrivals *arrivals, uint32_t slice, uint32_t stack, const struct who *who,
	uint32_t weight)
{
	uint64_t key = (uint64_t)slice << STACK_BITS | (uint32_t)(stack + 1);

	arrivals->list[arrivals->count++] = (struct arrival){
		.key = key << WHO_BITS | have_who(arrivals, who), .weight = weight,
	};
}

/* ---- sorting ---- */

struct ranked {
	struct who who;
	uint32_t old;
};

static int by_who(const void *a, const void *b)
{
	return who_compare(&((const struct ranked *)a)->who, &((const struct ranked *)b)->who);
}

/* The list of who in its order, and the keys with it. */
static void sort_who(struct arrivals *arrivals)
{
	struct ranked *ranked = util_grow(NULL, arrivals->who_count, sizeof(*ranked));

	for (uint32_t i = 0; i < arrivals->who_count; i++)
		ranked[i] = (struct ranked){ arrivals->who[i], i };
	qsort(ranked, arrivals->who_count, sizeof(*ranked), by_who);
	for (uint32_t i = 0; i < arrivals->who_count; i++) {
		arrivals->who[i] = ranked[i].who;
		arrivals->place[ranked[i].old] = i;
	}
	free(ranked);
	for (uint32_t i = 0; i < arrivals->count; i++) {
		uint64_t *key = &arrivals->list[i].key;

		*key = (*key & ~(uint64_t)(ARRIVALS_MAX - 1))
			| arrivals->place[*key & (ARRIVALS_MAX - 1)];
	}
}

static uint32_t digit_of(const struct arrival *arrival, unsigned digit)
{
	return (uint32_t)(arrival->key >> digit * DIGIT_BITS) & (BUCKETS - 1);
}

/* By one digit, those of equal digits staying as they stand; nothing to do when all are equal. */
static void sort_digit(struct arrivals *arrivals, unsigned digit, uint32_t *starts)
{
	struct arrival *list = arrivals->list;
	uint32_t sum = 0;

	if (starts[digit_of(list, digit)] == arrivals->count)
		return;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		uint32_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < arrivals->count; i++)
		arrivals->other[starts[digit_of(&list[i], digit)]++] = list[i];
	arrivals->list = arrivals->other;
	arrivals->other = list;
}

static void sort(struct arrivals *arrivals)
{
	uint32_t counts[DIGITS][BUCKETS] = { 0 };

	for (uint32_t i = 0; i < arrivals->count; i++)
		for (unsigned digit = 0; digit < DIGITS; digit++)
			counts[digit][digit_of(&arrivals->list[i], digit)]++;
	for (unsigned digit = 0; digit < DIGITS; digit++)
		sort_digit(arrivals, digit, counts[digit]);
}

/* ---- runs ---- */

struct part {				/* the arrivals of one slice */
	const struct arrival *list;
	uint32_t count;
};

static uint32_t slice_of(const struct arrival *arrival)
{
	return (uint32_t)(arrival->key >> (STACK_BITS + WHO_BITS));
}

static uint32_t who_of(const struct arrival *arrival)
{
	return (uint32_t)arrival->key & (ARRIVALS_MAX - 1);
}

/* Notes who is in the part; returns how many. */
static uint32_t see(struct arrivals *arrivals, const struct part *part)
{
	uint32_t seen = 0;

	memset(arrivals->seen, 0, SEEN_WORDS * sizeof(*arrivals->seen));
	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t who = who_of(&part->list[i]);

		seen += !(arrivals->seen[who / 64] >> who % 64 & 1);
		arrivals->seen[who / 64] |= 1ull << who % 64;
	}
	return seen;
}

static void list_seen(struct arrivals *arrivals, struct who *list)
{
	uint32_t count = 0;

	for (uint32_t word = 0; word * 64 < arrivals->who_count; word++)
		for (uint64_t bits = arrivals->seen[word]; bits; bits &= bits - 1) {
			uint32_t who = word * 64 + (uint32_t)__builtin_ctzll(bits);

			arrivals->place[who] = count;
			list[count++] = arrivals->who[who];
		}
}

static void put_all(struct run_writer *writer, const struct arrivals *arrivals,
	const struct part *part)
{
	for (uint32_t i = 0; i < part->count; ) {
		const struct arrival *first = &part->list[i];
		struct run_count count = {
			.stack = (uint32_t)(first->key >> WHO_BITS) - 1,
			.who = arrivals->place[who_of(first)],
		};

		for (; i < part->count && part->list[i].key == first->key; i++) {
			count.samples++;
			count.weight += part->list[i].weight;
		}
		run_put(writer, &count);
	}
}

static struct run *make_run(struct arrivals *arrivals, struct budget *budget,
	const struct part *part)
{
	struct run_writer writer;

	if (!run_begin(&writer, budget, see(arrivals, part),
			(size_t)part->count * RUN_COUNT_MAX))
		return NULL;
	list_seen(arrivals, writer.run->who);
	put_all(&writer, arrivals, part);
	return run_end(&writer);
}

static uint64_t weight_of(const struct part *part)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i < part->count; i++)
		weight += part->list[i].weight;
	return weight;
}

void arrivals_drain(struct arrivals *arrivals, struct budget *budget,
	void (*take)(void *context, uint32_t slice, struct run *run, uint64_t weight),
	void *context)
{
	struct part part = { .list = arrivals->list };

	if (!arrivals->count)
		return;
	sort_who(arrivals);
	sort(arrivals);
	for (uint32_t i = 0; i < arrivals->count; i += part.count) {
		uint32_t slice = slice_of(&arrivals->list[i]);

		part.list = &arrivals->list[i];
		part.count = 0;
		while (i + part.count < arrivals->count
				&& slice_of(&part.list[part.count]) == slice)
			part.count++;
		take(context, slice, make_run(arrivals, budget, &part), weight_of(&part));
	}
	arrivals->count = arrivals->who_count = 0;
	hash_clear(&arrivals->by_who);
}
