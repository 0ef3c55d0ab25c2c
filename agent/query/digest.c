/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/radix.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/cpus.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "digest.h"

/* So many of a slice's CPUs are told apart. */
static uint32_t cpus_told(uint32_t cpu_count)
{
	return cpu_count < 64 * DIGEST_WORDS_MAX ? cpu_count : 64 * DIGEST_WORDS_MAX;
}

struct digest *digest_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget)
{
	struct digest *digest = util_alloc(sizeof(*digest));

	digest->callers = callers;
	digest->callee = callee;

	digest->cpu_count = cpus_told(cpu_count);
	digest->words = (digest->cpu_count + 63) / 64;
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

static void free_selfs(struct digest *digest)
{
	budget_free(digest->budget, digest->selfs, digest->self_count * sizeof(*digest->selfs));
	digest->selfs = NULL;
	digest->self_count = 0;
}

void digest_free(struct digest *digest)
{
	if (!digest)
		return;
	free_sums(digest);
	free_selfs(digest);
	free(digest);
}

/* Most digests are made anew before anybody looks for the edges of a sum, so the index is made only then. */
static void index_sums(struct digest *digest)
{
	if (digest->by_function.used < digest->sum_count)
		hash_expect(&digest->by_function, digest->sum_count);
	for (uint32_t i = digest->by_function.used; i < digest->sum_count; i++)
		hash_add(&digest->by_function, hash_pair(&digest->by_function, digest->sums[i].function, 0), i);
}

static struct digest_sum *find_sum(struct digest *digest, uint32_t function)
{
	uint64_t hash = hash_pair(&digest->by_function, function, 0);
	uint32_t at = 0, position;

	index_sums(digest);
	while ((position = hash_next(&digest->by_function, hash, &at)) != HASH_NONE)
		if (digest->sums[position].function == function)
			return &digest->sums[position];
	return NULL;
}

/* ---- places ---- */

static void grow_places(struct digest_places *places, uint32_t function)
{
	size_t more = function + function / 8 + 256;

	places->list = util_grow(places->list, more, sizeof(*places->list));
	memset(places->list + places->count, 0, (more - places->count) * sizeof(*places->list));
	places->count = more;
}

static void set_place(struct digest_places *places, uint32_t function, uint32_t place)
{
	if (function >= places->count)
		grow_places(places, function);
	places->list[function] = place;
}

/* Another digest may have been made since this one was added to. */
static void set_places(const struct digest *digest, struct digest_places *places)
{
	for (uint32_t i = 0; i < digest->sum_count; i++)
		set_place(places, digest->sums[i].function, i);
}

/* Charges without asking: there are no more sums than functions, and their number is bounded. */
static void grow_sums(struct digest *digest, uint32_t room)
{
	size_t words = (size_t)room * digest->words;

	budget_charge(digest->budget, (room - digest->sum_room) * sum_cost(digest));
	digest->sum_room = room;
	digest->sums = util_grow(digest->sums, digest->sum_room, sizeof(*digest->sums));
	digest->cpus = util_grow(digest->cpus, words, sizeof(*digest->cpus));
}

void digest_expect(struct digest *digest, uint32_t sums)
{
	if (sums > digest->sum_room)
		grow_sums(digest, sums);
}

static struct digest_sum *add_sum(struct digest *digest, struct digest_places *places, uint32_t function)
{
	struct digest_sum *sum;

	if (digest->sum_count == digest->sum_room)
		grow_sums(digest, 2 * digest->sum_room + 32);
	set_place(places, function, digest->sum_count);
	for (uint32_t i = 0; i < digest->words; i++)
		digest->cpus[(size_t)digest->sum_count * digest->words + i] = 0;
	sum = &digest->sums[digest->sum_count++];
	*sum = (struct digest_sum) { .function = function, .callers = DIGEST_NO_EDGE };
	return sum;
}

static inline struct digest_sum *have_sum(struct digest *digest, struct digest_places *places, uint32_t function)
{
	uint32_t place = function < places->count ? places->list[function] : 0;

	if (place < digest->sum_count && digest->sums[place].function == function)
		return &digest->sums[place];
	return add_sum(digest, places, function);
}

/* The sums that have a self, in order of their functions. Returns how many; the caller frees `*memory`. */
static uint32_t sort_selfs(const struct digest *digest, struct radix_item **sorted, struct radix_item **memory)
{
	uint32_t count = 0;

	*memory = util_grow(NULL, 2 * (size_t)digest->sum_count, sizeof(**memory));
	for (uint32_t i = 0; i < digest->sum_count; i++)
		if (digest->sums[i].self)
			(*memory)[count++] = (struct radix_item) { .number = digest->sums[i].function, .index = i };
	*sorted = radix_sort(*memory, *memory + digest->sum_count, count);
	return count;
}

/* Charges without asking, as for sums. */
static void make_selfs(struct digest *digest)
{
	struct radix_item *sorted, *memory;
	uint32_t count = sort_selfs(digest, &sorted, &memory);

	budget_charge(digest->budget, count * sizeof(*digest->selfs));
	digest->selfs = util_grow(NULL, count, sizeof(*digest->selfs));
	for (uint32_t i = 0; i < count; i++)
		digest->selfs[i] = (struct digest_self) {
			digest->sums[sorted[i].index].function, digest->sums[sorted[i].index].self,
		};
	digest->self_count = count;
	free(memory);
}

void digest_trim(struct digest *digest)
{
	if (!digest->selfs)
		make_selfs(digest);
	free_sums(digest);
	digest->trimmed = true;
}

uint64_t digest_self(struct digest *digest, uint32_t function)
{
	uint32_t low = 0, high;

	if (!digest->selfs && !digest->trimmed)
		make_selfs(digest);
	high = digest->self_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (digest->selfs[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low < digest->self_count && digest->selfs[low].function == function ? digest->selfs[low].weight : 0;
}

/* NULL: there is no room for a new edge. */
static struct digest_edge *have_edge(struct digest *digest, struct digest_places *places, uint32_t callee,
	uint32_t caller)
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
	sum = have_sum(digest, places, callee);
	digest->edges[digest->edge_count] = (struct digest_edge) {
		.callee = callee, .caller = caller, .next = sum->callers,
	};
	sum->callers = digest->edge_count;
	return &digest->edges[digest->edge_count++];
}

const struct digest_edge *digest_edge_to(struct digest *digest, uint32_t callee,
	const struct digest_edge *last)
{
	bool one = digest->callers == CALLERS_ONE;	/* then all edges are of one chain */
	const struct digest_sum *sum = last || one ? NULL : find_sum(digest, callee);
	uint32_t next = last ? last->next : sum ? sum->callers : DIGEST_NO_EDGE;

	if (!last && one && callee == digest->callee && digest->edge_count)
		next = digest->edge_count - 1;

	return next == DIGEST_NO_EDGE ? NULL : &digest->edges[next];
}

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
	struct digest_sum *sum = have_sum(digest, places, function);
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
	edge = have_edge(digest, places, callee, caller);
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

	add_leaf(digest, input->places, row, group);
	if (id > digest->newest)
		digest->newest = id;
	for (;;) {
		const struct node *node = &nodes[id];

		if (node->parent == STACKS_NONE)
			return;
		caller = row_of_node(input, node->parent);
		add_total(digest, input->places, caller, group);
		if (!node->cut)
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

static void free_edges(struct digest *digest)
{
	hash_clear(&digest->by_pair);
	budget_free(digest->budget, digest->edges, digest->edge_room * sizeof(*digest->edges));
	digest->edges = NULL;
	digest->edge_count = digest->edge_room = 0;
	digest->edges_refused = 0;
	for (uint32_t i = 0; i < digest->sum_count; i++)
		digest->sums[i].callers = DIGEST_NO_EDGE;
}

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
	free_edges(digest);
	digest->callers = CALLERS_ONE;
	digest->callee = callee;
	set_places(digest, input->places);
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
	free_selfs(digest);
	set_places(digest, input->places);
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
		digest->version <= slice->version && digest->cpu_count == cpus_told(slice->cpus->count);
}

void digest_grow(struct digest *digest, const struct digest_input *input, const struct slice *slice)
{
	add_runs(digest, input, slice, digest->runs);
	digest->time = digest->weight * slice->period;
	digest->missed = missed_in(input, slice);
}
