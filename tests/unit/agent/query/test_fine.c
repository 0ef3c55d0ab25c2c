/* SPDX-License-Identifier: MIT */
/* Ranges that are shorter than a slice, against a list of all samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/tree/tree.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "random_guest.h"

struct truth {
	uint64_t weight, samples, kernel;
};

static struct truth truth_of(const struct world *world, const struct question *question)
{
	struct truth truth = { 0 };

	for (size_t i = 0; i < world->count; i++) {
		const struct taken *taken = &world->list[i];

		if (taken->missed || taken->time < question->from || taken->time >= question->to)
			continue;
		truth.weight += taken->weight;
		truth.samples++;
		truth.kernel += taken->mode == MODE_KERNEL ? taken->weight : 0;
	}
	return truth;
}

static void add_stack(void *context, const struct query_stack *stack)
{
	struct truth *sum = context;

	sum->weight += stack->weight;
	sum->samples += stack->samples;
}

/* Each kind of answer has the samples of the range, and tells its ends. */
static void check(struct world *world, const struct question *question)
{
	struct truth truth = truth_of(world, question), sum = { 0 };
	struct cpu_series cpus[4] = { 0 };
	struct table *table = query_table(world->query, question);
	const struct tree_question wanted = { .orders = 1 << TREE_DOWN };
	struct tree *tree = query_tree(world->query, question, &wanted, "");
	uint64_t on_cpus = 0;

	assert_int_equal(table->weight, truth.weight);
	assert_int_equal(table->samples, truth.samples);
	assert_int_equal(table->mode[MODE_KERNEL], truth.kernel);
	assert_int_equal(table->from, question->from);
	assert_int_equal(table->to, question->to);
	assert_int_equal(tree->weight, truth.weight);
	assert_int_equal(tree->from, question->from);
	assert_true(query_stacks(world->query, question, add_stack, &sum));
	assert_int_equal(sum.weight, truth.weight);
	assert_int_equal(sum.samples, truth.samples);
	query_cpus(world->query, question, cpus, 4);
	for (int i = 0; i < 4; i++)
		on_cpus += world_sum(cpus[i].mode, MODES);
	assert_int_equal(on_cpus, truth.weight);
	table_free(table);
	tree_free(tree);
}

static void take(struct world *world, struct random *random, uint64_t now)
{
	struct taken taken;

	random_taken(random, now, &taken);
	taken.missed = false;
	world_take(world, &taken);
}

/* At most a second, somewhere in the last minute. */
static struct question random_range(struct random *random, const struct world *world, uint32_t reader)
{
	uint64_t now = store_now(world->inputs.store), length = 1 + random_below(random, STORE_PIN_MOST);
	uint64_t ago = length + random_below(random, 60 * NS_PER_SECOND);

	return (struct question) { .from = now > ago ? now - ago : 0, .to = (now > ago ? now - ago : 0) + length,
		.reader = reader };
}

static void ranges_are_exact_to_their_slots(void **state)
{
	struct random random = { .state = 71 };
	struct world world = world_new();
	uint32_t readers[2] = { query_reader_new(world.query), query_reader_new(world.query) };
	uint64_t now = 0;

	(void)state;
	for (size_t i = 0; i < quick_part(8000, 4); i++) {
		uint64_t late = random_below(&random, 5) ? 0 : random_below(&random, 3 * NS_PER_SECOND);

		now += random_below(&random, 40 * NS_PER_MS);
		take(&world, &random, now > late ? now - late : 0);
		if (random_below(&random, 20) == 0) {
			struct question question = random_range(&random, &world, readers[random_below(&random, 2)]);
			uint64_t from = question.from, to = question.to;

			query_round(world.query, &question);
			assert_true(question.fine);
			assert_in_range(question.from + STORE_SLICE_NS - from, 0, 2 * STORE_SLICE_NS);
			assert_in_range(question.to + STORE_SLICE_NS - to, 0, 2 * STORE_SLICE_NS);
			check(&world, &question);
		}
	}
	world_free(&world);
}

/* What was asked for once stays exact, until others have taken its place. Then it is made of slices. */
static void a_range_stays_when_its_samples_are_old(void **state)
{
	struct random random = { .state = 72 };
	struct world world = world_new();
	const struct question asked = { .from = 30100 * NS_PER_MS, .to = 30160 * NS_PER_MS,
		.reader = query_reader_new(world.query) };
	struct question question = asked;
	uint64_t now = 0;

	(void)state;
	for (; now < 40 * NS_PER_SECOND; now += 3 * NS_PER_MS)
		take(&world, &random, now);
	query_round(world.query, &question);
	check(&world, &question);
	for (; now < 300 * NS_PER_SECOND; now += 3 * NS_PER_MS)
		take(&world, &random, now);
	question = asked;
	query_round(world.query, &question);
	assert_true(question.fine);
	check(&world, &question);
	for (uint64_t i = 1; i <= STORE_PINS; i++) {
		question = (struct question) { .from = now - i * NS_PER_SECOND, .to = now - i * NS_PER_SECOND + 1 };
		query_round(world.query, &question);
		assert_true(question.fine);
	}
	question = asked;
	query_round(world.query, &question);
	assert_false(question.fine);
	assert_int_equal(question.to - question.from, NS_PER_SECOND);
	check(&world, &question);
	world_free(&world);
}

/* The samples that have come since make the slices of the range coarser, just as it is asked for. */
static void ranges_may_become_coarser_as_they_are_asked_for(void **state)
{
	struct random random = { .state = 75 };
	struct world world = world_new();
	unsigned coarse = 0;

	(void)state;
	for (uint64_t now = 2 * NS_PER_SECOND; now < 6 * NS_PER_SECOND; now += STORE_SLICE_NS) {
		struct question question = { .from = now - 1900 * NS_PER_MS, .to = now - 1080 * NS_PER_MS };

		for (uint64_t i = 0; i < 10000; i++) {
			struct store_key key = { .stack = (uint32_t)random_below(&random, 1 << 20) };
			uint32_t weight = 1 + (uint32_t)random_below(&random, 1 << 30);

			store_add(world.inputs.store, now + i, &key, weight);
		}
		query_round(world.query, &question);
		coarse += !question.fine;
		assert_true(question.from <= now && question.to <= now + NS_PER_SECOND);
	}
	assert_true(coarse > 1);
	world_free(&world);
}

static void longer_ranges_are_made_of_slices(void **state)
{
	struct random random = { .state = 73 };
	struct world world = world_new();
	struct question question = { .from = 3010 * NS_PER_MS, .to = 4020 * NS_PER_MS };

	(void)state;
	for (uint64_t now = 0; now < 10 * NS_PER_SECOND; now += 3 * NS_PER_MS)
		take(&world, &random, now);
	query_round(world.query, &question);
	assert_false(question.fine);
	assert_int_equal(question.from, 3000 * NS_PER_MS);
	assert_int_equal(question.to, 4020 * NS_PER_MS);
	check(&world, &question);
	world_free(&world);
}

/* A reader goes from a fine range to a live window and back, with a filter: nothing of one is left in the other. */
static void a_reader_changes_its_range(void **state)
{
	struct random random = { .state = 74 };
	struct world world = world_new();
	uint32_t reader = query_reader_new(world.query);
	uint64_t now = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct question fine = { .reader = reader }, live = { .to = UINT64_MAX, .reader = reader };

		for (int k = 0; k < 200; k++, now += 5 * NS_PER_MS)
			take(&world, &random, now);
		fine.from = now - 500 * NS_PER_MS;
		fine.to = fine.from + 100 * NS_PER_MS;
		live.filter = random_filter(&random);
		live.from = now > 10 * NS_PER_SECOND ? now - 10 * NS_PER_SECOND : 0;
		query_round(world.query, &fine);
		check(&world, &fine);
		world_check(&world, &live, 0, false);
	}
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_exact_to_their_slots),
		cmocka_unit_test(a_range_stays_when_its_samples_are_old),
		cmocka_unit_test(ranges_may_become_coarser_as_they_are_asked_for),
		cmocka_unit_test(longer_ranges_are_made_of_slices),
		cmocka_unit_test(a_reader_changes_its_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
