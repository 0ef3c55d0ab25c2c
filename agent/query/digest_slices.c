/* SPDX-License-Identifier: MIT */
/* How the samples of a slice are added to a digest: by their stacks, or by who ran them. */
#include <stddef.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "digest.h"
#include "digest_parts.h"

/* All counts of one stack in a run. */
struct group {
	uint32_t stack;
	uint64_t weight, samples;
	uint64_t kernel, user;		/* by who: the parts of `weight` in these modes */
	uint64_t cpus[DIGEST_WORDS_MAX];
};

/* Adds to a function's total. A function that is in the stack several times counts once; the stamp tells. */
static inline struct digest_sum *add_total(struct digest *digest, struct digest_places *places, uint32_t function,
	const struct group *group)
{
	struct digest_sum *sum = digest_have_sum(digest, places, function);
	uint64_t *cpus = digest->cpus + (size_t)(sum - digest->sums) * digest->words;

	if (sum->stamp == digest->stamp)
		return sum;
	sum->stamp = digest->stamp;
	sum->total += group->weight;
	for (uint32_t i = 0; i < digest->words; i++)
		cpus[i] |= group->cpus[i];
	return sum;
}

static void add_edge(struct digest *digest, struct digest_places *places, uint32_t callee, uint32_t caller,
	uint64_t weight)
{
	struct digest_edge *edge;

	if (digest->callers == CALLERS_NONE ||
			(digest->callers == CALLERS_ONE && callee != digest->callee))
		return;
	edge = digest_have_edge(digest, places, callee, caller);
	if (!edge) {
		digest->edges_refused++;
		return;
	}
	if (edge->stamp == digest->stamp)
		return;
	edge->stamp = digest->stamp;
	edge->weight += weight;
}

static void add_leaf(struct digest *digest, struct digest_places *places, uint32_t function,
	const struct group *group)
{
	struct digest_sum *sum = add_total(digest, places, function, group);

	sum->self += group->weight;
	sum->samples += group->samples;
	sum->kernel += group->kernel;
	sum->user += group->user;
}

static inline uint32_t row_of_node(const struct digest_input *input, uint32_t node)
{
	uint32_t function = input->passing.functions[node];

	return input->grouping->by == GROUP_FUNCTION ? function : grouping_frame(input->grouping, node, function);
}

static void add_stack(struct digest *digest, const struct digest_input *input,
	const struct group *group)
{
	const struct node *nodes = stacks_list(input->stacks);
	uint32_t id = group->stack, row = row_of_node(input, id), caller;
	bool by_line = input->grouping->by == GROUP_LINE;

	add_leaf(digest, input->places, row, group);
	if (id > digest->newest)
		digest->newest = id;
	for (;;) {
		const struct node *node = &nodes[id];

		if (by_line)
			add_edge(digest, input->places, row, input->passing.functions[id], group->weight);
		if (node->parent == STACKS_NONE)
			return;
		caller = row_of_node(input, node->parent);
		add_total(digest, input->places, caller, group);
		if (!node->cut && !by_line)
			add_edge(digest, input->places, row, caller, group->weight);
		id = node->parent;
		row = caller;
	}
}

/* Adds the group's stack, if the group has samples, and empties the group. */
static void add_group(struct digest *digest, const struct digest_input *input,
	struct group *group, bool idle)
{
	if (!group->samples)
		return;
	digest->stamp++;
	if (idle)
		add_leaf(digest, input->places, input->passing.idle, group);
	else if (group->stack == STACKS_NONE)
		add_leaf(digest, input->places, input->passing.unknown, group);
	else
		add_stack(digest, input, group);
	*group = (struct group) { 0 };
}

static void add_cpu(const struct digest *digest, struct group *group, const struct who *who)
{
	if (who->cpu < digest->cpu_count)
		group->cpus[who->cpu / 64] |= 1ull << who->cpu % 64;
}

static void add_whole(struct digest *digest, const struct run_count *count, const struct who *who)
{
	digest->weight += count->weight;
	digest->samples += count->samples;
	digest->mode[who->mode] += count->weight;
}

static void add_count(struct digest *digest, struct group *group, const struct run_count *count,
	const struct who *who)
{
	group->weight += count->weight;
	group->samples += count->samples;
	add_cpu(digest, group, who);
	add_whole(digest, count, who);
}

/* What the filter looked at counts as looked at here. */
static void end_run(struct digest *digest, struct passing_reader *reader)
{
	if (reader->newest > digest->newest)
		digest->newest = reader->newest;
	passing_end(reader);
}

/* Walks each stack once, however many ran it: its counts stand next to each other in the run. */
static void add_run(struct digest *digest, const struct digest_input *input,
	const struct run *run)
{
	struct group group = { 0 }, idle = { 0 };
	struct passing_reader reader;
	struct run_count count;
	const struct who *who;

	passing_begin(&reader, &input->passing, run);
	while (passing_next(&reader, &count, &who)) {
		if (who->mode == MODE_IDLE) {
			add_count(digest, &idle, &count, who);
			continue;
		}
		if (count.stack != group.stack)
			add_group(digest, input, &group, false);
		group.stack = count.stack;
		add_count(digest, &group, &count, who);
	}
	add_group(digest, input, &group, false);
	add_group(digest, input, &idle, true);
	end_run(digest, &reader);
}

/* ---- the callers of one function ---- */

/* Adds the calls of the callee in one stack. */
static void add_calls(struct digest *digest, const struct digest_input *input, uint32_t id, uint64_t weight)
{
	const uint32_t *functions = input->passing.functions;
	const struct node *nodes = stacks_list(input->stacks);

	digest->stamp++;
	for (; id != STACKS_NONE; id = nodes[id].parent)
		if (functions[id] == digest->callee && nodes[id].parent != STACKS_NONE && !nodes[id].cut)
			add_edge(digest, input->places, digest->callee, functions[nodes[id].parent], weight);
}

static void add_run_calls(struct digest *digest, const struct digest_input *input, const struct run *run)
{
	uint32_t stack = STACKS_NONE;
	uint64_t weight = 0;		/* of `stack`, not added yet */
	struct passing_reader reader;
	struct run_count count;
	const struct who *who;

	passing_begin(&reader, &input->passing, run);
	while (passing_next(&reader, &count, &who)) {
		if (who->mode == MODE_IDLE)
			continue;
		if (count.stack != stack) {
			add_calls(digest, input, stack, weight);
			weight = 0;
		}
		stack = count.stack;
		weight += count.weight;
	}
	add_calls(digest, input, stack, weight);
	passing_end(&reader);
}

void digest_call(struct digest *digest, const struct digest_input *input, const struct slice *slice, uint32_t callee)
{
	digest_free_edges(digest);
	digest->callers = CALLERS_ONE;
	digest->callee = callee;
	digest_set_places(digest, input->places);
	for (size_t i = 0; i < slice->run_count; i++)
		add_run_calls(digest, input, slice->runs[i]);
}

/* ---- sums by who ran ---- */

struct tally {				/* of one entry of a run's list of who, in one context of stacks */
	const struct who *who;
	enum context context;
	uint64_t weight, samples;
	struct tally *same;		/* one that has the same row, unless it is idle time; or itself. It keeps it: */
	uint32_t row;
	bool has_row;			/* `row` is set */
};

static bool same_task(const struct who *a, const struct who *b)
{
	return a->process == b->process && a->thread == b->thread;
}

/* Entries of one thread follow each other. If threads or processes are rows, theirs is the same: that saves names. */
static struct tally *new_tallies(const struct digest_input *input, const struct run *run, uint32_t contexts)
{
	struct tally *tallies = util_alloc(run->who_count * contexts * sizeof(*tallies));
	bool by_task = grouping_has_threads(input->grouping->by);

	for (uint32_t i = 0; i < run->who_count; i++)
		for (uint32_t context = 0; context < contexts; context++) {
			struct tally *tally = &tallies[i * contexts + context];
			bool same = by_task && i && same_task(&run->who[i], &run->who[i - 1]);

			tally->who = &run->who[i];
			tally->context = (enum context)context;
			tally->same = same ? tally[-(ptrdiff_t)contexts].same : tally;
		}
	return tallies;
}

static uint32_t row_of_who(const struct digest_input *input, const struct tally *tally)
{
	struct tally *same = tally->same;

	if (tally->who->mode == MODE_IDLE)
		return input->passing.idle;
	if (!same->has_row)
		same->row = grouping_who(input->grouping, tally->who, tally->context);
	same->has_row = true;
	return same->row;
}

/* Notes in which function the row ran. */
static void add_ran(struct digest *digest, const struct digest_input *input, uint32_t row,
	const struct run_count *count)
{
	bool stack = count->stack != STACKS_NONE;

	if (stack && count->stack > digest->newest)
		digest->newest = count->stack;
	digest->stamp++;
	add_edge(digest, input->places, row,
		stack ? input->passing.functions[count->stack] : input->passing.unknown, count->weight);
}

static void add_tally(struct digest *digest, const struct digest_input *input, const struct tally *tally)
{
	struct group group = {
		.weight = tally->weight, .samples = tally->samples,
		.kernel = tally->who->mode == MODE_KERNEL ? tally->weight : 0,
		.user = tally->who->mode == MODE_USER ? tally->weight : 0,
	};

	add_cpu(digest, &group, tally->who);
	digest->stamp++;
	add_leaf(digest, input->places, row_of_who(input, tally), &group);
}

/* The same where a sample's row depends on who ran it, and of its stack on the context alone. */
static void add_run_by_who(struct digest *digest, const struct digest_input *input, const struct run *run)
{
	uint32_t contexts = input->passing.contexts ? CONTEXTS : 1, tally_count = run->who_count * contexts;
	struct tally *tallies = new_tallies(input, run, contexts);
	struct passing_reader reader;
	struct run_count count;
	const struct who *who;

	passing_begin(&reader, &input->passing, run);
	while (passing_next(&reader, &count, &who)) {
		struct tally *tally = &tallies[count.who * contexts + reader.context];

		tally->weight += count.weight;
		tally->samples += count.samples;
		add_whole(digest, &count, who);
		if (digest->callers != CALLERS_NONE && who->mode != MODE_IDLE)
			add_ran(digest, input, row_of_who(input, tally), &count);
	}
	for (uint32_t i = 0; i < tally_count; i++)
		if (tallies[i].samples)
			add_tally(digest, input, &tallies[i]);
	end_run(digest, &reader);
	free(tallies);
}

static void add_runs(struct digest *digest, const struct digest_input *input, const struct slice *slice, size_t first)
{
	digest_free_selfs(digest);
	digest_set_places(digest, input->places);
	for (size_t i = first; i < slice->run_count; i++)
		if (grouping_is_by_who(input->grouping->by))
			add_run_by_who(digest, input, slice->runs[i]);
		else
			add_run(digest, input, slice->runs[i]);
	digest->runs = slice->run_count;
	digest->merged = slice->merged;
	if (slice->version > digest->version)
		digest->version = slice->version;
}

static uint64_t missed_in(const struct digest_input *input, const struct slice *slice)
{
	uint64_t missed = 0;

	for (uint32_t i = 0; i < slice->cpus->count; i++)
		if (filter_passes_cpu(input->passing.filter, i) && cpus_get(slice->cpus, i))
			missed += cpus_get(slice->cpus, i)->missed;
	return missed;
}

void digest_add(struct digest *digest, const struct digest_input *input,
	const struct slice *slice)
{
	uint64_t before = digest->weight;

	add_runs(digest, input, slice, 0);
	digest->time += (digest->weight - before) * slice->period;
	digest->missed += missed_in(input, slice);
	if (digest->end == 0)
		digest->begin = slice->begin;
	digest->end = slice->end;
}

bool digest_can_grow(const struct digest *digest, const struct slice *slice)
{
	return !digest->trimmed && digest->begin == slice->begin && digest->end == slice->end &&
		digest->merged == slice->merged && digest->runs <= slice->run_count &&
		digest->version <= slice->version && digest->cpu_count == digest_cpus_told(slice->cpus->count);
}

void digest_grow(struct digest *digest, const struct digest_input *input, const struct slice *slice)
{
	add_runs(digest, input, slice, digest->runs);
	digest->time = digest->weight * slice->period;
	digest->missed = missed_in(input, slice);
}
