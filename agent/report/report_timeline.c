/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "agent/answers/timeline.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/export/json_writer.h"
#include "agent/query/stop.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum {
	LOOK_MS = 20,			/* between two looks whether all events of the range have come */
	COLUMNS = 100, NAME = 18,	/* of the text: of time, of a name */
};

/* The last one: a thread that runs in a call. */
static const char glyphs[TIMELINE_STATES + 2] = " =|.^-:%#";

bool report_find_timeline(struct report *report)
{
	struct answer *answer = (struct answer *)report->timeline;
	struct timeline_request request;
	bool whole;

	if (!report->request.timeline || report->asked_for > ASKED_TIMELINE)
		return true;
	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &timeline_kind;
	request.request.excerpt.filter = report->asked_excerpt.filter;
	request.request.excerpt.window_ns = report->to - report->from;
	request.request.excerpt.until_ns = report->to;
	request.request.pause_ms = LOOK_MS;
	request.columns = COLUMNS;
	request.focus = request.of = EVENT_NONE;
	request.spans = report->request.json;
	whole = report_take_answer(report, ASKED_TIMELINE, &request.request, &answer);
	report->timeline = (struct timeline *)answer;
	return whole;
}

/* "cpu3", "writer/17" */
static const char *name_of(const struct timeline *timeline, const struct timeline_row *row, char name[TIMELINE_TITLE])
{
	if (row->is_cpu)
		return util_print(name, TIMELINE_TITLE, "cpu%" PRIu32, row->number);
	return util_print(name, TIMELINE_TITLE, "%s", timeline_title(timeline, 0, row->number));
}

/* ---- text ---- */

static void print_cells(const struct timeline *timeline, const struct timeline_row *row, FILE *out)
{
	uint32_t columns = timeline->columns;

	for (uint32_t i = 0; i < columns; i++) {
		const struct timeline_cell *cell = &row->cells[i];
		bool calls = !row->is_cpu && cell->name && cell->state == TIMELINE_RUN;

		putc(glyphs[calls ? TIMELINE_STATES : cell->state], out);
	}
	putc('\n', out);
}

static void print_books(const struct timeline *timeline, FILE *out)
{
	const struct { uint64_t count; const char *what; } books[] = {
		{ timeline->cpus_more, "more CPUs have no row" },
		{ timeline->threads_more, "more threads have no row" },
		{ timeline->lost, "trace events were lost in all" },
		{ timeline->unmatched, "beginnings or ends have no partner" },
		{ timeline->late, "trace events came too late for their place" },
		{ timeline->refused, "found no room; give more by --memory" },
	};

	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++)
		if (books[i].count)
			fprintf(out, "(%" PRIu64 " %s)\n", books[i].count, books[i].what);
}

void report_timeline_text(const struct report *report, FILE *out)
{
	const struct timeline *timeline = report->timeline;
	char name[TIMELINE_TITLE], each[DURATION_TEXT], from[REPORT_CLOCK];
	uint32_t rows;

	if (!timeline)
		return;
	rows = report->request.top && report->request.top < timeline->count ? report->request.top : timeline->count;
	fprintf(out, "\n%-*s from %s on, a column is %s\n", NAME, "TIMELINE",
		report_clock(uptime_shown(timeline->answer.zero, timeline->from), from),
		duration_text(timeline->each, 3, each));
	for (uint32_t i = 0; i < rows; i++) {
		fprintf(out, "%-*.*s ", NAME, NAME, name_of(timeline, &timeline->rows[i], name));
		print_cells(timeline, &timeline->rows[i], out);
	}
	if (rows)
		fputs("(= runs, # in a call, ^ waits for a CPU, % for a lock, - sleeps, : blocked, "
			"| interrupt, . idle)\n", out);
	else
		fputs(timeline->events || timeline->traced ? "(no trace event tells of threads in this time)\n" :
			"(nothing is traced; switch it on by `ktop ctl events +syscall +irq +sched`)\n", out);
	if (rows < timeline->count)
		fprintf(out, "(%" PRIu32 " more row%s; --top 0 shows all)\n", timeline->count - rows,
			util_plural(timeline->count - rows));
	if (rows && timeline->stateless)
		fputs("(states are not known: no switch is traced; `ktop ctl events +sched`)\n", out);
	print_books(timeline, out);
	if (timeline->answer.partial)
		fputs("(more events of this time are still to come; report again)\n", out);
	if (timeline->kept_from > timeline->from)
		fputs("(older ones were forgotten; give more by --memory)\n", out);
	if (timeline->exact_from > timeline->from)
		fprintf(out, "(before %" PRIu64 " s of guest time, only sums of a second or more are known)\n",
			timeline->exact_from / NS_PER_SECOND);
}

/* ---- JSON ---- */

static void put_row(struct json_writer *writer, const struct timeline *timeline, const struct timeline_row *row)
{
	cJSON *object = cJSON_CreateObject(), *states = cJSON_AddArrayToObject(object, "states");
	char name[TIMELINE_TITLE];

	cJSON_AddStringToObject(object, "name", name_of(timeline, row, name));
	json_add_count(object, row->is_cpu ? "cpu" : "thread", row->number);
	for (uint32_t i = 0; i < timeline->columns; i++)
		cJSON_AddItemToArray(states, cJSON_CreateStringReference(timeline_words[row->cells[i].state]));
	json_row(writer, object);
}

static void put_span(struct json_writer *writer, const struct timeline *timeline, const struct timeline_span *span)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "kind", span_words[span->kind]);
	if (span->kind != SPAN_THREAD)
		cJSON_AddStringToObject(object, "name", timeline->names[span->name]);
	json_add_count(object, "cpu", span->cpu);
	if (!span_is_handler(span->kind) && span->thread != EVENT_NONE)
		json_add_count(object, "thread", span->thread);
	json_add_count(object, "begin_ns", span->begin);
	json_add_count(object, "end_ns", span->end);
	if (span->kind == SPAN_LOCK && span->waker != EVENT_NONE)
		json_add_count(object, "held_by", span->waker);
	else if (span->interrupt)
		json_add_count(object, "woken_by_irq_on", span->waker);
	else if (span->waker != EVENT_NONE)
		json_add_count(object, "woken_by", span->waker);
	if (span->handler)
		cJSON_AddStringToObject(object, "woken_by_irq", timeline->names[span->handler]);
	if (span->open || span->lost)
		cJSON_AddTrueToObject(object, span->open ? "open" : "lost");
	json_row(writer, object);
}

void report_timeline_json(const struct report *report, struct json_writer *writer)
{
	const struct timeline *timeline = report->timeline;

	if (!timeline)
		return;
	json_member_count(writer, "timeline_from_ns", timeline->from);
	json_member_count(writer, "timeline_to_ns", timeline->to);
	json_member_count(writer, "timeline_column_ns", timeline->each);
	json_member(writer, "timeline_without_states", cJSON_CreateBool(timeline->stateless));
	json_member_count(writer, "timeline_lost", timeline->lost);
	json_member_count(writer, "timeline_unmatched", timeline->unmatched);
	json_member_count(writer, "timeline_late", timeline->late);
	json_member_count(writer, "timeline_refused", timeline->refused);
	json_member_count(writer, "timeline_cpus_left_out", timeline->cpus_more);
	json_member_count(writer, "timeline_threads_left_out", timeline->threads_more);
	json_member_count(writer, "timeline_kept_from_ns", timeline->kept_from);
	json_member_count(writer, "timeline_exact_from_ns", timeline->exact_from);
	json_member(writer, "timeline_partial", cJSON_CreateBool(timeline->answer.partial));
	json_begin_list(writer, "timeline");
	for (uint32_t i = 0; i < timeline->count; i++)
		put_row(writer, timeline, &timeline->rows[i]);
	json_end_list(writer);
	json_member_count(writer, "spans_left_out", timeline->spans_more);
	json_begin_list(writer, "spans");
	for (uint64_t i = 0; i < timeline->span_count && !stop_now(session_given_up(report->session)); i++)
		put_span(writer, timeline, &timeline->spans[i]);
	json_end_list(writer);
}
