/* SPDX-License-Identifier: MIT */
/* Which rows of a call tree are unfolded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/answers/call_tree.h"
#include "tests/unit/fakes/random.h"
#include "tui/views/tree/tree_lines.h"

/* A list whose rows have these paths; bit i of `unfolded`: row i is. */
static struct tree *tree_of(const uint64_t *paths, size_t count, unsigned unfolded)
{
	struct tree *tree = tree_new(NULL);

	for (size_t i = 0; i < count; i++) {
		struct tree_row *row = tree_add(tree, TREE_DOWN);

		row->path = paths[i];
		row->unfolded = unfolded >> i & 1;
	}
	return tree;
}

/* An answer with this tree comes, to what is asked now. */
static void answer(struct folds *folds, struct tree *tree)
{
	const struct call_tree answer = { .tree = tree, .hot = folds->hot, .below = folds->below, .find = folds->find };

	folds_answered(folds, &answer);
}

static void rows_are_unfolded_and_folded(void **state)
{
	struct folds folds = { .count = 0 };
	struct tree_question question = { .orders = 1 };

	(void)state;
	assert_true(folds_add(&folds, 7) && folds_add(&folds, 9) && folds_add(&folds, 7));
	assert_int_equal(folds.count, 2);
	folds_remove(&folds, NULL, 7);
	folds_remove(&folds, NULL, 8);		/* it is folded already */
	assert_false(folds_has(&folds, 7));
	assert_true(folds_has(&folds, 9));
	folds_ask(&folds, &question);
	assert_int_equal(question.unfolded_count, 1);
	assert_int_equal(question.unfolded[0], 9);
	assert_int_equal(question.unfolded[1], 0);	/* requests are compared as bytes */
	assert_int_equal(question.hot, 0);
}

static void there_is_room_for_so_many(void **state)
{
	struct folds folds = { .count = 0 };

	(void)state;
	for (uint64_t path = 1; path <= TREE_UNFOLDED; path++)
		assert_true(folds_add(&folds, path));
	assert_false(folds_add(&folds, TREE_UNFOLDED + 1));
	assert_true(folds_add(&folds, TREE_UNFOLDED));
	folds_remove(&folds, NULL, 1);
	assert_true(folds_add(&folds, TREE_UNFOLDED + 1));
}

static void the_way_to_a_function_is_asked_for_once(void **state)
{
	static const uint64_t paths[] = { 1, 2, 3 };
	struct tree *tree = tree_of(paths, 3, 3);
	struct folds folds = { .count = 0 };
	struct tree_question question = { .orders = 1 };

	(void)state;
	folds_find(&folds, 9);
	folds_wish(&folds, false, 1);		/* both at once */
	folds_ask(&folds, &question);
	assert_int_equal(question.find, 9);
	assert_int_equal(question.hot, 1);
	answer(&folds, tree);
	folds_ask(&folds, &question);
	assert_int_equal(question.find, 0);
	assert_true(folds_has(&folds, 1) && folds_has(&folds, 2));
	folds_find(&folds, 9);
	folds_remove(&folds, tree, 2);		/* the user folds meanwhile */
	assert_int_equal(folds.find, 0);
	tree_free(tree);
}

/* Answers that come after a wish may have been made before it, however many. */
static void a_wish_becomes_rows_once_an_answer_has_it(void **state)
{
	static const uint64_t paths[] = { 1, 2, 3, 4 };
	struct tree *before = tree_of(paths, 4, 1), *after = tree_of(paths, 4, 7);
	const struct call_tree none = { .tree = before }, unknown = { .hot = 1 }, late = { .tree = before, .hot = 2 };
	struct folds folds = { .count = 0 };
	struct tree_question question = { .orders = 1 };

	(void)state;
	folds_wish(&folds, false, 1);
	folds_ask(&folds, &question);
	assert_int_equal(question.hot, 1);
	assert_int_equal(question.below, 0);
	for (int i = 0; i < 3; i++) {
		folds_answered(&folds, &none);
		folds_answered(&folds, &unknown);	/* the guest has not told of itself */
		folds_answered(&folds, &late);
	}
	assert_int_equal(folds.hot, 1);
	assert_int_equal(folds.count, 0);
	answer(&folds, after);
	assert_int_equal(folds.hot, 0);
	assert_int_equal(folds.count, 3);
	answer(&folds, before);				/* nothing is awaited any more */
	assert_int_equal(folds.count, 3);
	tree_free(before);
	tree_free(after);
}

/* Keys may come faster than answers: each row that was acted on is unfolded. */
static void wishes_may_come_at_once(void **state)
{
	static const uint64_t paths[] = { 1, 2, 3 };
	struct tree *tree = tree_of(paths, 3, 4);
	struct folds folds = { .count = 0 };

	(void)state;
	folds_wish(&folds, false, 1);
	folds_wish(&folds, true, 2);
	folds_wish(&folds, false, 3);
	assert_true(folds_has(&folds, 1) && folds_has(&folds, 2));
	answer(&folds, tree);
	assert_true(folds_has(&folds, 3));
	assert_int_equal(folds.count, 3);
	tree_free(tree);
}

/* To fold one row of a wish, the others are kept for themselves first. */
static void folding_ends_a_wish(void **state)
{
	static const uint64_t paths[] = { 1, 2, 3 };
	struct tree *tree = tree_of(paths, 3, 7);
	struct folds folds = { .count = 0 };

	(void)state;
	folds_wish(&folds, true, 1);
	assert_int_equal(folds.below, 1);
	folds_remove(&folds, tree, 2);
	assert_int_equal(folds.below, 0);
	assert_true(folds_has(&folds, 1) && !folds_has(&folds, 2) && folds_has(&folds, 3));
	tree_free(tree);
}

/* What is unfolded of this tree stays so; the next tree's answers are none to the wish. */
static void another_tree_ends_a_wish(void **state)
{
	static const uint64_t paths[] = { 1, 2, 3 }, others[] = { 4, 5, 6 };
	struct tree *tree = tree_of(paths, 3, 3), *other = tree_of(others, 3, 7);
	struct folds folds = { .count = 0 };

	(void)state;
	folds_leave(&folds, tree);		/* there is no wish: nothing is unfolded for itself */
	assert_int_equal(folds.count, 0);
	folds_wish(&folds, false, 1);
	folds_leave(&folds, tree);
	answer(&folds, other);
	assert_int_equal(folds.hot, 0);
	assert_int_equal(folds.count, 2);
	assert_true(folds_has(&folds, 1) && folds_has(&folds, 2));
	tree_free(tree);
	tree_free(other);
}

/* Against a list of flags. */
static void any_order_of_adding_and_removing(void **state)
{
	struct random random = { .state = 3 };
	struct folds folds = { .count = 0 };
	bool wanted[64] = { false };

	(void)state;
	for (int i = 0; i < 5000; i++) {
		uint64_t path = 1 + random_below(&random, 63);
		uint32_t count = 0;

		wanted[path] = random_below(&random, 2);
		if (wanted[path])
			assert_true(folds_add(&folds, path));
		else
			folds_remove(&folds, NULL, path);
		for (uint64_t k = 1; k < 64; k++) {
			assert_int_equal(folds_has(&folds, k), wanted[k]);
			count += wanted[k];
		}
		assert_int_equal(folds.count, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_unfolded_and_folded),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(the_way_to_a_function_is_asked_for_once),
		cmocka_unit_test(a_wish_becomes_rows_once_an_answer_has_it),
		cmocka_unit_test(wishes_may_come_at_once),
		cmocka_unit_test(folding_ends_a_wish),
		cmocka_unit_test(another_tree_ends_a_wish),
		cmocka_unit_test(any_order_of_adding_and_removing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
