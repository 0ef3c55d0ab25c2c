/* SPDX-License-Identifier: MIT */
/* Call trees that are asked for again and again: their trends, what they cost, and what a stop or a refusal leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "tests/unit/fakes/walked.h"
#include "asked.h"
#include "random_guest.h"
#include "tree_truth.h"

/* ---- trends ---- */

static void a_trend_is_the_total_by_second(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .from = 68 * NS_PER_SECOND };
	struct tree_question wanted = { .orders = 1, .deepest = TREE_ALL };
	struct tree *tree;
	const struct tree_row *rows;

	(void)state;
	for (uint64_t second = 5; second < 70; second++)
		tree_truth_take_three(&world, second * NS_PER_SECOND + 100 * NS_PER_MS);
	tree = tree_truth_ask(&world, &question, &wanted);
	assert_null(tree->lists[TREE_DOWN].rows[0].trend);
	wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[1].path;
	wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[0].path;
	wanted.trends[wanted.trend_count++] = 4711;
	for (int again = 0; again < 2; again++) {
		tree_free(tree);
		tree = tree_truth_check(&world, &question, &wanted);
		rows = tree->lists[TREE_DOWN].rows;
		assert_int_equal(tree->trend_count, 2);
		assert_null(rows[2].trend);
		for (int i = 0; i < TREE_SECONDS; i++) {		/* 9 to 68 */
			assert_int_equal(rows[0].trend[i], 10);
			assert_int_equal(rows[1].trend[i], 8);
		}
	}
	tree_truth_take_three(&world, 71 * NS_PER_SECOND);
	tree_truth_take_three(&world, 68 * NS_PER_SECOND + 300 * NS_PER_MS);	/* it comes late */
	tree_free(tree);
	tree = tree_truth_check(&world, &question, &wanted);
	rows = tree->lists[TREE_DOWN].rows;
	assert_int_equal(rows[0].trend[TREE_SECONDS - 1], 0);
	assert_int_equal(rows[0].trend[TREE_SECONDS - 2], 10);
	assert_int_equal(rows[0].trend[TREE_SECONDS - 3], 20);
	tree_free(tree);
	world_free(&world);
}

static void assert_same_trends(const struct tree *tree, const struct tree *fresh)
{
	const struct tree_list *list = &tree->lists[TREE_DOWN], *other = &fresh->lists[TREE_DOWN];

	assert_int_equal(list->count, other->count);
	assert_int_equal(tree->trend_count, fresh->trend_count);
	for (size_t i = 0; i < list->count; i++) {
		assert_int_equal(list->rows[i].path, other->rows[i].path);
		assert_int_equal(!list->rows[i].trend, !other->rows[i].trend);
		if (list->rows[i].trend)
			assert_memory_equal(list->rows[i].trend, other->rows[i].trend, TREE_SECONDS * sizeof(uint64_t));
	}
}

/* Trends go on from answer to answer. They are as those that are made anew, also where samples come late. */
static void trends_that_go_on_are_those_made_anew(void **state)
{
	struct random random = { .state = 77 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	struct tree_question wanted = { .orders = 1, .least = 20 };

	(void)state;
	for (uint64_t second = 4; second < 80; second++) {
		struct query *query = world.query;
		struct tree *tree, *fresh;
		struct taken taken;

		for (uint64_t i = 0; i < 10 + random_below(&random, 20); i++) {
			uint64_t late = random_below(&random, 3 * NS_PER_SECOND);

			random_taken(&random, second * NS_PER_SECOND - late, &taken);
			taken.missed = false;
			world_take(&world, &taken);
		}
		question.from = random_below(&random, 10) ? 0 : (second - 3) * NS_PER_SECOND;
		tree = tree_truth_ask(&world, &question, &wanted);
		world.query = query_new(&world.inputs);
		fresh = tree_truth_ask(&world,
			&(struct question) { .to = question.to, .from = question.from }, &wanted);
		query_free(world.query);
		world.query = query;
		assert_same_trends(tree, fresh);
		for (size_t i = 0; second % 7 == 0 && i < tree->lists[TREE_DOWN].count && wanted.trend_count < 40; i++)
			wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[i].path;
		tree_free(tree);
		tree_free(fresh);
	}
	assert_in_range(wanted.trend_count, 10, 40);
	world_free(&world);
}

/* ---- cost, stop, memory ---- */

static void a_tree_that_was_given_up_leaves_nothing(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL };
	atomic_bool stop = true;

	(void)state;
	tree_truth_take_three(&world, NS_PER_SECOND);
	query_heed(world.query, &stop);
	tree_free(query_tree(world.query, &question, &wanted, ""));
	query_heed(world.query, NULL);
	tree_free(tree_truth_check(&world, &question, &wanted));
	query_heed(world.query, &stop);
	tree_truth_take_three(&world, 2 * NS_PER_SECOND);
	tree_free(query_tree(world.query, &question, &wanted, ""));
	query_heed(world.query, NULL);
	tree_free(tree_truth_check(&world, &question, &wanted));
	world_free(&world);
}

/* A tree is whole, or says that it is not. With memory back, it is as if nothing had been refused. */
static void scarce_memory_is_told(void **state)
{
	struct world world = world_new();
	struct budget *budget = budget_new(64);
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL };
	size_t all, scarce = 0;
	struct tree *tree;

	(void)state;
	for (uint64_t i = 0; i < 200; i++) {
		struct taken taken = kernel_sample(NS_PER_SECOND, 1, 3, (const uint64_t[]) {
			1 + i % 7, 1 + i % 11, 1 + i % 13 });

		world_take(&world, &taken);
	}
	tree = tree_truth_ask(&world, &question, &wanted);
	wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[0].path;
	tree_free(tree);
	query_free(world.query);
	world.inputs.budget = budget;
	world.query = query_new(&world.inputs);
	all = budget_left(budget);
	for (size_t left = 0; left < 1000000; left += 5000) {
		size_t taken = budget_left(budget) - left;

		assert_true(budget_take(budget, taken));
		tree = query_tree(world.query, &question, &wanted, "");
		scarce += tree->scarce;
		assert_true(tree->scarce || tree->weight == 200);
		assert_true(tree->scarce || tree->lists[TREE_DOWN].rows[0].trend);
		tree_free(tree);
		budget_give(budget, taken);
		if (left % 50000 == 0)
			tree_free(tree_truth_check(&world, &question, &wanted));
	}
	assert_in_range(scarce, 5, 199);
	query_free(world.query);
	assert_int_equal(budget_left(budget), all);
	world.inputs.budget = NULL;
	world.query = query_new(&world.inputs);
	world_free(&world);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trend_is_the_total_by_second),
		cmocka_unit_test(trends_that_go_on_are_those_made_anew),
		cmocka_unit_test(a_tree_that_was_given_up_leaves_nothing),
		cmocka_unit_test(scarce_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
