/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "agent/answers/thread_now.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/export/json_writer.h"
#include "agent/session/session.h"
#include "agent/wire/event.h"
#include "report.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two looks whether all events of that time have come */

bool report_find_threads(struct report *report)
{
	struct answer *answer = (struct answer *)report->threads;
	struct request request;
	bool whole;

	if (!report->request.waits || report->asked_for > ASKED_THREADS)
		return true;
	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.kind = &thread_list_kind;
	request.excerpt.filter = report->asked_excerpt.filter;
	request.excerpt.window_ns = report->to - report->from;
	request.excerpt.until_ns = report->to;
	request.pause_ms = LOOK_MS;
	whole = report_take_answer(report, ASKED_THREADS, &request, &answer);
	report->threads = (struct thread_list *)answer;
	return whole;
}

/* ---- text ---- */

static const char *why_none(const struct thread_list *list)
{
	return list->forgot ? "spans of that time were forgotten; give more by --memory" :
		list->at ? "no trace event tells what a thread did then; `ktop ctl events +sched +lock`" :
		"the guest has told no trace event; `ktop ctl events +sched +lock`";
}

void report_threads_text(const struct report *report, FILE *out)
{
	const struct thread_list *list = report->threads;
	char text[DURATION_TEXT];
	uint32_t rows;

	if (!list)
		return;
	rows = report->request.top && report->request.top < list->count ? report->request.top : list->count;
	fprintf(out, "\n%9s  %-20s %s\n", "WAITS", "THREAD", list->stopped ? "WHEN TRACING ENDED" : "AT THE END");
	for (uint32_t i = 0; i < rows; i++) {
		const struct thread_row *row = &list->rows[i];

		fprintf(out, "%9s  ", row->waits ? duration_text(row->waits, 3, text) : "-");
		util_pad(out, row->title, 20);
		fprintf(out, "%s\n", row->now);
	}
	if (!list->count)
		fprintf(out, "(%s)\n", why_none(list));
	if (rows < list->count)
		fprintf(out, "(%" PRIu32 " more thread%s; --top 0 shows all)\n", list->count - rows,
			util_plural(list->count - rows));
	if (list->refused)
		fprintf(out, "(%" PRIu64 " thread%s found no room; give more by --memory)\n", list->refused,
			util_plural(list->refused));
	if (list->answer.partial)
		fputs("(more events of this time are still to come; report again)\n", out);
}

/* ---- JSON ---- */

static const char *state_word(const struct pairs_thread *is)
{
	if (is->wait.begin)
		return "lock";
	return is->now.kind == SPAN_THREAD ? "run" : is->now.kind == SPAN_READY ? "ready" :
		is->now.number == SLEEP_BLOCKED ? "blocked" : "sleep";
}

static void put_thread(struct json_writer *writer, const struct thread_row *row)
{
	const struct pairs_thread *is = &row->is;
	cJSON *object = cJSON_CreateObject();
	char text[SPAN_TEXT];

	json_add_count(object, "thread", row->thread);
	cJSON_AddStringToObject(object, "name", row->title);
	cJSON_AddStringToObject(object, "state", state_word(is));
	json_add_count(object, "since_ns", is->wait.begin ? is->wait.begin : is->now.begin);
	json_add_count(object, "waits_ns", row->waits);
	if (!is->wait.begin && is->now.kind == SPAN_THREAD)
		json_add_count(object, "cpu", is->now.cpu);
	if (is->call.begin)
		cJSON_AddStringToObject(object, "call", *row->call ? row->call :
			span_text(SPAN_CALL, is->call.number, text));
	if (is->wait.begin)
		cJSON_AddStringToObject(object, "lock", *row->lock ? row->lock :
			span_text(SPAN_LOCK, is->wait.number, text));
	if (is->wait.begin && is->wait.holder != EVENT_NONE)
		json_add_count(object, is->held_last ? "held_last_by" : "held_by", is->wait.holder);
	cJSON_AddStringToObject(object, "says", row->now);
	json_row(writer, object);
}

void report_threads_json(const struct report *report, struct json_writer *writer)
{
	const struct thread_list *list = report->threads;

	if (!list)
		return;
	json_member_count(writer, "threads_at_ns", list->at == UINT64_MAX ? 0 : list->at);
	json_member(writer, "threads_stopped", cJSON_CreateBool(list->stopped));
	json_member(writer, "threads_forgotten", cJSON_CreateBool(list->forgot));
	json_member(writer, "threads_partial", cJSON_CreateBool(list->answer.partial));
	json_member_count(writer, "threads_refused", list->refused);
	json_begin_list(writer, "threads");
	for (uint32_t i = 0; i < list->count; i++)
		put_thread(writer, &list->rows[i]);
	json_end_list(writer);
}
