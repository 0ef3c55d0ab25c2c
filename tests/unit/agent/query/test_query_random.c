/* SPDX-License-Identifier: MIT */
/* Random guests, names and questions: each answer is compared with a list of all samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/query/tree/tree.h"
#include "agent/store/store.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/walked.h"
#include "random_guest.h"

struct pace {
	uint64_t seed, step, late;
	size_t samples, asked;		/* one question for so many samples, on average */
	size_t readers;			/* 0: all ask as QUERY_ANYBODY */
	bool fine;
};

static void run_guest(const struct pace *pace)
{
	struct random random = { .state = pace->seed };
	struct world world = world_new();
	struct question questions[QUERY_READERS + 1];
	size_t readers = pace->readers ? pace->readers : 1;
	struct taken taken;
	uint64_t now = 0;

	random_contexts(&world);
	for (size_t i = 0; i < readers; i++)		/* the last of too many is QUERY_ANYBODY */
		questions[i] = (struct question) { .to = UINT64_MAX,
			.reader = pace->readers ? query_reader_new(world.query) : QUERY_ANYBODY };
	for (size_t i = 0; i < quick_part(pace->samples, 4); i++) {
		uint64_t late = random_below(&random, 5) ? 0 : random_below(&random, pace->late);
		struct question *question = &questions[random_below(&random, readers)];

		now += random_below(&random, pace->step);
		random_taken(&random, now > late ? now - late : 0, &taken);
		world_take(&world, &taken);
		if (random_below(&random, 50) == 0)
			random_names(&random, &world);
		if (random_below(&random, pace->asked))
			continue;
		if (question->to == UINT64_MAX && question->from && random_below(&random, 2))
			question->from += now - question->from > 10 * NS_PER_SECOND ? 250 * NS_PER_MS : 0;
		else
			random_question(&random, now, question);
		if (random_below(&random, 6) == 0 && symbols_functions(world.inputs.symbols))
			filter_add_function(&question->filter, random_below(&random, 2) ? FILTER_HAS : FILTER_RUNNING,
				tree_name(symbols_get(world.inputs.symbols, (uint32_t)random_below(&random,
					symbols_functions(world.inputs.symbols))), ""));
		world_check(&world, question, (uint32_t)random_below(&random,
			symbols_functions(world.inputs.symbols)), pace->fine);
		if (pace->readers && random_below(&random, 50) == 0) {
			query_reader_free(world.query, question->reader);
			question->reader = query_reader_new(world.query);
		}
	}
	world_free(&world);
}

static void a_minute_agrees_with_a_list(void **state)
{
	(void)state;
	run_guest(&(struct pace) { .seed = 21, .step = 80 * NS_PER_MS, .late = 3 * NS_PER_SECOND, .samples = 2000,
		.asked = 6, .fine = true });
}

static void late_events_agree_with_a_list(void **state)
{
	(void)state;
	run_guest(&(struct pace) { .seed = 22, .step = 60 * NS_PER_MS, .late = 100 * NS_PER_SECOND,
		.samples = 2000, .asked = 6, .fine = true });
}

/* So long that slices merge between the questions. */
static void days_agree_with_a_list(void **state)
{
	(void)state;
	run_guest(&(struct pace) { .seed = 23, .step = 4 * NS_PER_SECOND, .late = 300 * NS_PER_SECOND,
		.samples = 3000, .asked = 8 });
	run_guest(&(struct pace) { .seed = 24, .step = 200 * NS_PER_SECOND, .late = 9000 * NS_PER_SECOND,
		.samples = 3000, .asked = 8 });
}

/* The same question again and again while time moves: what the query keeps must not become stale. */
static void all_since_zero_agrees_with_a_list(void **state)
{
	struct random random = { .state = 25 };
	struct world world = world_new();
	struct question question = { .from = 30 * NS_PER_SECOND, .to = UINT64_MAX };
	struct taken taken;
	uint64_t now = 0;

	(void)state;
	for (size_t i = 0; i < quick_part(2500, 4); i++) {
		now += random_below(&random, 600 * NS_PER_MS);
		random_taken(&random, now, &taken);
		world_take(&world, &taken);
		if (i % 100 == 50)
			random_names(&random, &world);
		if (i % 7 == 0)
			world_check(&world, &question, (uint32_t)random_below(&random,
				symbols_functions(world.inputs.symbols)), true);
	}
	world_free(&world);
}

/* Questions so rare, with such different ends, that slices merge and ends move between them. */
static void rare_questions_agree_with_a_list(void **state)
{
	struct random random = { .state = 26 };
	struct world world = world_new();
	struct question question = { .from = 0 };
	struct taken taken;
	uint64_t now = 0;

	(void)state;
	for (size_t i = 0; i < quick_part(4000, 4); i++) {
		now += random_below(&random, 800 * NS_PER_MS);
		random_taken(&random, now, &taken);
		world_take(&world, &taken);
		if (i % 100)
			continue;
		question.to = UINT64_MAX;
		world_check(&world, &question, 0, false);
		question.to = now - random_below(&random, now / 2 + 1);
		world_check(&world, &question, 0, false);
	}
	world_free(&world);
}

/* ---- what is kept from answer to answer ---- */

static int by_id(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (a->function > b->function) - (a->function < b->function);
}

static void assert_same_tables(const struct table *table, const struct table *fresh)
{
	assert_int_equal(table->count, fresh->count);
	assert_int_equal(table->weight, fresh->weight);
	assert_int_equal(table->samples, fresh->samples);
	assert_int_equal(table->missed, fresh->missed);
	assert_memory_equal(table->mode, fresh->mode, sizeof(table->mode));
	qsort(table->rows, table->count, sizeof(*table->rows), by_id);
	qsort(fresh->rows, fresh->count, sizeof(*fresh->rows), by_id);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i], *other = &fresh->rows[i];

		assert_int_equal(row->function, other->function);
		assert_int_equal(row->self, other->self);
		assert_int_equal(row->total, other->total);
		assert_int_equal(row->samples, other->samples);
		assert_int_equal(row->kernel, other->kernel);
		assert_int_equal(row->user, other->user);
		assert_int_equal(row->cpus[0], other->cpus[0]);
	}
}

/* The same for the same rows in any order. */
static uint64_t sum_of_rows(const struct table *table)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		sum += (row->function + 1) * (row->self + 3 * row->total + 5 * row->samples + 7 * row->kernel +
			11 * row->user + 13 * row->cpus[0]);
	}
	return sum;
}

static void assert_same_callers(const struct caller *callers, const struct caller *fresh, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(callers[i].function, fresh[i].function);
		assert_int_equal(callers[i].weight, fresh[i].weight);
	}
}

/*
 * Asserts that a reader gets what a query gives that was never asked before. Some functions' trends and callers are
 * asked for.
 */
static void assert_as_fresh(const struct world *world, const struct question *question, uint32_t functions)
{
	struct query *fresh = query_new(&world->inputs);
	struct question other = *question;
	struct table *table, *made;
	const struct table *kept;
	uint64_t trend[TABLE_TREND], made_trend[TABLE_TREND];
	struct caller callers[8], made_callers[8];

	if (functions % 2)		/* callers first, which need no CPUs */
		query_callers(world->query, question, 0, callers, 8);
	table = query_table(world->query, question);
	kept = query_table_kept(world->query, question);
	other.reader = QUERY_ANYBODY;
	made = query_table(fresh, &other);
	assert_same_tables(table, made);
	assert_int_equal(kept->count, made->count);
	assert_int_equal(sum_of_rows(kept), sum_of_rows(made));
	assert_int_equal(kept->weight, made->weight);
	assert_int_equal(kept->missed, made->missed);
	assert_int_equal(kept->from, made->from);
	assert_int_equal(kept->to, made->to);
	for (uint32_t function = 0; function < functions; function++) {
		query_trends(world->query, question, &function, 1, &trend);
		query_trends(fresh, &other, &function, 1, &made_trend);
		assert_memory_equal(trend, made_trend, sizeof(trend));
	}
	for (uint32_t function = 0; function < functions; function += 1 + functions / 4) {
		size_t count = query_callers(world->query, question, function, callers, 8);

		assert_int_equal(query_callers(fresh, &other, function, made_callers, 8), count);
		assert_same_callers(callers, made_callers, count);
	}
	table_free(table);
	table_free(made);
	query_free(fresh);
}

/*
 * A screen asks the same question again and again, mostly about the last seconds. Some samples come late, names come
 * later still, and now and then the window moves or another question is asked. CPUs become more: up to 4, to 10, to 28.
 */
static void live_answers_are_those_made_at_once(void **state)
{
	const uint32_t apart[] = { 1, 3, 9 };
	size_t turns = quick_part(600, 4);
	struct random random = { .state = 28 };
	struct world world = world_new();
	struct question live = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	struct taken taken;
	uint64_t now = 0;

	(void)state;
	random_contexts(&world);
	for (size_t i = 0; i < turns; i++) {
		uint32_t functions = (uint32_t)symbols_functions(world.inputs.symbols);

		for (uint64_t k = random_below(&random, 12); k > 0; k--) {
			uint64_t late = random_below(&random, 20) ? 0 : random_below(&random, 90 * NS_PER_SECOND);

			now += random_below(&random, 60 * NS_PER_MS);
			random_taken(&random, late < now ? now - late : 0, &taken);
			taken.cpu *= apart[3 * i / turns];
			world_take(&world, &taken);
		}
		if (random_below(&random, 40) == 0)
			random_names(&random, &world);
		if (random_below(&random, 60) == 0)
			random_question(&random, now, &live);
		else if (live.to == UINT64_MAX)
			live.from = now > 10 * NS_PER_SECOND ? now - 10 * NS_PER_SECOND : 0;
		assert_as_fresh(&world, &live, (uint32_t)random_below(&random, functions + 1));
	}
	world_free(&world);
}

/* ---- many readers ---- */

static void many_readers_agree_with_a_list(void **state)
{
	(void)state;
	run_guest(&(struct pace) { .seed = 26, .step = 20 * NS_PER_MS, .late = 3 * NS_PER_SECOND, .samples = 2000,
		.asked = 10, .readers = 3 });
	run_guest(&(struct pace) { .seed = 27, .step = 20 * NS_PER_MS, .late = NS_PER_SECOND, .samples = 2000,
		.asked = 10, .readers = QUERY_READERS + 1 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_answers_are_those_made_at_once),
		cmocka_unit_test(many_readers_agree_with_a_list),
		cmocka_unit_test(a_minute_agrees_with_a_list),
		cmocka_unit_test(late_events_agree_with_a_list),
		cmocka_unit_test(days_agree_with_a_list),
		cmocka_unit_test(all_since_zero_agrees_with_a_list),
		cmocka_unit_test(rare_questions_agree_with_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
