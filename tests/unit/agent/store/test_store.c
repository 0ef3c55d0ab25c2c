/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/store/run.h"
#include "agent/store/store.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/counts.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/sums.h"

enum { COUNTS_MAX = 1 << 18 };		/* fewer than ktop's own limit, so that a test reaches it in a second */

static const struct store_key plain = { .stack = 1, .who = {
	.thread = 2, .process = 3, .cpu = 1, .mode = MODE_USER,
} };

/* ---- what must hold of every store ---- */

static uint64_t total_weight(struct store *store)
{
	uint64_t weight = 0;

	store_settle(store);
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		weight += weight_of(&slice);
	}
	return weight;
}

static uint64_t cpu_weight(const struct slice *slice)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i < slice->cpus->count; i++)
		for (int mode = 0; mode < MODES && cpus_get(slice->cpus, i); mode++)
			weight += cpus_get(slice->cpus, i)->mode[mode];
	return weight;
}

static void check_store(struct store *store)
{
	struct slices joined;
	uint64_t end = 0, counts = 0, weight = 0;
	struct slice whole;

	store_settle(store);
	assert_true(slices_count(store) <= 11000);
	joined = slices_in(store, 0, UINT64_MAX, false);
	while (slices_next(&joined, &whole))
		weight += cpu_weight(&whole) == weight_of(&whole) ? cpu_weight(&whole) : 0;
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		assert_true(slice.begin >= end && slice.end > slice.begin);
		assert_true(slice.version <= store_version(store));
		assert_int_equal(weight_of(&slice), cpu_weight(&slice));
		weight -= cpu_weight(&slice);
		end = slice.end;
		for (size_t k = 0; k < slice.run_count; k++) {
			counts += slice.runs[k]->counts;
			assert_true(k == 0 || slice.runs[k]->counts <= slice.runs[k - 1]->counts / 2);
		}
	}
	assert_true(counts <= COUNTS_MAX + ARRIVALS_MAX);
	assert_int_equal(weight, 0);			/* the seconds have the same as their finest slices */
}

static struct slice slice_of(struct store *store, uint64_t time)
{
	store_settle(store);
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		if (time >= slice.begin && time < slice.end)
			return slice;
	}
	return (struct slice) { 0 };
}

static uint64_t weight_within(const struct store *store, uint64_t from, uint64_t to)
{
	struct slices slices = slices_in(store, from, to, false);
	uint64_t weight = 0;
	struct slice slice;

	while (slices_next(&slices, &slice))
		weight += cpu_weight(&slice);
	return weight;
}

/* ---- single behaviours ---- */

static void equal_keys_are_counted_together(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key other = plain;
	struct slice slice;
	struct counts counts;

	(void)state;
	other.who.mode = MODE_IDLE;
	store_add(store, 100 * NS_PER_MS, &plain, 3);
	store_add(store, 109 * NS_PER_MS, &plain, 4);
	store_add(store, 119 * NS_PER_MS, &other, 5);
	store_missed(store, 119 * NS_PER_MS, 2, 9);
	assert_int_equal(slices_count(store), 1);
	slice = slice_of(store, 100 * NS_PER_MS);
	assert_int_equal(slice.begin, 100 * NS_PER_MS);
	assert_int_equal(slice.end, 120 * NS_PER_MS);
	counts = counts_of(&slice, store_whos(store));
	assert_int_equal(counts.count, 2);
	assert_int_equal(counts.list[0].samples, 2);
	assert_int_equal(counts.list[0].weight, 7);
	assert_int_equal(counts.list[1].samples, 1);
	assert_int_equal(counts.list[1].weight, 5);
	free(counts.list);
	assert_int_equal(slice.cpus->count, 3);
	assert_int_equal(cpus_get(slice.cpus, 1)->mode[MODE_USER], 7);
	assert_int_equal(cpus_get(slice.cpus, 1)->mode[MODE_IDLE], 5);
	assert_int_equal(cpus_get(slice.cpus, 2)->missed, 9);
	check_store(store);
	store_free(store);
}

static void a_late_event_goes_into_its_own_slice(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct slice slice;
	uint64_t version;

	(void)state;
	store_add(store, 10000 * NS_PER_MS, &plain, 1);
	store_add(store, 10300 * NS_PER_MS, &plain, 1);
	version = slice_of(store, 10000 * NS_PER_MS).version;
	store_add(store, 10010 * NS_PER_MS, &plain, 1);
	assert_true(slice_of(store, 10000 * NS_PER_MS).version > version);
	slice = slice_of(store, 10000 * NS_PER_MS);
	assert_int_equal(weight_of(&slice), 2);
	assert_int_equal(count_of(&slice, store_whos(store)), 1);
	store_add(store, 9900 * NS_PER_MS, &plain, 1);
	store_add(store, 3110 * NS_PER_MS, &plain, 1);
	assert_int_equal(slices_count(store), 4);
	assert_int_equal(slice_number(store, 0).begin, 3100 * NS_PER_MS);
	assert_int_equal(slice_number(store, 1).begin, 9900 * NS_PER_MS);
	assert_int_equal(store_now(store), 10300 * NS_PER_MS);
	store_advance(store, 12000 * NS_PER_MS);
	check_store(store);
	store_add(store, 10015 * NS_PER_MS, &plain, 1);		/* its second was joined already */
	check_store(store);
	assert_int_equal(weight_within(store, 10000 * NS_PER_MS, 11000 * NS_PER_MS), 4);
	store_free(store);
}

static void now_moves_forward_only(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);

	(void)state;
	store_advance(store, 5 * NS_PER_SECOND);
	store_advance(store, 4 * NS_PER_SECOND);
	assert_int_equal(store_now(store), 5 * NS_PER_SECOND);
	assert_int_equal(slices_count(store), 0);
	store_add(store, 6 * NS_PER_SECOND, &plain, 1);
	assert_int_equal(store_now(store), 6 * NS_PER_SECOND);
	store_free(store);
}

static void slices_grow_coarser_with_age(void **state)
{
	static const struct { uint64_t age, width; } expected[] = {
		{ 1 * NS_PER_SECOND, 20 * NS_PER_MS }, { 159 * NS_PER_SECOND, 20 * NS_PER_MS },
		{ 162 * NS_PER_SECOND, NS_PER_SECOND },
		{ 599 * NS_PER_SECOND, NS_PER_SECOND }, { 611 * NS_PER_SECOND, 10 * NS_PER_SECOND },
		{ 7190 * NS_PER_SECOND, 10 * NS_PER_SECOND },
		{ 7300 * NS_PER_SECOND, 60 * NS_PER_SECOND }, { 86000 * NS_PER_SECOND, 60 * NS_PER_SECOND },
	};
	const uint64_t end = 100000 * NS_PER_SECOND;
	struct store *store = store_new(NULL, COUNTS_MAX);
	uint64_t added = 0;

	(void)state;
	for (uint64_t time = 0; time < end; added += 2) {
		store_add(store, time, &plain, 2);
		time += time < end - 700 * NS_PER_SECOND ? 7 * NS_PER_SECOND : 200 * NS_PER_MS;
	}
	check_store(store);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct slice slice = slice_of(store, end - expected[i].age);

		assert_int_equal(slice.end - slice.begin, expected[i].width);
		assert_int_equal(slice.begin % expected[i].width, 0);
		assert_int_equal(count_of(&slice, store_whos(store)), 1);
	}
	assert_int_equal(slice_number(store, 0).begin, 0);
	assert_int_equal(total_weight(store), added);
	assert_int_equal(store_given_up(store), 0);
	store_free(store);
}

static void a_late_event_finds_a_merged_slice(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct slice slice;

	(void)state;
	store_add(store, 100 * NS_PER_SECOND, &plain, 1);
	store_advance(store, 300 * NS_PER_SECOND);
	assert_int_equal(slice_of(store, 100 * NS_PER_SECOND).end, 101 * NS_PER_SECOND);
	store_add(store, 100 * NS_PER_SECOND + 900 * NS_PER_MS, &plain, 1);
	store_add(store, 102 * NS_PER_SECOND + 900 * NS_PER_MS, &plain, 1);
	assert_int_equal(slices_count(store), 2);
	slice = slice_of(store, 100 * NS_PER_SECOND);
	assert_int_equal(weight_of(&slice), 2);
	assert_int_equal(slice_of(store, 102 * NS_PER_SECOND).begin, 102 * NS_PER_SECOND);
	store_free(store);
}

static void hostile_times_and_cpus_take_no_room(void **state)
{
	struct random random = { .state = 5 };
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0;

	(void)state;
	for (size_t i = 0; i < quick_part(100000, 4); i++) {
		uint64_t time = random_next(&random) >> random_below(&random, 64);

		key.who.cpu = (uint16_t)random_next(&random);
		key.who.mode = (uint8_t)random_below(&random, 5);
		store_add(store, time, &key, 1);
		store_missed(store, UINT64_MAX - time, (uint32_t)random_next(&random), 1);
		added += 1;
	}
	store_add(store, UINT64_MAX, &plain, 1);
	store_add(store, 0, &plain, 1);
	assert_true(store_now(store) <= INT64_MAX);
	check_store(store);
	assert_true(total_weight(store) + store_given_up(store) >= added);
	store_free(store);
}

/* ---- against a list ---- */

enum { EVENTS = 20000 };

struct entry {
	uint64_t time;
	struct store_key key;
	uint32_t weight;
};

static void random_entry(struct random *random, uint64_t *now, struct entry *entry)
{
	static const uint64_t steps[] = { 10 * NS_PER_MS, 300 * NS_PER_MS, 20 * NS_PER_SECOND };
	uint64_t late = random_below(random, 10) ? random_below(random, NS_PER_SECOND) :
		random_below(random, 200 * NS_PER_SECOND);

	*now += random_below(random, steps[random_below(random, 3)]);
	*entry = (struct entry) {
		.time = *now > late ? *now - late : 0,
		.key = {
			.stack = (uint32_t)random_below(random, 5),
			.who = {
				.thread = (uint32_t)random_below(random, 3),
				.process = (uint32_t)random_below(random, 2),
				.cpu = (uint16_t)random_below(random, 4),
				.mode = (uint8_t)random_below(random, MODES),
			},
		},
		.weight = (uint32_t)random_below(random, 20),
	};
	if (entry->key.who.mode == MODE_KERNEL)
		entry->key.who.context = (uint8_t)random_below(random, CONTEXTS);
}

/* Each count equals what the list has of that key at that time. */
static void check_slice(const struct slice *slice, const struct who_table *whos, const struct entry *entries,
	size_t count)
{
	struct counts counts = counts_of(slice, whos);

	for (size_t k = 0; k < counts.count; k++) {
		struct counted sum = counts.list[k];

		for (size_t e = 0; e < count; e++) {
			if (entries[e].time < slice->begin || entries[e].time >= slice->end ||
					!same_key(&entries[e].key, &sum.key))
				continue;
			sum.samples--;
			sum.weight -= entries[e].weight;
		}
		assert_int_equal(sum.samples, 0);
		assert_int_equal(sum.weight, 0);
	}
	free(counts.list);
}

static void check_against(struct store *store, const struct entry *entries, size_t count)
{
	uint64_t weight = 0;

	store_settle(store);
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		check_slice(&slice, store_whos(store), entries, count);
	}
	for (size_t e = 0; e < count; e++)
		weight += entries[e].weight;
	assert_int_equal(total_weight(store), weight);
}

static void slices_hold_what_a_list_holds(void **state)
{
	struct random random = { .state = 11 };
	struct entry *entries = calloc(EVENTS, sizeof(*entries));
	struct store *store = store_new(NULL, COUNTS_MAX);
	uint64_t now = 0;

	(void)state;
	assert_non_null(entries);
	for (size_t i = 0; i < quick_part(EVENTS, 4); i++) {
		random_entry(&random, &now, &entries[i]);
		store_add(store, entries[i].time, &entries[i].key, entries[i].weight);
		if (i % 5000 == 300) {
			check_store(store);
			check_against(store, entries, i + 1);
		}
	}
	assert_true(slice_number(store, 0).end - slice_number(store, 0).begin >= 10 * NS_PER_SECOND);
	check_store(store);
	free(entries);
	store_free(store);
}

/* ---- the limit ---- */

/* The weight whose thread is known. */
static uint64_t known_of(const struct store *store, const struct slice *slice)
{
	struct counts counts = counts_of(slice, store_whos(store));
	uint64_t weight = 0;

	for (size_t k = 0; k < counts.count; k++)
		if (counts.list[k].key.who.thread != EVENT_NONE)
			weight += counts.list[k].weight;
	free(counts.list);
	return weight;
}

static uint64_t known_weight(struct store *store)
{
	uint64_t weight = 0;

	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		weight += known_of(store, &slice);
	}
	return weight;
}

static struct who first_who(const struct store *store, const struct slice *slice)
{
	struct run_reader reader = run_read(slice->runs[0]);
	struct run_count count;

	assert_true(run_next(&reader, &count));
	return who_table_list(store_whos(store))[count.who];
}

/* Keys that never come again: the oldest slices forget who ran them, and count that; nothing is lost. */
static void the_oldest_forget_who_ran_them(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0, time = 0;
	struct slice slice;

	(void)state;
	for (; added < 3 * COUNTS_MAX; added++, time += NS_PER_MS / 16) {
		key.stack = (uint32_t)(added % 1000);
		key.who.thread++;
		key.who.mode = (uint8_t)(added % MODES);
		store_add(store, time, &key, 2);
	}
	check_store(store);
	assert_int_equal(store_forgotten(store), 2 * added - known_weight(store));
	assert_int_equal(store_given_up(store), 0);
	assert_int_equal(total_weight(store), 2 * added);
	slice = slice_number(store, 0);
	assert_int_equal(first_who(store, &slice).thread, EVENT_NONE);
	assert_int_equal(first_who(store, &slice).cpu, WHO_NO_CPU);
	slice = slice_of(store, time - NS_PER_MS);
	assert_true(count_of(&slice, store_whos(store)) > 0);
	assert_int_not_equal(first_who(store, &slice).thread, EVENT_NONE);
	assert_true(slices_count(store) > 10);
	store_free(store);
}

/* Stacks that never come again: the oldest are dropped and counted; the newest are there. */
static void what_does_not_fit_at_all_is_counted(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0, time = 0;

	(void)state;
	for (; added < 3 * COUNTS_MAX; added++, time += NS_PER_MS / 16) {
		key.stack++;
		store_add(store, time, &key, 1);
	}
	store_settle(store);
	assert_true(store_sum(store) <= COUNTS_MAX);
	assert_true(store_sum(store) > COUNTS_MAX / 4);
	assert_true(store_given_up(store) > 0);
	assert_int_equal(total_weight(store) + store_given_up(store), added);
	assert_true(slice_of(store, time - NS_PER_MS).run_count > 0);
	store_free(store);
}

/* Others run at each moment, until no numbers are left: those that are gone give theirs, then the older half does. */
static void numbers_of_who_are_given_away(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct store *store = store_new(budget, STORE_COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0, time = 0;
	struct slice slice;

	(void)state;
	for (; added < 300000; added++, time += NS_PER_MS) {
		key.stack = (uint32_t)(added % 10);
		key.who.thread++;
		key.who.mode = (uint8_t)(added % MODES);
		store_add(store, time, &key, 1);
	}
	assert_int_equal(total_weight(store), added);
	assert_int_equal(store_given_up(store), 0);
	assert_int_equal(store_forgotten(store), added - known_weight(store));
	assert_in_range(known_weight(store), 20000, 290000);
	assert_in_range(who_table_count(store_whos(store)), 20000, 200000);
	slice = slice_of(store, time - NS_PER_MS);
	assert_int_equal(known_of(store, &slice), weight_of(&slice));
	check_store(store);
	store_free(store);
	budget_release(budget);
}

/* More samples than the finest slices may take: the oldest of these are seconds, but the sums of each are known. */
static void the_finest_slices_have_their_bound(void **state)
{
	struct store *store = store_new(NULL, 16 * COUNTS_MAX);
	struct random random = { .state = 15 };
	struct store_key key = plain;
	uint64_t time, size = 0, from;

	(void)state;
	for (time = 0; time < 60 * NS_PER_SECOND; time += NS_PER_MS / 50) {
		key.stack = (uint32_t)random_below(&random, 1 << 20);
		store_add(store, time, &key, 1);
	}
	assert_int_equal(total_weight(store), time / (NS_PER_MS / 50));
	from = store_fine_from(store);
	assert_in_range(from, NS_PER_SECOND, 59 * NS_PER_SECOND);
	assert_int_equal(from % NS_PER_SECOND, 0);
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		assert_true((slice.begin >= from) == (slice.end - slice.begin == STORE_SLICE_NS));
		for (size_t k = 0; slice.begin >= from && k < slice.run_count; k++)
			size += slice.runs[k]->size;
	}
	assert_in_range(size, STORE_FINE_BYTES / 4, STORE_FINE_BYTES);
	for (uint64_t number = 0; number < time / STORE_SLICE_NS; number++)
		assert_int_equal(store_fine_sum(store, number).mode[MODE_USER], 1000);
	store_add(store, 200 * NS_PER_SECOND, &plain, 3);
	assert_int_equal(store_fine_sum(store, 10000).mode[MODE_USER], 3);
	assert_int_equal(store_fine_sum(store, 2000).mode[MODE_USER], 0);
	assert_int_equal(store_fine_sum(store, 2001).mode[MODE_USER], 1000);
	store_free(store);
}

/* While the finest slices are held back, the others grow older as ever. So slices stay in order for a late sample. */
static void coarse_slices_age_after_a_flood(void **state)
{
	struct store *store = store_new(NULL, STORE_COUNTS_MAX);
	struct random random = { .state = 16 };
	struct store_key key = plain;
	uint64_t time, end = 0, flood = 700 * NS_PER_SECOND;

	(void)state;
	for (time = 100 * NS_PER_SECOND; time < flood; time += 500 * NS_PER_MS)
		store_add(store, time, &key, 1);
	for (; time < flood + 20 * NS_PER_SECOND; time += NS_PER_MS / 50) {
		key.stack = (uint32_t)random_below(&random, 1 << 20);
		store_add(store, time, &key, 1 + (uint32_t)random_below(&random, 1 << 30));
	}
	assert_true(store_fine_from(store) > flood);
	store_advance(store, flood + 80 * NS_PER_SECOND);
	store_add(store, 150 * NS_PER_SECOND + 500 * NS_PER_MS, &plain, 1);
	store_settle(store);
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		assert_true(slice.begin >= end);
		assert_true(slice.begin >= 170 * NS_PER_SECOND || slice.end - slice.begin == 10 * NS_PER_SECOND);
		end = slice.end;
	}
	store_free(store);
}

/* Those around its second become coarser as ever, until they are one with it in the oldest slice. */
static void a_pinned_range_keeps_its_slices(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	uint64_t from = 205 * NS_PER_MS, to = 298 * NS_PER_MS;

	(void)state;
	for (uint64_t time = 0; time < 2 * NS_PER_SECOND; time += NS_PER_MS)
		store_add(store, time, &plain, 2);
	assert_true(store_pin(store, &from, &to));
	assert_int_equal(from, 200 * NS_PER_MS);
	assert_int_equal(to, 300 * NS_PER_MS);
	store_advance(store, 3000 * NS_PER_SECOND);
	store_add(store, 250 * NS_PER_MS, &plain, 1);
	store_settle(store);
	check_store(store);
	assert_int_equal(slices_count(store), 50 + 1);
	assert_int_equal(weight_within(store, from, to), 5 * 40 + 1);
	assert_int_equal(weight_within(store, 0, from), 400);
	assert_int_equal(weight_within(store, to, 10 * NS_PER_SECOND), 4001 - 400 - 201);
	from++;
	assert_true(store_pin(store, &from, &to));	/* it is there, though no other can be */
	from += NS_PER_SECOND;
	to += NS_PER_SECOND;
	assert_false(store_pin(store, &from, &to));
	store_advance(store, 2 * 86400 * NS_PER_SECOND);
	assert_int_equal(slices_count(store), 1);
	assert_int_equal(total_weight(store), 4001);
	from = 200 * NS_PER_MS;
	to = 300 * NS_PER_MS;
	assert_false(store_pin(store, &from, &to));
	store_free(store);
}

/* Keys that come again and again: slices that do not fit are merged, and nothing is lost. */
static void repeated_keys_merge_before_any_is_lost(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0;

	(void)state;
	for (uint64_t time = 0; added < COUNTS_MAX + COUNTS_MAX / 8; time += NS_PER_SECOND)
		for (key.stack = 0; key.stack < 10000; key.stack++, added++)
			store_add(store, time, &key, 1);
	check_store(store);
	assert_int_equal(store_given_up(store), 0);
	assert_int_equal(store_forgotten(store), 0);
	assert_int_equal(total_weight(store), added);
	assert_int_equal(slice_number(store, 0).begin, 0);
	assert_true(slice_number(store, 0).end > NS_PER_SECOND);
	store_advance(store, 300 * NS_PER_SECOND);	/* the next samples make the slices beside them coarser */
	check_store(store);
	assert_int_equal(total_weight(store), added);
	store_free(store);
}

static void one_full_slice_refuses_and_counts(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);
	struct store_key key = plain;
	uint64_t added = 0;

	(void)state;
	for (key.stack = 0; added < COUNTS_MAX + 2 * ARRIVALS_MAX; key.stack++, added++)
		store_add(store, 0, &key, 1);
	store_settle(store);
	assert_true(store_sum(store) <= COUNTS_MAX + ARRIVALS_MAX);
	assert_true(store_given_up(store) >= ARRIVALS_MAX);
	assert_int_equal(total_weight(store) + store_given_up(store), added);
	store_add(store, NS_PER_SECOND, &plain, 1);		/* the full slice makes room for the next */
	store_settle(store);
	assert_true(slice_of(store, NS_PER_SECOND).run_count > 0);
	assert_int_equal(total_weight(store) + store_given_up(store), added + 1);
	store_free(store);
}

/* Weights keep the period they were sampled at. A slice of two periods, or a merged one, has their mean. */
static void test_periods(void **state)
{
	struct store *store = store_new(NULL, COUNTS_MAX);

	(void)state;
	store_add(store, 100 * NS_PER_SECOND, &plain, 5);		/* the period is not known yet */
	assert_int_equal(slice_number(store, 0).period, 0);
	store_period(store, 1000000);
	assert_int_equal(slice_number(store, 0).period, 1000000);	/* the first one counts for it */
	store_add(store, 101 * NS_PER_SECOND, &plain, 3);
	store_period(store, 10000000);
	assert_int_equal(slice_number(store, 1).period, 1000000);
	store_add(store, 102 * NS_PER_SECOND, &plain, 1);
	assert_int_equal(slice_number(store, 2).period, 10000000);
	store_add(store, 102 * NS_PER_SECOND, &plain, 1);
	store_period(store, 1000000);
	store_add(store, 102 * NS_PER_SECOND, &plain, 7);
	assert_int_equal(slice_number(store, 2).period, 27000000 / 9);

	store_advance(store, 100000 * NS_PER_SECOND);			/* all in one slice by now */
	store_settle(store);
	assert_int_equal(slices_count(store), 1);
	assert_int_equal(slice_number(store, 0).period, 30000000 / 12);
	store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),
		cmocka_unit_test(equal_keys_are_counted_together),
		cmocka_unit_test(a_late_event_goes_into_its_own_slice),
		cmocka_unit_test(now_moves_forward_only),
		cmocka_unit_test(slices_grow_coarser_with_age),
		cmocka_unit_test(a_late_event_finds_a_merged_slice),
		cmocka_unit_test(hostile_times_and_cpus_take_no_room),
		cmocka_unit_test(slices_hold_what_a_list_holds),
		cmocka_unit_test(the_oldest_forget_who_ran_them),
		cmocka_unit_test(what_does_not_fit_at_all_is_counted),
		cmocka_unit_test(numbers_of_who_are_given_away),
		cmocka_unit_test(the_finest_slices_have_their_bound),
		cmocka_unit_test(coarse_slices_age_after_a_flood),
		cmocka_unit_test(a_pinned_range_keeps_its_slices),
		cmocka_unit_test(repeated_keys_merge_before_any_is_lost),
		cmocka_unit_test(one_full_slice_refuses_and_counts),
	};

	store_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
