/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "match.h"
#include "scan.h"
#include "stop.h"
#include "window.h"

_Static_assert((uint32_t)(STACKS_NONE + SCAN_NODES) == SCAN_UNKNOWN, "a sample without a stack has a place");

enum { AHEAD = 64 };			/* counts */

static size_t place_size(void)
{
	return sizeof(struct scan_sum) + sizeof(uint64_t) + 2 * sizeof(uint32_t);
}

static void free_cpus(struct scan *scan)
{
	budget_free(scan->budget, scan->cpus, (size_t)scan->room * scan->words * sizeof(*scan->cpus));
	scan->cpus = NULL;
	scan->words = 0;
}

static void free_pairs(struct scan *scan)
{
	struct scan_pairs *pairs = &scan->pairs;

	hash_clear(&pairs->by_pair);
	budget_free(scan->budget, pairs->list, pairs->room * sizeof(*pairs->list));
	budget_free(scan->budget, pairs->first, pairs->row_count * sizeof(*pairs->first));
	*pairs = (struct scan_pairs) { .refused = pairs->refused };
	scan->has_pairs = false;
}

void scan_clear(struct scan *scan)
{
	free_cpus(scan);
	free_pairs(scan);
	budget_give(scan->budget, scan->room * place_size());
	free(scan->own);
	free(scan->ran);
	free(scan->totals);
	free(scan->rows);
	*scan = (struct scan) { .budget = scan->budget };
}

void scan_begin(struct scan *scan, const struct window *window)
{
	bool same = scan->window && scan->store == window->inputs.store && scan->slices == window->slices &&
		scan->names == window->nodes->generation && scan->threads == window->threads_generation &&
		!scan->unread && !window->stack_filter.unread && filter_same(&scan->filter, &window->question.filter);

	if (scan->window == window && scan->looked == window->looked)
		return;
	scan->has_own = scan->has_own && same;
	scan->has_cpus = scan->has_cpus && same;
	scan->has_totals = false;
	if (scan->window == window)
		scan->pairs.refused = 0;
	if (scan->has_pairs)
		free_pairs(scan);
	scan->window = window;
	scan->looked = window->looked;
	scan->store = window->inputs.store;
	scan->slices = window->slices;
	scan->names = window->nodes->generation;
	scan->threads = window->threads_generation;
	scan->filter = window->question.filter;
}

/* ---- what ran ---- */

/* Charges without asking: some bytes for each node, whose number is bounded. */
static void make_room(struct scan *scan, uint32_t count)
{
	uint32_t room = count + count / 4 + 1024;

	scan->count = count;
	if (count <= scan->room)
		return;
	free_cpus(scan);
	budget_charge(scan->budget, (room - scan->room) * place_size());
	scan->own = util_grow(scan->own, room, sizeof(*scan->own));
	memset(scan->own + scan->room, 0, (room - scan->room) * sizeof(*scan->own));
	scan->ran = util_grow(scan->ran, room, sizeof(*scan->ran));
	scan->totals = util_grow(scan->totals, room, sizeof(*scan->totals));
	scan->rows = util_grow(scan->rows, room, sizeof(*scan->rows));
	scan->room = room;
}

static void make_cpus(struct scan *scan, const struct window *window)
{
	uint32_t count = 0, words;
	size_t size;

	for (size_t i = window->span.first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		count = slice.cpus->count > count ? slice.cpus->count : count;
	}
	words = (count + 63) / 64;
	words = words < SCAN_WORDS_MAX ? words : SCAN_WORDS_MAX;
	size = (size_t)scan->room * words * sizeof(*scan->cpus);
	if (words != scan->words) {
		free_cpus(scan);
		/* Not out of what the store leaves to others: samples are worth more than their CPUs. */
		if (!scan->budget || budget_left(scan->budget) / 2 >= size)
			scan->cpus = budget_resize(scan->budget, NULL, 0, size);
		scan->words = scan->cpus ? words : 0;
	}
	if (scan->words)
		memset(scan->cpus, 0, (size_t)scan->count * scan->words * sizeof(*scan->cpus));
}

/* Where a count goes, and who ran it. */
struct counted {
	struct run_count count;
	const struct who *who;
	uint32_t place;
};

static inline void add_count(struct scan *scan, const struct counted *counted, uint32_t words)
{
	struct scan_sum *sum = &scan->own[counted->place];

	if (!sum->samples)
		scan->ran[scan->ran_count++] = counted->place;
	sum->weight += counted->count.weight;
	sum->samples += counted->count.samples;
	if (counted->who->cpu < 64 * words)
		scan->cpus[(size_t)counted->place * words + counted->who->cpu / 64] |=
			UINT64_C(1) << counted->who->cpu % 64;
	scan->whole.weight += counted->count.weight;
	scan->whole.samples += counted->count.samples;
	scan->whole.mode[counted->who->mode] += counted->count.weight;
}

/* Reads counts ahead, so that the memory of their sums is fetched at the same time. */
static void add_run(struct scan *scan, const struct match *match, const struct run *run, uint32_t words)
{
	struct match_reader reader = match_begin(match, run);
	struct counted ahead[AHEAD];
	size_t count;

	do {
		for (count = 0; count < AHEAD; count++) {
			struct counted *next = &ahead[count];

			if (!match_next(&reader, &next->count, &next->who))
				break;
			next->place = next->who->mode == MODE_IDLE ? SCAN_IDLE : next->count.stack + SCAN_NODES;
			__builtin_prefetch(&scan->own[next->place], 1);
			if (words)
				__builtin_prefetch(&scan->cpus[(size_t)next->place * words], 1);
		}
		for (size_t i = 0; i < count; i++)
			add_count(scan, &ahead[i], words);
	} while (count == AHEAD);
}

void scan_add_slice(struct scan_whole *whole, const struct match *match, const struct slice *slice,
	uint64_t before)
{
	whole->time += (whole->weight - before) * slice->period;
	for (uint32_t i = 0; i < slice->cpus->count; i++)
		if (cpus_get(slice->cpus, i) && filter_passes_cpu(match->filter, i))
			whole->missed += cpus_get(slice->cpus, i)->missed;
}

void scan_own(struct scan *scan, struct window *window, bool cpus)
{
	const struct match match = window_match(window);

	if (scan->has_own && scan->has_cpus >= cpus)
		return;
	while (scan->ran_count)
		scan->own[scan->ran[--scan->ran_count]] = (struct scan_sum) { 0 };
	make_room(scan, stacks_nodes(window->inputs.stacks) + SCAN_NODES);	/* nodes without a function, too */
	if (cpus)
		make_cpus(scan, window);
	scan->whole = (struct scan_whole) { .weight = 0 };
	scan->unread = window->stack_filter.unread;
	for (size_t i = window->span.first; i < window->span.end && !stop_now(window->stop); i++) {
		struct slice slice = store_slice(window->inputs.store, i);
		uint64_t before = scan->whole.weight;

		for (size_t k = 0; k < slice.run_count; k++)
			add_run(scan, &match, slice.runs[k], cpus ? scan->words : 0);
		scan_add_slice(&scan->whole, &match, &slice, before);
	}
	scan->has_own = !stop_now(window->stop);
	scan->has_cpus = cpus;
	scan->has_totals = false;
}

/* ---- what is below ---- */

static void add_below(struct scan *scan, const struct node *nodes, uint32_t words)
{
	for (uint32_t i = 0; i < scan->count; i++)
		scan->totals[i] = scan->own[i].weight;
	for (uint32_t i = scan->count - SCAN_NODES; i-- > 0;) {
		uint32_t place = i + SCAN_NODES, above = nodes[i].parent + SCAN_NODES;

		if (!scan->totals[place] || nodes[i].parent == STACKS_NONE)
			continue;
		scan->totals[above] += scan->totals[place];
		for (uint32_t word = 0; word < words; word++)
			scan->cpus[(size_t)above * words + word] |= scan->cpus[(size_t)place * words + word];
	}
}

static void find_rows(struct scan *scan, struct window *window)
{
	const uint32_t *functions = window->nodes->functions;

	scan->rows[SCAN_IDLE] = window->idle;
	scan->rows[SCAN_UNKNOWN] = window->unknown;
	for (uint32_t i = 0; i < scan->count - SCAN_NODES; i++)
		if (scan->totals[i + SCAN_NODES])
			scan->rows[i + SCAN_NODES] = grouping_frame(&window->grouping, i, functions[i]);
}

void scan_totals(struct scan *scan, struct window *window, bool cpus)
{
	scan_own(scan, window, cpus);
	if (scan->has_totals)
		return;
	add_below(scan, stacks_list(window->inputs.stacks), cpus ? scan->words : 0);
	find_rows(scan, window);
	scan->has_totals = true;
}

/* ---- pairs ---- */

static bool have_row(struct scan_pairs *pairs, struct budget *budget, uint32_t row)
{
	uint32_t count = row + row / 4 + 256, *first;

	if (row < pairs->row_count)
		return true;
	first = budget_resize(budget, pairs->first, pairs->row_count * sizeof(*first), count * sizeof(*first));
	if (!first)
		return false;
	memset(first + pairs->row_count, 0xff, (count - pairs->row_count) * sizeof(*first));
	pairs->first = first;
	pairs->row_count = count;
	return true;
}

/* NULL: there is no memory. */
static struct scan_pair *have_pair(struct scan_pairs *pairs, struct budget *budget, uint32_t row, uint32_t function)
{
	uint64_t value = hash_pair(&pairs->by_pair, row, function);
	uint32_t at = 0, position;
	struct scan_pair *list;

	while ((position = hash_next(&pairs->by_pair, value, &at)) != HASH_NONE)
		if (pairs->list[position].row == row && pairs->list[position].function == function)
			return &pairs->list[position];
	if (!have_row(pairs, budget, row))
		return NULL;
	list = budget_array(budget, pairs->list, pairs->count, &pairs->room, sizeof(*list));
	pairs->list = list ? list : pairs->list;
	if (!list || !hash_add(&pairs->by_pair, value, pairs->count))
		return NULL;
	list[pairs->count] = (struct scan_pair) { .row = row, .function = function, .next = pairs->first[row] };
	pairs->first[row] = pairs->count;
	return &list[pairs->count++];
}

void scan_add_pair(struct scan_pairs *pairs, struct budget *budget, uint32_t row, uint32_t function, uint64_t weight)
{
	struct scan_pair *pair;

	if (!pairs->by_pair.size && !pairs->count)
		hash_init(&pairs->by_pair, budget);
	pair = have_pair(pairs, budget, row, function);
	if (pair)
		pair->weight += weight;
	else
		pairs->refused++;
}

/* By line, the function that a node is in; else its caller's row. FUNCTION_NONE: it is not known. */
static uint32_t other_of(const struct scan *scan, const struct window *window, const struct node *nodes, uint32_t id)
{
	if (window->question.by == GROUP_LINE)
		return window->nodes->functions[id];
	return nodes[id].parent == STACKS_NONE || nodes[id].cut ? FUNCTION_NONE :
		scan->rows[nodes[id].parent + SCAN_NODES];
}

/* Each stack counts once, however often it has the pair: where no node above has it. */
static bool is_outermost(const struct scan *scan, const struct window *window, const struct node *nodes, uint32_t id,
	uint32_t other)
{
	for (uint32_t above = nodes[id].parent; above != STACKS_NONE; above = nodes[above].parent)
		if (scan->rows[above + SCAN_NODES] == scan->rows[id + SCAN_NODES] &&
				other_of(scan, window, nodes, above) == other)
			return false;
	return true;
}

void scan_node_pairs(struct scan *scan, struct window *window, uint32_t of)
{
	const struct node *nodes = stacks_list(window->inputs.stacks);

	if (scan->has_pairs && (scan->pairs_of == FUNCTION_NONE || scan->pairs_of == of))
		return;
	free_pairs(scan);
	scan->pairs.refused = 0;
	scan_totals(scan, window, false);
	for (uint32_t i = 0; i < scan->count - SCAN_NODES; i++) {
		uint32_t row = scan->rows[i + SCAN_NODES], other;

		if (!scan->totals[i + SCAN_NODES] || (of != FUNCTION_NONE && row != of))
			continue;
		other = other_of(scan, window, nodes, i);
		if (other != FUNCTION_NONE && is_outermost(scan, window, nodes, i, other))
			scan_add_pair(&scan->pairs, scan->budget, row, other, scan->totals[i + SCAN_NODES]);
	}
	scan->has_pairs = scan->has_own;
	scan->pairs_of = of;
}
