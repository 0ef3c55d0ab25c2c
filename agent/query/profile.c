/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "filter.h"
#include "profile.h"
#include "stop.h"

struct profile *profile_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget)
{
	struct profile *profile = util_alloc(sizeof(*profile));

	profile->callers = callers;
	profile->callee = callee;

	profile->words = (cpu_count + 63) / 64;
	if (profile->words > PROFILE_WORDS_MAX)
		profile->words = PROFILE_WORDS_MAX;
	profile->budget = budget;
	hash_init(&profile->by_function, NULL);
	hash_init(&profile->by_pair, budget);
	return profile;
}

/* A sum with its CPUs and its place in the index. */
static size_t sum_cost(const struct profile *profile)
{
	return sizeof(*profile->sums) + profile->words * sizeof(*profile->cpus)
		+ 4 * sizeof(struct hash_slot);
}

/* What it is made from; what it came to stays. */
static void free_sums(struct profile *profile)
{
	hash_clear(&profile->by_function);
	hash_clear(&profile->by_pair);
	budget_give(profile->budget, profile->sum_room * sum_cost(profile));
	free(profile->sums);
	free(profile->cpus);
	budget_free(profile->budget, profile->edges, profile->edge_room * sizeof(*profile->edges));
	profile->sums = NULL;
	profile->cpus = NULL;
	profile->edges = NULL;
	profile->sum_count = profile->sum_room = profile->edge_count = profile->edge_room = 0;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free_sums(profile);
	budget_free(profile->budget, profile->selfs,
		profile->self_count * sizeof(*profile->selfs));
	free(profile);
}

static struct profile_sum *find_sum(const struct profile *profile, uint32_t function, uint64_t hash)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&profile->by_function, hash, &at)) != HASH_NONE)
		if (profile->sums[position].function == function)
			return &profile->sums[position];
	return NULL;
}

/* There are no more of them than functions, and these are bounded. */
static void grow_sums(struct profile *profile)
{
	size_t words;

	budget_charge(profile->budget, (profile->sum_room + 32) * sum_cost(profile));
	profile->sum_room = 2 * profile->sum_room + 32;
	words = (size_t)profile->sum_room * profile->words;
	profile->sums = util_grow(profile->sums, profile->sum_room, sizeof(*profile->sums));
	profile->cpus = util_grow(profile->cpus, words, sizeof(*profile->cpus));
}

static struct profile_sum *have_sum(struct profile *profile, uint32_t function)
{
	uint64_t hash = hash_pair(&profile->by_function, function, 0);
	struct profile_sum *sum = find_sum(profile, function, hash);

	if (sum)
		return sum;
	if (profile->sum_count == profile->sum_room)
		grow_sums(profile);
	hash_add(&profile->by_function, hash, profile->sum_count);
	memset(profile->cpus + (size_t)profile->sum_count * profile->words, 0,
		profile->words * sizeof(*profile->cpus));
	sum = &profile->sums[profile->sum_count++];
	*sum = (struct profile_sum){ .function = function, .callers = PROFILE_NO_EDGE };
	return sum;
}

static int by_function(const void *left, const void *right)
{
	const struct profile_self *a = left, *b = right;

	return (a->function > b->function) - (a->function < b->function);
}

void profile_trim(struct profile *profile)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < profile->sum_count; i++)
		count += profile->sums[i].self != 0;
	budget_charge(profile->budget, count * sizeof(*profile->selfs));
	profile->selfs = util_grow(NULL, count, sizeof(*profile->selfs));
	for (uint32_t i = 0; i < profile->sum_count; i++)
		if (profile->sums[i].self)
			profile->selfs[profile->self_count++] = (struct profile_self){
				profile->sums[i].function, profile->sums[i].self,
			};
	if (count)
		qsort(profile->selfs, count, sizeof(*profile->selfs), by_function);
	free_sums(profile);
	profile->trimmed = true;
}

uint64_t profile_self(const struct profile *profile, uint32_t function)
{
	const struct profile_self key = { .function = function }, *self;
	const struct profile_sum *sum;

	if (profile->trimmed) {
		self = profile->self_count ? bsearch(&key, profile->selfs, profile->self_count,
			sizeof(key), by_function) : NULL;
		return self ? self->weight : 0;
	}
	sum = find_sum(profile, function, hash_pair(&profile->by_function, function, 0));
	return sum ? sum->self : 0;
}

/* NULL: there is no room for it. */
static struct profile_edge *have_edge(struct profile *profile, uint32_t callee, uint32_t caller)
{
	uint64_t hash = hash_pair(&profile->by_pair, callee, caller);
	struct profile_edge *edges;
	struct profile_sum *sum;
	uint32_t at = 0, position;

	while ((position = hash_next(&profile->by_pair, hash, &at)) != HASH_NONE)
		if (profile->edges[position].callee == callee
				&& profile->edges[position].caller == caller)
			return &profile->edges[position];
	edges = budget_array(profile->budget, profile->edges, profile->edge_count,
		&profile->edge_room, sizeof(*edges));
	if (!edges)
		return NULL;
	profile->edges = edges;
	if (!hash_add(&profile->by_pair, hash, profile->edge_count))
		return NULL;
	sum = have_sum(profile, callee);
	profile->edges[profile->edge_count] = (struct profile_edge){
		.callee = callee, .caller = caller, .next = sum->callers,
	};
	sum->callers = profile->edge_count;
	return &profile->edges[profile->edge_count++];
}

const struct profile_edge *profile_edge_to(const struct profile *profile, uint32_t callee,
	const struct profile_edge *last)
{
	const struct profile_sum *sum = last ? NULL : find_sum(profile, callee,
		hash_pair(&profile->by_function, callee, 0));
	uint32_t next = last ? last->next : sum ? sum->callers : PROFILE_NO_EDGE;

	return next == PROFILE_NO_EDGE ? NULL : &profile->edges[next];
}

/* All of one stack in a run. */
struct group {
	uint32_t stack;
	uint64_t weight, samples;
	uint64_t cpus[PROFILE_WORDS_MAX];
};

/* A function or an edge that stands in a stack several times is counted once: by the stamp. */
static struct profile_sum *add_total(struct profile *profile, uint32_t function,
	const struct group *group)
{
	struct profile_sum *sum = have_sum(profile, function);
	uint64_t *cpus = profile->cpus + (size_t)(sum - profile->sums) * profile->words;

	if (sum->stamp == profile->stamp)
		return sum;
	sum->stamp = profile->stamp;
	sum->total += group->weight;
	for (uint32_t i = 0; i < profile->words; i++)
		cpus[i] |= group->cpus[i];
	return sum;
}

static void add_edge(struct profile *profile, uint32_t callee, uint32_t caller, uint64_t weight)
{
	struct profile_edge *edge;

	if (profile->callers == CALLERS_NONE
			|| (profile->callers == CALLERS_ONE && callee != profile->callee))
		return;
	edge = have_edge(profile, callee, caller);
	if (!edge) {
		profile->edges_refused++;
		return;
	}
	if (edge->stamp == profile->stamp)
		return;
	edge->stamp = profile->stamp;
	edge->weight += weight;
}

static void add_leaf(struct profile *profile, uint32_t function, const struct group *group)
{
	struct profile_sum *sum = add_total(profile, function, group);

	sum->self += group->weight;
	sum->samples += group->samples;
}

static void add_stack(struct profile *profile, const struct profile_input *input,
	const struct group *group)
{
	uint32_t id = group->stack;

	add_leaf(profile, input->functions[id], group);
	if (id > profile->newest)
		profile->newest = id;
	for (;;) {
		struct node node = stacks_node(input->stacks, id);

		if (node.parent == STACKS_NONE)
			return;
		add_total(profile, input->functions[node.parent], group);
		if (!node.cut)
			add_edge(profile, input->functions[id], input->functions[node.parent],
				group->weight);
		id = node.parent;
	}
}

/* Adds the group, where there is anything in it; it is empty then. */
static void add_group(struct profile *profile, const struct profile_input *input,
	struct group *group, bool idle)
{
	if (!group->samples)
		return;
	profile->stamp++;
	if (idle)
		add_leaf(profile, input->idle, group);
	else if (group->stack == STACKS_NONE)
		add_leaf(profile, input->unknown, group);
	else
		add_stack(profile, input, group);
	*group = (struct group){ 0 };
}

static void add_count(struct profile *profile, struct group *group, const struct run_count *count,
	const struct who *who)
{
	uint32_t word = who->cpu / 64;

	group->weight += count->weight;
	group->samples += count->samples;
	if (word < profile->words)
		group->cpus[word] |= 1ull << who->cpu % 64;
	profile->weight += count->weight;
	profile->samples += count->samples;
	profile->mode[who->mode] += count->weight;
}

/* By place in the run's list: does it pass? The caller frees it. */
static bool *passing(const struct profile_input *input, const struct run *run)
{
	bool *passes = util_grow(NULL, run->who_count, sizeof(*passes));

	for (uint32_t i = 0; i < run->who_count; i++)
		passes[i] = filter_passes(input->filter, input->threads, &run->who[i]);
	return passes;
}

/* A stack is walked once, however many ran it: its counts stand together. */
static void add_run(struct profile *profile, const struct profile_input *input,
	const struct run *run)
{
	struct group group = { 0 }, idle = { 0 };
	struct run_reader reader = run_read(run);
	bool *passes = passing(input, run);
	struct run_count count;

	while (run_next(&reader, &count) && !stop_at(input->stop, reader.left)) {
		const struct who *who = &run->who[count.who];

		if (!passes[count.who])
			continue;
		if (count.stack != group.stack)
			add_group(profile, input, &group, false);
		group.stack = count.stack;
		add_count(profile, who->mode == MODE_IDLE ? &idle : &group, &count, who);
	}
	add_group(profile, input, &group, false);
	add_group(profile, input, &idle, true);
	free(passes);
}

void profile_add(struct profile *profile, const struct profile_input *input,
	const struct slice *slice)
{
	uint64_t before = profile->weight;

	for (size_t i = 0; i < slice->run_count; i++)
		add_run(profile, input, slice->runs[i]);
	profile->time += (profile->weight - before) * slice->period;
	for (uint32_t i = 0; i < slice->cpus->count; i++)
		if ((input->filter->cpu == EVENT_NONE || input->filter->cpu == i)
				&& cpus_get(slice->cpus, i))
			profile->missed += cpus_get(slice->cpus, i)->missed;
	if (profile->end == 0)
		profile->begin = slice->begin;
	profile->end = slice->end;
	if (slice->version > profile->version)
		profile->version = slice->version;
}
