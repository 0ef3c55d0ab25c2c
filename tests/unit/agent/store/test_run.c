/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/store/run.h"
#include "agent/store/stacks.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/random.h"

enum { WHO = 300, STACKS = 50, ROUNDS = 60 };

/* What a run should hold, by stack (the last row is STACKS_NONE) and by who. */
struct sums {
	uint64_t samples[STACKS + 1][WHO];
	uint64_t weight[STACKS + 1][WHO];
};

static struct who who_at(uint32_t i)
{
	return (struct who) {
		.process = i % 3, .thread = i / 9, .cpu = (uint16_t)(i % 5), .mode = i % MODES,
		.context = i % MODES == MODE_KERNEL ? i / MODES % CONTEXTS : CONTEXT_UNTOLD,
	};
}

static int in_order(const void *a, const void *b)
{
	return who_compare(a, b);
}

/* All who there are, in order, each once. */
static uint32_t everybody(struct who all[WHO])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WHO; i++)
		all[i] = who_at(i);
	qsort(all, WHO, sizeof(*all), in_order);
	for (uint32_t i = 0; i < WHO; i++)
		if (count == 0 || who_compare(&all[count - 1], &all[i]) != 0)
			all[count++] = all[i];
	return count;
}

static uint32_t place_of(const struct who *who)
{
	for (uint32_t i = 0; i < WHO; i++) {
		struct who other = who_at(i);

		if (who_compare(who, &other) == 0)
			return i;
	}
	fail_msg("there is nobody like that");
	return 0;
}

static uint32_t stack_row(uint32_t stack)
{
	return stack == STACKS_NONE ? STACKS : stack / 1000;
}

/* Numbers of all lengths; many are small, or at the edge of a byte. */
static uint64_t any_number(struct random *random, unsigned bits)
{
	uint64_t number = random_next(random) >> (64 - 1 - random_below(random, bits));

	return random_below(random, 3) ? number | 1 : (1ull << 7 * random_below(random, bits / 7)) -
		random_below(random, 2) + 1;
}

static struct run *make_run(struct random *random, struct budget *budget, struct sums *sums)
{
	struct who all[WHO], some[WHO];
	uint32_t count = everybody(all), used = 0, most = 1u << random_below(random, 9);
	struct run_writer writer;

	for (uint32_t i = 0; i < count && used < most; i++)
		if (random_below(random, count) < most)
			some[used++] = all[i];
	assert_true(run_begin(&writer, budget, used, (STACKS + 1) * used * RUN_COUNT_MAX));
	memcpy(writer.run->who, some, used * sizeof(*some));
	for (uint32_t row = 0; row <= STACKS; row++) {
		uint32_t stack = row ? (row - 1) * 1000 : STACKS_NONE;

		for (uint32_t i = 0; i < used; i++) {
			struct run_count one = {
				.stack = stack, .who = i, .samples = any_number(random, 40),
			};

			if (random_below(random, 4))
				continue;
			one.weight = random_below(random, 2) ? one.samples : any_number(random, 60);
			run_put(&writer, &one);
			sums->samples[stack_row(stack)][place_of(&some[i])] += one.samples;
			sums->weight[stack_row(stack)][place_of(&some[i])] += one.weight;
		}
	}
	return run_end(&writer);
}

/* Each key is there once, in order, with its sums; there are no others. */
static void check_run(const struct run *run, const struct sums *sums)
{
	struct run_reader reader = run_read(run);
	struct sums left = *sums;
	struct run_count count;
	uint64_t last = 0;

	for (uint32_t i = 0; run_next(&reader, &count); i++) {
		uint64_t key = (uint64_t)(uint32_t)(count.stack + 1) << 32 | count.who;
		uint32_t row = stack_row(count.stack), place;

		assert_in_range(count.who, 0, run->who_count - 1);
		place = place_of(&run->who[count.who]);
		assert_true(i == 0 || key > last);
		assert_int_equal(left.samples[row][place], count.samples);
		assert_int_equal(left.weight[row][place], count.weight);
		left.samples[row][place] = left.weight[row][place] = 0;
		last = key;
	}
	assert_int_equal(reader.at - (const uint8_t *)run, run->size);
	for (uint32_t row = 0; row <= STACKS; row++)
		for (uint32_t i = 0; i < WHO; i++)
			assert_int_equal(left.samples[row][i], 0);
}

static void a_merged_run_holds_both(void **state)
{
	struct random random = { .state = 3 };
	struct sums *sums = malloc(sizeof(*sums));

	(void)state;
	assert_non_null(sums);
	for (int round = 0; round < ROUNDS; round++) {
		struct run *a, *b, *both;

		memset(sums, 0, sizeof(*sums));
		a = make_run(&random, NULL, sums);
		if (round % 10 == 0)
			check_run(a, sums);
		b = make_run(&random, NULL, sums);
		both = run_merge(NULL, a, b);
		assert_non_null(both);
		if (round % 10 == 0)
			check_run(both, sums);
		run_free(a);
		run_free(b);
		run_free(both);
	}
	free(sums);
}

static void what_is_forgotten_is_only_who(void **state)
{
	struct random random = { .state = 8 };
	struct sums *sums = calloc(1, sizeof(*sums));
	struct run *run, *rest;
	struct run_reader reader;
	struct run_count count;
	uint64_t samples[STACKS + 1][MODES][CONTEXTS] = { 0 }, weight[STACKS + 1][MODES][CONTEXTS] = { 0 };

	(void)state;
	assert_non_null(sums);
	run = make_run(&random, NULL, sums);
	for (reader = run_read(run); run_next(&reader, &count);) {
		const struct who *who = &run->who[count.who];

		samples[stack_row(count.stack)][who->mode][who->context] += count.samples;
		weight[stack_row(count.stack)][who->mode][who->context] += count.weight;
	}
	rest = run_forget(NULL, run);
	assert_non_null(rest);
	for (reader = run_read(rest); run_next(&reader, &count);) {
		const struct who *who = &rest->who[count.who];
		uint32_t row = stack_row(count.stack);

		assert_int_equal(who->thread, EVENT_NONE);
		assert_int_equal(who->process, EVENT_KERNEL);
		assert_int_equal(who->cpu, WHO_NO_CPU);
		assert_int_equal(count.samples, samples[row][who->mode][who->context]);
		assert_int_equal(count.weight, weight[row][who->mode][who->context]);
		samples[row][who->mode][who->context] = weight[row][who->mode][who->context] = 0;
	}
	for (uint32_t row = 0; row <= STACKS; row++)
		for (uint32_t mode = 0; mode < MODES; mode++)
			for (uint32_t context = 0; context < CONTEXTS; context++)
				assert_int_equal(weight[row][mode][context], 0);
	run_free(run);
	run_free(rest);
	free(sums);
}

/* A sample of weight 1 whose key is next to the one before takes one byte. */
static void common_counts_are_small(void **state)
{
	struct run_writer writer;
	struct run *run;

	(void)state;
	assert_true(run_begin(&writer, NULL, 2, 2000 * RUN_COUNT_MAX));
	writer.run->who[0] = who_at(0);
	writer.run->who[1] = who_at(9);
	for (uint32_t i = 0; i < 2000; i++)
		run_put(&writer, &(struct run_count) {
			.stack = i / 2, .who = i % 2, .samples = 1, .weight = 1,
		});
	run = run_end(&writer);
	assert_int_equal(run->size, offsetof(struct run, who) + 2 * sizeof(struct who) + 2000);
	run_free(run);
}

/*
 * Each stack has four counts. Three of them are next to the one before. Merged with the other run's list of
 * who, each is a quarter of that list away: 5 bytes become 12.
 */
static void distances_may_grow_by_a_whole_list(void **state)
{
	enum { MANY = 256, QUARTER = 8192, FAR_STACKS = 420000 };
	static const uint32_t edges[] = { 0, 1, MANY - 2, MANY - 1 };
	struct run_writer writer;
	struct run *few, *many, *both;
	struct run_reader reader;
	struct run_count count;
	uint32_t place = 0, counts = 0;

	(void)state;
	assert_true(run_begin(&writer, NULL, MANY, 4 * FAR_STACKS * RUN_COUNT_MAX));
	for (uint32_t i = 0; i < MANY; i++)
		writer.run->who[i] = (struct who) { .thread = i < 1 ? 0 : i < MANY - 2 ?
			QUARTER + i - 1 : (i - MANY + 4) * QUARTER };
	for (uint32_t i = 0; i < 4 * FAR_STACKS; i++)
		run_put(&writer, &(struct run_count) {
			.stack = i / 4, .who = edges[i % 4], .samples = 1, .weight = 1,
		});
	few = run_end(&writer);
	assert_true(run_begin(&writer, NULL, 3 * QUARTER + 1 - MANY, RUN_COUNT_MAX));
	for (uint32_t thread = 0; thread < 3 * QUARTER; thread++)
		if (thread % QUARTER && !(thread > QUARTER && thread < QUARTER + MANY - 3))
			writer.run->who[place++] = (struct who) { .thread = thread };
	assert_int_equal(place, 3 * QUARTER + 1 - MANY);
	run_put(&writer, &(struct run_count) { .stack = 7, .samples = 1, .weight = 1 });
	many = run_end(&writer);

	both = run_merge(NULL, few, many);
	assert_non_null(both);
	assert_int_equal(both->counts, 4 * FAR_STACKS + 1);
	for (reader = run_read(both); run_next(&reader, &count); counts++)
		assert_int_equal(count.samples, 1);
	assert_int_equal(counts, both->counts);
	assert_int_equal(reader.at - (const uint8_t *)both, both->size);
	run_free(few);
	run_free(many);
	run_free(both);
}

/* Counts that do not fit are measured, and nothing is written behind the end. */
static void a_run_that_does_not_fit_says_by_how_much(void **state)
{
	const struct run_count counts[] = {
		{ .stack = 3, .samples = 1, .weight = 1 },
		{ .stack = 1000000, .samples = 1ull << 40, .weight = 1ull << 60 },
		{ .stack = 1000001, .samples = 1, .weight = 1 },
	};
	struct run_writer writer;
	size_t missing = 0;

	(void)state;
	for (size_t bytes = 0; bytes == 0 || missing; bytes++) {
		struct run *run;

		assert_true(run_begin(&writer, NULL, 1, bytes));
		writer.run->who[0] = who_at(0);
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			run_put(&writer, &counts[i]);
		missing = writer.missing;
		run = run_end(&writer);
		assert_int_equal(run == NULL, missing != 0);
		run_free(run);
		assert_true(run_begin(&writer, NULL, 1, bytes + missing));
		writer.run->who[0] = who_at(0);
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			run_put(&writer, &counts[i]);
		run = run_end(&writer);
		assert_non_null(run);
		run_free(run);
	}
}

static void the_budget_is_kept(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t all = budget_left(budget);
	struct random random = { .state = 9 };
	struct sums *sums = calloc(1, sizeof(*sums));
	struct run_writer writer;
	struct run *a, *b;

	(void)state;
	assert_non_null(sums);
	a = make_run(&random, budget, sums);
	b = make_run(&random, budget, sums);
	assert_int_equal(budget_left(budget), all - a->size - b->size);
	assert_true(budget_take(budget, budget_left(budget)));
	assert_null(run_merge(budget, a, b));
	assert_null(run_forget(budget, a));
	assert_false(run_begin(&writer, budget, 1, RUN_COUNT_MAX));
	assert_int_equal(budget_left(budget), 0);
	run_free(a);
	run_free(b);
	budget_release(budget);
	free(sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merged_run_holds_both),
		cmocka_unit_test(what_is_forgotten_is_only_who),
		cmocka_unit_test(distances_may_grow_by_a_whole_list),
		cmocka_unit_test(a_run_that_does_not_fit_says_by_how_much),
		cmocka_unit_test(common_counts_are_small),
		cmocka_unit_test(the_budget_is_kept),
	};

	run_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
