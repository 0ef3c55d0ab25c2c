/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "digest.h"
#include "range_sums.h"
#include "table.h"

enum { CPUS_PER_WORD = 64, CPUS_PER_RAN = 8 };
enum { EDGES_GONE = 4096 };		/* so many edges may be gone, or half of all */

#define EACH_BYTE UINT64_C(0x0101010101010101)

static size_t ran_size(const struct range_sums *sums, size_t rows)
{
	return rows * sums->ran_words * sizeof(*sums->ran);
}

static void free_edges(struct range_sums *sums)
{
	struct budget *budget = sums->table->budget;

	hash_clear(&sums->by_pair);
	budget_free(budget, sums->edges, sums->edge_room * sizeof(*sums->edges));
	budget_free(budget, sums->heaviest, sums->ranked * sizeof(*sums->heaviest));
	sums->edges = NULL;
	sums->heaviest = NULL;
	sums->ranked = 0;
	sums->edge_count = sums->edge_room = sums->gone = 0;
}

void range_sums_clear(struct range_sums *sums)
{
	if (sums->table) {
		free_edges(sums);
		budget_free(sums->table->budget, sums->ran, sums->ran ? ran_size(sums, sums->room) : 0);
		budget_free(sums->table->budget, sums->digests, sums->room * sizeof(*sums->digests));
		budget_free(sums->table->budget, sums->places, sums->place_count * sizeof(*sums->places));
	}
	table_free(sums->table);
	*sums = (struct range_sums) { .changes = sums->changes + 1 };
}

bool range_sums_ready(struct range_sums *sums, struct budget *budget, uint32_t cpu_count, bool edges)
{
	if (sums->table && !sums->stale && cpu_count <= sums->cpu_count && edges == sums->has_edges)
		return true;
	range_sums_clear(sums);
	sums->table = table_new(budget, 0, (cpu_count + CPUS_PER_WORD - 1) / CPUS_PER_WORD);
	sums->cpu_count = cpu_count;
	sums->ran_words = (cpu_count + CPUS_PER_RAN - 1) / CPUS_PER_RAN;
	sums->has_edges = edges;
	hash_init(&sums->by_pair, budget);
	return false;
}

/* Charges without asking, as for a table: there are no more places than functions, and their number is bounded. */
static uint32_t *have_place(struct range_sums *sums, uint32_t function)
{
	size_t more = function + function / 8 + 256;

	if (function >= sums->place_count) {
		budget_charge(sums->table->budget, (more - sums->place_count) * sizeof(*sums->places));
		sums->places = util_grow(sums->places, more, sizeof(*sums->places));
		memset(sums->places + sums->place_count, 0, (more - sums->place_count) * sizeof(*sums->places));
		sums->place_count = more;
	}
	return &sums->places[function];
}

/* Without memory to count on which CPUs rows ran, `ran` is NULL from now on. */
static void grow_ran(struct range_sums *sums, size_t room)
{
	struct budget *budget = sums->table->budget;
	size_t before = ran_size(sums, sums->room), size = ran_size(sums, room);
	uint64_t *ran = sums->ran || sums->room == 0 ? budget_resize(budget, sums->ran, before, size) : NULL;

	if (ran)
		memset((char *)ran + before, 0, size - before);
	else
		budget_free(budget, sums->ran, sums->ran ? before : 0);
	sums->ran = ran;
}

static size_t add_row(struct range_sums *sums, uint32_t function)
{
	uint32_t *place = have_place(sums, function);
	size_t room;

	table_add(sums->table, function);
	*place = (uint32_t)sums->table->count;
	room = sums->table->room;
	if (room > sums->room) {
		grow_ran(sums, room);
		budget_charge(sums->table->budget, (room - sums->room) * sizeof(*sums->digests));
		sums->digests = util_grow(sums->digests, room, sizeof(*sums->digests));
		memset(sums->digests + sums->room, 0, (room - sums->room) * sizeof(*sums->digests));
		sums->room = room;
	}
	return *place - 1;
}

/* The index of a function's row, which is added if there is none. */
static inline size_t have_row(struct range_sums *sums, uint32_t function)
{
	uint32_t place = function < sums->place_count ? sums->places[function] : 0;

	return place ? place - 1 : add_row(sums, function);
}

/* `sign` is 1, or -1 in arithmetic modulo 2^64. */
static void count_whole(struct table *table, const struct digest *digest, uint64_t sign)
{
	table->weight += sign * digest->weight;
	table->time += sign * digest->time;
	table->samples += sign * digest->samples;
	table->missed += sign * digest->missed;
	for (int mode = 0; mode < MODES; mode++)
		table->mode[mode] += sign * digest->mode[mode];
}

static void add(struct row *row, const struct digest_sum *sum)
{
	row->self += sum->self;
	row->total += sum->total;
	row->samples += sum->samples;
	row->kernel += sum->kernel;
	row->user += sum->user;
}

static void subtract(struct row *row, const struct digest_sum *sum)
{
	row->self -= sum->self;
	row->total -= sum->total;
	row->samples -= sum->samples;
	row->kernel -= sum->kernel;
	row->user -= sum->user;
}

/* Eight bits become eight bytes of 0 or 1. */
static uint64_t spread(uint64_t bits)
{
	uint64_t apart = bits * EACH_BYTE & UINT64_C(0x8040201008040201);

	return (apart + 0x7f * EACH_BYTE) >> 7 & EACH_BYTE;
}

/* A bit for each of eight bytes: it is not 0. */
static uint64_t which(uint64_t bytes)
{
	uint64_t low = (bytes & 0x7f * EACH_BYTE) + 0x7f * EACH_BYTE, high = (low | bytes) >> 7 & EACH_BYTE;

	return high * UINT64_C(0x0102040810204080) >> 56;
}

/* Counts the CPUs of one word, and returns those of them that have no digest any more. */
static uint64_t count_ran(uint64_t *counts, uint64_t cpus, bool in)
{
	uint64_t gone = 0;

	for (unsigned bit = 0; bit < CPUS_PER_WORD && cpus >> bit; bit += CPUS_PER_RAN, counts++) {
		uint64_t ones = spread(cpus >> bit & 0xff);

		*counts = in ? *counts + ones : *counts - ones;
		gone |= (in ? 0 : which(*counts) ^ 0xff) << bit;
	}
	return gone;
}

/* A row keeps a CPU's bit for as long as any digest that is counted has it. */
static inline void count_cpus(struct range_sums *sums, size_t at, const uint64_t *cpus, uint32_t words, bool in)
{
	uint64_t *to = sums->table->rows[at].cpus;
	uint64_t *ran = sums->ran ? sums->ran + at * sums->ran_words : NULL;

	for (uint32_t word = 0; word < words; word++) {
		if (in)
			to[word] |= cpus[word];
		if (ran)
			to[word] &= ~count_ran(ran + word * (CPUS_PER_WORD / CPUS_PER_RAN), cpus[word], in);
	}
}

/* ---- edges ---- */

/* Without memory for an edge, none is kept until all is counted anew. */
static void refuse_edges(struct range_sums *sums)
{
	sums->edges_refused += sums->edge_count + 1;
	sums->stale = true;
	free_edges(sums);
	sums->has_edges = false;
}

static struct range_edge *find_edge(const struct range_sums *sums, uint32_t row, uint32_t function, uint64_t hash)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&sums->by_pair, hash, &at)) != HASH_NONE)
		if (sums->edges[position].row == row && sums->edges[position].function == function)
			return &sums->edges[position];
	return NULL;
}

/* NULL: there is no memory. */
static struct range_edge *add_edge(struct range_sums *sums, uint32_t row, uint32_t function, uint64_t hash)
{
	struct range_edge *edges = budget_array(sums->table->budget, sums->edges, sums->edge_count, &sums->edge_room,
		sizeof(*edges));

	sums->edges = edges ? edges : sums->edges;
	if (!edges || !hash_add(&sums->by_pair, hash, sums->edge_count))
		return NULL;
	edges[sums->edge_count] = (struct range_edge) { .row = row, .function = function };
	sums->gone++;
	return &edges[sums->edge_count++];
}

static void count_edge(struct range_sums *sums, const struct digest_edge *from, uint64_t sign)
{
	uint32_t row = (uint32_t)have_row(sums, from->callee);
	uint64_t hash = hash_pair(&sums->by_pair, row, from->caller);
	struct range_edge *edge = find_edge(sums, row, from->caller, hash);

	if (!edge)
		edge = add_edge(sums, row, from->caller, hash);
	if (!edge) {
		refuse_edges(sums);
		return;
	}
	sums->gone -= !edge->weight;
	edge->weight += sign * from->weight;
	sums->gone += !edge->weight;
}

static bool is_heavier(const struct range_edge *a, const struct range_edge *b)
{
	return a->weight != b->weight ? a->weight > b->weight : a->function < b->function;
}

/* One pass over all edges serves all rows. */
static void rank_edges(struct range_sums *sums)
{
	sums->heaviest = budget_resize(sums->table->budget, NULL, 0, sums->table->count * sizeof(*sums->heaviest));
	if (!sums->heaviest)
		return;
	sums->ranked = sums->table->count;
	memset(sums->heaviest, 0, sums->ranked * sizeof(*sums->heaviest));
	for (uint32_t i = 0; i < sums->edge_count; i++) {
		const struct range_edge *edge = &sums->edges[i];
		uint32_t *heaviest = &sums->heaviest[edge->row];

		if (edge->weight && (!*heaviest || is_heavier(edge, &sums->edges[*heaviest - 1])))
			*heaviest = i + 1;
	}
}

static void forget_ranks(struct range_sums *sums)
{
	budget_free(sums->table->budget, sums->heaviest, sums->ranked * sizeof(*sums->heaviest));
	sums->heaviest = NULL;
	sums->ranked = 0;
}

const struct range_edge *range_sums_heaviest(struct range_sums *sums, uint32_t row)
{
	size_t at;

	if (!sums->edge_count || row >= sums->place_count || !sums->places[row])
		return NULL;
	if (!sums->ranked)
		rank_edges(sums);
	at = sums->places[row] - 1;
	return at < sums->ranked && sums->heaviest[at] ? &sums->edges[sums->heaviest[at] - 1] : NULL;
}

/* ---- all ---- */

void range_sums_count(struct range_sums *sums, struct digest *digest, bool in)
{
	uint64_t sign = in ? 1 : UINT64_MAX;

	if (digest->counted == in || !sums->table)
		return;
	digest->counted = in;
	sums->changes++;
	count_whole(sums->table, digest, sign);
	for (uint32_t i = 0; i < digest->sum_count; i++) {
		const struct digest_sum *sum = &digest->sums[i];
		size_t at = have_row(sums, sum->function);
		struct row *row = &sums->table->rows[at];

		if (in)
			add(row, sum);
		else
			subtract(row, sum);
		sums->digests[at] += in ? 1 : UINT32_MAX;
		count_cpus(sums, at, digest->cpus + (size_t)i * digest->words, digest->words, in);
	}
	forget_ranks(sums);
	for (uint32_t i = 0; sums->has_edges && i < digest->edge_count; i++)
		count_edge(sums, &digest->edges[i], sign);
	sums->stale = sums->stale || (!in && !sums->ran) || sums->gone > sums->edge_count / 2 + EDGES_GONE;
}

struct table *range_sums_table(const struct range_sums *sums, struct budget *budget)
{
	return sums->table ? table_copy(sums->table, sums->digests) : table_new(budget, 0, 0);
}
