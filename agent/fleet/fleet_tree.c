/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "fleet.h"
#include "fleet_ids.h"
#include "fleet_state.h"

#define NO_ROW 0xffffffffu

struct call_tree_request fleet_tree_request(const struct fleet *fleet, size_t index)
{
	struct call_tree_request asked = fleet->tree_request;
	struct tree_question *tree = &asked.tree;

	asked.request.excerpt = fleet_excerpt(fleet, index);
	/* A row that is heavy in the sum may be light on this machine. It is unfolded here as well. */
	for (uint32_t i = 0; i < fleet->heavy_count && tree->unfolded_count < TREE_UNFOLDED; i++)
		tree->unfolded[tree->unfolded_count++] = fleet->heavy[i];
	return asked;
}

/* ---- the sum: rows with the same path are one ---- */

struct sum {				/* of one order */
	struct tree *tree;		/* gets the rows at last */
	enum tree_order order;
	struct tree_row *rows;		/* parents before children, in no other order */
	uint32_t *children, *last, *next;	/* by row, NO_ROW: none; the lists are in order of weight */
	uint32_t count, room;
	struct hash by_path;
};

static uint32_t find_row(struct sum *sum, uint64_t path)
{
	uint64_t hash = hash_pair(&sum->by_path, path, 0);
	uint32_t at = 0, row;

	while ((row = hash_next(&sum->by_path, hash, &at)) != HASH_NONE)
		if (sum->rows[row].path == path)
			return row;
	if (sum->count == sum->room) {
		sum->room = 2 * sum->room + 256;
		sum->rows = util_grow(sum->rows, sum->room, sizeof(*sum->rows));
	}
	sum->rows[sum->count] = (struct tree_row) { .path = path, .function = NO_ROW, .parent = TREE_TOP };
	hash_add(&sum->by_path, hash, sum->count);
	return sum->count++;
}

static void add_trend(struct tree *tree, struct tree_row *to, const uint64_t *trend, uint64_t each)
{
	uint64_t *sums;

	if (!trend || (!to->trend && tree->trend_count == TREE_ORDERS * TREE_TRENDS))
		return;
	sums = to->trend ? tree->trends + (to->trend - tree->trends) :
		tree_add_trend(tree, to, TREE_ORDERS * TREE_TRENDS);
	for (int i = 0; sums && i < TREE_SECONDS; i++)
		sums[i] += trend[i] * each;
}

static void add_rows(struct fleet *fleet, size_t index, struct sum *sum)
{
	struct fleet_machine *machine = &fleet->machines[index];
	const struct call_tree *part = machine->tree;
	const struct tree_list *list = &part->tree->lists[sum->order];
	const struct fleet_origin origin = {
		.symbols = part->answer.symbols, .kernel = part->kernel, .machine = fleet->names[index],
	};
	uint64_t each = fleet_period(machine, part->tree->weight, part->tree->time);
	uint64_t base_each = fleet_period(machine, part->tree->base.weight, part->tree->base.time);

	for (size_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];
		uint32_t at = find_row(sum, row->path);
		struct tree_row *to = &sum->rows[at];

		if (to->function == NO_ROW) {
			to->function = fleet_ids_map(fleet->functions, &machine->map, &origin, row->function);
			to->depth = row->depth;
			to->based = true;
			if (row->parent != TREE_TOP)
				to->parent = find_row(sum, list->rows[row->parent].path);
		}
		to->total += row->total * each;
		to->self += row->self * each;
		to->samples += row->samples;
		to->has_more = to->has_more || row->has_more;
		to->unfolded = to->unfolded || row->unfolded;
		to->line = to->line ? to->line : row->line;
		to->based = to->based && row->based;
		to->base_total += row->base_total * base_each;
		to->base_self += row->base_self * base_each;
		to->base_samples += row->base_samples;
		add_trend(sum->tree, to, row->trend, each);
	}
	if (list->left_out > sum->tree->lists[sum->order].left_out)
		sum->tree->lists[sum->order].left_out = list->left_out;
}

/* Heaviest first, parents before children; equal ones by their paths. */
static int by_weight(const void *left, const void *right, void *context)
{
	const struct tree_row *rows = context;
	const struct tree_row *a = &rows[*(const uint32_t *)left], *b = &rows[*(const uint32_t *)right];

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->depth != b->depth)
		return a->depth > b->depth ? 1 : -1;
	return (a->path > b->path) - (a->path < b->path);
}

/* Lists the children of each row, those of the top at index `count`. Rows beyond TREE_ROWS are left out. */
static void list_children(struct sum *sum)
{
	uint32_t *sorted = util_grow(NULL, sum->count, sizeof(*sorted));

	for (uint32_t i = 0; i <= sum->count; i++)
		sum->children[i] = sum->last[i] = sum->next[i] = NO_ROW;
	for (uint32_t i = 0; i < sum->count; i++)
		sorted[i] = i;
	qsort_r(sorted, sum->count, sizeof(*sorted), by_weight, sum->rows);
	for (uint32_t i = 0; i < sum->count && i < TREE_ROWS; i++) {
		uint32_t at = sorted[i], parent = sum->rows[at].parent == TREE_TOP ? sum->count : sum->rows[at].parent;

		if (sum->last[parent] == NO_ROW)
			sum->children[parent] = at;
		else
			sum->next[sum->last[parent]] = at;
		sum->last[parent] = at;
	}
	if (sum->count > TREE_ROWS)
		sum->tree->lists[sum->order].left_out += sum->count - TREE_ROWS;
	free(sorted);
}

/* `last` is reused: where the row is in the tree's list. */
static void put_rows(struct sum *sum)
{
	uint32_t at = sum->children[sum->count];

	while (at != NO_ROW) {
		struct tree_row *row = tree_add(sum->tree, sum->order);

		*row = sum->rows[at];
		row->parent = row->parent == TREE_TOP ? TREE_TOP : sum->last[row->parent];
		sum->last[at] = (uint32_t)(sum->tree->lists[sum->order].count - 1);
		if (sum->children[at] != NO_ROW) {
			at = sum->children[at];
			continue;
		}
		while (sum->next[at] == NO_ROW && sum->rows[at].parent != TREE_TOP)
			at = sum->rows[at].parent;
		at = sum->next[at];
	}
}

static bool has_tree(const struct fleet *fleet, size_t index)
{
	const struct call_tree *part = fleet->machines[index].tree;

	return part && part->tree && part->of == fleet->tree_request.tree.of &&
		part->recursion == (fleet->tree_request.tree.recursion != 0);
}

static void sum_lists(struct fleet *fleet, struct tree *tree, enum tree_order order)
{
	struct sum sum = { .tree = tree, .order = order };

	hash_init(&sum.by_path, NULL);
	for (size_t i = 0; i < fleet->count; i++)
		if (has_tree(fleet, i))
			add_rows(fleet, i, &sum);
	if (sum.count) {
		sum.children = util_grow(NULL, sum.count + 1, sizeof(*sum.children));
		sum.last = util_grow(NULL, sum.count + 1, sizeof(*sum.last));
		sum.next = util_grow(NULL, sum.count + 1, sizeof(*sum.next));
		list_children(&sum);
		put_rows(&sum);
	}
	hash_clear(&sum.by_path);
	free(sum.rows);
	free(sum.children);
	free(sum.last);
	free(sum.next);
}

static void sum_wholes(const struct fleet *fleet, struct tree *sum)
{
	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_machine *machine = &fleet->machines[i];
		const struct tree *part = has_tree(fleet, i) ? machine->tree->tree : NULL;
		uint64_t each = part ? fleet_period(machine, part->weight, part->time) : 0;

		if (!part)
			continue;
		sum->weight += part->weight * each;
		sum->samples += part->samples;
		for (int mode = 0; mode < MODES; mode++)
			sum->mode[mode] += part->mode[mode] * each;
		if (part->to - part->from > sum->to - sum->from)
			sum->from = sum->to - (part->to - part->from);
		sum->base.there = sum->base.there || part->base.there;
		sum->base.weight += part->base.weight * fleet_period(machine, part->base.weight, part->base.time);
		sum->base.samples += part->base.samples;
		sum->scarce = sum->scarce || part->scarce;
	}
	sum->time = sum->weight;
	sum->base.time = sum->base.weight;
}

static bool is_heavy(const struct fleet *fleet, const struct tree *tree, const struct tree_row *row)
{
	uint32_t least = fleet->tree_request.tree.least;

	return least && row->has_more && (unsigned __int128)row->total * least >= tree->weight;
}

/* Notes the rows that are unfolded for their weight. */
static void keep_heavy(struct fleet *fleet, const struct tree *tree)
{
	fleet->heavy_count = 0;
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count && fleet->heavy_count < TREE_UNFOLDED; i++)
			if (is_heavy(fleet, tree, &tree->lists[order].rows[i]))
				fleet->heavy[fleet->heavy_count++] = tree->lists[order].rows[i].path;
}

/* Source lines are texts of the machines' epochs. */
static void hold_texts(const struct fleet *fleet, struct call_tree *answer)
{
	answer->machines = util_alloc(fleet->count * sizeof(struct epoch *));
	answer->machine_count = fleet->count;
	for (size_t i = 0; i < fleet->count; i++)
		answer->machines[i] = has_tree(fleet, i) ? epoch_hold(fleet->machines[i].tree->answer.epoch) : NULL;
}

/* What the request has unfolded at once; but while a machine's part is still to an earlier request, what that has. */
static void tell_wish(const struct fleet *fleet, struct call_tree *answer)
{
	const struct tree_question *asked = &fleet->tree_request.tree;

	answer->hot = asked->hot;
	answer->below = asked->below;
	answer->find = asked->find;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct call_tree *part = has_tree(fleet, i) ? fleet->machines[i].tree : answer;

		answer->hot = part->hot != asked->hot ? part->hot : answer->hot;
		answer->below = part->below != asked->below ? part->below : answer->below;
		answer->find = part->find != asked->find ? part->find : answer->find;
	}
}

struct call_tree *fleet_tree(struct fleet *fleet, uint64_t now)
{
	struct call_tree *answer = util_alloc(sizeof(*answer));

	answer->answer = (struct answer) {
		.kind = &call_tree_kind, .begun = true, .symbols = fleet_ids_symbols(fleet->functions),
	};
	answer->filter = fleet->tree_request.request.excerpt.filter;
	answer->of = fleet->tree_request.tree.of;
	answer->recursion = fleet->tree_request.tree.recursion;
	tell_wish(fleet, answer);
	answer->tree = tree_new(fleet->budget);
	answer->tree->from = answer->tree->to = now - fleet->origin;
	for (int order = 0; order < TREE_ORDERS; order++)
		if (fleet->tree_request.tree.orders >> order & 1)
			sum_lists(fleet, answer->tree, (enum tree_order)order);
	hold_texts(fleet, answer);
	sum_wholes(fleet, answer->tree);
	keep_heavy(fleet, answer->tree);
	return answer;
}
