/* SPDX-License-Identifier: MIT */
/* The slots of a heat map against the stacks of the same question, slice by slice, and a list of all samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/series.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/random.h"
#include "random_guest.h"
#include "time_guest.h"

struct sums {
	const struct symbols *symbols;
	uint64_t of;
	uint64_t part;
};

static void add_stack(void *context, const struct query_stack *stack)
{
	struct sums *sums = context;
	bool wanted = !sums->of;

	for (size_t i = 0; i < stack->depth; i++)
		wanted = wanted || time_guest_is(sums->symbols, stack->functions[i], sums->of);
	sums->part += wanted && stack->mode != MODE_IDLE ? stack->weight : 0;
}

/* The same by query_stacks, as another reader. */
static uint64_t part_of(struct world *world, struct question question, uint64_t of)
{
	struct sums sums = { .symbols = world->inputs.symbols, .of = of };

	question.reader = QUERY_ANYBODY;
	query_stacks(world->query, &question, add_stack, &sums);
	return sums.part;
}

static uint64_t weight_of(const struct world *world, uint64_t number)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < world->count; i++)
		weight += world->list[i].time / HEAT_NS == number ? world->list[i].weight : 0;
	return weight;
}

/* Parts of the map that are whole slots, and whole slices of the store: these are longer after two minutes. */
static uint64_t part_at(uint64_t from, uint64_t now)
{
	return from + 118 * NS_PER_SECOND > now ? NS_PER_SECOND / 2 : NS_PER_SECOND;
}

static void check(struct random *random, struct world *world, const struct question *question, uint64_t of)
{
	static struct heat heat;
	uint64_t now = store_now(world->inputs.store), second = NS_PER_SECOND / HEAT_NS, from;
	struct question part = *question;

	(void)random;
	heat_make(world->query, question, of, now, &heat);
	assert_int_equal(heat.first + heat.count - 1, now / HEAT_NS);
	assert_in_range(heat.count, 1, HEAT_SLOTS);
	for (size_t i = 0; i < heat.count; i += 37)
		assert_int_equal(heat.slots[i].whole, weight_of(world, heat.first + i));
	from = (heat.first + second - 1) / second * NS_PER_SECOND;
	for (; from + part_at(from, now) <= now; from = part.to) {
		uint64_t sum = 0;

		part.from = from;
		part.to = from + part_at(from, now);
		for (uint64_t i = from / HEAT_NS; i < part.to / HEAT_NS; i++)
			sum += heat.slots[i - heat.first].part;
		assert_int_equal(sum, part_of(world, part, of));
	}
}

static void slots_are_the_stacks_of_their_time(void **state)
{
	(void)state;
	time_guest_run(51, 10 * NS_PER_MS, 2000, 60, check);
	time_guest_run(52, 80 * NS_PER_MS, 2000, 60, check);
	time_guest_run(53, 500 * NS_PER_MS, 1000, 60, check);
}

static void ask(struct world *world, const struct question *question, uint64_t now)
{
	static struct heat heat;

	heat_make(world->query, question, 0, now, &heat);
}

static void only_what_is_new_is_walked(void **state)
{
	(void)state;
	assert_in_range(time_guest_walked(54, 10 * NS_PER_MS, ask), 1, (HEAT_SECOND + 2) * 120);
}

/* A map that ends in the past does not change, and neither does one for which the samples have gone meanwhile. */
static void the_past_stays(void **state)
{
	static struct heat before, after;
	struct random random = { .state = 55 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query),
		.filter = filter_of("cpu:1") };
	struct taken taken;

	(void)state;
	for (uint64_t now = 0; now < 100 * NS_PER_SECOND; now += 50 * NS_PER_MS) {
		random_taken(&random, now, &taken);
		taken.missed = false;
		world_take(&world, &taken);
		if (now == 40 * NS_PER_SECOND)
			heat_make(world.query, &question, 0, 30 * NS_PER_SECOND, &before);
	}
	heat_make(world.query, &question, 0, 30 * NS_PER_SECOND, &after);
	assert_int_equal(before.count, 1501);
	assert_memory_equal(before.slots, after.slots, before.count * sizeof(*before.slots));
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_the_stacks_of_their_time),
		cmocka_unit_test(only_what_is_new_is_walked),
		cmocka_unit_test(the_past_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
