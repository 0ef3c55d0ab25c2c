/* SPDX-License-Identifier: MIT */
/* Call trees: each row is compared with what the stacks of the same question give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/query/query_tree.h"
#include "agent/store/stacks.h"
#include "tests/unit/fakes/walked.h"
#include "asked.h"
#include "random_guest.h"

#define ALL UINT32_MAX			/* a depth that no row has */

/* ---- the oracle: the whole tree, out of query_stacks ---- */

enum { SLOTS = 1 << 18 };

struct known {				/* a row, found by the functions on the way to it */
	uint64_t key;			/* 0: this slot is free */
	uint64_t total, self, samples, children;
};

struct truth {
	const struct world *world;
	const struct tree_question *wanted;
	enum tree_order order;
	struct known slots[SLOTS];
	uint64_t weight;
};

static uint64_t key_below(uint64_t parent, uint32_t function)
{
	return hash_mix(parent ^ UINT64_C(0x9e3779b97f4a7c15), (function + 1) * UINT64_C(0xd6e8feb86659fd93)) | 1;
}

static struct known *slot_of(struct truth *truth, uint64_t key)
{
	struct known *slot = &truth->slots[key % SLOTS];

	for (; slot->key && slot->key != key; slot = &truth->slots[(size_t)(slot - truth->slots + 1) % SLOTS])
		;
	return slot;
}

/* The functions of a stack on the way from the top, as the question wants them. Returns how many. */
static size_t way_of(const struct truth *truth, const struct query_stack *stack, uint32_t *way)
{
	const struct symbols *symbols = truth->world->inputs.symbols;
	size_t first = 0, count = 0, depth = stack->depth;

	while (truth->wanted->of && first < depth &&
			tree_name(symbols_get(symbols, stack->functions[first]), "") != truth->wanted->of)
		first++;
	if (first == depth)
		return 0;
	for (size_t i = 0; truth->order == TREE_DOWN && first + i < depth; i++)
		way[count++] = stack->functions[first + i];
	for (size_t i = truth->wanted->of ? first + 1 : depth; truth->order == TREE_UP && i-- > 0; )
		way[count++] = stack->functions[i];
	for (size_t i = 0, end = count; truth->wanted->recursion && i < end; i++) {
		if (i == 0)
			count = 0;
		if (count == 0 || way[count - 1] != way[i])
			way[count++] = way[i];
	}
	return count;
}

static void learn(void *context, const struct query_stack *stack)
{
	struct truth *truth = context;
	uint32_t way[2 * WORLD_FRAMES];
	size_t count = way_of(truth, stack, way);
	struct known *parent = NULL;
	uint64_t key = 0;

	truth->weight += stack->weight;
	for (size_t i = 0; i < count; i++) {
		struct known *known = slot_of(truth, key = key_below(key, way[i]));

		if (!known->key && parent)
			parent->children++;
		known->key = key;
		known->total += stack->weight;
		known->samples += stack->samples;
		known->self += i + 1 == count ? stack->weight : 0;
		parent = known;
	}
}

/* ---- rows against the oracle ---- */

static bool is_among(const uint64_t *paths, uint32_t count, uint64_t path)
{
	for (uint32_t i = 0; i < count; i++)
		if (paths[i] == path)
			return true;
	return false;
}

struct shown {				/* what is known of a row while the list is gone through */
	uint64_t key, children, last;	/* `last`: the total of its last child */
	bool hot, below;
};

static bool is_wanted(const struct tree_question *wanted, const struct tree_row *row, const struct shown *shown,
	uint64_t weight)
{
	return shown->hot || shown->below || row->depth < wanted->deepest ||
		(wanted->least && row->total * wanted->least >= weight) ||
		is_among(wanted->unfolded, wanted->unfolded_count, row->path);
}

static void check_row(struct truth *truth, const struct tree_list *list, size_t at, struct shown *shown, bool all)
{
	const struct tree_row *row = &list->rows[at];
	const struct tree_question *wanted = truth->wanted;
	struct shown *own = &shown[at], *parent = row->parent == TREE_TOP ? NULL : &shown[row->parent];
	const struct known *known;

	assert_true(row->parent == TREE_TOP || row->parent < at);
	assert_int_equal(row->depth, row->parent == TREE_TOP ? 0 : list->rows[row->parent].depth + 1);
	*own = (struct shown) { .key = key_below(parent ? parent->key : 0, row->function), .last = UINT64_MAX };
	own->hot = row->path == wanted->hot || (parent && parent->hot && parent->children == 0);
	own->below = row->path == wanted->below || (parent && parent->below);
	if (parent) {
		assert_true(list->rows[row->parent].unfolded);
		assert_true(row->total <= parent->last);
		parent->last = row->total;
		parent->children++;
	}
	known = slot_of(truth, own->key);
	assert_int_equal(known->key, own->key);
	assert_int_equal(row->total, known->total);
	assert_int_equal(row->self, known->self);
	assert_int_equal(row->samples, known->samples);
	assert_int_equal(row->has_more, known->children > 0);
	if (all)
		assert_int_equal(row->unfolded, known->children && is_wanted(wanted, row, own, truth->weight));
}

static void check_list(struct truth *truth, const struct tree_list *list)
{
	struct shown *shown = calloc(list->count + 1, sizeof(*shown));
	bool all = list->left_out == 0;

	assert_non_null(shown);
	assert_true(list->count <= TREE_ROWS);
	assert_true(all || list->count == TREE_ROWS);
	for (size_t i = 0; i < list->count; i++)
		check_row(truth, list, i, shown, all);
	for (size_t i = 0; all && i < list->count; i++)
		assert_int_equal(shown[i].children, list->rows[i].unfolded ?
			slot_of(truth, shown[i].key)->children : 0);
	free(shown);
}

static struct tree *ask_tree(struct world *world, const struct question *question, const struct tree_question *wanted)
{
	struct tree *tree = query_tree(world->query, question, wanted, "");

	for (int i = 0; tree->growing && i < 100; i++) {
		tree_free(tree);
		tree = query_tree(world->query, question, wanted, "");
	}
	assert_false(tree->growing);
	assert_false(tree->scarce);
	return tree;
}

/* The rows of the tree, in all of its orders, agree with the stacks; so do the tree's sums with the table's. */
static struct tree *check_tree(struct world *world, const struct question *question, const struct tree_question *wanted)
{
	struct tree *tree = ask_tree(world, question, wanted);
	struct table *table = query_table(world->query, question);
	static struct truth truth;

	assert_int_equal(tree->weight, table->weight);
	assert_int_equal(tree->samples, table->samples);
	assert_int_equal(tree->time, table->time);
	assert_int_equal(tree->from, table->from);
	assert_int_equal(tree->to, table->to);
	assert_memory_equal(tree->mode, table->mode, sizeof(tree->mode));
	for (int order = 0; order < TREE_ORDERS; order++) {
		memset(&truth, 0, sizeof(truth));
		truth.world = world;
		truth.wanted = wanted;
		truth.order = (enum tree_order)order;
		assert_true(query_stacks(world->query, question, learn, &truth));
		if (wanted->orders >> order & 1)
			check_list(&truth, &tree->lists[order]);
		else
			assert_int_equal(tree->lists[order].count, 0);
	}
	table_free(table);
	return tree;
}

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
			question.callers = CALLERS_NONE;
		}
		random_change(&random, &world, tree, &wanted);
		tree_free(tree);
		tree = check_tree(&world, &question, &wanted);
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
}

/* ---- trees made by hand ---- */

/* Three samples: of weight 5 in main > read > copy, 3 in main > read, 2 in main > write > copy. */
static void take_three(struct world *world, uint64_t time)
{
	const struct taken all[] = {
		kernel_sample(time, 5, 3, (const uint64_t[]) { 3, 2, 1 }),
		kernel_sample(time, 3, 2, (const uint64_t[]) { 2, 1 }),
		kernel_sample(time, 2, 3, (const uint64_t[]) { 3, 4, 1 }),
	};

	for (size_t i = 0; i < 3; i++)
		world_take(world, &all[i]);
}

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
	take_three(&world, NS_PER_SECOND);
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 +\n");
	assert_rows(&world, tree, TREE_UP, "0 k3 7 0 +\n0 k2 3 0 +\n");
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_DOWN].rows[0].path;
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_UP].rows[0].path;
	tree_free(tree);
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 +\n1 k4 2 0 +\n");
	assert_rows(&world, tree, TREE_UP, "0 k3 7 0 -\n1 k2 5 0 +\n1 k4 2 0 +\n0 k2 3 0 +\n");
	tree_free(tree);
	wanted.unfolded_count = 0;
	wanted.deepest = ALL;
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 -\n2 k3 2 2\n");
	tree_free(tree);
	wanted.deepest = 0;
	wanted.least = 2;
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 +\n");
	wanted.least = 0;
	wanted.hot = tree->lists[TREE_DOWN].rows[0].path;
	tree_free(tree);
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 -\n2 k3 5 5\n1 k4 2 0 +\n");
	wanted.hot = 0;
	wanted.below = tree->lists[TREE_DOWN].rows[3].path;
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_DOWN].rows[0].path;
	tree_free(tree);
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k1 10 0 -\n1 k2 8 3 +\n1 k4 2 0 -\n2 k3 2 2\n");
	tree_free(tree);
	world_free(&world);
}

static void a_function_stands_between_its_callers_and_callees(void **state)
{
	struct world world = world_new();
	struct taken twice = kernel_sample(NS_PER_SECOND, 4, 5, (const uint64_t[]) { 3, 2, 2, 5, 1 });
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = ALL };
	struct tree *tree;

	(void)state;
	take_three(&world, NS_PER_SECOND);
	world_take(&world, &twice);
	wanted.of = name_of(&world, 2);
	tree = check_tree(&world, &question, &wanted);
	assert_int_equal(tree->weight, 14);
	assert_rows(&world, tree, TREE_DOWN, "0 k2 12 3 -\n1 k3 5 5\n1 k2 4 0 -\n2 k3 4 4\n");
	assert_rows(&world, tree, TREE_UP, "0 k2 12 0 -\n1 k1 8 8\n1 k5 4 0 -\n2 k1 4 4\n");
	tree_free(tree);
	wanted.recursion = 1;
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "0 k2 12 3 -\n1 k3 9 9\n");
	tree_free(tree);
	wanted.of = 4711;			/* no function has this name */
	tree = check_tree(&world, &question, &wanted);
	assert_rows(&world, tree, TREE_DOWN, "");
	tree_free(tree);
	world_free(&world);
}

static void idle_and_stackless_samples_are_rows(void **state)
{
	struct world world = world_new();
	struct taken idle = kernel_sample(NS_PER_SECOND, 6, 2, (const uint64_t[]) { 3, 1 });
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = ALL };
	struct tree *tree;

	(void)state;
	idle.mode = MODE_IDLE;
	world_take(&world, &idle);
	world_take(&world, &(struct taken) { .time = NS_PER_SECOND, .weight = 1 });
	tree = check_tree(&world, &question, &wanted);
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
	struct tree_question wanted = { .orders = 3, .deepest = ALL };
	struct tree *a, *b;

	(void)state;
	take_three(&one, NS_PER_SECOND);
	world_take(&other, &first);
	take_three(&other, NS_PER_SECOND);
	a = ask_tree(&one, &question, &wanted);
	b = ask_tree(&other, &question, &wanted);
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
	struct tree_question wanted = { .orders = 1, .deepest = ALL };
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
	tree = check_tree(&world, &question, &wanted);
	assert_int_equal(tree->lists[TREE_DOWN].count, TREE_ROWS);
	assert_true(tree->lists[TREE_DOWN].left_out > 0);
	for (size_t i = 0; i < TREE_ROWS; i++)
		least = tree->lists[TREE_DOWN].rows[i].total < least ? tree->lists[TREE_DOWN].rows[i].total : least;
	assert_true(least > 20);
	tree_free(tree);
	world_free(&world);
}

/* ---- trends ---- */

static void a_trend_is_the_total_by_second(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .from = 68 * NS_PER_SECOND };
	struct tree_question wanted = { .orders = 1, .deepest = ALL };
	struct tree *tree;
	const struct tree_row *rows;

	(void)state;
	for (uint64_t second = 5; second < 70; second++)
		take_three(&world, second * NS_PER_SECOND + 100 * NS_PER_MS);
	tree = ask_tree(&world, &question, &wanted);
	assert_null(tree->lists[TREE_DOWN].rows[0].trend);
	wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[1].path;
	wanted.trends[wanted.trend_count++] = tree->lists[TREE_DOWN].rows[0].path;
	wanted.trends[wanted.trend_count++] = 4711;
	for (int again = 0; again < 2; again++) {
		tree_free(tree);
		tree = check_tree(&world, &question, &wanted);
		rows = tree->lists[TREE_DOWN].rows;
		assert_int_equal(tree->trend_count, 2);
		assert_null(rows[2].trend);
		for (int i = 0; i < TREE_SECONDS; i++) {		/* 9 to 68 */
			assert_int_equal(rows[0].trend[i], 10);
			assert_int_equal(rows[1].trend[i], 8);
		}
	}
	take_three(&world, 71 * NS_PER_SECOND);
	take_three(&world, 68 * NS_PER_SECOND + 300 * NS_PER_MS);	/* it comes late */
	tree_free(tree);
	tree = check_tree(&world, &question, &wanted);
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
		tree = ask_tree(&world, &question, &wanted);
		world.query = query_new(&world.inputs);
		fresh = ask_tree(&world, &(struct question) { .to = question.to, .from = question.from }, &wanted);
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

/* What a row that is unfolded has below it comes in a few answers. Meanwhile all others have what they should. */
static void an_unfolded_row_is_made_a_part_at_a_time(void **state)
{
	enum { SAMPLES = 220000 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	struct tree_question wanted = { .orders = 3 };
	struct tree *tree;
	int answers = 0;

	(void)state;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct taken taken = kernel_sample(i * 20000, 1, 3, (const uint64_t[]) { 3 + i % 997, 2, 1 });

		taken.thread = 1 + (uint32_t)(i % 1000);
		world_take(&world, &taken);
	}
	tree = check_tree(&world, &question, &wanted);
	wanted.unfolded[wanted.unfolded_count++] = tree->lists[TREE_DOWN].rows[0].path;
	do {
		const struct tree_list *list;

		tree_free(tree);
		tree = query_tree(world.query, &question, &wanted, "");
		list = &tree->lists[TREE_DOWN];
		assert_true(list->rows[0].unfolded);
		assert_int_equal(list->rows[0].total, SAMPLES);
		assert_in_range(list->count, 1, 2);
		assert_int_equal(tree->lists[TREE_UP].count, 997);
		assert_true(answers++ < 10);
	} while (tree->growing);
	assert_in_range(answers, 2, 10);
	tree_free(tree);
	tree_free(check_tree(&world, &question, &wanted));
	world_free(&world);
}

/* Samples are walked when they come, and again when a row is unfolded; not each time that they are looked at. */
static void a_live_tree_walks_what_is_new(void **state)
{
	struct random random = { .state = 12 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	struct tree_question wanted = { .orders = 1, .least = 100 };
	struct taken taken;
	uint64_t samples = 0, walked;

	(void)state;
	for (uint64_t now = 0; now < 30 * NS_PER_SECOND; now += 5 * NS_PER_MS, samples++) {
		random_taken(&random, now, &taken);
		taken.missed = false;
		world_take(&world, &taken);
		if (now == 20 * NS_PER_SECOND)
			walked = walked_for_trees(world.query, question.reader);
		if (now % (100 * NS_PER_MS))
			continue;
		question.from = now > 10 * NS_PER_SECOND ? now - 10 * NS_PER_SECOND : 0;
		tree_free(ask_tree(&world, &question, &wanted));
	}
	wanted.least = 0;
	walked = walked_for_trees(world.query, question.reader);
	for (uint64_t now = 30 * NS_PER_SECOND; now < 40 * NS_PER_SECOND; now += 5 * NS_PER_MS) {
		random_taken(&random, now, &taken);
		world_take(&world, &taken);
		question.from = now - 10 * NS_PER_SECOND;
		if (now % (100 * NS_PER_MS) == 0)
			tree_free(ask_tree(&world, &question, &wanted));
	}
	assert_in_range(walked_for_trees(world.query, question.reader) - walked, 1000, 3 * 2000);
	world_free(&world);
}

static void a_tree_that_was_given_up_leaves_nothing(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = ALL };
	atomic_bool stop = true;

	(void)state;
	take_three(&world, NS_PER_SECOND);
	query_heed(world.query, &stop);
	tree_free(query_tree(world.query, &question, &wanted, ""));
	query_heed(world.query, NULL);
	tree_free(check_tree(&world, &question, &wanted));
	query_heed(world.query, &stop);
	take_three(&world, 2 * NS_PER_SECOND);
	tree_free(query_tree(world.query, &question, &wanted, ""));
	query_heed(world.query, NULL);
	tree_free(check_tree(&world, &question, &wanted));
	world_free(&world);
}

/* A tree is whole, or says that it is not. With memory back, it is as if nothing had been refused. */
static void scarce_memory_is_told(void **state)
{
	struct world world = world_new();
	struct budget *budget = budget_new(64);
	struct question question = { .to = UINT64_MAX };
	struct tree_question wanted = { .orders = 3, .deepest = ALL };
	size_t all, scarce = 0;
	struct tree *tree;

	(void)state;
	for (uint64_t i = 0; i < 200; i++) {
		struct taken taken = kernel_sample(NS_PER_SECOND, 1, 3, (const uint64_t[]) {
			1 + i % 7, 1 + i % 11, 1 + i % 13 });

		world_take(&world, &taken);
	}
	tree = ask_tree(&world, &question, &wanted);
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
			tree_free(check_tree(&world, &question, &wanted));
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
		cmocka_unit_test(rows_fold_and_unfold),
		cmocka_unit_test(a_function_stands_between_its_callers_and_callees),
		cmocka_unit_test(idle_and_stackless_samples_are_rows),
		cmocka_unit_test(paths_outlive_a_boot),
		cmocka_unit_test(the_heaviest_rows_find_room),
		cmocka_unit_test(a_trend_is_the_total_by_second),
		cmocka_unit_test(trends_that_go_on_are_those_made_anew),
		cmocka_unit_test(an_unfolded_row_is_made_a_part_at_a_time),
		cmocka_unit_test(a_live_tree_walks_what_is_new),
		cmocka_unit_test(a_tree_that_was_given_up_leaves_nothing),
		cmocka_unit_test(scarce_memory_is_told),
		cmocka_unit_test(trees_agree_with_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
