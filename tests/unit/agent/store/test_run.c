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

enum { WHO = 300, STACKS = 50, ROUNDS = 60, PARTS = 7 };

/* What a run should hold, by stack (the last row is STACKS_NONE) and by number of who. */
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
	uint32_t used = 1 + (uint32_t)random_below(random, WHO), step = 1 + (uint32_t)random_below(random, 20);
	struct run_writer writer;

	assert_true(run_begin(&writer, budget, run_who_bits(used), (STACKS + 1) * used * RUN_COUNT_MAX));
	for (uint32_t row = 0; row <= STACKS; row++) {
		uint32_t stack = row ? (row - 1) * 1000 : STACKS_NONE;

		for (uint32_t i = (uint32_t)random_below(random, step); i < used; i += step) {
			struct run_count one = {
				.stack = stack, .who = i, .samples = any_number(random, 40),
			};

			if (random_below(random, 4))
				continue;
			one.weight = random_below(random, 2) ? one.samples : any_number(random, 60);
			run_put(&writer, &one);
			sums->samples[stack_row(stack)][i] += one.samples;
			sums->weight[stack_row(stack)][i] += one.weight;
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
		uint32_t row = stack_row(count.stack);

		assert_in_range(count.who, 0, WHO - 1);
		assert_true(i == 0 || key > last);
		assert_int_equal(left.samples[row][count.who], count.samples);
		assert_int_equal(left.weight[row][count.who], count.weight);
		left.samples[row][count.who] = left.weight[row][count.who] = 0;
		last = key;
	}
	assert_int_equal(reader.at - (const uint8_t *)run, run->size);
	for (uint32_t row = 0; row <= STACKS; row++)
		for (uint32_t i = 0; i < WHO; i++)
			assert_int_equal(left.samples[row][i], 0);
}

static void a_merged_run_holds_all(void **state)
{
	struct random random = { .state = 3 };
	struct sums *sums = malloc(sizeof(*sums));

	(void)state;
	assert_non_null(sums);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t count = 1 + round % PARTS;
		struct run *runs[PARTS], *all;

		memset(sums, 0, sizeof(*sums));
		for (uint32_t i = 0; i < count; i++) {
			runs[i] = make_run(&random, NULL, sums);
			if (i == 0 && round % 10 == 0)
				check_run(runs[0], sums);
		}
		all = run_merge(NULL, runs, count);
		assert_non_null(all);
		if (round % 10 < 2)
			check_run(all, sums);
		for (uint32_t i = 0; i < count; i++)
			run_release(runs[i]);
		run_release(all);
	}
	free(sums);
}

static void what_is_forgotten_is_only_who(void **state)
{
	struct random random = { .state = 8 };
	struct sums *sums = calloc(1, sizeof(*sums));
	struct who_table *table = who_table_new(NULL, WHO_MOST);
	struct run *run, *rest;
	struct run_reader reader;
	struct run_count count;
	struct who list[WHO];
	uint32_t numbers[WHO];
	uint64_t samples[STACKS + 1][MODES][CONTEXTS] = { 0 }, weight[STACKS + 1][MODES][CONTEXTS] = { 0 };

	(void)state;
	assert_non_null(sums);
	for (uint32_t i = 0; i < WHO; i++) {
		list[i] = who_at(i);
		numbers[i] = who_forgotten(&list[i]);
	}
	run = make_run(&random, NULL, sums);
	for (reader = run_read(run); run_next(&reader, &count);) {
		const struct who *who = &list[count.who];

		samples[stack_row(count.stack)][who->mode][who->context] += count.samples;
		weight[stack_row(count.stack)][who->mode][who->context] += count.weight;
	}
	rest = run_renumber(NULL, run, numbers, WHO_FORGOTTEN);
	assert_non_null(rest);
	for (reader = run_read(rest); run_next(&reader, &count);) {
		const struct who *who = &who_table_list(table)[count.who];
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
	run_release(run);
	run_release(rest);
	who_table_release(table);
	free(sums);
}

/* Others get their numbers, in the same order; all else stays. */
static void numbers_change(void **state)
{
	struct random random = { .state = 12 };
	struct sums *sums = calloc(2, sizeof(*sums));
	uint32_t numbers[WHO];

	(void)state;
	assert_non_null(sums);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t count = 0, most = WHO / 4 + (uint32_t)random_below(&random, 3 * WHO / 4);
		struct run *run, *other;

		memset(sums, 0, 2 * sizeof(*sums));
		run = make_run(&random, NULL, sums);
		for (uint32_t i = 0; i < WHO; i++) {	/* those that nobody has go first */
			bool used = false;

			for (uint32_t row = 0; row <= STACKS; row++)
				used = used || sums->samples[row][i];
			numbers[i] = count;
			for (uint32_t row = 0; used && row <= STACKS; row++) {
				sums[1].samples[row][count] = sums->samples[row][i];
				sums[1].weight[row][count] = sums->weight[row][i];
			}
			count += used || WHO - i > most;
		}
		other = run_renumber(NULL, run, numbers, count);
		assert_non_null(other);
		check_run(other, &sums[1]);
		run_release(run);
		run_release(other);
	}
	free(sums);
}

/* A sample of weight 1 whose key is next to the one before takes one byte. */
static void common_counts_are_small(void **state)
{
	struct run_writer writer;
	struct run *run;

	(void)state;
	assert_true(run_begin(&writer, NULL, run_who_bits(2), 2000 * RUN_COUNT_MAX));
	for (uint32_t i = 0; i < 2000; i++)
		run_put(&writer, &(struct run_count) {
			.stack = i / 2, .who = i % 2, .samples = 1, .weight = 1,
		});
	run = run_end(&writer);
	assert_int_equal(run->size, offsetof(struct run, bytes) + 2000);
	run_release(run);
}

/* Merged with a run of longer keys, and into sums of more digits, counts take more bytes than were made room for. */
static void counts_may_grow_when_they_are_merged(void **state)
{
	enum { MANY_STACKS = 420000, FAR = 1 << 20 };
	const uint64_t samples = (1 << 6) - 1, weight = (1 << 7) - 1;
	struct run_writer writer;
	struct run *few, *many, *both;
	struct run_reader reader;
	struct run_count count;
	uint32_t counts = 0;

	(void)state;
	assert_true(run_begin(&writer, NULL, 0, MANY_STACKS * RUN_COUNT_MAX));
	for (uint32_t i = 0; i < MANY_STACKS; i++)
		run_put(&writer, &(struct run_count) { .stack = i, .samples = samples, .weight = weight });
	few = run_end(&writer);
	assert_true(run_begin(&writer, NULL, run_who_bits(FAR), (MANY_STACKS + 1) * RUN_COUNT_MAX));
	for (uint32_t i = 0; i < MANY_STACKS; i++)
		run_put(&writer, &(struct run_count) { .stack = i, .samples = samples, .weight = weight });
	run_put(&writer, &(struct run_count) { .stack = MANY_STACKS, .who = FAR - 1, .samples = 1, .weight = 1 });
	many = run_end(&writer);

	both = run_merge(NULL, (struct run *[]) { few, many }, 2);
	assert_non_null(both);
	assert_int_equal(both->counts, MANY_STACKS + 1);
	for (reader = run_read(both); run_next(&reader, &count) && counts < MANY_STACKS; counts++) {
		assert_int_equal(count.samples, 2 * samples);
		assert_int_equal(count.weight, 2 * weight);
	}
	assert_int_equal(counts, MANY_STACKS);
	assert_int_equal(count.who, FAR - 1);
	assert_int_equal(reader.at - (const uint8_t *)both, both->size);
	run_release(few);
	run_release(many);
	run_release(both);
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

		assert_true(run_begin(&writer, NULL, 0, bytes));
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			run_put(&writer, &counts[i]);
		missing = writer.missing;
		run = run_end(&writer);
		assert_int_equal(run == NULL, missing != 0);
		run_release(run);
		assert_true(run_begin(&writer, NULL, 0, bytes + missing));
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			run_put(&writer, &counts[i]);
		run = run_end(&writer);
		assert_non_null(run);
		run_release(run);
	}
}

static void the_budget_is_kept(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t all = budget_left(budget);
	struct random random = { .state = 9 };
	struct sums *sums = calloc(1, sizeof(*sums));
	static const uint32_t numbers[WHO];
	struct run_writer writer;
	struct run *a, *b;

	(void)state;
	assert_non_null(sums);
	a = make_run(&random, budget, sums);
	b = make_run(&random, budget, sums);
	assert_int_equal(budget_left(budget), all - a->size - b->size);
	assert_true(budget_take(budget, budget_left(budget)));
	assert_null(run_merge(budget, (struct run *[]) { a, b }, 2));
	assert_null(run_renumber(budget, a, numbers, WHO));
	assert_false(run_begin(&writer, budget, 0, RUN_COUNT_MAX));
	assert_int_equal(budget_left(budget), 0);
	run_release(a);
	run_release(b);
	budget_release(budget);
	free(sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merged_run_holds_all),
		cmocka_unit_test(what_is_forgotten_is_only_who),
		cmocka_unit_test(numbers_change),
		cmocka_unit_test(counts_may_grow_when_they_are_merged),
		cmocka_unit_test(a_run_that_does_not_fit_says_by_how_much),
		cmocka_unit_test(common_counts_are_small),
		cmocka_unit_test(the_budget_is_kept),
	};

	run_release(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
