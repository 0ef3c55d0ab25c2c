/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_inlined.h"

/* Bounds for one answer: counts looked at, inlined functions told apart. */
enum { COUNTS_MAX = 20000, KINDS_MAX = 64 };

struct leaf {
	uint32_t stack;
	uint64_t weight;
};

struct part {				/* of one slice: where the function ran */
	uint64_t begin, end, version, merged;	/* of the slice */
	uint32_t most, looked;		/* counts that could be looked at, and those that were */
	struct leaf *leaves;
	size_t leaf_count, leaf_room;
};

/* What is kept for a reader: the parts of the newest slices, newest first. */
struct parts {
	uint32_t function;
	uint64_t renewed;		/* that of the window: when it grows, no part is right any more */
	struct part *list;
	size_t count;
};

struct tally {
	struct window *window;
	uint64_t whole;
	struct caller kinds[KINDS_MAX];
	size_t kind_count;
};

static void free_list(struct part *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].leaves);
	free(list);
}

static void free_parts(void *state)
{
	struct parts *parts = state;

	free_list(parts->list, parts->count);
	free(parts);
}

/* What is kept of this function; empty if that is not right any more. */
static struct parts *have_parts(struct query_reader *reader, uint32_t function)
{
	struct parts *parts = query_beside(reader, free_parts);

	if (parts && parts->function == function && parts->renewed == reader->window.renewed)
		return parts;
	parts = util_alloc(sizeof(*parts));
	parts->function = function;
	parts->renewed = reader->window.renewed;
	query_keep_beside(reader, parts, free_parts);
	return parts;
}

/* ---- one slice ---- */

static bool is_wanted(struct window *window, const struct passing *passing, uint32_t function, const struct who *who,
	uint32_t stack)
{
	return who->mode != MODE_IDLE && stack != STACKS_NONE && window->nodes->functions[stack] == function &&
		filter_passes(passing->filter, passing->threads, who,
			passing->contexts ? passing->contexts[stack] : CONTEXT_UNTOLD) &&
		stack_filter_passes(&window->stack_filter, window->nodes->functions, stack, window->unknown);
}

/* Counts of one stack follow each other in a run. */
static void add_leaf(struct part *part, uint32_t stack, uint64_t weight)
{
	struct leaf *last = part->leaf_count ? &part->leaves[part->leaf_count - 1] : NULL;

	if (last && last->stack == stack) {
		last->weight += weight;
		return;
	}
	if (part->leaf_count == part->leaf_room) {
		part->leaf_room = 2 * part->leaf_room + 8;
		part->leaves = util_grow(part->leaves, part->leaf_room, sizeof(*part->leaves));
	}
	part->leaves[part->leaf_count++] = (struct leaf) { stack, weight };
}

static struct part make_part(struct window *window, uint32_t function, const struct slice *slice, uint32_t most)
{
	const struct passing passing = window_passing(window);
	struct part part = { .begin = slice->begin, .end = slice->end, .version = slice->version,
		.merged = slice->merged, .most = most };

	for (size_t i = 0; i < slice->run_count; i++) {
		struct run_reader reader = run_read(slice->runs[i]);
		struct run_count count;

		for (; part.looked < most && run_next(&reader, &count); part.looked++)
			if (is_wanted(window, &passing, function, &slice->runs[i]->who[count.who], count.stack))
				add_leaf(&part, count.stack, count.weight);
	}
	return part;
}

/* Is it what would be made now? Merged runs have fewer counts. With more room than counts, all are looked at. */
static bool holds(const struct part *part, const struct slice *slice, uint32_t most)
{
	return part->begin == slice->begin && part->end == slice->end && part->version == slice->version &&
		part->merged == slice->merged &&
		(part->most == most || (part->looked < part->most && part->looked < most));
}

/* Goes from the newest slice of the range back, until enough counts were looked at. */
static void renew(struct parts *parts, struct window *window)
{
	size_t slices = window->span.end - window->span.first, old = 0, count = 0;
	struct part *list = util_alloc(slices * sizeof(*list));
	uint32_t left = COUNTS_MAX;

	for (; count < slices && left; count++) {
		struct slice slice = store_slice(window->inputs.store, window->span.end - 1 - count);

		while (old < parts->count && parts->list[old].begin > slice.begin)
			free(parts->list[old++].leaves);
		list[count] = old < parts->count && holds(&parts->list[old], &slice, left) ? parts->list[old++] :
			make_part(window, parts->function, &slice, left);
		left -= list[count].looked;
	}
	while (old < parts->count)
		free(parts->list[old++].leaves);
	free(parts->list);
	parts->list = list;
	parts->count = count;
}

/* ---- all of them ---- */

/* The innermost inlined function at a leaf. FUNCTION_NONE: nothing is inlined there, or it is not known yet. */
static uint32_t innermost(const struct tally *tally, uint32_t leaf)
{
	struct node node = stacks_node(tally->window->inputs.stacks, leaf);
	struct inlined inlined;

	if (!symbols_inlined(tally->window->inputs.symbols, node.space, node.address, &inlined) ||
			inlined.count == 0)
		return FUNCTION_NONE;
	return inlined.functions[inlined.count - 1];
}

static void add_weight(struct tally *tally, uint32_t function, uint64_t weight)
{
	struct caller *kind = tally->kinds;

	tally->whole += weight;
	if (function == FUNCTION_NONE)
		return;
	while (kind < tally->kinds + tally->kind_count && kind->function != function)
		kind++;
	if (kind == tally->kinds + KINDS_MAX)
		return;
	if (kind == tally->kinds + tally->kind_count) {
		*kind = (struct caller) { .function = function };
		tally->kind_count++;
	}
	kind->weight += weight;
}

static int heavier(const void *left, const void *right)
{
	const struct caller *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

size_t query_inlined(struct query *query, const struct question *question, uint32_t function,
	struct caller *inlined, size_t size, uint64_t *whole)
{
	struct query_reader *reader = query_reader(query, question);
	struct tally tally = { .window = &reader->window };
	struct parts *parts;
	size_t count;

	window_look(&reader->window, question);
	parts = have_parts(reader, function);
	renew(parts, &reader->window);
	for (size_t i = 0; i < parts->count; i++)
		for (size_t k = 0; k < parts->list[i].leaf_count; k++)
			add_weight(&tally, innermost(&tally, parts->list[i].leaves[k].stack),
				parts->list[i].leaves[k].weight);
	qsort(tally.kinds, tally.kind_count, sizeof(*tally.kinds), heavier);
	count = tally.kind_count < size ? tally.kind_count : size;
	for (size_t i = 0; i < count; i++)
		inlined[i] = tally.kinds[i];
	*whole = tally.whole;
	return count;
}
