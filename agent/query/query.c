/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "match.h"
#include "query.h"
#include "query_state.h"
#include "scan.h"
#include "slots.h"
#include "stop.h"

#define NOWHERE 0xffffffffu

enum { SCAN_LAPSES = 256 };		/* a scan that was not used by so many questions gives its memory back */

static struct query_reader *reader_new(struct query *query)
{
	struct query_reader *reader = util_alloc(sizeof(*reader));

	window_init(&reader->window, &query->inputs, &query->nodes);
	reader->window.stop = query->stop;
	return reader;
}

static void reader_free(struct query_reader *reader)
{
	if (!reader)
		return;
	table_free(reader->kept.table);
	window_clear(&reader->window);
	query_tree_forget(reader);
	trends_clear(&reader->trends);
	stack_filter_clear(&reader->subject.holders);
	slots_clear(&reader->slots);
	free(reader);
}

struct query *query_new(const struct query_inputs *inputs)
{
	struct query *query = util_alloc(sizeof(*query));

	query->inputs = *inputs;
	for (uint32_t i = 0; i < RUN_MARKS; i++)
		query->scans[i] = (struct scan) { .budget = inputs->budget, .number = i };
	query->scan = query->scans;
	query->readers[QUERY_ANYBODY] = reader_new(query);
	return query;
}

void query_heed(struct query *query, const atomic_bool *stop)
{
	query->stop = stop;
	for (uint32_t i = 0; i < QUERY_READERS; i++)
		if (query->readers[i])
			query->readers[i]->window.stop = stop;
}

void query_spare(struct query *query)
{
	for (uint32_t i = 0; i < RUN_MARKS; i++)
		scan_spare(&query->scans[i], &query->scans[i] == query->scan);
}

struct scan *query_scan(struct query *query, const struct window *window, bool by_who)
{
	uint32_t oldest = 0, found = RUN_MARKS;

	for (uint32_t i = 0; i < RUN_MARKS; i++) {
		oldest = query->scanned[i] < query->scanned[oldest] ? i : oldest;
		found = query->scans[i].window == window && query->scans[i].by_who == by_who ? i : found;
		if (query->scans_begun - query->scanned[i] > SCAN_LAPSES)
			scan_clear(&query->scans[i]);
	}
	found = found < RUN_MARKS ? found : oldest;
	for (uint32_t i = 0; i < RUN_MARKS; i++)		/* before this one takes more */
		if (i != found)
			scan_spare(&query->scans[i], false);
	query->scan = &query->scans[found];
	query->scanned[found] = ++query->scans_begun;
	scan_begin(query->scan, window, by_who);
	return query->scan;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	for (uint32_t i = 0; i < QUERY_READERS; i++)
		reader_free(query->readers[i]);
	for (uint32_t i = 0; i < RUN_MARKS; i++)
		scan_clear(&query->scans[i]);
	node_functions_clear(&query->nodes);
	free(query->places);
	free(query);
}

uint32_t query_reader_new(struct query *query)
{
	for (uint32_t i = QUERY_ANYBODY + 1; i < QUERY_READERS; i++)
		if (!query->readers[i]) {
			query->readers[i] = reader_new(query);
			return i;
		}
	return QUERY_ANYBODY;
}

void query_reader_free(struct query *query, uint32_t reader)
{
	if (reader == QUERY_ANYBODY)
		return;
	for (uint32_t i = 0; i < RUN_MARKS; i++)
		if (query->scans[i].window == &query->readers[reader]->window)
			query->scans[i].window = NULL;
	reader_free(query->readers[reader]);
	query->readers[reader] = NULL;
}

/* From the first slice that belongs to the range to the last. from > to: none does. */
static struct range covered(const struct store *store, uint64_t from, uint64_t to)
{
	struct slices slices = slices_in(store, from, to, false);
	struct range range = { UINT64_MAX, 0 };
	struct slice slice;

	while (slices_next(&slices, &slice)) {
		range.from = slice.begin < range.from ? slice.begin : range.from;
		range.to = slice.end;
	}
	return range;
}

void query_round(struct query *query, struct question *question)
{
	struct store *store = filter_store(&question->filter, &query->inputs);
	uint64_t middle = question->from + (question->to - question->from) / 2;
	struct range range;

	question->fine = store == query->inputs.store &&
		store_pin(store, &question->from, &question->to);
	if (question->fine)
		return;
	range = covered(store, question->from, question->to);
	if (range.from > range.to) {		/* the slice that the range is in */
		struct slices slices = slices_in(store, slice_begin(store, middle), UINT64_MAX, true);
		struct slice slice;

		if (!slices_next(&slices, &slice) || slice.begin > middle)
			return;
		range = (struct range) { slice.begin, slice.end };
	}
	question->from = range.from;
	question->to = range.to;
}

void query_cover(const struct query *query, struct question *question)
{
	const struct store *store = filter_store(&question->filter, &query->inputs);
	struct range range = covered(store, question->from, question->to);

	if (range.from > range.to)
		return;
	question->from = range.from;
	question->to = range.to;
}

/* By function, or row: NOWHERE. To be called when all rows of the answer have their ids. */
static uint32_t *clear_places(struct query *query)
{
	query->place_count = symbols_functions(query->inputs.symbols);
	query->places = util_grow(query->places, query->place_count, sizeof(*query->places));
	memset(query->places, 0xff, query->place_count * sizeof(*query->places));
	return query->places;
}

uint64_t query_refused(const struct query *query)
{
	return query->scan->pairs.refused;
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

/* Rows may have got ids since the last one. */
static struct row *have_row(struct query *query, struct table *table, uint32_t function)
{
	while (query->place_count <= function) {
		size_t more = function + function / 4 + 256;

		query->places = util_grow(query->places, more, sizeof(*query->places));
		while (query->place_count < more)
			query->places[query->place_count++] = NOWHERE;
	}
	if (query->places[function] == NOWHERE) {
		query->places[function] = (uint32_t)table->count;
		return table_add(table, function);
	}
	return &table->rows[query->places[function]];
}

/* True: no frame above the node has the same row. */
static bool is_outermost(const struct scan *scan, const struct node *nodes, uint32_t id)
{
	uint32_t above = nodes[id].parent, row = scan->rows[id + SCAN_NODES];

	while (above != STACKS_NONE && scan->rows[above + SCAN_NODES] != row)
		above = nodes[above].parent;
	return above == STACKS_NONE;
}

static struct table *make_by_stack(struct query *query, struct window *window)
{
	const uint8_t *outermost = window->question.by == GROUP_FUNCTION ?
		node_functions_outermost(window->nodes, window->inputs.stacks) : NULL;
	const struct node *nodes = stacks_list(window->inputs.stacks);
	struct scan *scan = query->scan;
	struct table *table;

	scan_totals(scan, window, true);
	table = table_new(query->inputs.budget, 0, scan->words);
	query->place_count = 0;
	for (uint32_t i = 0; i < scan->count; i++) {
		struct row *row;

		if (!scan->totals[i])
			continue;
		row = have_row(query, table, scan->rows[i]);
		row->self += scan->own[i].weight;
		row->samples += scan->own[i].samples;
		if (i < SCAN_NODES || (outermost ? outermost[i - SCAN_NODES] :
				is_outermost(scan, nodes, i - SCAN_NODES)))
			row->total += scan->totals[i];
		for (uint32_t word = 0; word < scan->words; word++)
			row->cpus[word] |= scan->cpus[(size_t)i * scan->words + word];
	}
	return table;
}

/* Whoever ran a sample decides its row. In no order. */
static struct table *make_by_who(struct query *query, struct window *window)
{
	const struct match match = window_match(window);
	struct match_reader reader = match_begin(&match, NULL);
	uint32_t words = (window->cpus + 63) / 64;
	struct scan *scan = query->scan;
	struct table *table;

	scan_own(scan, window, false);
	table = table_new(query->inputs.budget, 0, words < SCAN_WORDS_MAX ? words : SCAN_WORDS_MAX);
	query->place_count = 0;
	for (uint32_t i = 0; i < scan->ran_count; i++) {
		uint32_t number = scan_place_who(scan, scan->ran[i], &reader.context);
		const struct who *who = &match.whos->list[number];
		const struct scan_sum *sum = &scan->own[scan->ran[i]];
		struct row *row = have_row(query, table, match_row(&reader, number));

		row->self += sum->weight;
		row->total += sum->weight;
		row->samples += sum->samples;
		row->kernel += who->mode == MODE_KERNEL ? sum->weight : 0;
		row->user += who->mode == MODE_USER ? sum->weight : 0;
		if (who->cpu < 64 * table->words)
			row->cpus[who->cpu / 64] |= UINT64_C(1) << who->cpu % 64;
	}
	return table;
}

static struct table *make_table(struct query *query, struct window *window, const struct question *question)
{
	bool by_who = grouping_is_by_who(question->by);
	const struct scan_whole *whole = &query_scan(query, window, by_who)->whole;
	struct table *table = by_who ? make_by_who(query, window) : make_by_stack(query, window);

	table->weight = whole->weight;
	table->samples = whole->samples;
	table->time = whole->time;
	table->missed = whole->missed;
	memcpy(table->mode, whole->mode, sizeof(table->mode));
	if (!filter_lacks(&question->filter, FILTER_FUNCTION))
		keep_shown(table, query->inputs.symbols, &question->filter);
	table_shrink(table);
	return table;
}

struct table *query_table(struct query *query, const struct question *question)
{
	struct window *window = &query_reader(query, question)->window;
	struct table *table;
	struct range range;

	window_look(window, question);
	table = stop_now(query->stop) ? NULL : make_table(query, window, question);
	if (!table || stop_now(query->stop)) {
		table_free(table);
		table = table_new(query->inputs.budget, 0, 0);
	}
	range = window_range(window);
	table->unread = window->grouping.unread || window->stack_filter.unread;
	table->from = range.from;
	table->to = range.to;
	return table;
}

const struct table *query_table_kept(struct query *query, const struct question *question)
{
	struct query_reader *reader = query_reader(query, question);
	struct window *window = &reader->window;
	struct kept_table *kept = &reader->kept;

	window_look(window, question);
	if (!kept->table || kept->renewed != window->renewed || kept->slices != window->slices ||
			!filter_equal(&kept->filter, &question->filter)) {
		table_free(kept->table);
		kept->table = query_table(query, question);
		kept->renewed = stop_now(query->stop) ? UINT64_MAX : window->renewed;
		kept->slices = window->slices;
		kept->filter = question->filter;
	}
	return kept->table;
}

/* ---- series ---- */

struct trend_state {
	struct query *query;
	struct window *window;
	bool by_who;
};

static uint32_t trend_of(void *context, const struct match_reader *reader, const struct run_count *count,
	const struct who *who)
{
	const struct match *match = reader->match;
	struct trend_state *state = context;
	uint32_t row;

	if (state->by_who)
		row = match_row(reader, count->who);
	else if (who->mode == MODE_IDLE)
		row = match->idle;
	else
		row = count->stack == STACKS_NONE ? match->unknown :
			grouping_frame(&state->window->grouping, count->stack, match->functions[count->stack]);
	return row < state->query->place_count ? state->query->places[row] : TRENDS_NONE;
}

void query_trends(struct query *query, const struct question *question, const uint32_t *functions, size_t count,
	uint64_t (*trends)[TABLE_TREND])
{
	struct query_reader *reader = query_reader(query, question);
	struct window *window = &reader->window;
	struct trend_state state = { query, window, grouping_is_by_who(question->by) };
	struct kept_trends *kept = &reader->trends;
	uint64_t ids[TRENDS_MOST];
	uint32_t *places;

	if (!count || stop_now(query->stop)) {
		memset(trends, 0, count * sizeof(*trends));
		return;
	}
	window_look(window, question);
	places = clear_places(query);
	for (size_t i = 0; i < count; i++)
		ids[i] = functions[i];
	trends_keep(kept, ids, (uint32_t)count);
	for (uint32_t i = 0; i < kept->count; i++)
		if (kept->ids[i] < query->place_count)
			places[kept->ids[i]] = i;
	trends_make(kept, window, trend_of, &state);
	for (size_t i = 0; i < count; i++)
		if (functions[i] < query->place_count)
			trends_get(kept, places[functions[i]], trends[i]);
		else
			memset(trends[i], 0, sizeof(trends[i]));
}

static void add_cpu_trend(struct cpu_series *series, const struct cpu_sums *cpu,
	const struct slice *slice, const struct time_slots *seconds, struct span part)
{
	for (size_t i = part.first; series->trend && i < part.end; i++)
		for (int mode = 0; mode < MODES; mode++)
			series->trend[TABLE_TREND - seconds->count + i][mode] +=
				slots_part(seconds, i, slice, cpu->mode[mode]);
}

static void add_cpu(struct cpu_series *series, const struct cpu_sums *cpu)
{
	for (int mode = 0; mode < MODES; mode++)
		series->mode[mode] += cpu->mode[mode];
	series->missed += cpu->missed;
}

/* Adds the slices; with `seconds` to the trends of those seconds. Returns one more than the highest CPU. */
static size_t add_slices(struct slices slices, const struct time_slots *seconds, struct cpu_series *cpus, size_t size)
{
	struct span touched = { 0 };
	struct slice slice;
	size_t seen = 0;

	while (slices_next(&slices, &slice)) {
		if (seconds)
			touched = slots_touched(seconds, &slice, touched);
		for (uint32_t cpu = 0; cpu < slice.cpus->count && cpu < size; cpu++) {
			const struct cpu_sums *sums = cpus_get(slice.cpus, cpu);

			if (sums && seconds)
				add_cpu_trend(&cpus[cpu], sums, &slice, seconds, touched);
			else if (sums)
				add_cpu(&cpus[cpu], sums);
			seen = cpu + 1 > seen ? cpu + 1 : seen;
		}
	}
	return seen;
}

size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus,
	size_t size)
{
	struct store *store = query->inputs.store;
	uint64_t now = store_now(store), to = question->to < now ? question->to : now;
	const struct time_slots seconds = trend_slots(to);
	size_t seen, before = 0;
	bool trends = false;

	store_settle(store);
	for (size_t i = 0; i < size; i++) {
		trends = trends || cpus[i].trend;
		cpus[i] = (struct cpu_series) { .trend = cpus[i].trend };
	}
	if (trends)
		before = add_slices(slices_in(store, slice_begin(store, seconds.first * NS_PER_SECOND), to, false),
			&seconds, cpus, size);
	seen = add_slices(slices_in(store, question->from, question->to, false), NULL, cpus, size);
	return seen > before ? seen : before;
}

/* ---- callers ---- */

static bool is_heavier(const struct caller *a, const struct caller *b)
{
	return a->weight != b->weight ? a->weight > b->weight : a->function < b->function;
}

/* The other ends of the pairs of a row: keeps the heaviest `size` of them, heaviest first. */
static size_t keep_heaviest(const struct scan_pairs *pairs, uint32_t row, struct caller *heaviest, size_t size)
{
	size_t count = 0;

	for (const struct scan_pair *pair = scan_pairs_of(pairs, row); pair;
			pair = pair->next == HASH_NONE ? NULL : &pairs->list[pair->next]) {
		struct caller next = { .function = pair->function, .weight = pair->weight };
		size_t at = count < size ? count++ : size;

		if (at == size && (size == 0 || !is_heavier(&next, &heaviest[size - 1])))
			continue;
		for (at -= at == size; at > 0 && is_heavier(&next, &heaviest[at - 1]); at--)
			heaviest[at] = heaviest[at - 1];
		heaviest[at] = next;
	}
	return count;
}

size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size)
{
	struct window *window = &query_reader(query, question)->window;

	if (question->by != GROUP_FUNCTION || stop_now(query->stop))
		return 0;
	window_look(window, question);
	query_scan(query, window, false);
	scan_node_pairs(query->scan, window, question->callers ? FUNCTION_NONE : function);
	return keep_heaviest(&query->scan->pairs, function, callers, size);
}

struct caller query_ran(struct query *query, const struct question *question, uint32_t row)
{
	struct window *window = &query_reader(query, question)->window;
	const struct scan_pair *heaviest;

	if (!grouping_has_ran(question->by) || !question->callers)
		return (struct caller) { .weight = 0 };
	window_look(window, question);
	query_scan(query, window, grouping_is_by_who(question->by));
	if (question->by == GROUP_LINE)
		scan_node_pairs(query->scan, window, FUNCTION_NONE);
	else
		scan_own(query->scan, window, false);
	heaviest = scan_heaviest(&query->scan->pairs, row);
	return heaviest ? (struct caller) { heaviest->function, heaviest->weight } : (struct caller) { .weight = 0 };
}

/* ---- query stacks ---- */

/*
 * Stacks of addresses become places in one tree of functions. Then equal (place, thread, mode) become one
 * sum.
 */
struct place {
	uint32_t parent, function;	/* parent: HASH_NONE at a root */
	bool cut;			/* the walk ended early, here or at a caller */
	uint32_t sum;			/* of the stacks that end here, the first; HASH_NONE: there is none */
};

struct sum {
	uint32_t place, next;		/* the next sum of the place; HASH_NONE: there is none */
	uint32_t thread;		/* EVENT_NONE if none is wanted */
	enum mode mode;
	uint64_t weight, samples;
};

struct merge {
	struct window *window;
	struct budget *budget;
	bool full;			/* there is no memory for all, or the question was given up */
	bool inlined, threads, lines;	/* as in the question */
	uint32_t unread;		/* nodes where it is not known yet what is inlined, or in which line they are */
	uint32_t *place_of;		/* by node; HASH_NONE: not made yet */
	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_place;
	struct sum *sums;
	uint32_t sum_count, sum_room;
	struct hash by_sum;
};

enum {
	DEPTH_MAX = 128,		/* both walks of a sample */
	FRAMES_MAX = 1024,		/* with inlined functions; the innermost are kept */
	BATCH = 64,			/* counts that are read before they are added */
};

/* HASH_NONE: there is no room for a new place. */
static uint32_t have_place(struct merge *merge, const struct place *place)
{
	struct place *places;
	uint64_t hash = hash_pair(&merge->by_place, place->parent,
		(uint64_t)place->cut << 32 | place->function);
	uint32_t at = 0, position;

	while ((position = hash_next(&merge->by_place, hash, &at)) != HASH_NONE) {
		const struct place *other = &merge->places[position];

		if (other->parent == place->parent && other->function == place->function &&
				other->cut == place->cut)
			return position;
	}
	places = budget_array(merge->budget, merge->places, merge->place_count,
		&merge->place_room, sizeof(*places));
	if (places)
		merge->places = places;
	merge->full = !places || !hash_add(&merge->by_place, hash, merge->place_count);
	if (merge->full)
		return HASH_NONE;
	merge->places[merge->place_count] = *place;
	merge->places[merge->place_count].sum = HASH_NONE;
	return merge->place_count++;
}

/* The place of the innermost function that is inlined in a node. `parent` is the place of the node's own function. */
static uint32_t place_inlined(struct merge *merge, const struct node *node, uint32_t parent)
{
	struct symbols *symbols = merge->window->inputs.symbols;
	struct inlined inlined;

	if (merge->lines && !symbols_line_at(symbols, node->space, node->address))
		merge->unread++;
	if (!symbols_inlined(symbols, node->space, node->address, &inlined))
		merge->unread++;
	for (uint32_t i = 0; i < inlined.count && !merge->full; i++)
		parent = have_place(merge, &(struct place) {
			.parent = parent, .function = inlined.functions[i],
			.cut = merge->places[parent].cut });
	return parent;
}

static uint32_t place_node(struct merge *merge, uint32_t id, uint32_t parent)
{
	const struct window *window = merge->window;
	struct node node = stacks_node(window->inputs.stacks, id);
	struct place place = {
		.parent = parent,
		.function = window->nodes->functions[id],
		.cut = node.cut || (parent != HASH_NONE && merge->places[parent].cut),
	};

	parent = have_place(merge, &place);
	if (merge->inlined && !merge->full)
		parent = place_inlined(merge, &node, parent);
	return parent;
}

/* The place of a node. Makes those of its callers first. */
static uint32_t place_of(struct merge *merge, uint32_t leaf)
{
	const struct window *window = merge->window;
	uint32_t path[DEPTH_MAX], depth = 0, id = leaf, parent = HASH_NONE;

	while (id != STACKS_NONE && merge->place_of[id] == HASH_NONE && depth < DEPTH_MAX) {
		path[depth++] = id;
		id = stacks_node(window->inputs.stacks, id).parent;
	}
	if (id != STACKS_NONE)
		parent = merge->place_of[id];
	while (depth-- > 0 && !merge->full)
		parent = merge->place_of[path[depth]] = place_node(merge, path[depth], parent);
	return parent;
}

/* The place of a stack's leaf; for idle time, and for a sample without a stack, that of the one function. */
static uint32_t place_of_stack(struct merge *merge, uint32_t stack, enum mode mode)
{
	struct place place = { .parent = HASH_NONE };

	if (mode != MODE_IDLE && stack != STACKS_NONE)
		return place_of(merge, stack);
	place.function = mode == MODE_IDLE ? merge->window->idle : merge->window->unknown;
	return have_place(merge, &place);
}

static bool same_sum(const struct sum *a, const struct sum *b)
{
	return a->place == b->place && a->thread == b->thread && a->mode == b->mode;
}

static uint64_t hash_of(const struct merge *merge, const struct sum *sum)
{
	return hash_pair(&merge->by_sum, (uint64_t)sum->place << 32 | sum->thread, sum->mode);
}

static void add_sum(struct merge *merge, const struct sum *sum, uint64_t hash)
{
	uint32_t at = 0, position;
	struct sum *sums;

	while ((position = hash_next(&merge->by_sum, hash, &at)) != HASH_NONE) {
		if (same_sum(&merge->sums[position], sum)) {
			merge->sums[position].weight += sum->weight;
			merge->sums[position].samples += sum->samples;
			return;
		}
	}
	sums = budget_array(merge->budget, merge->sums, merge->sum_count, &merge->sum_room,
		sizeof(*sums));
	if (sums)
		merge->sums = sums;
	merge->full = !sums || !hash_add(&merge->by_sum, hash, merge->sum_count);
	if (merge->full)
		return;
	merge->sums[merge->sum_count] = *sum;
	merge->sums[merge->sum_count].next = merge->places[sum->place].sum;
	merge->places[sum->place].sum = merge->sum_count++;
}

struct batch {
	uint32_t count;
	struct sum sums[BATCH];
	uint64_t hashes[BATCH];
};

/* Reads counts ahead, so that the memory in which their sums are looked up is fetched at the same time. */
static void read_batch(struct batch *batch, struct match_reader *reader, struct merge *merge)
{
	struct run_count count;
	const struct who *who;

	for (batch->count = 0; batch->count < BATCH && match_next(reader, &count, &who); batch->count++) {
		struct sum *sum = &batch->sums[batch->count];

		*sum = (struct sum) {
			.place = place_of_stack(merge, count.stack, who->mode), .mode = who->mode,
			.thread = merge->threads ? who->thread : EVENT_NONE,
			.weight = count.weight, .samples = count.samples,
		};
		if (merge->full)
			break;
		batch->hashes[batch->count] = hash_of(merge, sum);
		hash_fetch(&merge->by_sum, batch->hashes[batch->count]);
	}
}

static void fetch_sums(const struct batch *batch, const struct merge *merge)
{
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t at = 0, position = hash_next(&merge->by_sum, batch->hashes[i], &at);

		if (position != HASH_NONE)
			__builtin_prefetch(&merge->sums[position]);
		else
			__builtin_prefetch(&merge->places[batch->sums[i].place]);
	}
}

static void query_stacks_add_run(struct merge *merge, const struct match *match, const struct run *run)
{
	struct match_reader reader = match_begin(match, run);
	struct batch batch;

	do {
		read_batch(&batch, &reader, merge);
		fetch_sums(&batch, merge);
		for (uint32_t i = 0; i < batch.count && !merge->full; i++)
			add_sum(merge, &batch.sums[i], batch.hashes[i]);
	} while (batch.count == BATCH && !merge->full);
}

/* Calls `each` with the stack of each sum of a place. */
static void tell(const struct merge *merge, uint32_t place,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	uint32_t functions[FRAMES_MAX], sum = merge->places[place].sum;
	struct query_stack stack = { .place = place, .cut = merge->places[place].cut };

	if (sum == HASH_NONE)
		return;
	for (; place != HASH_NONE && stack.depth < FRAMES_MAX; place = merge->places[place].parent)
		functions[FRAMES_MAX - ++stack.depth] = merge->places[place].function;
	stack.functions = functions + FRAMES_MAX - stack.depth;
	for (; sum != HASH_NONE; sum = merge->sums[sum].next) {
		stack.thread = merge->sums[sum].thread;
		stack.mode = merge->sums[sum].mode;
		stack.weight = merge->sums[sum].weight;
		stack.samples = merge->sums[sum].samples;
		each(context, &stack);
	}
}

static void query_stacks_add_slices(struct merge *merge)
{
	struct window *window = merge->window;
	const struct match match = window_match(window);
	struct slices slices = window_slices(window);
	struct slice slice;

	while (!merge->full && slices_next(&slices, &slice)) {
		for (size_t k = 0; k < slice.run_count && !merge->full; k++)
			query_stacks_add_run(merge, &match, slice.runs[k]);
		merge->full = merge->full || stop_now(window->stop);
	}
}

static void merge_clear(struct merge *merge, size_t nodes)
{
	hash_clear(&merge->by_place);
	hash_clear(&merge->by_sum);
	budget_free(merge->budget, merge->place_of, merge->place_of ? nodes : 0);
	budget_free(merge->budget, merge->places, merge->place_room * sizeof(*merge->places));
	budget_free(merge->budget, merge->sums, merge->sum_room * sizeof(*merge->sums));
}

/* False: there is no memory for all stacks, or the question was given up. To be cleared in any case. */
static bool merge_all(struct merge *merge, struct query *query, const struct question *question,
	size_t *nodes)
{
	struct window *window = &query_reader(query, question)->window;

	*merge = (struct merge) {
		.window = window, .budget = query->inputs.budget, .inlined = question->inlined,
		.threads = question->threads, .lines = question->lines,
	};
	*nodes = stacks_nodes(query->inputs.stacks) * sizeof(*merge->place_of);
	window_look(window, question);
	hash_init(&merge->by_place, merge->budget);
	hash_init(&merge->by_sum, merge->budget);
	merge->place_of = budget_resize(merge->budget, NULL, 0, *nodes);
	if (!merge->place_of)
		return false;
	memset(merge->place_of, 0xff, *nodes);
	query_stacks_add_slices(merge);
	return !merge->full;
}

bool query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context)
{
	struct merge merge;
	size_t nodes;
	bool done = merge_all(&merge, query, question, &nodes);

	for (uint32_t i = 0; done && i < merge.place_count; i++)
		tell(&merge, i, each, context);
	merge_clear(&merge, nodes);
	return done;
}

uint32_t query_unread(struct query *query, const struct question *question)
{
	struct merge merge;
	size_t nodes;

	merge_all(&merge, query, question, &nodes);
	merge_clear(&merge, nodes);
	return merge.unread;
}
