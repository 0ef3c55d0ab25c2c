/* SPDX-License-Identifier: MIT */
/* The series of a time line against the stacks of the same question, slot by slot, for random guests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/series.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/sums.h"
#include "time_guest.h"

struct sums {
	const struct symbols *symbols;
	uint64_t of;
	struct series_slot slot;
};

static void add_stack(void *context, const struct query_stack *stack)
{
	struct sums *sums = context;
	bool wanted = false;

	for (size_t i = 0; sums->of && i < stack->depth; i++)
		wanted = wanted || time_guest_is(sums->symbols, stack->functions[i], sums->of);
	sums->slot.mode[stack->mode] += stack->weight;
	sums->slot.part += wanted ? stack->weight : 0;
}

/* The same by query_stacks, as another reader. */
static struct series_slot slot_of(struct world *world, struct question question, uint64_t of)
{
	static const struct filter everything = { .count = 0 };
	struct sums sums = { .symbols = world->inputs.symbols, .of = of }, all = { .of = 0 };

	question.reader = QUERY_ANYBODY;
	query_stacks(world->query, &question, add_stack, &sums);
	question.filter = everything;
	query_stacks(world->query, &question, add_stack, &all);
	for (int mode = 0; mode < MODES; mode++)
		sums.slot.whole += all.slot.mode[mode];
	return sums.slot;
}

static void add(struct series_slot *to, const struct series_slot *slot)
{
	to->whole += slot->whole;
	to->part += slot->part;
	for (int mode = 0; mode < MODES; mode++)
		to->mode[mode] += slot->mode[mode];
}

static void assert_equal(const struct series_slot *a, const struct series_slot *b)
{
	assert_int_equal(a->whole, b->whole);
	assert_int_equal(a->part, b->part);
	for (int mode = 0; mode < MODES; mode++)
		assert_int_equal(a->mode[mode], b->mode[mode]);
}

/* True if the slot begins and ends where slices do. */
static bool is_whole(const struct store *store, uint64_t begin, uint64_t end)
{
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		struct slice slice = at.slice;

		if ((slice.begin < begin && slice.end > begin) || (slice.begin < end && slice.end > end))
			return false;
	}
	return true;
}

/* Compares slots that are whole slices one by one, and all of them together. */
static void check(struct random *random, struct world *world, const struct question *question, uint64_t of)
{
	static struct series series;
	size_t most = 1 + random_below(random, SERIES_SLOTS);
	struct series_slot all = { .whole = 0 }, wanted;
	struct question part = *question;

	series_make(world->query, question, of, most, &series);
	assert_in_range(series.count, 1, most);
	assert_int_equal(series.begin % series.width, 0);
	assert_in_range(store_now(world->inputs.store), series.begin + (series.count - 1) * series.width,
		series.begin + series.count * series.width - 1);
	for (size_t i = 0; i < series.count; i++) {
		part.from = series.begin + i * series.width;
		part.to = part.from + series.width;
		add(&all, &series.slots[i]);
		if (!is_whole(world->inputs.store, part.from, part.to))
			continue;
		wanted = slot_of(world, part, of);
		assert_equal(&series.slots[i], &wanted);
	}
	if (!is_whole(world->inputs.store, series.begin, series.begin))
		return;
	part.from = series.begin;
	part.to = UINT64_MAX;
	wanted = slot_of(world, part, of);
	assert_equal(&all, &wanted);
}

static void slots_are_the_stacks_of_their_time(void **state)
{
	(void)state;
	time_guest_run(31, 80 * NS_PER_MS, 2000, 40, check);
	time_guest_run(32, 500 * NS_PER_MS, 2000, 40, check);
	time_guest_run(33, 6 * NS_PER_SECOND, 2000, 40, check);
}

static void ask(struct world *world, const struct question *question, uint64_t now)
{
	static struct series series;

	(void)now;
	series_make(world->query, question, 0, 80, &series);
}

static void only_what_is_new_is_walked(void **state)
{
	(void)state;
	/* Of 240 answers each walks a slot at most, which gets up to 16 slices wide; and all, when slots get wider. */
	assert_in_range(time_guest_walked(34, 100 * NS_PER_MS, ask), 1, 240 * 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_the_stacks_of_their_time),
		cmocka_unit_test(only_what_is_new_is_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
