/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "filter.h"
#include "digest.h"
#include "stack_filter.h"
#include "stop.h"

struct digest *digest_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget)
{
	struct digest *digest = util_alloc(sizeof(*digest));

	digest->callers = callers;
	digest->callee = callee;

	digest->words = (cpu_count + 63) / 64;
	if (digest->words > DIGEST_WORDS_MAX)
		digest->words = DIGEST_WORDS_MAX;
	digest->budget = budget;
	hash_init(&digest->by_function, NULL);
	hash_init(&digest->by_pair, budget);
	return digest;
}

/* The bytes of a sum, with its CPUs and its place in the index. */
static size_t sum_cost(const struct digest *digest)
{
	return sizeof(*digest->sums) + digest->words * sizeof(*digest->cpus) +
		4 * sizeof(struct hash_slot);
}

/* Frees the sums and edges. The totals of the digest stay. */
static void free_sums(struct digest *digest)
{
	hash_clear(&digest->by_function);
	hash_clear(&digest->by_pair);
	budget_give(digest->budget, digest->sum_room * sum_cost(digest));
	free(digest->sums);
	free(digest->cpus);
	budget_free(digest->budget, digest->edges, digest->edge_room * sizeof(*digest->edges));
	digest->sums = NULL;
	digest->cpus = NULL;
	digest->edges = NULL;
	digest->sum_count = digest->sum_room = digest->edge_count = digest->edge_room = 0;
}

void digest_free(struct digest *digest)
{
	if (!digest)
		return;
	free_sums(digest);
	budget_free(digest->budget, digest->selfs,
		digest->self_count * sizeof(*digest->selfs));
	free(digest);
}

static struct digest_sum *find_sum(const struct digest *digest, uint32_t function, uint64_t hash)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&digest->by_function, hash, &at)) != HASH_NONE)
		if (digest->sums[position].function == function)
			return &digest->sums[position];
	return NULL;
}

/* Charges without asking: there are no more sums than functions, and their number is bounded. */
static void grow_sums(struct digest *digest)
{
	size_t words;

	budget_charge(digest->budget, (digest->sum_room + 32) * sum_cost(digest));
	digest->sum_room = 2 * digest->sum_room + 32;
	words = (size_t)digest->sum_room * digest->words;
	digest->sums = util_grow(digest->sums, digest->sum_room, sizeof(*digest->sums));
	digest->cpus = util_grow(digest->cpus, words, sizeof(*digest->cpus));
}

static struct digest_sum *have_sum(struct digest *digest, uint32_t function)
{
	uint64_t hash = hash_pair(&digest->by_function, function, 0);
	struct digest_sum *sum = find_sum(digest, function, hash);

	if (sum)
		return sum;
	if (digest->sum_count == digest->sum_room)
		grow_sums(digest);
	hash_add(&digest->by_function, hash, digest->sum_count);
	memset(digest->cpus + (size_t)digest->sum_count * digest->words, 0,
		digest->words * sizeof(*digest->cpus));
	sum = &digest->sums[digest->sum_count++];
	*sum = (struct digest_sum) { .function = function, .callers = DIGEST_NO_EDGE };
	return sum;
}

static int by_function(const void *left, const void *right)
{
	const struct digest_self *a = left, *b = right;

	return (a->function > b->function) - (a->function < b->function);
}

void digest_trim(struct digest *digest)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < digest->sum_count; i++)
		count += digest->sums[i].self != 0;
	budget_charge(digest->budget, count * sizeof(*digest->selfs));
	digest->selfs = util_grow(NULL, count, sizeof(*digest->selfs));
	for (uint32_t i = 0; i < digest->sum_count; i++)
		if (digest->sums[i].self)
			digest->selfs[digest->self_count++] = (struct digest_self) {
				digest->sums[i].function, digest->sums[i].self,
			};
	if (count)
		qsort(digest->selfs, count, sizeof(*digest->selfs), by_function);
	free_sums(digest);
	digest->trimmed = true;
}

uint64_t digest_self(const struct digest *digest, uint32_t function)
{
	const struct digest_self key = { .function = function }, *self;
	const struct digest_sum *sum;

	if (digest->trimmed) {
		self = digest->self_count ? bsearch(&key, digest->selfs, digest->self_count,
			sizeof(key), by_function) : NULL;
		return self ? self->weight : 0;
	}
	sum = find_sum(digest, function, hash_pair(&digest->by_function, function, 0));
	return sum ? sum->self : 0;
}

/* NULL: there is no room for a new edge. */
static struct digest_edge *have_edge(struct digest *digest, uint32_t callee, uint32_t caller)
{
	uint64_t hash = hash_pair(&digest->by_pair, callee, caller);
	struct digest_edge *edges;
	struct digest_sum *sum;
	uint32_t at = 0, position;

	while ((position = hash_next(&digest->by_pair, hash, &at)) != HASH_NONE)
		if (digest->edges[position].callee == callee &&
				digest->edges[position].caller == caller)
			return &digest->edges[position];
	edges = budget_array(digest->budget, digest->edges, digest->edge_count,
		&digest->edge_room, sizeof(*edges));
	if (!edges)
		return NULL;
	digest->edges = edges;
	if (!hash_add(&digest->by_pair, hash, digest->edge_count))
		return NULL;
	sum = have_sum(digest, callee);
	digest->edges[digest->edge_count] = (struct digest_edge) {
		.callee = callee, .caller = caller, .next = sum->callers,
	};
	sum->callers = digest->edge_count;
	return &digest->edges[digest->edge_count++];
}

const struct digest_edge *digest_edge_to(const struct digest *digest, uint32_t callee,
	const struct digest_edge *last)
{
	const struct digest_sum *sum = last ? NULL : find_sum(digest, callee,
		hash_pair(&digest->by_function, callee, 0));
	uint32_t next = last ? last->next : sum ? sum->callers : DIGEST_NO_EDGE;

	return next == DIGEST_NO_EDGE ? NULL : &digest->edges[next];
}

/* All counts of one stack in a run. */
struct group {
	uint32_t stack;
	uint64_t weight, samples;
	uint64_t cpus[DIGEST_WORDS_MAX];
};

/* Adds to a function's total. A function that is in the stack several times counts once; the stamp tells. */
static struct digest_sum *add_total(struct digest *digest, uint32_t function,
	const struct group *group)
{
	struct digest_sum *sum = have_sum(digest, function);
	uint64_t *cpus = digest->cpus + (size_t)(sum - digest->sums) * digest->words;

	if (sum->stamp == digest->stamp)
		return sum;
	sum->stamp = digest->stamp;
	sum->total += group->weight;
	for (uint32_t i = 0; i < digest->words; i++)
		cpus[i] |= group->cpus[i];
	return sum;
}

static void add_edge(struct digest *digest, uint32_t callee, uint32_t caller, uint64_t weight)
{
	struct digest_edge *edge;

	if (digest->callers == CALLERS_NONE ||
			(digest->callers == CALLERS_ONE && callee != digest->callee))
		return;
	edge = have_edge(digest, callee, caller);
	if (!edge) {
		digest->edges_refused++;
		return;
	}
	if (edge->stamp == digest->stamp)
		return;
	edge->stamp = digest->stamp;
	edge->weight += weight;
}

static void add_leaf(struct digest *digest, uint32_t function, const struct group *group)
{
	struct digest_sum *sum = add_total(digest, function, group);

	sum->self += group->weight;
	sum->samples += group->samples;
}

static void add_stack(struct digest *digest, const struct digest_input *input,
	const struct group *group)
{
	uint32_t id = group->stack;

	add_leaf(digest, input->functions[id], group);
	if (id > digest->newest)
		digest->newest = id;
	for (;;) {
		struct node node = stacks_node(input->stacks, id);

		if (node.parent == STACKS_NONE)
			return;
		add_total(digest, input->functions[node.parent], group);
		if (!node.cut)
			add_edge(digest, input->functions[id], input->functions[node.parent],
				group->weight);
		id = node.parent;
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
		add_leaf(digest, input->idle, group);
	else if (group->stack == STACKS_NONE)
		add_leaf(digest, input->unknown, group);
	else
		add_stack(digest, input, group);
	*group = (struct group) { 0 };
}

static void add_count(struct digest *digest, struct group *group, const struct run_count *count,
	const struct who *who)
{
	uint32_t word = who->cpu / 64;

	group->weight += count->weight;
	group->samples += count->samples;
	if (word < digest->words)
		group->cpus[word] |= 1ull << who->cpu % 64;
	digest->weight += count->weight;
	digest->samples += count->samples;
	digest->mode[who->mode] += count->weight;
}

/* For each entry of the run's list of who: does it pass the filter? The caller frees the result. */
static bool *passing(const struct digest_input *input, const struct run *run)
{
	bool *passes = util_grow(NULL, run->who_count, sizeof(*passes));

	for (uint32_t i = 0; i < run->who_count; i++)
		passes[i] = filter_passes(input->filter, input->threads, &run->who[i]);
	return passes;
}

/* A stack that is left out counts as looked at: it may pass once its functions have other names. */
static bool stack_passes(struct digest *digest, const struct digest_input *input, uint32_t stack)
{
	if (stack_filter_is_empty(input->stack_filter))
		return true;
	if (stack != STACKS_NONE && stack > digest->newest)
		digest->newest = stack;
	return stack_filter_passes(input->stack_filter, input->functions, stack, input->unknown);
}

/* Walks each stack once, however many ran it: its counts stand next to each other in the run. */
static void add_run(struct digest *digest, const struct digest_input *input,
	const struct run *run)
{
	struct group group = { 0 }, idle = { 0 };
	struct run_reader reader = run_read(run);
	bool idle_passes = stack_filter_passes(input->stack_filter, input->functions, STACKS_NONE, input->idle);
	bool *passes = passing(input, run), begun = false, group_passes = false;
	struct run_count count;

	while (run_next(&reader, &count) && !stop_at(input->stop, reader.left)) {
		const struct who *who = &run->who[count.who];

		if (!passes[count.who])
			continue;
		if (!begun || count.stack != group.stack) {
			add_group(digest, input, &group, false);
			group_passes = stack_passes(digest, input, count.stack);
			group.stack = count.stack;
			begun = true;
		}
		if (who->mode == MODE_IDLE ? idle_passes : group_passes)
			add_count(digest, who->mode == MODE_IDLE ? &idle : &group, &count, who);
	}
	add_group(digest, input, &group, false);
	add_group(digest, input, &idle, true);
	free(passes);
}

void digest_add(struct digest *digest, const struct digest_input *input,
	const struct slice *slice)
{
	uint64_t before = digest->weight;

	for (size_t i = 0; i < slice->run_count; i++)
		add_run(digest, input, slice->runs[i]);
	digest->time += (digest->weight - before) * slice->period;
	for (uint32_t i = 0; i < slice->cpus->count; i++)
		if (filter_passes_cpu(input->filter, i) && cpus_get(slice->cpus, i))
			digest->missed += cpus_get(slice->cpus, i)->missed;
	if (digest->end == 0)
		digest->begin = slice->begin;
	digest->end = slice->end;
	if (slice->version > digest->version)
		digest->version = slice->version;
}
