/* SPDX-License-Identifier: MIT */
/* Tables and trees that are compared with a baseline: each change is that of two questions asked apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/change.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "asked.h"
#include "random_guest.h"

#define ALL UINT32_MAX			/* a depth that no row has */

/* ---- chance ---- */

static uint64_t drawn(struct random *random, uint64_t count, uint64_t share)
{
	uint64_t hits = 0;

	for (uint64_t i = 0; i < count; i++)
		hits += random_below(random, 1000) < share;
	return hits;
}

/* How many of 2,000 pairs of samples, of these shares in a thousand, differ by more than chance. */
static int sure_of(struct random *random, uint64_t count, uint64_t share, uint64_t base_count, uint64_t base_share)
{
	int sure = 0;

	for (int i = 0; i < 2000; i++) {
		uint64_t now = drawn(random, count, share), base = drawn(random, base_count, base_share);

		sure += !change_is_chance((struct portion) { now, count, now, count },
			(struct portion) { base, base_count, base, base_count });
	}
	return sure;
}

/* 1 in 100 is expected where nothing has changed: 20 of 2,000. */
static void chance_is_told_from_change(void **state)
{
	struct random random = { .state = 5 };

	(void)state;
	assert_in_range(sure_of(&random, 1000, 100, 1000, 100), 5, 45);
	assert_in_range(sure_of(&random, 500, 300, 2000, 300), 5, 45);
	assert_in_range(sure_of(&random, 1000, 200, 1000, 100), 1980, 2000);
	assert_in_range(sure_of(&random, 50, 120, 50, 100), 0, 100);
	assert_true(change_is_chance((struct portion) { 0 }, (struct portion) { 7, 9, 7, 9 }));
	assert_true(change_is_chance((struct portion) { 7, 9, 7, 9 }, (struct portion) { 0 }));
	assert_true(change_is_chance((struct portion) { 9, 9, 9, 9 }, (struct portion) { 5, 5, 5, 5 }));
}

/* `count` samples: of the part, as many in a thousand as `share` says, with this weight; the rest with another one. */
static struct portion weighed(struct random *random, uint64_t count, uint64_t share, uint64_t weight, uint64_t rest)
{
	uint64_t hits = drawn(random, count, share);

	return (struct portion) { hits * weight, hits * weight + (count - hits) * rest, hits, count };
}

/* The weights of samples count: a part of heavy samples is less sure, and as many samples may be another share. */
static void weights_count(void **state)
{
	struct random random = { .state = 7 };
	int sure = 0;

	(void)state;
	for (int i = 0; i < 2000; i++)
		sure += !change_is_chance(weighed(&random, 1000, 100, 5, 1), weighed(&random, 1000, 100, 5, 1));
	assert_in_range(sure, 5, 45);
	for (int i = 0; i < 2000; i++)
		sure += !change_is_chance(weighed(&random, 1000, 200, 1, 4), weighed(&random, 700, 200, 1, 4));
	assert_in_range(sure, 10, 90);
	sure = 0;
	for (int i = 0; i < 2000; i++)	/* of one range most ticks were missed */
		sure += !change_is_chance(weighed(&random, 1000, 20, 4, 4), weighed(&random, 5000, 20, 1, 1));
	assert_in_range(sure, 5, 45);
	assert_false(change_is_chance((struct portion) { 436, 5000, 344, 3000 },
		(struct portion) { 790, 5000, 352, 3000 }));
}

/* ---- tables ---- */

static const struct row *find(const struct table *table, uint32_t function)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].function == function)
			return &table->rows[i];
	return NULL;
}

static double part(uint64_t weight, uint64_t whole)
{
	return whole ? (double)weight / (double)whole : 0;
}

/* `alone` is the table's own question, `base` the other one, each asked for itself. */
static void check_table(const struct table *table, const struct table *alone, const struct table *base)
{
	size_t rows = alone->count;

	for (size_t i = 0; i < base->count; i++)
		rows += !find(alone, base->rows[i].function);
	assert_int_equal(table->count, rows);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i], *own = find(alone, row->function);
		const struct row *other = find(base, row->function);
		struct change self = table_self_change(table, row), total = table_total_change(table, row);
		uint64_t now = own ? own->self : 0, then = other ? other->self : 0;

		assert_int_equal(row->self, now);
		assert_int_equal(row->total, own ? own->total : 0);
		assert_true(self.share == part(now, alone->weight) - part(then, base->weight));
		assert_true(total.share == part(row->total, alone->weight) -
			part(other ? other->total : 0, base->weight));
		assert_int_equal(self.appeared, now && !then && base->samples);
		assert_int_equal(self.gone, then && !now && alone->samples);
		assert_int_equal(self.chance, change_is_chance(
			(struct portion) { now, alone->weight, own ? own->samples : 0, alone->samples },
			(struct portion) { then, base->weight, other ? other->samples : 0, base->samples }));
	}
}

static double size_of(const struct table *table, const struct row *row)
{
	double share = table_self_change(table, row).share;

	return share < 0 ? -share : share;
}

static void check_order(struct table *table, bool invert)
{
	table_sort(table, NULL, COLUMN_CHANGE, invert);
	for (size_t i = 0; i + 1 < table->count; i++) {
		double more = size_of(table, &table->rows[i]) - size_of(table, &table->rows[i + 1]);

		assert_true(invert ? more < 1e-12 : more > -1e-12);
	}
}

static void tables_agree_with_two_questions(struct world *world, struct question *question, struct question *base,
	bool invert)
{
	struct table *table = query_table(world->query, question), *with = query_table(world->query, base);
	struct table *alone = query_table(world->query, question);

	table_compare(table, with);
	check_table(table, alone, with);
	check_order(table, invert);
	table_free(table);
	table_free(alone);
	table_free(with);
}

/* ---- trees ---- */

static struct tree *ask_tree(struct world *world, const struct question *question, const struct tree_question *wanted)
{
	struct tree *tree = query_tree(world->query, question, wanted, "");

	assert_false(tree->scarce);
	return tree;
}

static const struct tree_row *row_at(const struct tree_list *list, uint64_t path)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i].path == path)
			return &list->rows[i];
	return NULL;
}

/* `now` and `base` have all rows, of which the list has some. */
static void check_list(const struct tree_list *list, const struct tree_list *now, const struct tree_list *base)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];
		const struct tree_row *own = row_at(now, row->path), *other = row_at(base, row->path);

		assert_true(row->parent == TREE_TOP || row->parent < i);
		assert_true(row->parent == TREE_TOP || list->rows[row->parent].unfolded);
		assert_int_equal(row->depth, row->parent == TREE_TOP ? 0 : list->rows[row->parent].depth + 1);
		assert_ptr_equal(row_at(list, row->path), row);		/* no row is there twice */
		assert_true(row->based);
		assert_int_equal(row->total, own ? own->total : 0);
		assert_int_equal(row->samples, own ? own->samples : 0);
		assert_int_equal(row->base_total, other ? other->total : 0);
		assert_int_equal(row->base_self, other ? other->self : 0);
		assert_int_equal(row->base_samples, other ? other->samples : 0);
	}
	for (size_t i = 0; i < base->count; i++) {	/* none is missing below what is unfolded */
		const struct tree_row *row = &base->rows[i], *parent = row->parent == TREE_TOP ? NULL :
			row_at(list, base->rows[row->parent].path);

		if (row->parent == TREE_TOP || (parent && parent->total && row_at(now, parent->path)->has_more &&
				parent->unfolded))
			assert_non_null(row_at(list, row->path));
	}
}

static void trees_agree_with_two_questions(struct world *world, const struct question *question,
	const struct question *base, struct random *random)
{
	struct tree_question wanted = { .orders = 3, .deepest = (uint32_t)random_below(random, 3) };
	struct tree_question all = wanted, other;
	struct tree *tree = ask_tree(world, question, &wanted), *with, *now, *then;

	for (int i = 0; i < 10; i++) {
		const struct tree_list *list = &tree->lists[i % TREE_ORDERS];

		if (list->count)
			wanted.unfolded[wanted.unfolded_count++] = list->rows[random_below(random, list->count)].path;
	}
	tree_free(tree);
	tree = ask_tree(world, question, &wanted);
	tree_compare_question(tree, &wanted, &other);
	with = ask_tree(world, base, &other);
	tree_compare(tree, with);
	all.deepest = ALL;
	now = ask_tree(world, question, &all);
	then = ask_tree(world, base, &all);
	assert_true(tree->base.there);
	assert_int_equal(tree->base.weight, then->weight);
	assert_int_equal(tree->base.samples, then->samples);
	for (int order = 0; order < TREE_ORDERS; order++)
		check_list(&tree->lists[order], &now->lists[order], &then->lists[order]);
	tree_free(tree);
	tree_free(with);
	tree_free(now);
	tree_free(then);
}

static void changes_agree_with_two_questions(void **state)
{
	struct random random = { .state = 11 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX }, base = { .to = UINT64_MAX };
	uint32_t reader = query_reader_new(world.query), base_reader = query_reader_new(world.query);
	struct taken taken;
	uint64_t now = 0;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		now += random_below(&random, 80 * NS_PER_MS);
		random_taken(&random, now, &taken);
		world_take(&world, &taken);
		if (random_below(&random, 20))
			continue;
		random_question(&random, now, &base);
		random_question(&random, now, &question);
		base.filter = question.filter;
		base.by = question.by;
		base.callers = question.callers = false;
		question.reader = reader;
		base.reader = base_reader;
		tables_agree_with_two_questions(&world, &question, &base, random_below(&random, 2));
		question.by = base.by = GROUP_FUNCTION;
		trees_agree_with_two_questions(&world, &question, &base, &random);
	}
	world_free(&world);
}

/* ---- trees made by hand ---- */

/* One line a row: depth, name, total, total in the baseline; "?": that is not known. */
static void assert_rows(const struct world *world, const struct tree *tree, const char *expected)
{
	const struct tree_list *list = &tree->lists[TREE_DOWN];
	char text[1024] = "", *at = text;

	for (size_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];

		at += sprintf(at, "%u %s %d %d%s\n", row->depth,
			symbols_get(world->inputs.symbols, row->function)->name, (int)row->total, (int)row->base_total,
			row->based ? "" : "?");
	}
	assert_string_equal(text, expected);
}

/* k1 calls k2 in both, k3 only before, k4 only now; k5 is there only before. */
static void rows_appear_and_go(void **state)
{
	struct world world = world_new();
	const struct taken all[] = {
		kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 2, 1 }),
		kernel_sample(NS_PER_SECOND, 3, 3, (const uint64_t[]) { 6, 3, 1 }),
		kernel_sample(NS_PER_SECOND, 2, 1, (const uint64_t[]) { 5 }),
		kernel_sample(11 * NS_PER_SECOND, 4, 2, (const uint64_t[]) { 2, 1 }),
		kernel_sample(11 * NS_PER_SECOND, 1, 3, (const uint64_t[]) { 6, 4, 1 }),
	};
	struct question before = { .to = 10 * NS_PER_SECOND }, after = { .from = 10 * NS_PER_SECOND, .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 1 << TREE_DOWN, .deepest = ALL };
	struct tree_question folded = { .orders = 1 << TREE_DOWN };
	struct tree *tree, *base;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		world_take(&world, &all[i]);
	tree = ask_tree(&world, &after, &wanted);
	base = ask_tree(&world, &before, &wanted);
	tree_compare(tree, base);
	assert_rows(&world, tree, "0 k1 5 8\n1 k2 4 5\n1 k4 1 0\n2 k6 1 0\n1 k3 0 3\n2 k6 0 3\n0 k5 0 2\n");
	assert_true(tree_total_change(tree, &tree->lists[TREE_DOWN].rows[6]).gone);
	assert_true(tree_total_change(tree, &tree->lists[TREE_DOWN].rows[2]).appeared);
	tree_free(tree);
	tree_free(base);
	tree = ask_tree(&world, &after, &wanted);		/* one that is unfolded further than the other */
	base = ask_tree(&world, &before, &folded);
	tree_compare(tree, base);
	assert_rows(&world, tree, "0 k1 5 8\n1 k2 4 0?\n1 k4 1 0?\n2 k6 1 0?\n0 k5 0 2\n");
	tree_free(tree);
	tree_free(base);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_is_told_from_change),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(changes_agree_with_two_questions),
		cmocka_unit_test(rows_appear_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
