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
	uint32_t *last;			/* by name: its row that was met last; NO_ROW: it has none */
	struct hash by_row;
	uint32_t room;
	uint64_t from, to;		/* spans that ended earlier are only in trends; */
	double over_each;		/* parts of a row's spans over time in a ns of the range */
	uint64_t kept;			/* sums of slots that began before are in nothing */
	uint64_t begin, slot;		/* where the slot of the last sum began, and its width */
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

/* Of a span that passes. NULL: no memory. */
static struct event_row *row_of(struct making *making, const struct span_row *span)
{
	uint32_t *last = &making->last[span->name];
	uint64_t part = making->table->by == EVENT_BY_NAME ? SLOW_ALL : part_of(making, span);

	if (*last == NO_ROW || making->table->rows[*last].part != part)
		*last = have_row(making, span, part);
	return *last == NO_ROW ? NULL : &making->table->rows[*last];
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

uint32_t event_filter_ignores(const struct filter *filter)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < filter->count; i++)
		count += !is_heeded(filter->terms[i].by) && filter->terms[i].by != FILTER_MACHINE;
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

/* NULL: it does not pass, or there is no memory. */
static inline struct event_row *row_if_passes(struct making *making, const struct span_row *span)
{
	return making->all || passes(making, span) ? row_of(making, span) : NULL;
}

/* How long it has been under way at the range's end, or for so long as that is known. */
static void add_open(struct making *making, const struct span_row *span, uint64_t begin, uint64_t known)
{
	uint64_t to = known < making->table->to ? known : making->table->to;
	bool asked = making->table->open_known && may_have_row(making, span->name);
	struct event_row *row = asked && begin < making->table->to ? row_if_passes(making, span) : NULL;

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
	making->last[making->open_name] = NO_ROW;
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
	struct event_row *lost = span->lost && span->end >= making->from && span->end < making->table->to ?
		row_if_passes(making, &row) : NULL;

	if (!span->lost || span->end >= making->table->to)
		add_open(making, &row, span->begin, span->end);
	else if (lost)
		lost->lost++;
}

static void add_to_histogram(struct making *making, const struct event_row *row, uint64_t took, uint64_t count)
{
	struct event_table *table = making->table;
	struct event_latencies *of = &table->latencies[row->latencies];

	if (!latencies_add(making->base ? &of->was : &of->now, &table->pages, took, count))
		making->full = true;
}

static void meet_longest(struct event_row *row, const struct span_row *span)
{
	row->max = span->duration;
	row->longest = span->end;
	row->longest_of = span_is_handler(row->kind) ? EVENT_NONE : span->thread;
	row->longest_on = span->cpu;
}

/* So many spans that took `total` in all, and `span->duration` each, within 3 %. They ended in the range. */
static void add_ended(struct making *making, struct event_row *row, const struct span_row *span, uint64_t count,
	uint64_t total)
{
	struct event_sums *sums = making->base ? &row->was : &row->is;

	if (span->lost) {
		row->lost += making->base ? 0 : count;
		return;
	}
	sums->count += count;
	sums->total += total;
	if (making->base)
		sums->max = span->duration > sums->max ? span->duration : sums->max;
	if (!making->base && (row->count == count || span->duration > row->max || row->kind == SPAN_SINGLE))
		meet_longest(row, span);
	if (row->kind != SPAN_SINGLE)
		add_to_histogram(making, row, span->duration, count);
}

static unsigned part_of_range(const struct making *making, uint64_t time)
{
	double part = time > making->from ? (double)(time - making->from) * making->over_each : 0;

	return part < EVENT_OVER ? (unsigned)part : EVENT_OVER - 1;
}

/* So many ended in this time, as many in each part of it. */
static void add_over_time(const struct making *making, struct event_row *row, uint64_t begin, uint64_t end,
	uint64_t count)
{
	unsigned first = part_of_range(making, begin), parts = part_of_range(making, end) - first + 1;

	for (unsigned i = 0; i < parts; i++)
		row->over[first + i] += (uint32_t)(count * (i + 1) / parts - count * i / parts);
}

static void add_span(void *context, const struct span_row *span)
{
	struct making *making = context;
	bool ended = span->end < making->to && may_have_row(making, span->name);
	struct event_row *row = ended ? row_if_passes(making, span) : NULL;
	uint64_t ago = (making->table->to - span->end) / NS_PER_SECOND;

	if (span->end >= making->to && !span->lost && !making->base)
		add_open(making, span, span->end - span->duration, UINT64_MAX);
	if (!row)
		return;
	if (ago < EVENT_TREND && !making->base)
		row->trend[EVENT_TREND - 1 - ago]++;
	if (span->end < making->from)
		return;
	add_ended(making, row, span, 1, span->duration);
	if (!span->lost && !making->base)
		add_over_time(making, row, span->end, span->end, 1);
}

/* So many of a slot that begins at `begin`: in the trend, they are as many in each second of it. */
static void add_trend(const struct making *making, struct event_row *row, uint64_t count, uint64_t begin, uint64_t slot)
{
	uint64_t seconds = slot / NS_PER_SECOND, first = begin / NS_PER_SECOND;
	uint64_t last = making->table->to / NS_PER_SECOND, from = last > EVENT_TREND - 1 ? last - (EVENT_TREND - 1) : 0;

	for (uint64_t at = first > from ? first : from; at < first + seconds && at <= last; at++)
		row->trend[EVENT_TREND - 1 - (last - at)] += (uint32_t)(count * (at - first + 1) / seconds -
			count * (at - first) / seconds);
}

static void add_sum(void *context, const struct span_sum *sum, uint64_t slot)
{
	struct making *making = context;
	const struct span_row span = {
		.end = sum->end, .duration = sum->count == 1 ? sum->total : sum->total / sum->count,
		.thread = sum->thread, .stack = sum->stack, .name = sum->name, .cpu = sum->cpu, .lost = sum->lost,
	};
	bool same = slot == making->slot && sum->end - making->begin < slot;
	uint64_t begin = same ? making->begin : sum->end / slot * slot;
	bool asked = begin >= making->kept && begin < making->to && may_have_row(making, sum->name);
	struct event_row *row = asked ? row_if_passes(making, &span) : NULL;

	making->begin = begin;
	making->slot = slot;
	if (!row)
		return;
	if (!making->base)
		add_trend(making, row, sum->count, begin, slot);
	if (begin < making->from)
		return;
	add_ended(making, row, &span, sum->count, sum->total);
	if (!span.lost && !making->base)
		add_over_time(making, row, begin, begin + slot - 1, sum->count);
}

/* The longest of old spans are known to the ns. */
static void add_slowest(void *context, const struct slow_span *span)
{
	struct making *making = context;
	struct event_row *row = span->row.end < making->table->to && span->row.end >= making->from ?
		row_if_passes(making, &span->row) : NULL;

	if (row && row->count && span->row.duration > row->max)
		meet_longest(row, &span->row);
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

static void finish(struct making *making)
{
	struct event_table *table = making->table;

	event_rows_finish(table);
	table->rows = budget_trim(table->answer.epoch->inputs.budget, table->rows, making->room * sizeof(*table->rows),
		table->count * sizeof(*table->rows));
	for (uint32_t i = 0; i < table->count; i++)
		event_called(table->answer.epoch, table->rows[i].kind, table->rows[i].number, table->rows[i].called);
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
	free(making->last);
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
	making->over_each = table->to > table->from ? (double)EVENT_OVER / (double)(table->to - table->from) : 0;
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
	making.last = util_alloc((names + 1) * sizeof(*making.last));
	memset(making.last, 0xff, names * sizeof(*making.last));
	keep_terms(&making, &excerpt->filter);
	hash_init(&making.by_number, table->answer.epoch->inputs.budget);
	hash_init(&making.by_row, table->answer.epoch->inputs.budget);
	hash_init(&making.by_stack, table->answer.epoch->inputs.budget);
	read_all(&making, excerpt);
	finish(&making);
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
