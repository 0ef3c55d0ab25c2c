/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "stop.h"
#include "window.h"

void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes,
	const struct fine_ranges *fines, uint32_t reader)
{
	*window = (struct window) {
		.inputs = *inputs,
		.whole = inputs->store,
		.nodes = nodes,
		.fines = fines,
		.reader = reader,
		.store_version = UINT64_MAX,
		.whos = { .budget = inputs->budget },
		.idle = symbols_special(inputs->symbols, "[idle]"),
		.unknown = symbols_special(inputs->symbols, "[unknown]"),
		.stack_filter = {
			.filter = &window->question.filter, .stacks = inputs->stacks, .symbols = inputs->symbols,
			.kernel = inputs->kernel,
			.budget = inputs->budget,
		},
		.grouping = {
			.stacks = inputs->stacks, .symbols = inputs->symbols, .threads = inputs->threads,
			.budget = inputs->budget,
		},
	};
}

void window_clear(struct window *window)
{
	stack_filter_clear(&window->stack_filter);
	grouping_clear(&window->grouping);
	whos_clear(&window->whos);
	who_table_release(window->who_table);
	fine_range_release(window->fine);
}

/* By node; NULL: the question does not ask for modes within the kernel's. */
static const uint8_t *contexts_of(struct window *window)
{
	if (window->question.by != GROUP_MODE && filter_lacks(&window->question.filter, FILTER_MODE))
		return NULL;
	return node_functions_contexts(window->nodes, window->inputs.stacks, window->inputs.symbols, window->stop);
}

/* The table is held, so that no other one has the same list while something is remembered of it. */
static void meet_whos(struct window *window)
{
	struct who_table *table = store_whos(window->inputs.store);

	whos_meet(&window->whos, who_table_list(table), who_table_count(table));
	if (table == window->who_table)
		return;
	who_table_release(window->who_table);
	window->who_table = who_table_hold(table);
}

struct match window_match(struct window *window)
{
	meet_whos(window);
	return (struct match) {
		.filter = &window->question.filter, .stack_filter = &window->stack_filter,
		.threads = window->inputs.threads, .functions = window->nodes->functions,
		.contexts = contexts_of(window), .whos = &window->whos, .grouping = &window->grouping,
		.idle = window->idle, .unknown = window->unknown, .stop = window->stop,
	};
}

/* Makes all that was remembered of samples anew. */
static void forget(struct window *window)
{
	window->renewed++;
	window->store_version = UINT64_MAX;
}

static void follow_names(struct window *window)
{
	uint32_t changed = node_functions_update(window->nodes, window->reader, window->inputs.stacks,
		window->inputs.symbols, window->stop);

	if (changed != STACKS_NONE) {
		window->renewed++;
		if (window->question.by == GROUP_LINE)	/* other names, other objects: their lines may be known */
			grouping_clear(&window->grouping);
		stack_filter_follow(&window->stack_filter, changed);
	}
	stack_filter_meet(&window->stack_filter, window->nodes->functions, window->nodes->count);
}

/* Do the names of threads and processes decide what the answer is? */
static bool has_threads(const struct question *question)
{
	return grouping_has_threads(question->by) || !filter_lacks(&question->filter, FILTER_THREAD) ||
		!filter_lacks(&question->filter, FILTER_COMM) || !filter_lacks(&question->filter, FILTER_PROCESS);
}

static void follow_question(struct window *window, const struct question *question)
{
	uint64_t generation = threads_generation(window->inputs.threads);
	bool renamed = generation != window->threads_generation && has_threads(question);
	bool same = filter_same(&window->question.filter, &question->filter);

	window->threads_generation = generation;
	if (!same)
		stack_filter_clear(&window->stack_filter);
	if (window->question.by != question->by)
		grouping_clear(&window->grouping);
	window->grouping.by = question->by;
	if (!same || renamed || window->question.by != question->by) {
		window->renewed++;
		whos_clear(&window->whos);
	}
}

/* A fine range is a store of its own. Nothing that was made of another store is of use. */
static void follow_store(struct window *window, const struct question *question)
{
	struct fine_range *fine = question->fine ? fine_ranges_find(window->fines, question->from, question->to) : NULL;

	if (fine == window->fine)
		return;
	fine_range_release(window->fine);
	window->fine = fine_range_hold(fine);
	window->inputs.store = fine ? fine->store : window->whole;
	forget(window);
}

static struct span span_of(const struct window *window)
{
	const struct store *store = window->inputs.store;

	return window->fine ? (struct span) { 0, store_slices(store) } :
		span_find(store, window->question.from, window->question.to);
}

static uint64_t hash_slices(const struct window *window)
{
	uint64_t hash = window->span.end - window->span.first;

	for (size_t i = window->span.first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		hash = hash_mix(hash ^ slice.begin, slice.end);
		hash = hash_mix(hash ^ slice.version, UINT64_C(0x9e3779b97f4a7c15));
	}
	return hash;
}

static bool is_answered(const struct window *window, const struct question *question)
{
	return question->from == window->question.from && question->to == window->question.to &&
		question->by == window->question.by &&
		filter_same(&question->filter, &window->question.filter) &&
		window->store_version == store_version(window->inputs.store) &&
		node_functions_is_current(window->nodes, window->reader, window->inputs.symbols) &&
		window->threads_generation == threads_generation(window->inputs.threads);
}

void window_look(struct window *window, const struct question *question)
{
	uint64_t now, slices, renewed = window->renewed;

	follow_store(window, question);
	now = store_now(window->inputs.store);
	store_settle(window->inputs.store);
	if (grouping_changed(&window->grouping) || stack_filter_changed(&window->stack_filter))
		forget(window);
	if (is_answered(window, question)) {
		window->question = *question;
		return;
	}
	follow_question(window, question);
	window->question = *question;
	window->store_version = store_version(window->inputs.store);
	follow_names(window);
	window->span = span_of(window);
	window->to = question->to < now ? question->to : now;
	slices = hash_slices(window);
	if (slices != window->slices || renewed != window->renewed)
		window->looked++;
	window->slices = slices;
	if (stop_now(window->stop)) {
		node_functions_forget(window->nodes);
		forget(window);
	}
}

struct range window_range(const struct window *window)
{
	const struct store *store = window->inputs.store;
	uint64_t now = store_now(store), end, from = window->question.from;
	struct range range = { .from = from < window->to ? from : window->to, .to = window->to };
	bool more = window->span.end < store_slices(store);

	if (window->span.first == window->span.end || window->fine)
		return range;
	range.from = store_slice(store, window->span.first).begin;
	end = store_slice(store, window->span.end - 1).end;
	if (end > range.to)
		range.to = end < now ? end : now;
	else if (more && store_slice(store, window->span.end).begin < range.to)
		range.to = store_slice(store, window->span.end).begin;
	return range;
}

uint32_t window_cpus(const struct window *window)
{
	uint32_t count = 0;

	for (size_t i = window->span.first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		count = slice.cpus->count > count ? slice.cpus->count : count;
	}
	return count;
}
