/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "agent/answers/memory_table.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/export/json_writer.h"
#include "agent/guest/epoch.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two looks whether all events of the range have come */

/* Of a whole recording: what lives at its end, which may be later than its last sample. */
bool report_find_memory(struct report *report)
{
	struct answer *answer = (struct answer *)report->memory;
	bool all = report->request.recording && !report->request.to && report->request.phase < 0;
	uint64_t now = epoch_now(report->epoch);
	struct memory_request request;
	bool whole;

	if (!report->request.allocations || report->asked_for > ASKED_MEMORY)
		return true;
	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &memory_table_kind;
	request.request.excerpt.filter = report->asked_excerpt.filter;
	request.request.excerpt.until_ns = all && now > report->to ? now : report->to;
	request.request.excerpt.window_ns = request.request.excerpt.until_ns - report->from;
	request.request.excerpt.base = report_baseline(report->epoch, report->request.baseline);
	request.request.pause_ms = LOOK_MS;
	whole = report_take_answer(report, ASKED_MEMORY, &request.request, &answer);
	report->memory = (struct memory_table *)answer;
	return whole;
}

/* ---- text ---- */

static void print_row(const struct memory_table *table, const struct memory_row *row, FILE *out)
{
	double seconds = (double)(table->to - table->from) / (double)NS_PER_SECOND;
	char text[DURATION_TEXT], name[MEMORY_TEXT];

	fprintf(out, "%12" PRIu64 " %9" PRIu64 " %12" PRIu64, row->is.bytes, row->is.objects, row->peak);
	fprintf(out, " %12.0f", seconds > 0 ? (double)row->given_bytes / seconds : 0);
	if (row->given)
		fprintf(out, " %6.1f", 100 * (double)row->taken / (double)row->given);
	else
		fprintf(out, " %6s", "-");
	fprintf(out, " %6s", row->oldest && table->to > row->oldest ?
		duration_text(table->to - row->oldest, 2, text) : "-");
	if (table->compared)
		fprintf(out, " %+12" PRId64, (int64_t)(row->is.bytes - row->was.bytes));
	fprintf(out, "  %s\n", memory_row_text(row, name));
}

/* `wanted`: a baseline is. */
static void print_books(const struct memory_table *table, bool wanted, FILE *out)
{
	const struct { uint64_t count; const char *what; } books[] = {
		{ table->lost, "trace events were lost: more or less may live" },
		{ table->counts.unkept, "objects found no room, and are in no row; give more by --memory" },
		{ table->counts.reused, "objects never told their end, and their address came again" },
		{ table->counts.unmatched, "frees are of what was given out before, or unseen" },
		{ table->counts.merged, "stacks found no room; give more by --memory" },
		{ table->refused, "rows found no room; give more by --memory" },
	};
	uint64_t unsure = 0;

	for (uint32_t i = 0; i < table->count; i++)
		unsure += table->rows[i].unsure;
	if (table->total_count > 1)
		fputs("(what one allocator has from another is in both)\n", out);
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++)
		if (books[i].count)
			fprintf(out, "(%" PRIu64 " %s)\n", books[i].count, books[i].what);
	if (unsure)
		fprintf(out, "(%" PRIu64 " bytes are from before %" PRIu64 " s of guest time, since when events were "
			"missing: they may be free)\n", unsure, table->sure_from / NS_PER_SECOND);
	if (table->filters[0])
		fprintf(out, "(of these events only some are traced now: %s)\n", table->filters);
	if (!table->located)
		fputs("(no call site is told; `ktop ctl events +memory_free +memory_alloc:stack` has it told)\n", out);
	if (!table->ages)
		fputs("(it ends with a whole second of guest time, and ages are not known: more came after it)\n", out);
	if (table->forgot)
		fputs("(older ones were forgotten; give more by --memory)\n", out);
	if (wanted && !table->compared)
		fputs("(nothing is kept of the baseline)\n", out);
	if (table->answer.partial)
		fputs("(more events of this time are still to come; report again)\n", out);
}

void report_memory_text(const struct report *report, FILE *out)
{
	const struct memory_table *table = report->memory;
	uint32_t rows;

	if (!table)
		return;
	rows = report->request.top && report->request.top < table->count ? report->request.top : table->count;
	fprintf(out, "\n%12s %9s %12s %12s %6s %6s", "LIVE", "OBJECTS", "PEAK", "BYTES/s", "FREED%", "OLDEST");
	fprintf(out, table->compared ? " %12s  CALL SITE\n" : "  CALL SITE\n", "CHANGE");
	for (uint32_t i = 0; i < rows; i++)
		print_row(table, &table->rows[i], out);
	if (rows < table->count)
		fprintf(out, "(%" PRIu32 " more row%s; --top 0 shows all)\n", table->count - rows,
			util_plural(table->count - rows));
	if (!table->count && !table->hidden)
		fputs(table->counts.given || table->traced ? "(nothing that was given out lives in this time)\n" :
			"(no allocator is traced; `ktop ctl events +memory_free +memory_alloc:stack` traces them)\n",
			out);
	for (uint32_t i = 0; i < table->total_count; i++)
		fprintf(out, "%12" PRIu64 " %9" PRIu64 "  all of %s\n", table->totals[i].is.bytes,
			table->totals[i].is.objects, table->totals[i].called);
	print_books(table, report->request.baseline, out);
}

/* ---- JSON ---- */

static cJSON *live_object(uint32_t allocator, const char *called, const struct memory_live *live)
{
	cJSON *object = cJSON_CreateObject();

	json_add_count(object, "allocator", allocator);
	cJSON_AddStringToObject(object, "name", called);
	json_add_count(object, "objects", live->objects);
	json_add_count(object, "bytes", live->bytes);
	return object;
}

static cJSON *row_object(const struct memory_table *table, const struct memory_row *row)
{
	cJSON *object = live_object(row->allocator, row->called, &row->is);

	if (row->site < MEMORY_NO_SITE)
		cJSON_AddStringToObject(object, "site", row->title);
	json_add_count(object, "peak_bytes", row->peak);
	json_add_count(object, "given", row->given);
	json_add_count(object, "given_bytes", row->given_bytes);
	json_add_count(object, "taken", row->taken);
	json_add_count(object, "taken_bytes", row->taken_bytes);
	if (row->oldest)
		json_add_count(object, "oldest_ns", row->oldest);
	if (table->ages)
		json_add_count(object, "unsure_bytes", row->unsure);
	if (table->compared) {
		json_add_count(object, "was_objects", row->was.objects);
		json_add_count(object, "was_bytes", row->was.bytes);
	}
	return object;
}

void report_memory_json(const struct report *report, struct json_writer *writer)
{
	const struct memory_table *table = report->memory;

	if (!table)
		return;
	json_member_count(writer, "memory_from_ns", table->from);
	json_member_count(writer, "memory_to_ns", table->to);
	json_member_count(writer, "memory_events_lost", table->lost);
	json_member_count(writer, "memory_sure_from_ns", table->sure_from);
	json_member_count(writer, "memory_unmatched", table->counts.unmatched);
	json_member_count(writer, "memory_reused", table->counts.reused);
	json_member_count(writer, "memory_unkept", table->counts.unkept);
	json_member_count(writer, "memory_merged", table->counts.merged);
	json_member(writer, "memory_ages", cJSON_CreateBool(table->ages));
	json_member(writer, "memory_partial", cJSON_CreateBool(table->answer.partial));
	json_begin_list(writer, "memory_totals");
	for (uint32_t i = 0; i < table->total_count; i++)
		json_row(writer, live_object(table->totals[i].allocator, table->totals[i].called,
			&table->totals[i].is));
	json_end_list(writer);
	json_begin_list(writer, "memory");
	for (uint32_t i = 0; i < table->count; i++)
		json_row(writer, row_object(table, &table->rows[i]));
	json_end_list(writer);
}
