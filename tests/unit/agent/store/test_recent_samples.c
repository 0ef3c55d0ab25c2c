/* SPDX-License-Identifier: MIT */
/* The slots of the newest samples against a list of all samples, for random guests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/store/recent_samples.h"
#include "tests/unit/fakes/random.h"

struct one {
	uint64_t number;
	uint32_t stack, weight;
	struct who who;
};

struct list {
	struct one *all;
	size_t count;
	uint64_t newest;
};

enum { STACKS = 5, WHOS = 6 };

struct tally {				/* weights in one slot */
	uint64_t mode[MODES];
	uint64_t by[STACKS][WHOS];
};

static struct who who_of(uint32_t number)
{
	return (struct who) { .process = number / 2, .thread = number, .cpu = (uint16_t)(number % 2),
		.mode = (uint8_t)(number % MODES),
		.context = number % MODES == MODE_KERNEL ? CONTEXT_IRQ : CONTEXT_UNTOLD };
}

/* What the list has of a slot. */
static bool expect(const struct list *list, uint64_t number, struct tally *tally)
{
	bool any = false;

	memset(tally, 0, sizeof(*tally));
	for (size_t i = 0; i < list->count; i++) {
		const struct one *one = &list->all[i];

		if (one->number != number)
			continue;
		any = true;
		tally->mode[one->who.mode] += one->weight;
		tally->by[one->stack][one->who.thread] += one->weight;
	}
	return any;
}

static void count_runs(const struct recent_slot *slot, struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	for (size_t i = 0; i < slot->run_count; i++) {
		struct run_reader reader = run_read(slot->runs[i]);
		struct run_count count;

		while (run_next(&reader, &count)) {
			const struct who *who = &slot->runs[i]->who[count.who];

			assert_true(who_compare(who, &(struct who) { .process = who_of(who->thread).process,
				.thread = who->thread, .cpu = who_of(who->thread).cpu,
				.mode = who_of(who->thread).mode, .context = who_of(who->thread).context }) == 0);
			tally->mode[who->mode] += count.weight;
			tally->by[count.stack][who->thread] += count.weight;
		}
	}
}

/* Returns how many slots are bare. */
static size_t check(struct recent_samples *recent, const struct list *list)
{
	uint64_t first = list->newest >= RECENT_SLOTS ? list->newest - RECENT_SLOTS + 1 : 0;
	size_t bare = 0;
	bool whole = false;

	recent_samples_settle(recent);
	for (uint64_t number = first > 3 ? first - 3 : 0; number <= list->newest + 3; number++) {
		struct recent_slot slot = recent_samples_get(recent, number);
		struct tally wanted, got;
		bool there = expect(list, number, &wanted) && number >= first;

		assert_int_equal(slot.version != 0, there);
		if (!there)
			continue;
		assert_memory_equal(slot.mode, wanted.mode, sizeof(wanted.mode));
		count_runs(&slot, &got);
		if (slot.bare)
			assert_int_equal(slot.run_count, 0);
		else
			assert_memory_equal(&got, &wanted, sizeof(got));
		assert_false(whole && slot.bare);	/* the oldest are bare */
		whole = !slot.bare;
		bare += slot.bare;
	}
	return bare;
}

static void add(struct recent_samples *recent, struct list *list, struct random *random, uint64_t time)
{
	struct one one = { .number = time / RECENT_NS, .stack = (uint32_t)random_below(random, STACKS),
		.weight = 1 + (uint32_t)random_below(random, 3), .who = who_of((uint32_t)random_below(random, WHOS)) };
	uint64_t newest = one.number > list->newest ? one.number : list->newest;

	recent_samples_add(recent, time, one.stack, &one.who, one.weight);
	if (one.number + RECENT_SLOTS > list->newest)	/* else it came too late */
		list->all[list->count++] = one;
	list->newest = newest;
}

static size_t run_guest(uint64_t seed, struct budget *budget, uint64_t step, size_t samples, uint64_t late_most)
{
	struct random random = { .state = seed };
	struct recent_samples *recent = recent_samples_new(budget);
	struct list list = { .all = util_alloc(samples * sizeof(*list.all)) };
	uint64_t now = random_below(&random, 2) * 12345678901234567;
	size_t bare = 0;

	for (size_t i = 0; i < samples; i++) {
		uint64_t late = random_below(&random, 3) ? 0 : random_below(&random, late_most);

		now += random_below(&random, step);
		add(recent, &list, &random, now > late ? now - late : 0);
		if (random_below(&random, samples / 2) == 0)
			bare = check(recent, &list);
	}
	bare = check(recent, &list);
	recent_samples_free(recent);
	free(list.all);
	return bare;
}

static void each_slot_has_its_samples(void **state)
{
	(void)state;
	assert_int_equal(run_guest(41, NULL, 30 * NS_PER_MS, 3000, NS_PER_SECOND), 0);
	assert_int_equal(run_guest(42, NULL, 400 * NS_PER_MS, 2000, 100 * NS_PER_SECOND), 0);
	assert_int_equal(run_guest(43, NULL, 200 * NS_PER_SECOND, 200, 100 * NS_PER_SECOND), 0);
	assert_int_equal(run_guest(44, NULL, 20000, 4000, 2 * NS_PER_SECOND), 0);
}

/* With little memory the oldest slots are bare. All of it is given back. */
static void the_oldest_go(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget), taken = left - (48 << 10);
	size_t bare;

	(void)state;
	assert_true(budget_take(budget, taken));
	bare = run_guest(45, budget, 20 * NS_PER_MS, 6000, NS_PER_SECOND);
	assert_in_range(bare, 1, 6000);
	budget_give(budget, taken);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_slot_has_its_samples),
		cmocka_unit_test(the_oldest_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
