/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/store/cpus.h"
#include "agent/store/store.h"
#include "query.h"
#include "filter.h"
#include "query_state.h"

/* No place: the function is not in the answer yet. */
#define NOWHERE 0xffffffffu

enum { NEWEST = 2 };			/* the newest digests: they change from answer to answer */

static struct query_reader *reader_new(struct query *query, uint32_t number)
{
	struct query_reader *reader = util_alloc(sizeof(*reader));

	window_init(&reader->window, &query->inputs, &query->naming, number);
	reader->window.stop = query->stop;
	return reader;
}

static void reader_free(struct query_reader *reader)
{
	if (!reader)
		return;
	window_clear(&reader->window);
	table_free(reader->steady);
	free(reader);
}

struct query *query_new(const struct query_inputs *inputs)
{
	struct query *query = util_alloc(sizeof(*query));

	query->inputs = *inputs;
	naming_init(&query->naming);
	query->readers[QUERY_ANYBODY] = reader_new(query, QUERY_ANYBODY);
	return query;
}

void query_heed(struct query *query, const atomic_bool *stop)
{
	query->stop = stop;
	for (uint32_t i = 0; i < QUERY_READERS; i++)
		if (query->readers[i])
			query->readers[i]->window.stop = stop;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	for (uint32_t i = 0; i < QUERY_READERS; i++)
		reader_free(query->readers[i]);
	naming_clear(&query->naming);
	free(query->places);
	free(query);
}

uint32_t query_reader_new(struct query *query)
{
	for (uint32_t i = QUERY_ANYBODY + 1; i < QUERY_READERS; i++)
		if (!query->readers[i]) {
			query->readers[i] = reader_new(query, i);
			return i;
		}
	return QUERY_ANYBODY;
}

void query_reader_free(struct query *query, uint32_t reader)
{
	if (reader == QUERY_ANYBODY)
		return;
	reader_free(query->readers[reader]);
	query->readers[reader] = NULL;
}

uint64_t query_walked(const struct query *query, uint32_t reader)
{
	return query->readers[reader]->window.serial;
}

/* No function has a place in the next answer. */
static void clear_places(struct query *query)
{
	size_t count = symbols_functions(query->inputs.symbols);

	if (!query->placed && query->place_count == count)
		return;
	query->placed = false;
	query->place_count = count;
	query->places = util_grow(query->places, query->place_count, sizeof(*query->places));
	memset(query->places, 0xff, query->place_count * sizeof(*query->places));
}

uint64_t query_refused(const struct query *query)
{
	const struct digest *digest;
	uint64_t refused = 0;

	for (uint32_t i = 0; i < QUERY_READERS; i++)
		for (size_t k = 0; query->readers[i] &&
				(digest = window_digest(&query->readers[i]->window, k)); k++)
			refused += digest->edges_refused;
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

static void add_rows(struct query *query, struct table *table, const struct digest *digest)
{
	for (uint32_t i = 0; i < digest->sum_count; i++) {
		const struct digest_sum *sum = &digest->sums[i];
		struct row *row = have_row(query, table, sum->function);

		row->self += sum->self;
		row->total += sum->total;
		row->samples += sum->samples;
		for (uint32_t word = 0; word < digest->words; word++)
			row->cpus[word] |= digest->cpus[(size_t)i * digest->words + word];
	}
}

static void add_whole(struct table *table, const struct digest *digest)
{
	table->weight += digest->weight;
	table->time += digest->time;
	table->samples += digest->samples;
	table->missed += digest->missed;
	for (int mode = 0; mode < MODES; mode++)
		table->mode[mode] += digest->mode[mode];
}

/* A row's memory stays in its place; its contents move. */
static void copy_row(const struct table *table, struct row *to, const struct row *from)
{
	uint64_t *cpus = to->cpus;

	if (to == from)
		return;
	memcpy(cpus, from->cpus, table->words * sizeof(*cpus));
	*to = *from;
	to->cpus = cpus;
}

static void keep_shown(struct table *table, const struct symbols *symbols, const struct filter *filter)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (filter_shows(filter, symbols_get(symbols, table->rows[i].function)->name))
			copy_row(table, &table->rows[kept++], &table->rows[i]);
	table->count = kept;
}

/* The digests cover whole slices: from the beginning of the first to the end of the last. */
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

static void add_digests(struct query *query, const struct window *window, struct table *table, size_t first,
	size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct digest *digest = window_digest(window, i);

		add_whole(table, digest);
		add_rows(query, table, digest);
	}
}

/* Notes the position of each row. */
static void place_rows(struct query *query, const struct table *table)
{
	clear_places(query);
	query->placed = true;
	for (size_t i = 0; i < table->count; i++)
		query->places[table->rows[i].function] = (uint32_t)i;
}

/*
 * The sum of the first `count` digests, in no order. It is made anew only when one of them has changed. A
 * slice lasts for several answers, and each of them changes only the newest digests.
 */
static const struct table *steady_table(struct query *query, struct query_reader *reader, size_t count,
	uint32_t words)
{
	const struct window *window = &reader->window;
	uint64_t mark = words;

	for (size_t i = 0; i < count; i++)
		mark = hash_mix(mark + 1, window_digest(window, i)->serial);
	if (reader->steady && reader->steady_mark == mark)
		return reader->steady;
	table_free(reader->steady);
	reader->steady = table_new(query->inputs.budget, 256, words);
	reader->steady_mark = mark;
	clear_places(query);
	add_digests(query, window, reader->steady, 0, count);
	return reader->steady;
}

struct table *query_table(struct query *query, const struct question *question)
{
	struct query_reader *reader = query_reader(query, question);
	struct window *window = &reader->window;
	const struct digest *digest;
	struct table *table;
	uint32_t words = 0;
	size_t count = 0, steady;

	window_update(window, question);
	for (; (digest = window_digest(window, count)); count++)
		words = digest->words > words ? digest->words : words;
	steady = count > NEWEST ? count - NEWEST : 0;
	table = table_copy(steady_table(query, reader, steady, words));
	place_rows(query, table);
	add_digests(query, window, table, steady, count);
	if (!filter_lacks(&question->filter, FILTER_FUNCTION))
		keep_shown(table, query->inputs.symbols, &question->filter);
	table_shrink(table);
	set_range(table, window);
	return table;
}

/* ---- series ---- */

struct seconds {			/* of a trend: the last whole ones before the end */
	uint64_t first, end;
};

static struct seconds trend_seconds(uint64_t to)
{
	struct seconds seconds = { .end = to / NS_PER_SECOND };

	seconds.first = seconds.end > TABLE_TREND ? seconds.end - TABLE_TREND : 0;
	return seconds;
}

/* The part of a slice's weight that falls into one second; a long slice is taken as even. */
static uint64_t weight_of_second(uint64_t weight, uint64_t begin, uint64_t end, uint64_t second)
{
	uint64_t first = begin / NS_PER_SECOND, i = second - first;
	uint64_t count = (end + NS_PER_SECOND - 1) / NS_PER_SECOND - first;
	unsigned __int128 wide = weight;

	if (count == 1)
		return weight;
	return (uint64_t)(wide * (i + 1) / count) - (uint64_t)(wide * i / count);
}

/* The seconds of the trend that a slice touches. */
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
	struct window *window = &query_reader(query, question)->window;
	struct seconds seconds;

	memset(trend, 0, TABLE_TREND * sizeof(*trend));
	window_update(window, question);
	seconds = trend_seconds(window->to);
	for (size_t i = 0; i < window->recent_count; i++) {
		const struct digest *digest = window->recent[i];
		uint64_t self = digest_self(digest, function);
		struct seconds part = touched(seconds, digest->begin, digest->end);

		for (uint64_t second = part.first; self && second < part.end; second++)
			trend[second + TABLE_TREND - seconds.end] += weight_of_second(self,
				digest->begin, digest->end, second);
	}
}

static void add_cpu_trend(struct cpu_series *series, const struct cpu_sums *cpu,
	const struct slice *slice, struct seconds seconds)
{
	struct seconds part = touched(seconds, slice->begin, slice->end);

	for (uint64_t second = part.first; series->trend && second < part.end; second++)
		for (int mode = 0; mode < MODES; mode++)
			series->trend[second + TABLE_TREND - seconds.end][mode] +=
				weight_of_second(cpu->mode[mode], slice->begin, slice->end, second);
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
	struct store *store = query->inputs.store;
	uint64_t now = store_now(store), to = question->to < now ? question->to : now;
	struct seconds seconds = trend_seconds(to);
	struct span span;
	size_t seen = 0, first;

	store_settle(store);
	span = span_find(store, question->from, question->to);
	first = span.first;
	for (size_t i = 0; i < size; i++) {
		if (cpus[i].trend)
			first = span_after(store, seconds.first * NS_PER_SECOND);
		cpus[i] = (struct cpu_series) { .trend = cpus[i].trend };
	}
	if (span.first < first)
		first = span.first;
	for (size_t i = first; i < span.end; i++) {
		struct slice slice = store_slice(store, i);

		for (uint32_t cpu = 0; cpu < slice.cpus->count && cpu < size; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums && i >= span.first)
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
	const struct digest_edge *edge)
{
	uint32_t *place = &query->places[edge->caller];

	if (*place == NOWHERE) {
		if (callers->count == callers->room) {
			callers->room = 2 * callers->room + 16;
			callers->list = util_grow(callers->list, callers->room,
				sizeof(*callers->list));
		}
		*place = (uint32_t)callers->count;
		callers->list[callers->count++] = (struct caller) { .function = edge->caller };
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
	struct window *window = &query_reader(query, question)->window;
	struct callers all = { 0 };
	struct question wanted = *question;
	const struct digest *digest;
	const struct digest_edge *edge;

	if (wanted.callers != CALLERS_ALL) {
		wanted.callers = CALLERS_ONE;
		wanted.callee = function;
	}
	window_update(window, &wanted);
	clear_places(query);
	for (size_t i = 0; (digest = window_digest(window, i)); i++)
		for (edge = NULL; (edge = digest_edge_to(digest, function, edge)); )
			add_caller(query, &all, edge);
	for (size_t i = 0; i < all.count; i++)		/* clears only these: a report asks this for each function */
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
