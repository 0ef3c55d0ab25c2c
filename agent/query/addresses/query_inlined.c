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

struct tally {
	struct window *window;
	uint32_t function;
	uint32_t looked;		/* counts */
	uint64_t whole;
	struct caller kinds[KINDS_MAX];
	size_t kind_count;
};

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

static void add_run(struct tally *tally, const struct match *match, const struct run *run)
{
	uint32_t stack = STACKS_NONE, inlined = FUNCTION_NONE;
	struct match_reader reader = match_begin(match, run);
	struct run_count count;
	const struct who *who;

	while (tally->looked < COUNTS_MAX && match_next(&reader, &count, &who)) {
		tally->looked++;
		if (who->mode == MODE_IDLE || count.stack == STACKS_NONE ||
				match->functions[count.stack] != tally->function)
			continue;
		if (count.stack != stack)
			inlined = innermost(tally, count.stack);
		stack = count.stack;
		add_weight(tally, inlined, count.weight);
	}
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
	struct window *window = &query_reader(query, question)->window;
	struct tally tally = { .window = window, .function = function };
	struct match match;
	size_t count;

	window_look(window, question);
	match = window_match(window);
	for (size_t i = window->span.end; i-- > window->span.first && tally.looked < COUNTS_MAX;) {
		struct slice slice = store_slice(window->inputs.store, i);

		for (size_t k = 0; k < slice.run_count; k++)
			add_run(&tally, &match, slice.runs[k]);
	}
	qsort(tally.kinds, tally.kind_count, sizeof(*tally.kinds), heavier);
	count = tally.kind_count < size ? tally.kind_count : size;
	for (size_t i = 0; i < count; i++)
		inlined[i] = tally.kinds[i];
	*whole = tally.whole;
	return count;
}
