/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/export/export_folded.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/session/session.h"
#include "agent/session/share.h"
#include "report.h"
#include "report_file.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two checks whether all names are known */

/* The guest is still sending its names: functions may be [unknown] until it is done. */
static bool names_come(const struct report *report)
{
	return report_is_up(report) && symbols_being_told(report->epoch->inputs.symbols);
}

/*
 * True: there are names to wait for. While more of them come, the deadline moves on. The epoch is stepped here, too:
 * it may be an earlier boot, which the session steps no more.
 */
static bool awaits_names(struct report *report)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	uint64_t told, end = util_now() + (uint64_t)REPORT_NAMES_MS * NS_PER_MS;

	symbols_step(symbols, &report->epoch->starved);
	told = symbols_generation(symbols);
	if (session_reads_names(report->session) && !report->hurried)
		return true;
	if (!names_come(report) && !symbols_reading(symbols))
		return false;
	if (told != report->told && !report->hurried && report->deadline < end)
		report->deadline = end;
	report->told = told;
	return !report_is_late(report);
}

static void put_filter(struct report *report)
{
	const struct report_request *request = &report->request;
	struct filter *filter = &report->question.filter;

	report->question.inlined = request->inlined;
	report->question.callers = request->json ? CALLERS_ALL : CALLERS_NONE;
	filter->cpu = request->cpu;
	filter->modes = request->mode < 0 ? 0 : 1u << request->mode;
	if (request->thread)
		strncat(filter->thread, request->thread, sizeof(filter->thread) - 1);
	if (request->function)
		strncat(filter->pattern, request->function, sizeof(filter->pattern) - 1);
}

static bool lines_known(const struct report *report)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	bool known = true;

	for (size_t i = 0; i < report->table->count; i++)
		known &= symbols_line(symbols, report->table->rows[i].function) != NULL;
	return known;
}

/* If inlined functions are wanted: at how many addresses in the stacks they are not known yet. */
static uint32_t unread(const struct report *report)
{
	return report->request.inlined && report->request.folded ?
		query_unread(report->epoch->query, &report->question) : 0;
}

/* A window into a longer profile is as long as its slices. */
static double seconds_of(const struct report *report)
{
	const struct table *table = report->table;
	uint64_t span = report->whole ? report->end - report->begin : table->to - table->from;

	return (double)span / 1e9;
}

/* Gaps have no thread and no mode, so they are a share of the samples of all threads and modes. */
static double missed_share(const struct report *report)
{
	struct question all = report->question;
	struct table *table;
	double share;

	all.filter = (struct filter) { .cpu = report->question.filter.cpu };
	table = query_table(report->epoch->query, &all);
	share = table->missed ?
		(double)table->missed / (double)(table->missed + table->weight) : 0;
	table_free(table);
	return share;
}

static void note_unread(struct report *report, uint32_t count)
{
	char *what = util_format("inlined functions are not known yet at %" PRIu32 " place%s: "
		"debug files are still being read; report again",
		count, util_plural(count));

	if (count)
		report_note(report, what, "");
	free(what);
}

static void begin_file(struct report *report)
{
	const struct export_choice choice = folded_choice((struct folded_options) {
		.kernel_mark = report->request.kernel_mark,
		.thread_first = report->request.threads,
	});

	report->state = report->request.folded ? REPORT_WRITING : REPORT_DONE;
	if (report->request.folded)
		report->file = report_file_begin(report->request.folded, report->epoch,
			&report->question, &choice);
}

void report_write_file(struct report *report)
{
	if (!report_file_done(report->file, &report->unwritten))
		return;
	report->file = NULL;
	report->state = REPORT_DONE;
}

/* True: there are samples if the filters are left out. */
static bool any_sample(const struct report *report)
{
	struct question all = report->question;
	struct table *table;
	bool any;

	all.filter = (struct filter) { .cpu = EVENT_NONE };
	table = query_table(report->epoch->query, &all);
	any = table->samples != 0;
	table_free(table);
	return any;
}

/* If the table is empty, says which option is the cause. */
static void note_nothing(struct report *report)
{
	const struct report_request *request = &report->request;
	bool thread = request->thread, mode = request->mode >= 0;
	char *options;

	if (report->table->count)
		return;
	options = util_format("no sample passes%s%s%s; leave one out",
		thread ? " --thread" : "", mode ? " --mode" : "",
		request->cpu != EVENT_NONE ? " --cpu" : "");
	if (report->table->samples)
		report_note(report, "no function of the table matches --function",
			request->function);
	else if (thread || mode || request->cpu != EVENT_NONE)
		report_note(report, any_sample(report) ? options :
			"no sample came; give more --seconds", "");
	free(options);
}

/* Asks as a reader of its own, so that the query keeps what it has for other readers. */
static void make_table(struct report *report)
{
	put_filter(report);
	report->question.reader = query_reader_new(report->epoch->query);
	report->missed = missed_share(report);
	report->table = query_table(report->epoch->query, &report->question);
	report->seconds = seconds_of(report);
}

/* Checking again takes no more than the report's share of the ingest thread's time, as answers of other readers do. */
static bool is_due(const struct report *report)
{
	return report_is_late(report) ||
		util_now() >= share_due(&report->share, (uint64_t)LOOK_MS * NS_PER_MS);
}

/*
 * Makes the table once all names have come or have had their time. Then it waits for source lines and inlined
 * functions in the same way, and begins to write the folded file.
 */
static void find_names(struct report *report)
{
	uint64_t begin = util_now();
	uint32_t left;

	if (!report->table) {
		if (awaits_names(report))
			return;
		make_table(report);
	} else if (!is_due(report)) {
		return;
	}
	left = unread(report);
	share_answered(&report->share, begin, util_now());
	if ((lines_known(report) && left == 0) || report_is_late(report)) {
		note_unread(report, left);
		note_nothing(report);
		if (names_come(report))
			report_note(report, "the guest has not yet told all names of its kernel: "
				"some functions are [unknown]; report again", "");
		if (symbols_reading(report->epoch->inputs.symbols))
			report_note(report, "files of programs are still being read: some "
				"functions are [unknown]; report again", "");
		table_sort(report->table, report->epoch->inputs.symbols, report->request.sort,
			false);
		begin_file(report);
	}
}

void report_find_answer(struct report *report)
{
	query_heed(report->epoch->query, session_given_up(report->session));
	find_names(report);
	query_heed(report->epoch->query, NULL);
}
