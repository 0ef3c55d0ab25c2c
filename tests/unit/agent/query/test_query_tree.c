/* SPDX-License-Identifier: MIT */
/* Call trees of random guests, and trees made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/query/query_state.h"
#include "agent/query/tree/tree.h"
#include "asked.h"
#include "random_guest.h"
#include "tree_truth.h"

/* ---- random guests and questions ---- */

static uint64_t path_at(struct random *random, const struct tree *tree)
{
	const struct tree_list *list = &tree->lists[random_below(random, TREE_ORDERS)];

	return list->count ? list->rows[random_below(random, list->count)].path : 77;
}

/* Changes one part of the question, as a person at a screen does. */
static void random_change(struct random *random, const struct world *world, const struct tree *tree,
	struct tree_question *wanted)
{
	size_t functions = symbols_functions(world->inputs.symbols);

	switch (random_below(random, 9)) {
	case 0: wanted->orders = 1 + (uint32_t)random_below(random, 3); break;
	case 1: wanted->recursion ^= 1; break;
	case 2:
		wanted->of = random_below(random, 2) || !functions ? 0 :
			tree_name(symbols_get(world->inputs.symbols, (uint32_t)random_below(random, functions)), "");
		break;
	case 3: wanted->least = random_below(random, 2) ? 0 : 1 + (uint32_t)random_below(random, 200); break;
	case 4: wanted->deepest = (uint32_t)random_below(random, 4); break;
	case 5: wanted->hot = random_below(random, 2) ? 0 : path_at(random, tree); break;
	case 6: wanted->below = random_below(random, 2) ? 0 : path_at(random, tree); break;
	case 7: wanted->unfolded_count = 0; break;
	default:
		if (wanted->unfolded_count < TREE_UNFOLDED)
			wanted->unfolded[wanted->unfolded_count++] = path_at(random, tree);
	}
}

/* Unfolds the way to the function that is to be found. False: none is. */
static bool find(struct world *world, const struct question *question, struct tree_question *wanted)
{
	struct tree_question around;
	struct tree *tree;

	if (!tree_way_question(wanted, &around))
		return false;
	tree = tree_truth_ask(world, question, &around);
	tree_way_unfold(tree, world->inputs.symbols, "", wanted);
	tree_free(tree);
	return true;
}

static bool has_row_of(const struct world *world, const struct tree_list *list, uint64_t name)
{
	for (size_t i = 0; i < list->count; i++)
		if (tree_name(symbols_get(world->inputs.symbols, list->rows[i].function), "") == name)
			return true;
	return false;
}

/* The way to a function leads to a row of it, in both orders, if there is a stack with it. */
static void check_way(struct random *random, struct world *world, const struct question *question, uint32_t recursion)
{
	struct symbols *symbols = world->inputs.symbols;
	uint64_t name = symbols_functions(symbols) ? tree_name(symbols_get(symbols,
		(uint32_t)random_below(random, symbols_functions(symbols))), "") : 77;
	const struct tree_question around = { .orders = 1 << TREE_DOWN, .of = name };
	struct tree *own = tree_truth_ask(world, question, &around);

	for (int order = 0; order < TREE_ORDERS; order++) {
		struct tree_question wanted = { .orders = 1u << order, .recursion = recursion, .find = name };
		struct tree *tree;

		assert_true(find(world, question, &wanted));
		tree = tree_truth_check(world, question, &wanted);
		assert_true(tree->lists[order].left_out ||
			has_row_of(world, &tree->lists[order], name) == (own->lists[TREE_DOWN].count > 0));
		tree_free(tree);
	}
	tree_free(own);
}

/* The names on the way to a row, as one number. `fold`: those alike in a row count once. */
static uint64_t way_of(const struct world *world, const struct tree_list *list, uint32_t row, bool fold)
{
	uint64_t way = 1, last = 0;

	for (; row != TREE_TOP; row = list->rows[row].parent) {
		uint64_t name = tree_name(symbols_get(world->inputs.symbols, list->rows[row].function), "");

		way = fold && name == last ? way : way * UINT64_C(0x9e3779b97f4a7c15) + name;
		last = name;
	}
	return way;
}

static const struct tree_row *row_with(const struct tree_list *list, uint64_t path)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i].path == path)
			return &list->rows[i];
	return NULL;
}

/* Each row of a tree is found in the one in which recursion is folded; and back, at itself or on the way to it. */
static void check_folds(struct world *world, const struct question *question, uint64_t of)
{
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL, .of = of };
	struct tree *whole = tree_truth_ask(world, question, &wanted), *folded;

	wanted.recursion = 1;
	folded = tree_truth_ask(world, question, &wanted);
	for (int order = 0; order < TREE_ORDERS; order++) {
		const struct tree_list *from = &whole->lists[order], *to = &folded->lists[order];

		for (uint32_t i = 0; !from->left_out && !to->left_out && i < from->count; i++) {
			struct tree_fold fold = { 0 };
			const struct tree_row *row;

			tree_fold_of(&fold, from, &from->rows[i], (enum tree_order)order, of, world->inputs.symbols,
				"");
			row = row_with(to, tree_fold_find(&fold, to));
			assert_non_null(row);
			assert_int_equal(way_of(world, to, (uint32_t)(row - to->rows), false),
				way_of(world, from, i, true));
			assert_int_equal(fold.count, 0);
			tree_fold_of(&fold, to, row, (enum tree_order)order, of, world->inputs.symbols, "");
			assert_non_null(row_with(from, tree_fold_find(&fold, from)));
		}
	}
	tree_free(whole);
	tree_free(folded);
}

static void run_guest(uint64_t seed, uint64_t step, uint64_t late, size_t samples)
{
	struct random random = { .state = seed };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3 };
	struct tree *tree = tree_new(NULL);
	struct taken taken;
	uint64_t now = 0;

	question.reader = query_reader_new(world.query);
	for (size_t i = 0; i < samples; i++) {
		uint64_t ago = random_below(&random, 5) ? 0 : random_below(&random, late);

		now += random_below(&random, step);
		random_taken(&random, now > ago ? now - ago : 0, &taken);
		world_take(&world, &taken);
		if (random_below(&random, 200) == 0)
			random_names(&random, &world);
		if (random_below(&random, 12))
			continue;
		if (random_below(&random, 5) == 0) {
			random_question(&random, now, &question);
			question.by = GROUP_FUNCTION;
			question.callers = false;
		}
		random_change(&random, &world, tree, &wanted);
		tree_free(tree);
		tree = tree_truth_check(&world, &question, &wanted);
		check_way(&random, &world, &question, wanted.recursion);
		check_folds(&world, &question, wanted.of);
	}
	tree_free(tree);
	world_free(&world);
}

static void trees_agree_with_stacks(void **state)
{
	(void)state;
	run_guest(1, 80 * NS_PER_MS, 3 * NS_PER_SECOND, 1500);
	run_guest(2, 60 * NS_PER_MS, 100 * NS_PER_SECOND, 1500);
	run_guest(3, 4 * NS_PER_SECOND, 300 * NS_PER_SECOND, 1500);
	run_guest(4, 200 * NS_PER_SECOND, 9000 * NS_PER_SECOND, 1500);
	run_guest(5, 60 * NS_PER_MS, 100 * NS_PER_SECOND, 1500);
	run_guest(6, 4 * NS_PER_SECOND, 300 * NS_PER_SECOND, 1500);
}

/* ---- trees made by hand ---- */

/* One line a row: depth, name, total, self, and + if there is more, - if that is unfolded. */
static void assert_rows(const struct world *world, const struct tree *tree, enum tree_order order, const char *expected)
{
	const struct tree_list *list = &tree->lists[order];
	char text[1024] = "", *at = text;

	for (size_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];

		at += sprintf(at, "%u %s %d %d%s\n", row->depth,
			symbols_get(world->inputs.symbols, row->function)->name, (int)row->total, (int)row->self,
			row->unfolded ? " -" : row->has_more ? " +" : "");
	}
	assert_string_equal(text, expected);
}

static uint64_t name_of(const struct world *world, uint32_t number)
{
	return tree_name(symbols_get(world->inputs.symbols,
		symbols_function(world->inputs.symbols, EVENT_KERNEL, number * 0x100)), "");
}

static void rows_fold_and_unfold(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3 };
	struct tree *tree;

	(void)state;
	tree_truth_take_three(&world, NS_PER_SECOND);
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 +\n");
	assert_rows(&world, tree, TREE_UP, "0 k3 7 0 +\n0 k2 3 0 +\n");
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_DOWN].rows[0].path;
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_UP].rows[0].path;
	tree_free(tree);
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 +\n1 k4 2 0 +\n");
	assert_rows(&world, tree, TREE_UP, "0 k3 7 0 -\n1 k2 5 0 +\n1 k4 2 0 +\n0 k2 3 0 +\n");
	tree_free(tree);
	wanted.unfolded_count = 0;
	wanted.deepest = TREE_ALL;
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 -\n2 k3 2 2\n");
	tree_free(tree);
	wanted.deepest = 0;
	wanted.least = 2;
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 +\n");
	wanted.least = 0;
	wanted.hot = tree->lists[TREE_DOWN].rows[0].path;
	tree_free(tree);
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 +\n");
	wanted.hot = 0;
	wanted.below = tree->lists[TREE_DOWN].rows[3].path;
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_DOWN].rows[0].path;
	tree_free(tree);
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 +\n1 k4 2 0 -\n2 k3 2 2\n");
	tree_free(tree);
	world_free(&world);
}

/* By the heaviest caller of each step, or down to where most of it is spent. */
static void the_way_to_a_function_is_unfolded(void **state)
{
	struct world world = world_new();
	const struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 1 << TREE_DOWN, .find = name_of(&world, 3) };
	struct tree *tree;

	(void)state;
	tree_truth_take_three(&world, NS_PER_SECOND);
	assert_true(find(&world, &question, &wanted));
	tree = tree_truth_ask(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 +\n");
	tree_free(tree);
	wanted = (struct tree_question) { .orders = 1 << TREE_UP, .find = name_of(&world, 4) };
	assert_true(find(&world, &question, &wanted));
	tree = tree_truth_ask(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_UP, "0 k3 7 0 -\n1 k2 5 0 +\n1 k4 2 0 +\n0 k2 3 0 +\n");
	tree_free(tree);
	wanted = (struct tree_question) { .orders = 1 << TREE_DOWN, .find = 77 };
	assert_true(find(&world, &question, &wanted));
	assert_int_equal(wanted.unfolded_count, 0);
	wanted = (struct tree_question) { .orders = 1 << TREE_DOWN, .find = name_of(&world, 3),
		.of = name_of(&world, 1) };
	assert_false(find(&world, &question, &wanted));
	assert_int_equal(wanted.unfolded_count, 0);
	world_free(&world);
}

static void a_function_stands_between_its_callers_and_callees(void **state)
{
	struct world world = world_new();
	struct taken twice = kernel_sample(NS_PER_SECOND, 4, 5, (const uint64_t[]) { 3, 2, 2, 5, 1 });
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL };
	struct tree *tree;

	(void)state;
	tree_truth_take_three(&world, NS_PER_SECOND);
	world_take(&world, &twice);
	wanted.of = name_of(&world, 2);
	tree = tree_truth_check(&world, &question, &wanted);
	assert_int_equal(tree->weight, 14);
	assert_rows(&world, tree, TREE_DOWN, "0 k2 12 3 -\n1 k3 5 5\n1 k2 4 0 -\n2 k3 4 4\n");
	assert_rows(&world, tree, TREE_UP, "0 k2 12 0 -\n1 k1 8 8\n1 k5 4 0 -\n2 k1 4 4\n");
	tree_free(tree);
	wanted.recursion = 1;
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k2 12 3 -\n1 k3 9 9\n");
	tree_free(tree);
	wanted.of = 4711;			/* no function has this name */
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "");
	tree_free(tree);
	world_free(&world);
}

static void idle_and_stackless_samples_are_rows(void **state)
{
	struct world world = world_new();
	struct taken idle = kernel_sample(NS_PER_SECOND, 6, 2, (const uint64_t[]) { 3, 1 });
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL };
	struct tree *tree;

	(void)state;
	idle.mode = MODE_IDLE;
	world_take(&world, &idle);
	world_take(&world, &(struct taken) { .time = NS_PER_SECOND, .weight = 1 });
	tree = tree_truth_check(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 [idle] 6 6\n0 [unknown] 1 1\n");
	assert_rows(&world, tree, TREE_UP, "0 [idle] 6 6\n0 [unknown] 1 1\n");
	tree_free(tree);
	world_free(&world);
}

/* The same names have the same paths in another boot, whatever ids their functions and stacks have there. */
static void paths_outlive_a_boot(void **state)
{
	struct world one = world_new(), other = world_new();
	struct taken first = kernel_sample(NS_PER_SECOND, 1, 2, (const uint64_t[]) { 7, 9 });
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = TREE_ALL };
	struct tree *a, *b;

	(void)state;
	tree_truth_take_three(&one, NS_PER_SECOND);
	world_take(&other, &first);
	tree_truth_take_three(&other, NS_PER_SECOND);
	a = tree_truth_ask(&one, &question, &wanted);
	b = tree_truth_ask(&other, &question, &wanted);
	assert_int_equal(a->lists[TREE_DOWN].count + 2, b->lists[TREE_DOWN].count);
	for (size_t i = 0; i < a->lists[TREE_DOWN].count; i++)
		assert_int_equal(a->lists[TREE_DOWN].rows[i].path, b->lists[TREE_DOWN].rows[i].path);
	tree_free(a);
	tree_free(b);
	world_free(&one);
	world_free(&other);
}

/* More rows than there is room for: the heaviest are there, each with its parents. */
static void the_heaviest_rows_find_room(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 1, .deepest = TREE_ALL };
	struct random random = { .state = 9 };
	struct tree *tree;
	uint64_t least = UINT64_MAX;

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		struct taken taken = kernel_sample(NS_PER_SECOND, 1 + (uint32_t)(i % 50), 6, (const uint64_t[]) {
			1 + random_below(&random, 9), 1 + random_below(&random, 9), 1 + random_below(&random, 9),
			1 + random_below(&random, 9), 1 + random_below(&random, 9), 1 + random_below(&random, 9) });

		world_take(&world, &taken);
	}
	tree = tree_truth_check(&world, &question, &wanted);
	assert_int_equal(tree->lists[TREE_DOWN].count, TREE_ROWS);
	assert_true(tree->lists[TREE_DOWN].left_out > 0);
	for (size_t i = 0; i < TREE_ROWS; i++)
		least = tree->lists[TREE_DOWN].rows[i].total < least ? tree->lists[TREE_DOWN].rows[i].total : least;
	assert_true(least > 20);
	tree_free(tree);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_fold_and_unfold),
		cmocka_unit_test(the_way_to_a_function_is_unfolded),
		cmocka_unit_test(a_function_stands_between_its_callers_and_callees),
		cmocka_unit_test(idle_and_stackless_samples_are_rows),
		cmocka_unit_test(paths_outlive_a_boot),
		cmocka_unit_test(the_heaviest_rows_find_room),
		cmocka_unit_test(trees_agree_with_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
