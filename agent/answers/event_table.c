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
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/store/run.h"
#include "agent/trace/latencies.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "event_table.h"

struct verdict {			/* does this thread pass? */
	uint32_t thread;
	bool passes;
};

struct place {				/* a stack, and the part that its functions are */
	uint32_t stack;
	uint64_t part;
};

struct recalled_row {			/* the row of a name and a part, met lately */
	uint64_t part;
	uint32_t name, row;		/* row: plus 1; 0: there is none */
};

struct stretch {			/* parts of a time line, out of `of` that are even: from the one `skip` on */
	uint16_t first, count, skip, of;
};

struct met_spans {			/* spans that pass, with their row */
	uint64_t end, took, count, total;	/* took: each of them */
	uint32_t row, thread;
	uint16_t cpu;
	bool lost, ended;		/* ended: in the range, not only in the trend */
	uint8_t trend, over;		/* of one alone: the parts in which it ended; NO_PART: in none */
};

enum { RECALLED = 4096, TOGETHER = 32, NO_PART = 0xff };

struct making {
	struct event_table *table;
	struct filter filter;		/* the terms about CPUs, threads and processes */
	bool any_thread, all;		/* no term is about threads or processes; there is none at all */
	struct verdict *verdicts;
	uint32_t verdict_count, verdict_room;
	struct hash by_number;		/* of `verdicts`, by their threads */
	struct span_name *names;	/* those of the rows; then room for the one of what has not ended */
	uint32_t open_name;		/* that one */
	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_stack;		/* of `places` */
	struct recalled_row *recalled;	/* RECALLED of them, by what is in them */
	struct hash by_row;
	struct met_spans met[TOGETHER];	/* not in their rows yet */
	uint32_t met_count;
	uint32_t room;
	uint64_t from, to;		/* spans that ended earlier are only in trends; */
	uint64_t over_each;		/* parts of a row's spans over time in 2^64 ns of the range */
	uint64_t kept;			/* sums of slots that began before are in nothing */
	uint64_t begin, slot;		/* where the slot of the last sum began, and its width: */
	struct stretch trend, over;
	bool base;			/* what is read is of the baseline */
	bool full;
};

#define NO_ROW 0xffffffffu

/* ---- parts ---- */

/* Of the functions where it began. Each stack is asked for once, if there is memory. */
static uint64_t code_of(struct making *making, uint32_t stack)
{
	const struct epoch *epoch = making->table->answer.epoch;
	uint64_t hash = hash_pair(&making->by_stack, stack, 0);
	uint32_t at = 0, position;
	struct place place = { stack, 0 }, *list;
	char text[STACK_TEXT];

	while ((position = hash_next(&making->by_stack, hash, &at)) != HASH_NONE)
		if (making->places[position].stack == stack)
			return making->places[position].part;
	for (const char *c = call_text_stack(epoch, stack, EVENT_FRAMES, text); *c; c++)
		place.part = hash_mix(place.part ^ (unsigned char)*c, UINT64_C(0x9e3779b97f4a7c15));
	if (strstr(text, "[unknown]"))			/* which may be any place */
		place.part = hash_mix(place.part ^ stack, UINT64_C(0x9e3779b97f4a7c15));
	place.part = *text ? place.part >> 1 : EVENT_NO_PART;
	list = budget_array(epoch->inputs.budget, making->places, making->place_count, &making->place_room,
		sizeof(*list));
	making->places = list ? list : making->places;
	if (list && hash_add(&making->by_stack, hash, making->place_count))
		list[making->place_count++] = place;
	return place.part;
}

static uint64_t part_of(void *context, const struct span_row *span)
{
	struct making *making = context;
	bool none = span_is_handler(making->names[span->name].kind) || span->thread == EVENT_NONE;
	const struct threads *threads = making->table->answer.epoch->inputs.threads;

	switch (making->table->by) {
	case EVENT_BY_THREAD:
		return none ? EVENT_NO_PART : span->thread;
	case EVENT_BY_PROCESS:
		return none ? EVENT_NO_PART : !threads_knows(threads, span->thread) ? EVENT_NO_OWNER :
			threads_owner(threads, span->thread, EVENT_KERNEL);
	case EVENT_BY_CPU:
		return span->cpu;
	case EVENT_BY_CODE:
		return code_of(making, span->stack);
	default:
		return SLOW_ALL;
	}
}

static void name_part(const struct epoch *epoch, enum event_by by, const struct span_row *span, char title[EVENT_TITLE])
{
	struct threads *threads = epoch->inputs.threads;
	uint32_t process = by == EVENT_BY_PROCESS ? threads_owner(threads, span->thread, EVENT_KERNEL) : EVENT_KERNEL;
	char text[STACK_TEXT];

	if (by == EVENT_BY_THREAD)
		threads_title(threads, span->thread, title, EVENT_TITLE);
	else if (process != EVENT_KERNEL)
		threads_title_process(threads, span->thread, process, title, EVENT_TITLE);
	else if (by == EVENT_BY_PROCESS)
		util_print(title, EVENT_TITLE, "%s", threads_knows(threads, span->thread) ? "kernel" : "[not known]");
	else if (by == EVENT_BY_CPU)
		util_print(title, EVENT_TITLE, "cpu %u", span->cpu);
	else
		util_print(title, EVENT_TITLE, "%s", call_text_stack(epoch, span->stack, EVENT_FRAMES, text));
}

/* ---- rows ---- */

static bool may_have_row(const struct making *making, uint32_t name)
{
	enum span_kind kind = making->names[name].kind;

	return making->table->by == EVENT_BY_LOCK ? kind == SPAN_LOCK || kind == SPAN_HOLD : kind != SPAN_THREAD;
}

/* The row of the name and the part; NO_ROW: no memory. */
static uint32_t have_row(struct making *making, const struct span_row *span, uint64_t part)
{
	const struct span_name *is = &making->names[span->name];
	struct event_table *table = making->table;
	struct budget *budget = table->answer.epoch->inputs.budget;
	struct event_row *rows;
	struct event_latencies *latencies;
	uint64_t hash = hash_pair(&making->by_row, hash_mix(is->number, is->kind), part);
	uint32_t at = 0, row;

	while ((row = hash_next(&making->by_row, hash, &at)) != HASH_NONE)
		if (table->rows[row].kind == is->kind && table->rows[row].number == is->number &&
				table->rows[row].part == part)
			return row;
	rows = budget_array(budget, table->rows, table->count, &making->room, sizeof(*rows));
	table->rows = rows ? rows : table->rows;
	latencies = budget_array(budget, table->latencies, table->count, &table->latency_room, sizeof(*latencies));
	table->latencies = latencies ? latencies : table->latencies;
	making->full = making->full || !rows || !latencies || !hash_add(&making->by_row, hash, table->count);
	if (making->full)
		return NO_ROW;
	memset(&latencies[table->count], 0, sizeof(*latencies));
	table->rows[table->count] = (struct event_row) {
		.kind = is->kind, .number = is->number, .part = part, .latencies = table->count,
	};
	if (part < EVENT_NO_PART)
		name_part(table->answer.epoch, table->by, span, table->rows[table->count].title);
	return table->count++;
}

/* Of a span that passes. NO_ROW: no memory. */
static uint32_t row_of(struct making *making, const struct span_row *span)
{
	uint64_t part = making->table->by == EVENT_BY_NAME ? SLOW_ALL : part_of(making, span);
	struct recalled_row *recalled = &making->recalled[(span->name + part) % RECALLED];

	if (span->name == making->open_name)		/* it means another thing each time */
		return have_row(making, span, part);
	if (!recalled->row || recalled->name != span->name || recalled->part != part)
		*recalled = (struct recalled_row) { part, span->name, have_row(making, span, part) + 1 };
	return recalled->row - 1;
}

static bool is_heeded(enum filter_by by)
{
	return by == FILTER_CPU || by == FILTER_THREAD || by == FILTER_COMM || by == FILTER_PROCESS;
}

struct filter event_filter(const struct filter *filter)
{
	struct filter kept = *filter;

	kept.count = 0;
	for (uint32_t i = 0; i < filter->count; i++)
		if (is_heeded(filter->terms[i].by))
			kept.terms[kept.count++] = filter->terms[i];
	return kept;
}

uint32_t event_filter_ignores(const struct filter *filter, bool names)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < filter->count; i++)
		count += !is_heeded(filter->terms[i].by) && filter->terms[i].by != FILTER_MACHINE &&
			!(names && filter->terms[i].by == FILTER_FUNCTION);
	return count;
}

static void keep_terms(struct making *making, const struct filter *filter)
{
	making->filter = event_filter(filter);
	making->all = !making->filter.count;
	making->any_thread = filter_lacks(&making->filter, FILTER_THREAD) &&
		filter_lacks(&making->filter, FILTER_COMM) && filter_lacks(&making->filter, FILTER_PROCESS);
}

/* Asked of each thread once, if there is memory. `cpu` passes. */
static bool thread_passes(struct making *making, uint32_t thread, uint16_t cpu)
{
	struct threads *threads = making->table->answer.epoch->inputs.threads;
	const struct who who = {
		.thread = thread, .process = threads_owner(threads, thread, EVENT_KERNEL), .cpu = cpu,
	};
	uint64_t hash = hash_pair(&making->by_number, thread, 0);
	uint32_t at = 0, position;
	struct verdict verdict = { .thread = thread }, *list;

	while ((position = hash_next(&making->by_number, hash, &at)) != HASH_NONE)
		if (making->verdicts[position].thread == thread)
			return making->verdicts[position].passes;
	verdict.passes = filter_passes(&making->filter, threads, &who, CONTEXT_UNTOLD);
	list = budget_array(making->table->answer.epoch->inputs.budget, making->verdicts, making->verdict_count,
		&making->verdict_room, sizeof(*list));
	making->verdicts = list ? list : making->verdicts;
	if (list && hash_add(&making->by_number, hash, making->verdict_count))
		list[making->verdict_count++] = verdict;
	return verdict.passes;
}

static bool passes(void *context, const struct span_row *span)
{
	struct making *making = context;
	bool handler = span_is_handler(making->names[span->name].kind);

	return filter_passes_cpu(&making->filter, span->cpu) &&
		(making->any_thread || thread_passes(making, handler ? EVENT_NONE : span->thread, span->cpu));
}

/* NO_ROW: it does not pass, or there is no memory. */
static inline uint32_t row_if_passes(struct making *making, const struct span_row *span)
{
	return making->all || passes(making, span) ? row_of(making, span) : NO_ROW;
}

/* How long it has been under way at the range's end, or for so long as that is known. */
static void add_open(struct making *making, const struct span_row *span, uint64_t begin, uint64_t known)
{
	uint64_t to = known < making->table->to ? known : making->table->to;
	bool asked = making->table->open_known && may_have_row(making, span->name);
	uint32_t found = asked && begin < making->table->to ? row_if_passes(making, span) : NO_ROW;
	struct event_row *row = found == NO_ROW ? NULL : &making->table->rows[found];

	if (!row)
		return;
	if (!row->open++ || begin < row->oldest) {
		row->oldest = begin;
		row->oldest_ns = to > begin ? to - begin : 0;
		row->oldest_of = span_is_handler(row->kind) ? EVENT_NONE : span->thread;
		row->oldest_on = span->cpu;
	}
}

static struct span_row row_of_open(struct making *making, const struct trace_span *span)
{
	struct span_row row = span_row_of(span);

	making->names[making->open_name] = (struct span_name) { span->kind, span->number };
	row.name = making->open_name & (2 * SPAN_NAMES - 1);
	return row;
}

static void add_under_way(void *context, const struct trace_span *span)
{
	const struct span_row row = row_of_open(context, span);

	add_open(context, &row, span->begin, UINT64_MAX);
}

/* Where nothing was told since, it is as far as anything is known; else its end was lost. */
static void add_unknown(void *context, const struct trace_span *span)
{
	struct making *making = context;
	const struct span_row row = row_of_open(making, span);
	uint32_t lost = span->lost && span->end >= making->from && span->end < making->table->to ?
		row_if_passes(making, &row) : NO_ROW;

	if (!span->lost || span->end >= making->table->to)
		add_open(making, &row, span->begin, span->end);
	else if (lost != NO_ROW)
		making->table->rows[lost].lost++;
}

/* Of a row, which is not sorted yet. */
static struct latencies *latencies_of(const struct making *making, uint32_t row)
{
	struct event_latencies *of = &making->table->latencies[row];

	return making->base ? &of->was : &of->now;
}

static void meet_longest(struct event_row *row, uint64_t took, uint64_t end, uint32_t thread, uint32_t cpu)
{
	row->max = took;
	row->longest = end;
	row->longest_of = span_is_handler(row->kind) ? EVENT_NONE : thread;
	row->longest_on = cpu;
}

/* They ended in the range. */
static void add_ended(struct making *making, const struct met_spans *met)
{
	struct event_row *row = &making->table->rows[met->row];
	struct event_sums *sums = making->base ? &row->was : &row->is;

	if (met->lost) {
		row->lost += making->base ? 0 : met->count;
		return;
	}
	sums->count += met->count;
	sums->total += met->total;
	if (making->base)
		sums->max = met->took > sums->max ? met->took : sums->max;
	if (!making->base && (row->count == met->count || met->took > row->max || row->kind == SPAN_SINGLE))
		meet_longest(row, met->took, met->end, met->thread, met->cpu);
	if (row->kind != SPAN_SINGLE &&
			!latencies_add(latencies_of(making, met->row), &making->table->pages, met->took, met->count))
		making->full = true;
}

/* So many, as many in each part. */
static inline void spread(uint32_t *parts, const struct stretch *stretch, uint64_t count)
{
	uint64_t of = stretch->of, done = stretch->of > 1 ? count * stretch->skip / of : 0;

	for (uint32_t i = 0; i < stretch->count; i++) {
		uint64_t next = of > 1 ? count * (stretch->skip + i + 1) / of : count;

		parts[stretch->first + i] += (uint32_t)(next - done);
		done = next;
	}
}

static inline void add_over_time(const struct making *making, struct event_row *row, const struct met_spans *met)
{
	if (met->count > 1)
		spread(row->trend, &making->trend, met->count);
	else if (met->trend != NO_PART)
		row->trend[met->trend]++;
	if (!met->ended || met->lost)
		return;
	if (met->count > 1)
		spread(row->over, &making->over, met->count);
	else
		row->over[met->over]++;
}

/* There may be very many rows: the memory of several is fetched at the same time. */
static void add_met(struct making *making)
{
	struct event_table *table = making->table;

	for (uint32_t i = 0; i < making->met_count; i++) {
		const struct met_spans *met = &making->met[i];

		__builtin_prefetch(&table->rows[met->row], 1);
		__builtin_prefetch(&table->rows[met->row].over[met->over % EVENT_OVER], 1);
		__builtin_prefetch(&table->rows[met->row].trend[met->trend % EVENT_TREND], 1);
		latencies_fetch(latencies_of(making, met->row), met->took);
	}
	for (uint32_t i = 0; i < making->met_count; i++)
		latencies_fetch_counts(latencies_of(making, making->met[i].row), &table->pages, making->met[i].took);
	for (uint32_t i = 0; i < making->met_count; i++) {
		const struct met_spans *met = &making->met[i];

		if (!making->base)
			add_over_time(making, &table->rows[met->row], met);
		if (met->ended)
			add_ended(making, met);
	}
	making->met_count = 0;
}

static unsigned part_of_range(const struct making *making, uint64_t time)
{
	uint64_t ns = time > making->from ? time - making->from : 0;
	uint64_t part = (uint64_t)((unsigned __int128)ns * making->over_each >> 64);

	return part < EVENT_OVER ? (unsigned)part : EVENT_OVER - 1;
}

/* They are added to their row later. NULL: they do not pass, or there is no memory. */
static inline struct met_spans *meet_spans(struct making *making, const struct span_row *span)
{
	uint32_t row = row_if_passes(making, span);
	uint64_t ago = (making->table->to - span->end) / NS_PER_SECOND;

	if (row == NO_ROW)
		return NULL;
	if (making->met_count == TOGETHER)
		add_met(making);
	making->met[making->met_count] = (struct met_spans) {
		.end = span->end, .took = span->duration, .count = 1, .total = span->duration, .row = row,
		.thread = span->thread, .cpu = span->cpu, .lost = span->lost, .ended = span->end >= making->from,
		.trend = (uint8_t)(ago < EVENT_TREND ? EVENT_TREND - 1 - ago : NO_PART),
		.over = (uint8_t)part_of_range(making, span->end),
	};
	return &making->met[making->met_count++];
}

static void add_span(void *context, const struct span_row *span)
{
	struct making *making = context;

	if (span->end < making->to && may_have_row(making, span->name))
		meet_spans(making, span);
	if (span->end >= making->to && !span->lost && !making->base)
		add_open(making, span, span->end - span->duration, UINT64_MAX);
}

/* In the trend, they are as many in each second of their slot; over time, in each part of it. */
static void begin_slot(struct making *making, uint64_t begin, uint64_t slot)
{
	uint64_t seconds = slot / NS_PER_SECOND, first = begin / NS_PER_SECOND, behind = first + seconds;
	uint64_t last = making->table->to / NS_PER_SECOND, from = last > EVENT_TREND - 1 ? last - (EVENT_TREND - 1) : 0;
	uint64_t at = first > from ? first : from, to = behind < last + 1 ? behind : last + 1;
	unsigned over = part_of_range(making, begin), parts = part_of_range(making, begin + slot - 1) - over + 1;

	add_met(making);			/* those of the slot before */
	making->begin = begin;
	making->slot = slot;
	making->trend = (struct stretch) { 0 };
	if (at < to)
		making->trend = (struct stretch) { .first = (uint16_t)(EVENT_TREND - 1 - (last - at)),
			.count = (uint16_t)(to - at), .skip = (uint16_t)(at - first), .of = (uint16_t)seconds };
	making->over = (struct stretch) { .first = (uint16_t)over, .count = (uint16_t)parts, .of = (uint16_t)parts };
}

static void add_sum(void *context, const struct span_sum *sum, uint64_t slot)
{
	struct making *making = context;
	const struct span_row span = {
		.end = sum->end, .duration = sum->count == 1 ? sum->total : sum->total / sum->count,
		.thread = sum->thread, .stack = sum->stack, .name = sum->name, .cpu = sum->cpu, .lost = sum->lost,
	};
	struct met_spans *met;

	if (slot != making->slot || sum->end - making->begin >= slot)
		begin_slot(making, sum->end / slot * slot, slot);
	if (making->begin < making->kept || making->begin >= making->to || !may_have_row(making, sum->name))
		return;
	met = meet_spans(making, &span);
	if (!met)
		return;
	met->count = sum->count;
	met->total = sum->total;
	met->ended = making->begin >= making->from;
}

/* The longest of old spans are known to the ns. */
static void add_slowest(void *context, const struct slow_span *span)
{
	struct making *making = context;
	uint32_t found = span->row.end < making->table->to && span->row.end >= making->from ?
		row_if_passes(making, &span->row) : NO_ROW;
	struct event_row *row = found == NO_ROW ? NULL : &making->table->rows[found];

	if (row && row->count && span->row.duration > row->max)
		meet_longest(row, span->row.duration, span->row.end, span->row.thread, span->row.cpu);
}

static int by_total(const void *left, const void *right)
{
	const struct event_row *a = left, *b = right;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->oldest_ns != b->oldest_ns)
		return a->oldest_ns < b->oldest_ns ? 1 : -1;
	if (a->kind == b->kind && a->kind == SPAN_SINGLE && a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->kind != b->kind)
		return a->kind > b->kind ? -1 : 1;
	if (a->number != b->number)
		return a->number > b->number ? 1 : -1;
	return (a->part > b->part) - (a->part < b->part);
}

static void name_variable(const struct epoch *epoch, uint64_t address, char text[EVENT_CALLED])
{
	uint64_t offset;
	const char *name = symbols_kernel_variable(epoch->inputs.symbols, address, &offset);
	char *printable = name ? util_printable(name, strlen(name)) : NULL;

	if (name && offset)
		util_print(text, EVENT_CALLED, "%s+0x%" PRIx64, printable, offset);
	else if (name)
		util_print(text, EVENT_CALLED, "%s", printable);
	free(printable);
}

/* "disk", "block write", "memory_alloc 7": the name of its kind, and that of the number, if it has one. */
static void name_other(const struct epoch *epoch, enum span_kind kind, uint64_t number, const char *called,
	char text[EVENT_CALLED])
{
	const struct guest_event *event = guest_events_from(epoch->events, SPAN_EVENT(number));
	const char *name = kind == SPAN_PAIR ? guest_events_called(epoch->events, ROLE_PAIR_BEGIN, SPAN_EVENT(number)) :
		event && event->id == SPAN_EVENT(number) ? event->name : "";

	if (*name && (uint32_t)number == SPAN_OTHER_NUMBERS)
		util_print(text, EVENT_CALLED, "%s (others)", name);
	else if (*name && !*called && (uint32_t)number != UINT32_MAX)
		util_print(text, EVENT_CALLED, "%s %" PRIu32, name, (uint32_t)number);
	else if (*name)
		util_print(text, EVENT_CALLED, "%s%s%s", name, *called ? " " : "", called);
}

const char *event_called(const struct epoch *epoch, enum span_kind kind, uint64_t number, char text[EVENT_CALLED])
{
	enum trace_role role = span_role(kind);
	const char *called = role == ROLE_NONE ? "" : guest_events_called(epoch->events, role, number);

	util_print(text, EVENT_CALLED, "%s", called);
	if (span_is_other(kind))
		name_other(epoch, kind, number, called, text);
	if (!*text && role == ROLE_LOCK_WAIT)
		name_variable(epoch, number, text);
	return text;
}

static void tell_percentiles(struct event_sums *sums, const struct latencies *of, const struct latency_pages *pages)
{
	sums->p50 = latencies_percentile(of, pages, sums->max, 50);
	sums->p99 = latencies_percentile(of, pages, sums->max, 99);
}

void event_rows_finish(struct event_table *table)
{
	const struct latency_pages *pages = &table->pages;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		struct event_row row = table->rows[i];
		const struct event_latencies *of = &table->latencies[row.latencies];

		if (!row.is.count && !row.lost && !row.open && !row.was.count)
			continue;
		latencies_bars(&of->now, pages, row.bars, EVENT_BARS);
		if (row.kind != SPAN_SINGLE) {
			tell_percentiles(&row.is, &of->now, pages);
			tell_percentiles(&row.was, &of->was, pages);
		}
		table->rows[kept++] = row;
	}
	table->count = kept;
	if (kept)
		qsort(table->rows, kept, sizeof(*table->rows), by_total);
}

/* With their names, by which the filter chooses them: "syscall" alone shows the system calls. */
static void finish(struct making *making, const struct filter *filter)
{
	struct event_table *table = making->table;
	char text[EVENT_TEXT];
	uint32_t shown = 0;

	event_rows_finish(table);
	for (uint32_t i = 0; i < table->count; i++) {
		struct event_row *row = &table->rows[i];

		event_called(table->answer.epoch, row->kind, row->number, row->called);
		if (filter_shows(filter, event_row_text(row, table->by, text)))
			table->rows[shown++] = *row;
	}
	table->hidden = table->count - shown;
	table->count = shown;
	table->rows = budget_trim(table->answer.epoch->inputs.budget, table->rows, making->room * sizeof(*table->rows),
		table->count * sizeof(*table->rows));
}

/* The slowest spans of the rows that the request names. They may be older than any that the rows count. */
static void find_slowest(struct making *making, const struct event_request *request, uint64_t from)
{
	struct event_table *table = making->table;
	const struct trace *trace = table->answer.epoch->trace;
	uint64_t kept = slowest_from(trace_slowest(trace));
	struct slow_of of[SLOW_NAMES] = { { .kind = SPAN_THREAD } };
	struct slow_question question = { .of = of, .passes = passes, .part = part_of, .context = making,
		.to = table->to };

	for (; question.count < request->slow && question.count < SLOW_NAMES; question.count++)
		of[question.count] = (struct slow_of) { (enum span_kind)request->slow_kind,
			request->slow_numbers[question.count], request->slow_part };
	table->slow_told = question.count;
	table->slow_of = of[0];
	kept = kept < table->exact_from ? kept : table->exact_from;
	table->slow_forgot = from < kept;
	table->slow_from = question.from = from > kept ? from : kept;
	while (question.count < SLOW_NAMES && question.count < request->slow_heaviest &&
			question.count < table->count) {
		const struct event_row *row = &table->rows[question.count];

		of[question.count++] = (struct slow_of) { row->kind, row->number, row->part };
	}
	table->slow_count = slow_rows_find(table->answer.epoch, &question, &table->slow, &making->full);
	for (uint32_t i = 0; i < table->slow_count; i++) {
		struct slow_row *row = &table->slow[i];
		const struct epoch *epoch = table->answer.epoch;

		event_called(epoch, row->of.kind, row->of.number, row->called);
		if (row->lock_ns)
			event_name(epoch, SPAN_LOCK, row->lock, row->lock_name);
		if (row->handler.ns)
			event_name(epoch, row->handler.kind, row->handler.number, row->handler.name);
		if (row->request.ns)
			event_name(epoch, row->request.kind, row->request.number, row->request.name);
	}
}

static void end_making(struct making *making)
{
	struct budget *budget = making->table->answer.epoch->inputs.budget;

	making->table->refused += making->full;
	budget_free(budget, making->verdicts, making->verdict_room * sizeof(*making->verdicts));
	budget_free(budget, making->places, making->place_room * sizeof(*making->places));
	hash_clear(&making->by_number);
	hash_clear(&making->by_row);
	hash_clear(&making->by_stack);
	free(making->recalled);
	free(making->names);
}

/*
 * The range that is meant, as far as anything is kept of it. One that is live ends with what has its place, unless
 * nothing comes.
 */
static void find_range(const struct event_table *table, const struct question *question, bool live, uint64_t *from,
	uint64_t *to)
{
	uint64_t until = trace_until(table->answer.epoch->trace);

	*to = question->to < table->now ? question->to : table->now;
	if (live && until < *to && *to - until <= 2 * TRACE_SILENT_NS)
		*to = until;
	*from = question->from > table->kept_from ? question->from : table->kept_from;
	*from = *from < *to ? *from : *to;
	span_rows_cover(trace_rows(table->answer.epoch->trace), from, to);
}

static void read_ended(struct making *making, uint64_t from)
{
	const struct trace *trace = making->table->answer.epoch->trace;

	making->kept = from;
	span_rows_read_sums(trace_rows(trace), from, making->to, add_sum, making);
	span_rows_read(trace_rows(trace), from, making->to, add_span, making);
	add_met(making);
}

static void read_all(struct making *making, const struct excerpt *excerpt)
{
	struct event_table *table = making->table;
	const struct trace *trace = table->answer.epoch->trace;
	uint64_t trend = EVENT_TREND * NS_PER_SECOND;
	struct question base;

	table->open_known = table->to >= table->exact_from;
	making->from = table->from;
	making->to = table->to;
	making->over_each = table->to - table->from >= EVENT_OVER ?
		UINT64_MAX / (table->to - table->from) * EVENT_OVER : 0;
	trend = table->to > trend ? table->to - trend : 0;
	read_ended(making, trend < table->from ? trend : table->from);
	if (table->from < table->exact_from)
		slowest_read(trace_slowest(trace), table->from, table->to, add_slowest, making);
	pairs_under_way(trace_pairs(trace), add_under_way, making);
	pairs_unknown(trace_pairs(trace), add_unknown, making);
	if (!table->compared)
		return;
	base = excerpt_base_question(table->answer.epoch, excerpt);
	find_range(table, &base, false, &table->base_from, &table->base_to);
	table->base_forgot = base.from < table->kept_from;
	table->compared = table->base_from < table->base_to;
	making->base = true;
	making->from = table->base_from;
	making->to = table->base_to;
	read_ended(making, making->from);
}

static void fill(struct event_table *table, const struct span_rows *rows, const struct event_request *request)
{
	const struct excerpt *excerpt = &request->request.excerpt;
	const struct question question = excerpt_question(table->answer.epoch, excerpt);
	struct making making = { .table = table };
	const struct span_name *known;
	uint32_t names = span_rows_names(rows, &known);

	table->kept_from = span_rows_sums_from(rows);
	table->exact_from = span_rows_from(rows);
	table->compared = excerpt->base.until_ns;
	table->forgot = question.from < table->kept_from;
	find_range(table, &question, !excerpt->until_ns, &table->from, &table->to);
	table->pages.budget = table->answer.epoch->inputs.budget;
	making.open_name = names;
	making.names = util_alloc((names + 1) * sizeof(*making.names));
	memcpy(making.names, known, names * sizeof(*known));
	making.recalled = util_alloc(RECALLED * sizeof(*making.recalled));
	keep_terms(&making, &excerpt->filter);
	hash_init(&making.by_number, table->answer.epoch->inputs.budget);
	hash_init(&making.by_row, table->answer.epoch->inputs.budget);
	hash_init(&making.by_stack, table->answer.epoch->inputs.budget);
	read_all(&making, excerpt);
	finish(&making, &excerpt->filter);
	find_slowest(&making, request, question.from);
	end_making(&making);
}

bool events_are_traced(const struct epoch *epoch)
{
	const struct guest_event *kind;

	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u)
		if (kind->stream == STREAM_TRACE && guest_events_on(epoch->events, kind->id))
			return true;
	return false;
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	struct event_table *table = util_alloc(sizeof(*table));
	const struct epoch *epoch;
	struct trace_counts counts;

	table->answer = answer_begin(&event_table_kind, moment);
	table->open_known = true;
	epoch = table->answer.epoch;
	if (!epoch)
		return &table->answer;
	counts = trace_counts(epoch->trace);
	table->by = (enum event_by)((const struct event_request *)request)->by;
	table->now = epoch_now(epoch);
	table->traced = events_are_traced(epoch);
	table->events = counts.events;
	table->lost = counts.lost;
	table->unmatched = counts.pairs.beginnings + counts.pairs.ends;
	table->late = counts.late;
	table->left_out = epoch_left_out(epoch);
	util_print(table->filters, sizeof(table->filters), "%s", epoch->filters);
	table->refused = counts.pairs.refused + span_rows_refused(trace_rows(epoch->trace)) +
		slowest_refused(trace_slowest(epoch->trace));
	fill(table, trace_rows(epoch->trace), (const struct event_request *)request);
	table->answer.begun = table->count;
	table->answer.partial = request->excerpt.until_ns && !trace_is_whole(epoch->trace, table->to);
	return &table->answer;
}

static void free_answer(struct answer *answer)
{
	struct event_table *table = (struct event_table *)answer;
	struct budget *budget = table->pages.budget;

	if (!answer->epoch && !table->machine_count)
		return;
	budget_free(budget, table->rows, table->count * sizeof(*table->rows));
	budget_free(budget, table->latencies, table->latency_room * sizeof(*table->latencies));
	latency_pages_clear(&table->pages);
	budget_free(budget, table->slow, table->slow_count * sizeof(*table->slow));
	budget_free(budget, table->shares, table->share_room * sizeof(*table->shares));
}

static const char *name_with_kind(enum span_kind kind, uint64_t number, const char *called, char text[EVENT_NAME])
{
	if (!*called)
		return span_text(kind, number, text);
	return util_print(text, EVENT_NAME, "%s%s%s", span_is_other(kind) ? "" : span_words[kind],
		span_is_other(kind) ? "" : " ", called);
}

const char *event_name(const struct epoch *epoch, enum span_kind kind, uint64_t number, char text[EVENT_NAME])
{
	char called[EVENT_CALLED];

	return name_with_kind(kind, number, event_called(epoch, kind, number, called), text);
}

const char *event_row_text(const struct event_row *row, enum event_by by, char text[EVENT_TEXT])
{
	bool code = by == EVENT_BY_CODE && *row->title;
	const char *before = code ? "" : row->title, *behind = code ? row->title : "";
	char name[EVENT_NAME];

	return util_print(text, EVENT_TEXT, "%s%s%s%s%s", before, *before ? ": " : "",
		name_with_kind(row->kind, row->number, row->called, name), code ? " < " : "", behind);
}

const struct answer_kind event_table_kind = {
	.name = "events", .request_size = sizeof(struct event_request), .make = make, .free = free_answer,
};
