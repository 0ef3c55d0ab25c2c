/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/radix.h"
#include "agent/base/util.h"
#include "digest.h"
#include "digest_parts.h"

struct digest *digest_new(uint32_t cpu_count, enum kept_callers callers, uint32_t callee,
	struct budget *budget)
{
	struct digest *digest = util_alloc(sizeof(*digest));

	digest->callers = callers;
	digest->callee = callee;

	digest->cpu_count = digest_cpus_told(cpu_count);
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

void digest_free_selfs(struct digest *digest)
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
	digest_free_selfs(digest);
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

void digest_set_places(const struct digest *digest, struct digest_places *places)
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

struct digest_sum *digest_add_sum(struct digest *digest, struct digest_places *places, uint32_t function)
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

struct digest_edge *digest_have_edge(struct digest *digest, struct digest_places *places, uint32_t callee,
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
	sum = digest_have_sum(digest, places, callee);
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

void digest_free_edges(struct digest *digest)
{
	hash_clear(&digest->by_pair);
	budget_free(digest->budget, digest->edges, digest->edge_room * sizeof(*digest->edges));
	digest->edges = NULL;
	digest->edge_count = digest->edge_room = 0;
	digest->edges_refused = 0;
	for (uint32_t i = 0; i < digest->sum_count; i++)
		digest->sums[i].callers = DIGEST_NO_EDGE;
}
