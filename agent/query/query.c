/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/pattern.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/store/cpus.h"
#include "agent/store/store.h"
#include "query.h"
#include "query_state.h"

#define NOWHERE 0xffffffffu

enum { NEWEST = 2 };			/* profiles that change with each picture */

struct query *query_new(const struct query_inputs *inputs)
{
	struct query *query = util_alloc(sizeof(*query));

	window_init(&query->window, inputs);
	return query;
}

void query_heed(struct query *query, const atomic_bool *stop)
{
	query->window.stop = stop;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	window_clear(&query->window);
	table_free(query->steady);
	free(query->places);
	free(query);
}

/* No function stands anywhere yet. */
static void clear_places(struct query *query)
{
	size_t count = symbols_functions(query->window.inputs.symbols);

	if (!query->placed && query->place_count == count)
		return;
	query->placed = false;
	query->place_count = count;
	query->places = util_grow(query->places, query->place_count, sizeof(*query->places));
	memset(query->places, 0xff, query->place_count * sizeof(*query->places));
}

uint64_t query_refused(const struct query *query)
{
	const struct profile *profile;
	uint64_t refused = 0;

	for (size_t i = 0; (profile = window_profile(&query->window, i)); i++)
		refused += profile->edges_refused;
	return refused;
}

/* ---- the table: no more rows than functions, which are bounded ---- */

static struct row *have_row(struct query *query, struct table *table, uint32_t function)
{
	uint32_t *place = &query->places[function];

	if (*place != NOWHERE)
		return &table->rows[*place];
	*place = (uint32_t)table->count;
	query->placed = true;
	return table_add(table, function);
}

static void add_rows(struct query *query, struct table *table, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->sum_count; i++) {
		const struct profile_sum *sum = &profile->sums[i];
		struct row *row = have_row(query, table, sum->function);

		row->self += sum->self;
		row->total += sum->total;
		row->samples += sum->samples;
		for (uint32_t word = 0; word < profile->words; word++)
			row->cpus[word] |= profile->cpus[(size_t)i * profile->words + word];
	}
}

static void add_whole(struct table *table, const struct profile *profile)
{
	table->weight += profile->weight;
	table->time += profile->time;
	table->samples += profile->samples;
	table->missed += profile->missed;
	for (int mode = 0; mode < MODES; mode++)
		table->mode[mode] += profile->mode[mode];
}

/* What a row is stays in its place; what it says moves. */
static void copy_row(const struct table *table, struct row *to, const struct row *from)
{
	uint64_t *cpus = to->cpus;

	if (to == from)
		return;
	memcpy(cpus, from->cpus, table->words * sizeof(*cpus));
	*to = *from;
	to->cpus = cpus;
}

static void keep_matching(struct table *table, const struct symbols *symbols, const char *pattern)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (pattern_match(symbols_get(symbols, table->rows[i].function)->name, pattern))
			copy_row(table, &table->rows[kept++], &table->rows[i]);
	table->count = kept;
}

/* What was added is whole slices: from the beginning of the first to the end of the last. */
static void set_range(struct table *table, const struct window *window)
{
	const struct question *question = &window->question;
	const struct store *store = window->inputs.store;
	uint64_t now = store_now(store), end;
	bool more = window->span.end < store_slices(store);

	table->to = window->to;
	table->from = question->from < table->to ? question->from : table->to;
	if (window->span.first == window->span.end)
		return;
	table->from = store_slice(store, window->span.first).begin;
	end = store_slice(store, window->span.end - 1).end;
	if (end > table->to)
		table->to = end < now ? end : now;
	else if (more && store_slice(store, window->span.end).begin < table->to)
		table->to = store_slice(store, window->span.end).begin;
}

static void add_profiles(struct query *query, struct table *table, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct profile *profile = window_profile(&query->window, i);

		add_whole(table, profile);
		add_rows(query, table, profile);
	}
}

/* Where the rows of a table stand. */
static void place_rows(struct query *query, const struct table *table)
{
	clear_places(query);
	query->placed = true;
	for (size_t i = 0; i < table->count; i++)
		query->places[table->rows[i].function] = (uint32_t)i;
}

/*
 * The sum of so many profiles, in no order: made anew only when one of them has changed, as several
 * pictures are of one slice, and only the newest profiles change with each.
 */
static const struct table *steady_table(struct query *query, size_t count, uint32_t words)
{
	uint64_t mark = words;

	for (size_t i = 0; i < count; i++)
		mark = hash_mix(mark + 1, window_profile(&query->window, i)->serial);
	if (query->steady && query->steady_mark == mark)
		return query->steady;
	table_free(query->steady);
	query->steady = table_new(query->window.inputs.budget, 256, words);
	query->steady_mark = mark;
	clear_places(query);
	add_profiles(query, query->steady, 0, count);
	return query->steady;
}

struct table *query_table(struct query *query, const struct question *question)
{
	const struct profile *profile;
	struct table *table;
	uint32_t words = 0;
	size_t count = 0, steady;

	window_update(&query->window, question);
	for (; (profile = window_profile(&query->window, count)); count++)
		words = profile->words > words ? profile->words : words;
	steady = count > NEWEST ? count - NEWEST : 0;
	table = table_copy(steady_table(query, steady, words));
	place_rows(query, table);
	add_profiles(query, table, steady, count);
	if (question->filter.pattern[0])
		keep_matching(table, query->window.inputs.symbols, question->filter.pattern);
	table_shrink(table);
	set_range(table, &query->window);
	return table;
}

/* ---- series ---- */

struct seconds {			/* those of a trend: the last whole ones before the end */
	uint64_t first, end;
};

static struct seconds trend_seconds(const struct window *window)
{
	struct seconds seconds = { .end = window->to / NS_PER_SECOND };

	seconds.first = seconds.end > TABLE_TREND ? seconds.end - TABLE_TREND : 0;
	return seconds;
}

/* What of a slice's weight falls into one second: a coarse slice is taken as even. */
static uint64_t weight_of_second(uint64_t weight, uint64_t begin, uint64_t end, uint64_t second)
{
	uint64_t first = begin / NS_PER_SECOND, i = second - first;
	uint64_t count = (end + NS_PER_SECOND - 1) / NS_PER_SECOND - first;
	unsigned __int128 wide = weight;

	if (count == 1)
		return weight;
	return (uint64_t)(wide * (i + 1) / count) - (uint64_t)(wide * i / count);
}

/* The seconds that a slice touches, of those of the trend. */
static struct seconds touched(struct seconds seconds, uint64_t begin, uint64_t end)
{
	struct seconds slice = { begin / NS_PER_SECOND, (end + NS_PER_SECOND - 1) / NS_PER_SECOND };

	if (slice.first < seconds.first)
		slice.first = seconds.first;
	if (slice.end > seconds.end)
		slice.end = seconds.end;
	return slice;
}

void query_trend(struct query *query, const struct question *question, uint32_t function,
	uint64_t trend[TABLE_TREND])
{
	const struct window *window = &query->window;
	struct seconds seconds;

	memset(trend, 0, TABLE_TREND * sizeof(*trend));
	window_update(&query->window, question);
	seconds = trend_seconds(window);
	for (size_t i = 0; i < window->recent_count; i++) {
		const struct profile *profile = window->recent[i];
		uint64_t self = profile_self(profile, function);
		struct seconds part = touched(seconds, profile->begin, profile->end);

		for (uint64_t second = part.first; self && second < part.end; second++)
			trend[second + TABLE_TREND - seconds.end] += weight_of_second(self,
				profile->begin, profile->end, second);
	}
}

static void add_cpu_trend(struct cpu_series *series, const struct cpu_sums *cpu,
	const struct slice *slice, struct seconds seconds)
{
	struct seconds part = touched(seconds, slice->begin, slice->end);

	for (uint64_t second = part.first; series->trend && second < part.end; second++)
		for (int mode = 0; mode < MODES; mode++)
			series->trend[second + TABLE_TREND - seconds.end][mode]
				+= weight_of_second(cpu->mode[mode], slice->begin, slice->end,
					second);
}

static void add_cpu(struct cpu_series *series, const struct cpu_sums *cpu)
{
	for (int mode = 0; mode < MODES; mode++)
		series->mode[mode] += cpu->mode[mode];
	series->missed += cpu->missed;
}

size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus,
	size_t size)
{
	const struct window *window = &query->window;
	struct seconds seconds;
	size_t seen = 0, first;

	for (size_t i = 0; i < size; i++)
		cpus[i] = (struct cpu_series){ .trend = cpus[i].trend };
	window_update(&query->window, question);
	seconds = trend_seconds(window);
	first = span_after(window->inputs.store, seconds.first * NS_PER_SECOND);
	if (window->span.first < first)
		first = window->span.first;
	for (size_t i = first; i < window->span.end; i++) {
		struct slice slice = store_slice(window->inputs.store, i);

		for (uint32_t cpu = 0; cpu < slice.cpus->count && cpu < size; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums && i >= window->span.first)
				add_cpu(&cpus[cpu], sums);
			if (sums)
				add_cpu_trend(&cpus[cpu], sums, &slice, seconds);
			seen = cpu + 1 > seen ? cpu + 1 : seen;
		}
	}
	return seen;
}

/* ---- callers ---- */

struct callers {
	struct caller *list;
	size_t count, room;
};

static void add_caller(struct query *query, struct callers *callers,
	const struct profile_edge *edge)
{
	uint32_t *place = &query->places[edge->caller];

	if (*place == NOWHERE) {
		if (callers->count == callers->room) {
			callers->room = 2 * callers->room + 16;
			callers->list = util_grow(callers->list, callers->room,
				sizeof(*callers->list));
		}
		*place = (uint32_t)callers->count;
		callers->list[callers->count++] = (struct caller){ .function = edge->caller };
	}
	callers->list[*place].weight += edge->weight;
}

static int heavier(const void *left, const void *right)
{
	const struct caller *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size)
{
	struct callers all = { 0 };
	struct question wanted = *question;
	const struct profile *profile;
	const struct profile_edge *edge;

	if (wanted.callers != CALLERS_ALL) {
		wanted.callers = CALLERS_ONE;
		wanted.callee = function;
	}
	window_update(&query->window, &wanted);
	clear_places(query);
	for (size_t i = 0; (profile = window_profile(&query->window, i)); i++)
		for (edge = NULL; (edge = profile_edge_to(profile, function, edge)); )
			add_caller(query, &all, edge);
	for (size_t i = 0; i < all.count; i++)		/* a report asks this of each of its functions */
		query->places[all.list[i].function] = NOWHERE;
	if (all.count)
		qsort(all.list, all.count, sizeof(*all.list), heavier);
	if (size > all.count)
		size = all.count;
	if (size)
		memcpy(callers, all.list, size * sizeof(*callers));
	free(all.list);
	return size;
}
