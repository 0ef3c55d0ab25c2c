/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/filter.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "query_inlined.h"

/* Bounds for one answer: counts looked at, inlined functions told apart. */
enum { COUNTS_MAX = 20000, KINDS_MAX = 64 };

struct tally {
	struct window *window;
	uint32_t function;
	uint32_t left;			/* counts that may still be looked at */
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

static bool is_wanted(const struct tally *tally, const struct passing *passing, const struct who *who, uint32_t stack)
{
	struct window *window = tally->window;

	return who->mode != MODE_IDLE && stack != STACKS_NONE &&
		window->nodes->functions[stack] == tally->function &&
		filter_passes(passing->filter, passing->threads, who,
			passing->contexts ? passing->contexts[stack] : CONTEXT_UNTOLD) &&
		stack_filter_passes(&window->stack_filter, window->nodes->functions, stack, window->unknown);
}

/* Counts of one stack follow each other in a run. What is inlined there is asked once for all of them. */
static void add_run(struct tally *tally, const struct passing *passing, const struct run *run)
{
	struct run_reader reader = run_read(run);
	struct run_count count;
	uint32_t stack = STACKS_NONE;
	uint64_t weight = 0;		/* of `stack`, not added yet */

	for (; tally->left && run_next(&reader, &count); tally->left--) {
		if (!is_wanted(tally, passing, &run->who[count.who], count.stack))
			continue;
		if (weight && stack != count.stack) {
			add_weight(tally, innermost(tally, stack), weight);
			weight = 0;
		}
		stack = count.stack;
		weight += count.weight;
	}
	if (weight)
		add_weight(tally, innermost(tally, stack), weight);
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
	struct tally tally = { .window = window, .function = function, .left = COUNTS_MAX };
	struct passing passing;
	size_t count;

	window_look(window, question);
	passing = window_passing(window);
	for (size_t i = window->span.end; i > window->span.first && tally.left; i--) {
		struct slice slice = store_slice(window->inputs.store, i - 1);

		for (size_t k = 0; k < slice.run_count; k++)
			add_run(&tally, &passing, slice.runs[k]);
	}
	qsort(tally.kinds, tally.kind_count, sizeof(*tally.kinds), heavier);
	count = tally.kind_count < size ? tally.kind_count : size;
	for (size_t i = 0; i < count; i++)
		inlined[i] = tally.kinds[i];
	*whole = tally.whole;
	return count;
}
