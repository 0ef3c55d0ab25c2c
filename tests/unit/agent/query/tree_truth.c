/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/hash.h"
#include "agent/store/store.h"
#include "asked.h"
#include "tree_truth.h"

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
	for (size_t i = truth->wanted->of ? first + 1 : depth; truth->order == TREE_UP && i-- > 0;)
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

struct tree *tree_truth_ask(struct world *world, const struct question *question, const struct tree_question *wanted)
{
	struct tree *tree = query_tree(world->query, question, wanted, "");

	assert_false(tree->scarce);
	return tree;
}

struct tree *tree_truth_check(struct world *world, const struct question *question,
	const struct tree_question *wanted)
{
	struct tree *tree = tree_truth_ask(world, question, wanted);
	static struct truth truth;
	struct table *table;

	table = query_table(world->query, question);
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

void tree_truth_take_three(struct world *world, uint64_t time)
{
	const struct taken all[] = {
		kernel_sample(time, 5, 3, (const uint64_t[]) { 3, 2, 1 }),
		kernel_sample(time, 3, 2, (const uint64_t[]) { 2, 1 }),
		kernel_sample(time, 2, 3, (const uint64_t[]) { 3, 4, 1 }),
	};

	for (size_t i = 0; i < 3; i++)
		world_take(world, &all[i]);
}
