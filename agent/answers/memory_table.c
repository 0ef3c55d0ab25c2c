/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/store/stacks.h"
#include "agent/trace/trace.h"
#include "kernel-hook/wire.h"
#include "memory_table.h"

struct own {				/* of an allocator: the functions with which its stacks begin */
	uint32_t allocator, count, functions[MEMORY_OWN];
};

struct level {				/* of a row, on the way back in time */
	struct memory_live live;	/* at the end of each second before `next`, as far as changes were undone */
	uint64_t next;
	bool ended, was;		/* that at the range's end, and at the baseline's, is known */
};

struct making {
	struct memory_table *table;
	const struct origin *origins;
	uint32_t origin_count;
	uint32_t *rows;			/* of each origin: its row; NO_ROW: no memory */
	struct own own[MEMORY_ALLOCATORS];
	uint32_t own_count;
	struct level *levels;		/* of each row */
	uint32_t room, level_room;
	struct hash by_row;
	uint64_t first, end, base;	/* seconds: the range, and behind the baseline; base 0: there is none */
};

#define NO_ROW 0xffffffffu

/* ---- places ---- */

static struct own *own_of(struct making *making, uint32_t allocator)
{
	for (uint32_t i = 0; i < making->own_count; i++)
		if (making->own[i].allocator == allocator)
			return &making->own[i];
	return NULL;
}

/* Keeps of the allocator's own functions those with which this stack begins, too. */
static void meet_stack(struct making *making, const struct origin *origin)
{
	const struct epoch *epoch = making->table->answer.epoch;
	struct own *own = own_of(making, origin->allocator);
	uint32_t node = origin->stack - 1, depth = 0, most = own ? own->count : MEMORY_OWN;

	if (!origin->stack || (!own && making->own_count == MEMORY_ALLOCATORS))
		return;
	if (!own) {
		own = &making->own[making->own_count++];
		own->allocator = origin->allocator;
	}
	for (; depth < most; depth++) {
		struct node at = stacks_node(epoch->inputs.stacks, node);
		uint32_t function = symbols_function(epoch->inputs.symbols, at.space, at.address);

		if (at.parent == STACKS_NONE || (depth < own->count && own->functions[depth] != function))
			break;
		own->functions[depth] = function;
		node = at.parent;
	}
	own->count = depth;
}

/* As in struct trace_span, without the allocator's own functions. */
static uint32_t site_of(struct making *making, const struct origin *origin)
{
	const struct own *own = own_of(making, origin->allocator);
	uint32_t node = origin->stack - 1;

	for (uint32_t i = 0; origin->stack && own && i < own->count; i++)
		node = stacks_node(making->table->answer.epoch->inputs.stacks, node).parent;
	return node + 1;
}

/* ---- rows ---- */

static void name_allocator(const struct epoch *epoch, uint32_t number, char called[MEMORY_CALLED])
{
	const char *name = guest_events_called(epoch->events, ROLE_SINGLE,
		SPAN_NUMBER(KTOP_EVENT_memory_alloc, number));

	if (*name)
		util_print(called, MEMORY_CALLED, "%s", name);
	else
		util_print(called, MEMORY_CALLED, "allocator %" PRIu32, number);
}

/* NO_ROW: no memory. */
static uint32_t have_row(struct making *making, uint32_t allocator, uint64_t site, const char *title)
{
	struct memory_table *table = making->table;
	struct budget *budget = table->budget;
	uint64_t hash = hash_pair(&making->by_row, allocator, site);
	uint32_t at = 0, found;
	struct memory_row *rows;
	struct level *levels;

	while ((found = hash_next(&making->by_row, hash, &at)) != HASH_NONE)
		if (table->rows[found].allocator == allocator && table->rows[found].site == site)
			return found;
	rows = budget_array(budget, table->rows, table->count, &making->room, sizeof(*rows));
	table->rows = rows ? rows : table->rows;
	levels = budget_array(budget, making->levels, table->count, &making->level_room, sizeof(*levels));
	making->levels = levels ? levels : making->levels;
	if (!rows || !levels || !hash_add(&making->by_row, hash, table->count)) {
		table->refused++;
		return NO_ROW;
	}
	rows[table->count] = (struct memory_row) { .allocator = allocator, .site = site };
	levels[table->count] = (struct level) { .next = making->end };
	name_allocator(table->answer.epoch, allocator, rows[table->count].called);
	util_print(rows[table->count].title, MEMORY_TITLE, "%s", title);
	return table->count++;
}

/* Places of the same functions are one. One without a name may be any. */
static uint32_t row_of_origin(struct making *making, const struct origin *origin)
{
	uint32_t site = site_of(making, origin);
	uint64_t hash = 0;
	char text[STACK_TEXT];

	if (making->table->by == MEMORY_BY_ALLOCATOR)
		return have_row(making, origin->allocator, MEMORY_ALL, "");
	call_text_stack(making->table->answer.epoch, site, MEMORY_FRAMES, text);
	for (const char *c = text; *c; c++)
		hash = hash_mix(hash ^ (unsigned char)*c, UINT64_C(0x9e3779b97f4a7c15));
	if (strstr(text, "[unknown]"))
		hash = hash_mix(hash ^ site, UINT64_C(0x9e3779b97f4a7c15));
	making->table->located = making->table->located || *text;
	return have_row(making, origin->allocator, *text ? hash >> 1 : MEMORY_NO_SITE, text);
}

static void make_rows(struct making *making)
{
	for (uint32_t i = 0; i < making->origin_count; i++)
		meet_stack(making, &making->origins[i]);
	for (uint32_t i = 0; i < making->origin_count; i++) {
		uint32_t row = row_of_origin(making, &making->origins[i]);

		making->rows[i] = row;
		if (row == NO_ROW)
			continue;
		making->levels[row].live.objects += making->origins[i].objects;
		making->levels[row].live.bytes += making->origins[i].bytes;
	}
}

/* ---- back in time ---- */

/* So it was at the end of each second from `second` up to where it is known already. */
static void tell_level(struct making *making, uint32_t at, uint64_t second)
{
	struct memory_row *row = &making->table->rows[at];
	struct level *level = &making->levels[at];
	uint64_t first = making->first > second ? making->first : second;
	uint64_t trend = making->end > MEMORY_TREND ? making->end - MEMORY_TREND : 0;

	if (first < level->next && level->live.bytes > row->peak)
		row->peak = level->live.bytes;
	for (uint64_t i = trend > second ? trend : second; i < level->next; i++)
		row->trend[MEMORY_TREND - (making->end - i)] = level->live.bytes;
	level->next = second < level->next ? second : level->next;
}

/* What lived at the ends of the range and of the baseline, as soon as all behind them is undone. */
static void tell_ends(struct making *making, uint32_t at, uint64_t second)
{
	struct memory_row *row = &making->table->rows[at];
	struct level *level = &making->levels[at];

	if (!level->ended && second < making->end) {
		level->ended = true;
		row->is = level->live;
	}
	if (!level->was && second < making->base) {
		level->was = true;
		row->was = level->live;
	}
}

static void undo(void *context, const struct allocation_change *change)
{
	struct making *making = context;
	uint32_t at = making->rows[change->origin];
	struct memory_row *row = at == NO_ROW ? NULL : &making->table->rows[at];
	struct level *level = at == NO_ROW ? NULL : &making->levels[at];

	if (!row)
		return;
	tell_ends(making, at, change->second);
	if (change->second < level->next)
		tell_level(making, at, change->second);
	if (change->second >= making->first && change->second < making->end) {
		row->given += change->given;
		row->taken += change->taken;
		row->given_bytes += change->given_bytes;
		row->taken_bytes += change->taken_bytes;
	}
	level->live.objects += change->taken - (uint64_t)change->given;
	level->live.bytes += change->taken_bytes - change->given_bytes;
}

static void meet_object(void *context, uint32_t origin, uint64_t bytes, uint64_t born, bool sure)
{
	struct making *making = context;
	uint32_t at = making->rows[origin];
	struct memory_row *row = at == NO_ROW ? NULL : &making->table->rows[at];

	if (!row)
		return;
	if (!row->oldest || born < row->oldest)
		row->oldest = born ? born : 1;
	row->unsure += sure ? 0 : bytes;
}

/* ---- the stacks of a row ---- */

/* Keeps it among the heaviest. */
static void keep_heaviest(struct origin heaviest[MEMORY_STACKS], uint32_t count, const struct origin *origin)
{
	uint32_t at = count < MEMORY_STACKS ? count : MEMORY_STACKS;

	for (; at && heaviest[at - 1].bytes < origin->bytes; at--)
		if (at < MEMORY_STACKS)
			heaviest[at] = heaviest[at - 1];
	if (at < MEMORY_STACKS)
		heaviest[at] = *origin;
}

static void find_stacks(struct making *making, const struct memory_request *request)
{
	struct memory_table *table = making->table;
	struct origin heaviest[MEMORY_STACKS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < making->origin_count; i++) {
		const struct origin *origin = &making->origins[i];
		uint32_t at = making->rows[i];

		if (at != NO_ROW && table->rows[at].allocator == request->allocator &&
				table->rows[at].site == request->site && origin->objects)
			keep_heaviest(heaviest, count++, origin);
	}
	table->stacks_told = true;
	table->stacks_allocator = (uint32_t)request->allocator;
	table->stacks_site = request->site;
	table->stack_count = count < MEMORY_STACKS ? count : MEMORY_STACKS;
	table->stacks_left_out = count - table->stack_count;
	table->stacks = util_alloc((table->stack_count + 1) * sizeof(*table->stacks));
	for (uint32_t i = 0; i < table->stack_count; i++) {
		table->stacks[i].is = (struct memory_live) { heaviest[i].objects, heaviest[i].bytes };
		call_text_stack(table->answer.epoch, heaviest[i].stack, STACK_TEXT, table->stacks[i].text);
	}
}

/* ---- the whole ---- */

void memory_total_add(struct memory_table *table, const struct memory_total *total)
{
	uint32_t i = 0;

	while (i < table->total_count && table->totals[i].allocator != total->allocator)
		i++;
	if (i == MEMORY_ALLOCATORS) {
		table->totals_left_out++;
		return;
	}
	if (i == table->total_count) {
		table->totals[table->total_count++] = *total;
		return;
	}
	table->totals[i].is.objects += total->is.objects;
	table->totals[i].is.bytes += total->is.bytes;
}

static void add_total(struct memory_table *table, const struct memory_row *row)
{
	struct memory_total total = { .allocator = row->allocator, .is = row->is };

	memcpy(total.called, row->called, MEMORY_CALLED);
	memory_total_add(table, &total);
}

static int by_bytes(const void *left, const void *right)
{
	const struct memory_row *a = left, *b = right;

	if (a->is.bytes != b->is.bytes)
		return a->is.bytes < b->is.bytes ? 1 : -1;
	if (a->given_bytes != b->given_bytes)
		return a->given_bytes < b->given_bytes ? 1 : -1;
	if (a->allocator != b->allocator)
		return a->allocator > b->allocator ? 1 : -1;
	return (a->site > b->site) - (a->site < b->site);
}

void memory_rows_sort(struct memory_table *table)
{
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), by_bytes);
}

/* Those that have nothing in the range are no rows. */
static void keep_rows(struct making *making, const struct filter *filter)
{
	struct memory_table *table = making->table;
	char text[MEMORY_TEXT];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct memory_row *row = &table->rows[i];

		add_total(table, row);
		if (!row->is.objects && !row->given && !row->taken && !row->was.objects)
			continue;
		if (filter_shows(filter, memory_row_text(row, text)))
			table->rows[kept++] = *row;
		else
			table->hidden++;
	}
	table->count = kept;
	memory_rows_sort(table);
	table->rows = budget_trim(table->budget, table->rows, making->room * sizeof(*table->rows),
		kept * sizeof(*table->rows));
}

static uint64_t nearest_second(uint64_t ns)
{
	return ns / NS_PER_SECOND + (ns % NS_PER_SECOND >= NS_PER_SECOND / 2);
}

/* Nothing that is asked for is left out at its beginning. Where nothing came after its end, that is to the ns. */
static void find_range(struct making *making, const struct excerpt *excerpt)
{
	struct memory_table *table = making->table;
	const struct allocations *allocations = trace_allocations(table->answer.epoch->trace);
	const struct question question = excerpt_question(table->answer.epoch, excerpt);
	uint64_t last = allocations_last(allocations), kept = allocations_from(allocations), base;

	table->ages = question.to >= last;
	table->to = question.to < table->now ? question.to : table->now;
	making->end = table->ages ? (last > table->to ? last : table->to) / NS_PER_SECOND + 1 :
		nearest_second(table->to);
	making->end = making->end ? making->end : 1;
	making->first = question.from / NS_PER_SECOND;
	making->first = making->first < making->end ? making->first : making->end - 1;
	table->kept_from = kept * NS_PER_SECOND;
	table->forgot = making->first < kept;
	making->first = making->first < kept ? kept : making->first;
	making->end = making->end < making->first ? making->first : making->end;
	table->from = making->first * NS_PER_SECOND;
	table->to = table->ages && table->to > table->from ? table->to : making->end * NS_PER_SECOND;
	if (!excerpt->base.until_ns)
		return;
	base = excerpt_base_question(table->answer.epoch, excerpt).to;
	making->base = base >= last ? last / NS_PER_SECOND + 1 : nearest_second(base);
	table->base_forgot = making->base < kept;
	table->compared = !table->base_forgot;
}

static void fill(struct memory_table *table, const struct memory_request *request)
{
	const struct allocations *allocations = trace_allocations(table->answer.epoch->trace);
	struct making making = { .table = table };

	hash_init(&making.by_row, table->budget);
	making.origin_count = allocations_origins(allocations, &making.origins);
	making.rows = util_grow(NULL, making.origin_count + 1, sizeof(*making.rows));
	find_range(&making, &request->request.excerpt);
	make_rows(&making);
	allocations_changes(allocations, undo, &making);
	for (uint32_t i = 0; i < table->count; i++) {
		tell_ends(&making, i, 0);
		tell_level(&making, i, 0);
	}
	if (table->ages)
		allocations_live(allocations, meet_object, &making);
	if (request->stacks)
		find_stacks(&making, request);
	table->located = table->located || !table->count;
	keep_rows(&making, &request->request.excerpt.filter);
	budget_free(table->budget, making.levels, making.level_room * sizeof(*making.levels));
	hash_clear(&making.by_row);
	free(making.rows);
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	const struct memory_request *asked = (const struct memory_request *)request;
	struct memory_table *table = util_alloc(sizeof(*table));
	const struct epoch *epoch;

	table->answer = answer_begin(&memory_table_kind, moment);
	table->by = (enum memory_by)asked->by;
	epoch = table->answer.epoch;
	if (!epoch)
		return &table->answer;
	table->budget = epoch->inputs.budget;
	table->now = epoch_now(epoch);
	table->traced = epoch->memory_traced;
	table->counts = allocations_counts(trace_allocations(epoch->trace));
	table->sure_from = allocations_sure_from(trace_allocations(epoch->trace));
	table->events = trace_counts(epoch->trace).events;
	table->lost = trace_counts(epoch->trace).lost;
	util_print(table->filters, sizeof(table->filters), "%s", epoch->filters);
	fill(table, asked);
	table->answer.begun = table->count;
	table->answer.partial = request->excerpt.until_ns && !trace_is_whole(epoch->trace, table->to);
	return &table->answer;
}

static void free_answer(struct answer *answer)
{
	struct memory_table *table = (struct memory_table *)answer;

	free(table->stacks);
	if (answer->epoch || table->machine_count)
		budget_free(table->budget, table->rows, table->count * sizeof(*table->rows));
}

const char *memory_row_text(const struct memory_row *row, char text[MEMORY_TEXT])
{
	bool all = row->site == MEMORY_ALL;

	return util_print(text, MEMORY_TEXT, "%s%s%s", row->called, all ? "" : ": ",
		all ? "" : row->site == MEMORY_NO_SITE ? "no stack was told" : row->title);
}

const struct answer_kind memory_table_kind = {
	.name = "memory", .request_size = sizeof(struct memory_request), .make = make, .free = free_answer,
};
