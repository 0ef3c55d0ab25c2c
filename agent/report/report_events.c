/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "agent/answers/event_table.h"
#include "agent/answers/slow_rows.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/export/json_writer.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum {
	LOOK_MS = 20,			/* between two looks whether all events of the range have come */
	SLOW_CALLS = 5, SLOW_EACH = 3,	/* of the text: the heaviest calls; the slowest of each */
};

/* `by line` is the place in the code, as far as events tell stacks. */
static enum event_by event_by_of(int by)
{
	return by == GROUP_THREAD ? EVENT_BY_THREAD : by == GROUP_PROCESS ? EVENT_BY_PROCESS :
		by == GROUP_CPU ? EVENT_BY_CPU : by == GROUP_LINE ? EVENT_BY_CODE :
		by == GROUP_LOCK ? EVENT_BY_LOCK : EVENT_BY_NAME;
}

bool report_find_events(struct report *report)
{
	struct answer *answer = (struct answer *)report->events;
	struct event_request request;
	bool whole;

	if (!report->request.events || report->asked_for > ASKED_EVENTS)
		return true;
	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &event_table_kind;
	request.request.excerpt.filter = report->asked_excerpt.filter;
	request.request.excerpt.window_ns = report->to - report->from;
	request.request.excerpt.until_ns = report->to;
	request.request.excerpt.base = report_baseline(report->epoch, report->request.baseline);
	request.request.pause_ms = LOOK_MS;
	request.by = event_by_of(report->request.by);
	request.slow_heaviest = report->request.top ? report->request.top : SLOW_NAMES;
	whole = report_take_answer(report, ASKED_EVENTS, &request.request, &answer);
	report->events = (struct event_table *)answer;
	return whole;
}

/* ---- text ---- */

/* Percent of a range's time, of so many seconds. */
static double percent(uint64_t total, double seconds)
{
	return seconds > 0 ? 100 * (double)total / (seconds * (double)NS_PER_SECOND) : 0;
}

static double seconds_of(uint64_t from, uint64_t to)
{
	return (double)(to - from) / (double)NS_PER_SECOND;
}

/* What has become of its part of the time, in percentage points, and its 99th percentile then. */
static void print_was(const struct event_table *table, const struct event_row *row, FILE *out)
{
	double now = percent(row->total, seconds_of(table->from, table->to));
	double then = percent(row->was.total, seconds_of(table->base_from, table->base_to));
	char text[DURATION_TEXT];

	if (row->kind == SPAN_SINGLE)
		fprintf(out, " %8s %8s", "-", "-");
	else
		fprintf(out, " %+8.2f %8s", now - then, row->was.count ? duration_text(row->was.p99, 3, text) : "new");
}

static void print_row(const struct event_table *table, const struct event_row *row, FILE *out)
{
	const uint64_t times[] = { row->p50, row->p99, row->max };
	double seconds = seconds_of(table->from, table->to);
	char text[DURATION_TEXT], name[EVENT_TEXT];

	fprintf(out, "%9" PRIu64 " %9.1f", row->count, seconds > 0 ? (double)row->count / seconds : 0);
	if (row->kind == SPAN_SINGLE)
		fprintf(out, " %7s %8s %8s %8s", "-", "-", "-", "-");
	else
		fprintf(out, " %7.2f", percent(row->total, seconds));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times) && row->kind != SPAN_SINGLE; i++)
		fprintf(out, " %8s", duration_text(times[i], 3, text));
	if (table->compared)
		print_was(table, row, out);
	fprintf(out, "  %s", event_row_text(row, table->by, name));
	if (row->lost)
		fprintf(out, " (and %" PRIu64 " whose end was lost)", row->lost);
	if (row->open)
		fprintf(out, " (%" PRIu64 " not ended, the oldest for %s)", row->open,
			duration_text(row->oldest_ns, 3, text));
	putc('\n', out);
}

static void print_why_none(const struct event_table *table, FILE *out)
{
	if (table->hidden && !table->count)
		fprintf(out, "(no name of these rows is one of the filter's: %" PRIu32 " row%s)\n", table->hidden,
			util_plural(table->hidden));
	else if ((table->events || table->traced) && !table->count)
		fputs("(nothing that is traced has happened in this time)\n", out);
	else if (!table->count)
		fputs("(nothing is traced; switch it on by `ktop ctl events +syscall +irq +sched`)\n", out);
}

/* `wanted`: a baseline is. */
static void print_books(const struct event_table *table, bool wanted, FILE *out)
{
	const struct { uint64_t count; const char *what; } books[] = {
		{ table->lost, "trace events were lost" },
		{ table->left_out, "were left out by the guest's filters" },
		{ table->unmatched, "beginnings or ends have no partner" },
		{ table->late, "trace events came too late for their place" },
		{ table->refused, "found no room; give more by --memory" },
	};

	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++)
		if (books[i].count)
			fprintf(out, "(%" PRIu64 " %s)\n", books[i].count, books[i].what);
	if (table->filters[0])
		fprintf(out, "(of these events only some are traced now: %s)\n", table->filters);
	if (table->by == EVENT_BY_CODE)
		fputs("(the code is told of events that carry a stack: `ktop ctl events +NAME:stack`)\n", out);
	if (table->answer.partial)
		fputs("(more events of this time are still to come; report again)\n", out);
	if (table->forgot)
		fputs("(older ones were forgotten; give more by --memory)\n", out);
	if (table->base_forgot)
		fputs(table->compared ? "(the baseline's beginning was forgotten)\n" :
			"(the baseline was forgotten)\n", out);
	else if (wanted && !table->compared)
		fputs("(nothing is kept of the baseline)\n", out);
	if (table->from < table->exact_from)
		fprintf(out, "(before %" PRIu64 " s of guest time, times are rounded to whole seconds or more)\n",
			table->exact_from / NS_PER_SECOND);
	if (!table->open_known)
		fputs("(what had not ended at the end of this time is not known any more)\n", out);
}

static void print_slow(const struct slow_row *row, FILE *out)
{
	char took[DURATION_TEXT], waited[SLOW_WAITED];

	fprintf(out, "%5" PRIu64 ".%06" PRIu64 " %8s  ", row->begin / NS_PER_SECOND, row->begin % NS_PER_SECOND / 1000,
		duration_text(row->end - row->begin, 3, took));
	util_pad(out, row->title, 16);
	util_pad(out, slow_row_waited(row, waited), 24);
	fprintf(out, " %s\n", row->call);
}

static void print_slowest(const struct event_table *table, FILE *out)
{
	int pairs = 0, calls = 0, each = 0;

	for (uint32_t i = 0; i < table->slow_count; i++) {
		const struct slow_row *row = &table->slow[i];
		const struct slow_of *before = i ? &table->slow[i - 1].of : NULL;
		bool first = !before || before->kind != row->of.kind || before->number != row->of.number ||
			before->part != row->of.part;

		if (!*row->call)
			continue;
		*(row->of.kind == SPAN_PAIR ? &pairs : &calls) += first;
		each = first ? 1 : each + 1;
		if (calls + pairs == 1 && first)
			fprintf(out, "\n%12s %8s  %-16s %-24s  %s\n", "WHEN", "TOOK", "THREAD", "WAITED",
				"SLOWEST CALLS/PAIRS");
		if ((row->of.kind == SPAN_PAIR ? pairs : calls) <= SLOW_CALLS && each <= SLOW_EACH)
			print_slow(row, out);
	}
}

void report_events_text(const struct report *report, FILE *out)
{
	const struct event_table *table = report->events;
	uint32_t rows;

	if (!table)
		return;
	rows = report->request.top && report->request.top < table->count ? report->request.top : table->count;
	fprintf(out, "\n%9s %9s %7s %8s %8s %8s  ", "COUNT", "RATE/s", "TOTAL%", "p50", "p99", "MAX");
	fprintf(out, table->compared ? "%7s %8s  EVENT\n" : "EVENT\n", "CHANGE", "WAS p99");
	for (uint32_t i = 0; i < rows; i++)
		print_row(table, &table->rows[i], out);
	if (rows < table->count)
		fprintf(out, "(%" PRIu32 " more row%s; --top 0 shows all)\n", table->count - rows,
			util_plural(table->count - rows));
	print_slowest(table, out);
	print_why_none(table, out);
	print_books(table, report->request.baseline, out);
}

/* ---- JSON ---- */

static void add_name(cJSON *object, enum span_kind kind, uint64_t number, const char *called)
{
	char text[SPAN_TEXT], address[24];

	cJSON_AddStringToObject(object, "kind", span_words[kind]);
	if (!span_is_other(kind))
		json_add_count(object, "number", number);
	else if ((uint32_t)number != UINT32_MAX)
		json_add_count(object, "number", (uint32_t)number);
	if (!span_is_other(kind) && number > UINT32_MAX)	/* a reader's numbers are exact up to 53 bits */
		cJSON_AddStringToObject(object, "address",
			util_print(address, sizeof(address), "0x%" PRIx64, number));
	cJSON_AddStringToObject(object, "name", *called ? called : span_text(kind, number, text));
}

static void add_thread(cJSON *object, uint32_t thread, const char *title)
{
	if (thread == EVENT_NONE)
		return;
	json_add_count(object, "thread", thread);
	cJSON_AddStringToObject(object, "thread_name", title);
}

static void add_part(cJSON *object, const struct event_row *row, enum event_by by)
{
	if (row->part >= EVENT_NO_PART)
		return;
	if (by == EVENT_BY_THREAD)
		add_thread(object, (uint32_t)row->part, row->title);
	else if (by == EVENT_BY_CPU)
		json_add_count(object, "cpu", row->part);
	else
		cJSON_AddStringToObject(object, by == EVENT_BY_PROCESS ? "process_name" : "stack", row->title);
	if (by == EVENT_BY_PROCESS && row->part < EVENT_NO_OWNER)
		json_add_count(object, "process", row->part);
}

static cJSON *slow_object(const struct slow_row *row)
{
	cJSON *object = cJSON_CreateObject();

	add_name(object, row->of.kind, row->of.number, row->called);
	add_thread(object, row->thread, row->title);
	json_add_count(object, "cpu", row->cpu);
	json_add_count(object, "begin_ns", row->begin);
	json_add_count(object, "took_ns", row->end - row->begin);
	if (*row->call)
		cJSON_AddStringToObject(object, "call", row->call);
	if (*row->stack)
		cJSON_AddStringToObject(object, "stack", row->stack);
	if (row->thread == EVENT_NONE)
		return object;
	json_add_count(object, "ran_ns", row->ran);
	json_add_count(object, "slept_ns", row->slept);
	json_add_count(object, "blocked_ns", row->blocked);
	json_add_count(object, "ready_ns", row->ready);
	json_add_count(object, "unknown_ns", row->unknown);
	json_add_count(object, "lock_ns", row->locked);
	if (row->ahead_ns)
		json_add_count(object, "meanwhile_ns", row->ahead_ns);
	if (row->ahead != EVENT_NONE)
		json_add_count(object, "meanwhile_ran", row->ahead);
	if (row->handler.ns) {
		cJSON_AddStringToObject(object, "meanwhile_handler", row->handler.name);
		json_add_count(object, "meanwhile_handler_ns", row->handler.ns);
	}
	if (row->request.ns) {
		cJSON_AddStringToObject(object, "request", row->request.name);
		json_add_count(object, "request_ns", row->request.ns);
	}
	if (!row->lock_ns)
		return object;
	cJSON_AddStringToObject(object, "lock", row->lock_name);
	json_add_count(object, "lock_most_ns", row->lock_ns);
	if (row->holder != EVENT_NONE)
		json_add_count(object, "held_by", row->holder);
	return object;
}

static void add_durations(cJSON *object, const struct event_sums *sums)
{
	json_add_count(object, "total_ns", sums->total);
	json_add_count(object, "p50_ns", sums->p50);
	json_add_count(object, "p99_ns", sums->p99);
	json_add_count(object, "max_ns", sums->max);
}

void report_events_json(const struct report *report, struct json_writer *writer)
{
	const struct event_table *table = report->events;

	if (!table)
		return;
	json_member_count(writer, "latencies_from_ns", table->from);
	json_member_count(writer, "latencies_to_ns", table->to);
	json_member_count(writer, "events_lost", table->lost);
	json_member_count(writer, "events_left_out", table->left_out);
	json_member(writer, "events_filters", cJSON_CreateString(table->filters));
	json_member_count(writer, "events_unmatched", table->unmatched);
	json_member_count(writer, "events_late", table->late);
	json_member_count(writer, "latencies_exact_from_ns", table->exact_from);
	json_member_count(writer, "latencies_refused", table->refused);
	json_member(writer, "latencies_partial", cJSON_CreateBool(table->answer.partial));
	if (table->compared) {
		json_member_count(writer, "latencies_baseline_from_ns", table->base_from);
		json_member_count(writer, "latencies_baseline_to_ns", table->base_to);
	}
	json_begin_list(writer, "latencies");
	for (uint32_t i = 0; i < table->count; i++) {
		const struct event_row *row = &table->rows[i];
		cJSON *object = cJSON_CreateObject();

		add_name(object, row->kind, row->number, row->called);
		add_part(object, row, table->by);
		json_add_count(object, "count", row->count);
		json_add_count(object, "lost", row->lost);
		if (table->open_known)
			json_add_count(object, "open", row->open);
		if (row->open) {
			json_add_count(object, "open_since_ns", row->oldest);
			json_add_count(object, "open_ns", row->oldest_ns);
			json_add_count(object, "open_cpu", row->oldest_on);
		}
		if (row->open && row->oldest_of != EVENT_NONE)
			json_add_count(object, "open_thread", row->oldest_of);
		if (row->kind != SPAN_SINGLE)
			add_durations(object, &row->is);
		if (table->compared) {
			cJSON *was = cJSON_AddObjectToObject(object, "was");

			json_add_count(was, "count", row->was.count);
			add_durations(was, &row->was);
		}
		json_row(writer, object);
	}
	json_end_list(writer);
	json_member_count(writer, "slowest_from_ns", table->slow_from);
	json_begin_list(writer, "slowest");
	for (uint32_t i = 0; i < table->slow_count; i++)
		json_row(writer, slow_object(&table->slow[i]));
	json_end_list(writer);
}
