/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/cpus.h"
#include "agent/store/store.h"
#include "query.h"
#include "query_state.h"
#include "seconds.h"
#include "tree_sums.h"

enum { TRENDS_MOST = 512 };		/* kept for a reader */

/* No place: the function is not in the answer yet. */
#define NOWHERE 0xffffffffu

static struct query_reader *reader_new(struct query *query, uint32_t number)
{
	struct query_reader *reader = util_alloc(sizeof(*reader));

	window_init(&reader->window, &query->inputs, &query->nodes, &query->fine, number);
	reader->window.stop = query->stop;
	return reader;
}

static void reader_free(struct query_reader *reader)
{
	if (!reader)
		return;
	budget_free(reader->window.inputs.budget, reader->trends.list,
		reader->trends.room * sizeof(*reader->trends.list));
	table_free(reader->kept.table);
	window_clear(&reader->window);
	for (int order = 0; order < TREE_ORDERS; order++)
		tree_sums_clear(&reader->trees[order]);
	if (reader->beside.free)
		reader->beside.free(reader->beside.state);
	free(reader);
}

void *query_beside(const struct query_reader *reader, void (*free)(void *state))
{
	return reader->beside.free == free ? reader->beside.state : NULL;
}

void query_keep_beside(struct query_reader *reader, void *state, void (*free)(void *state))
{
	if (reader->beside.free)
		reader->beside.free(reader->beside.state);
	reader->beside = (struct query_beside) { .state = state, .free = free };
}

struct query *query_new(const struct query_inputs *inputs)
{
	struct query *query = util_alloc(sizeof(*query));

	query->inputs = *inputs;
	node_functions_init(&query->nodes);
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
	node_functions_clear(&query->nodes);
	fine_ranges_clear(&query->fine);
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

static bool is_exact(const struct store *store, struct span span, const struct question *question)
{
	return span.first < span.end && store_slice(store, span.first).begin == question->from &&
		store_slice(store, span.end - 1).end == question->to;
}

void query_round(struct query *query, struct question *question)
{
	struct store *store = query->inputs.store;
	struct span span = span_find(store, question->from, question->to);
	uint64_t middle = question->from + (question->to - question->from) / 2;

	if (is_exact(store, span, question))
		return;
	question->fine = fine_ranges_make(&query->fine, store, query->inputs.budget, &question->from, &question->to);
	if (question->fine)
		return;
	if (span.first == span.end) {
		span.first = span_after(store, middle);
		span.end = span.first + 1;
		if (span.first == store_slices(store) || store_slice(store, span.first).begin > middle)
			return;
	}
	question->from = store_slice(store, span.first).begin;
	question->to = store_slice(store, span.end - 1).end;
}

void query_cover(const struct query *query, struct question *question)
{
	const struct store *store = query->inputs.store;
	struct span span = span_find(store, question->from, question->to);

	if (span.first == span.end)
		return;
	question->from = store_slice(store, span.first).begin;
	question->to = store_slice(store, span.end - 1).end;
}

uint64_t query_kept_from(const struct query *query)
{
	const struct store *store = query->inputs.store;

	return store_slices(store) ? store_slice(store, 0).begin : UINT64_MAX;
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

	for (uint32_t i = 0; i < QUERY_READERS; i++) {
		refused += query->readers[i] ? query->readers[i]->window.sums.edges_refused : 0;
		for (size_t k = 0; query->readers[i] &&
				(digest = window_digest(&query->readers[i]->window, k)); k++)
			refused += digest->edges_refused;
	}
	return refused;
}

bool query_awaits_files(struct query *query, const struct question *question)
{
	return query_reader(query, question)->window.stack_filter.unread;
}

/* ---- the table: no more rows than functions, which are bounded ---- */

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

static struct table *make_table(const struct query *query, const struct window *window, const struct filter *filter)
{
	struct table *table = range_sums_table(&window->sums, query->inputs.budget);

	if (!filter_lacks(filter, FILTER_FUNCTION)) {
		keep_shown(table, query->inputs.symbols, filter);
		table_shrink(table);
	}
	return table;
}

/* What may change while the sums do not. */
static void tell_window(struct table *table, const struct window *window)
{
	struct range range = window_range(window);

	table->unread = window->grouping.unread || window->stack_filter.unread;
	table->behind = window->behind;
	table->from = range.from;
	table->to = range.to;
}

struct table *query_table(struct query *query, const struct question *question)
{
	struct window *window = &query_reader(query, question)->window;
	struct table *table;

	window_go_on(window, question);
	table = make_table(query, window, &question->filter);
	tell_window(table, window);
	return table;
}

const struct table *query_table_kept(struct query *query, const struct question *question)
{
	struct query_reader *reader = query_reader(query, question);
	struct kept_table *kept = &reader->kept;

	window_go_on(&reader->window, question);
	if (!kept->table || kept->changes != reader->window.sums.changes ||
			!filter_equal(&kept->filter, &question->filter)) {
		table_free(kept->table);
		kept->table = make_table(query, &reader->window, &question->filter);
		kept->changes = reader->window.sums.changes;
		kept->filter = question->filter;
	}
	tell_window(kept->table, &reader->window);
	return kept->table;
}

/* ---- series ---- */

/* For each of these seconds, its slices as one number. Their order does not count. */
static void mark_seconds(const struct window *window, struct seconds seconds, uint64_t marks[TABLE_TREND])
{
	memset(marks, 0, TABLE_TREND * sizeof(*marks));
	for (size_t i = 0; i < window->recent_count; i++) {
		const struct digest *digest = window->recent[i];
		struct seconds part = seconds_touched(seconds, digest->begin, digest->end);

		for (uint64_t second = part.first; second < part.end; second++)
			marks[second + TABLE_TREND - seconds.end] +=
				hash_mix(digest->serial, UINT64_C(0xd6e8feb86659fd93));
	}
}

/* Adds to those seconds of a trend that are `wanted`. */
static void add_seconds(const struct window *window, struct seconds seconds, const bool wanted[TABLE_TREND],
	struct trend *trend)
{
	for (size_t i = 0; i < window->recent_count; i++) {
		struct digest *digest = window->recent[i];
		struct seconds part = seconds_touched(seconds, digest->begin, digest->end);
		uint64_t self;

		while (part.first < part.end && !wanted[part.first + TABLE_TREND - seconds.end])
			part.first++;
		self = part.first < part.end ? digest_self(digest, trend->function) : 0;
		for (uint64_t second = part.first; self && second < part.end; second++) {
			uint64_t at = second + TABLE_TREND - seconds.end;

			trend->seconds[at] += wanted[at] ? seconds_part(self, digest->begin, digest->end, second) : 0;
		}
	}
}

/* The trend's seconds become those that are `moved` later. Those that are `wanted` are summed anew. */
static void move_trend(const struct window *window, struct seconds seconds, uint64_t moved,
	const bool wanted[TABLE_TREND], struct trend *trend)
{
	const struct trend old = *trend;

	for (size_t i = 0; i < TABLE_TREND; i++)
		trend->seconds[i] = wanted[i] ? 0 : old.seconds[i + moved];
	trend->asked = false;
	add_seconds(window, seconds, wanted, trend);
}

/*
 * Only whole seconds are in a trend, so it seldom changes, and then in few of them. Trends that nobody has asked for
 * since the last change are dropped.
 */
static struct trends *trends_of(struct query_reader *reader, struct seconds seconds)
{
	struct trends *trends = &reader->trends;
	uint64_t marks[TABLE_TREND], moved = seconds.end - trends->end;		/* modulo 2^64 */
	bool changed[TABLE_TREND], any = moved;
	uint32_t kept = 0;

	if (trends->updated == reader->window.updated)
		return trends;
	mark_seconds(&reader->window, seconds, marks);
	for (size_t i = 0; i < TABLE_TREND; i++) {
		changed[i] = i + moved >= TABLE_TREND || trends->marks[i + moved] != marks[i];
		any = any || changed[i];
	}
	for (uint32_t i = 0; any && i < trends->count; i++)
		if (trends->list[i].asked) {
			trends->list[kept] = trends->list[i];
			move_trend(&reader->window, seconds, moved, changed, &trends->list[kept++]);
		}
	trends->count = any ? kept : trends->count;
	memcpy(trends->marks, marks, sizeof(marks));
	trends->end = seconds.end;
	trends->updated = reader->window.updated;
	return trends;
}

static void keep_trend(struct trends *trends, struct budget *budget, const struct trend *trend)
{
	struct trend *list;

	if (trends->count == TRENDS_MOST)
		trends->count = 0;
	list = budget_array(budget, trends->list, trends->count, &trends->room, sizeof(*list));
	if (!list)
		return;
	trends->list = list;
	list[trends->count++] = *trend;
}

void query_trend(struct query *query, const struct question *question, uint32_t function,
	uint64_t trend[TABLE_TREND])
{
	struct query_reader *reader = query_reader(query, question);
	struct trend made = { .function = function, .asked = true };
	bool all[TABLE_TREND];
	struct seconds seconds;
	struct trends *trends;

	window_update(&reader->window, question);
	seconds = seconds_before(reader->window.to);
	trends = trends_of(reader, seconds);
	for (uint32_t i = 0; i < trends->count; i++)
		if (trends->list[i].function == function) {
			trends->list[i].asked = true;
			memcpy(trend, trends->list[i].seconds, sizeof(made.seconds));
			return;
		}
	memset(all, true, sizeof(all));
	add_seconds(&reader->window, seconds, all, &made);
	keep_trend(trends, query->inputs.budget, &made);
	memcpy(trend, made.seconds, sizeof(made.seconds));
}

static void add_cpu_trend(struct cpu_series *series, const struct cpu_sums *cpu,
	const struct slice *slice, struct seconds seconds)
{
	struct seconds part = seconds_touched(seconds, slice->begin, slice->end);

	for (uint64_t second = part.first; series->trend && second < part.end; second++)
		for (int mode = 0; mode < MODES; mode++)
			series->trend[second + TABLE_TREND - seconds.end][mode] +=
				seconds_part(cpu->mode[mode], slice->begin, slice->end, second);
}

static void add_cpu(struct cpu_series *series, const struct cpu_sums *cpu)
{
	for (int mode = 0; mode < MODES; mode++)
		series->mode[mode] += cpu->mode[mode];
	series->missed += cpu->missed;
}

/* Returns one more than the highest CPU. */
static size_t add_slices(const struct store *store, struct span span, struct cpu_series *cpus, size_t size)
{
	size_t seen = 0;

	for (size_t i = span.first; i < span.end; i++) {
		struct slice slice = store_slice(store, i);

		for (uint32_t cpu = 0; cpu < slice.cpus->count && cpu < size; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums)
				add_cpu(&cpus[cpu], sums);
			seen = cpu + 1 > seen ? cpu + 1 : seen;
		}
	}
	return seen;
}

/* Likewise, for those that have a trend. */
static size_t add_trends(const struct store *store, uint64_t to, struct cpu_series *cpus, size_t size)
{
	struct seconds seconds = seconds_before(to);
	size_t seen = 0, end = span_find(store, 0, to).end;

	for (size_t i = span_after(store, seconds.first * NS_PER_SECOND); i < end; i++) {
		struct slice slice = store_slice(store, i);

		for (uint32_t cpu = 0; cpu < slice.cpus->count && cpu < size; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums)
				add_cpu_trend(&cpus[cpu], sums, &slice, seconds);
			seen = cpu + 1 > seen ? cpu + 1 : seen;
		}
	}
	return seen;
}

size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus,
	size_t size)
{
	struct store *store = query->inputs.store;
	const struct fine_range *fine = question->fine ?
		fine_ranges_find(&query->fine, question->from, question->to) : NULL;
	uint64_t now = store_now(store);
	size_t seen, before = 0;
	bool trends = false;

	store_settle(store);
	for (size_t i = 0; i < size; i++) {
		trends = trends || cpus[i].trend;
		cpus[i] = (struct cpu_series) { .trend = cpus[i].trend };
	}
	if (trends)
		before = add_trends(store, question->to < now ? question->to : now, cpus, size);
	seen = fine ? add_slices(fine->store, (struct span) { 0, store_slices(fine->store) }, cpus, size) :
		add_slices(store, span_find(store, question->from, question->to), cpus, size);
	return seen > before ? seen : before;
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

static bool is_heavier(const struct caller *a, const struct caller *b)
{
	return a->weight != b->weight ? a->weight > b->weight : a->function < b->function;
}

/* Keeps the heaviest `size` of all that are given to it, heaviest first. Returns how many there are now. */
static size_t keep_heaviest(struct caller *heaviest, size_t count, size_t size, struct caller next)
{
	size_t at = count < size ? count : size;

	if (at == size && (size == 0 || !is_heavier(&next, &heaviest[size - 1])))
		return count;
	for (at -= at == size; at > 0 && is_heavier(&next, &heaviest[at - 1]); at--)
		heaviest[at] = heaviest[at - 1];
	heaviest[at] = next;
	return count < size ? count + 1 : size;
}

/* The other ends of all edges to this function, heaviest first. */
static size_t take_edges(struct query *query, const struct question *wanted, uint32_t function,
	struct caller *callers, size_t size)
{
	struct window *window = &query_reader(query, wanted)->window;
	struct callers all = { 0 };
	struct digest *digest;
	const struct digest_edge *edge;
	size_t count = 0;

	window_update(window, wanted);
	clear_places(query);
	for (size_t i = 0; (digest = window_digest(window, i)); i++)
		for (edge = NULL; (edge = digest_edge_to(digest, function, edge));)
			add_caller(query, &all, edge);
	for (size_t i = 0; i < all.count; i++) {
		query->places[all.list[i].function] = NOWHERE;	/* only these: a report asks this for each function */
		count = keep_heaviest(callers, count, size, all.list[i]);
	}
	free(all.list);
	return count;
}

size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size)
{
	struct question wanted = *question;

	if (question->by != GROUP_FUNCTION)
		return 0;
	if (wanted.callers != CALLERS_ALL) {
		wanted.callers = CALLERS_ONE;
		wanted.callee = function;
	}
	return take_edges(query, &wanted, function, callers, size);
}

struct caller query_ran(struct query *query, const struct question *question, uint32_t row)
{
	struct window *window = &query_reader(query, question)->window;
	const struct range_edge *edge;

	if (!grouping_has_ran(question->by) || question->callers != CALLERS_ALL)
		return (struct caller) { .weight = 0 };
	window_update(window, question);
	edge = range_sums_heaviest(&window->sums, row);
	return edge ? (struct caller) { edge->function, edge->weight } : (struct caller) { .weight = 0 };
}
