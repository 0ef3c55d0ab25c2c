/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/export_folded.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/query/filter.h"
#include "agent/query/filter_words.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_file.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two checks whether all names are known */

/* The guest is still sending its names: functions may be [unknown] until it is done. */
static bool names_come(const struct report *report)
{
	return report_is_up(report) && symbols_being_told(report->epoch->inputs.symbols);
}

/* True: there are names to wait for. While more of them come, the deadline moves on. */
static bool awaits_names(struct report *report)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	uint64_t told = symbols_generation(symbols), end = util_now() + (uint64_t)REPORT_NAMES_MS * NS_PER_MS;

	if (session_reads_names(report->session) && !report->hurried)
		return true;
	if (!names_come(report) && !symbols_reading(symbols))
		return false;
	if (told != report->told && !report->hurried && report->deadline < end)
		report->deadline = end;
	report->told = told;
	return !report_is_late(report);
}

/* Limits the excerpt to a phase of the boot: from its mark to the next one. False: there is no such mark. */
static bool limit_to_phase(const struct report *report, struct excerpt *excerpt)
{
	const struct boot_times times = epoch_boot(report->epoch);
	int phase = report->request.phase, next = phase + 1;

	if (phase < 0)
		return true;
	while (next < PHASES && !times.known[next])
		next++;
	excerpt->zero_ns = times.at[phase];
	if (next < PHASES && (!excerpt->until_ns || times.at[next] < excerpt->until_ns))
		excerpt->until_ns = times.at[next];
	return times.known[phase];
}

static void fail_without_mark(struct report *report)
{
	char *why = util_format("--phase %s: no such mark: this boot has not come to it, or was not sampled from its "
		"first instruction, as `ktop run --boot` does", boot_phase_words[report->request.phase]);

	report_fail(report, why);
	free(why);
}

/* The options' values have been checked, and there is room for all of them. */
static struct excerpt excerpt_of(const struct report *report)
{
	const struct report_request *request = &report->request;
	struct excerpt excerpt = report->excerpt;
	struct filter *filter = &excerpt.filter;
	char cpu[16];

	limit_to_phase(report, &excerpt);
	snprintf(cpu, sizeof(cpu), "%" PRIu32, request->cpu);
	if (request->filter)
		filter_parse(request->filter, filter, NULL);
	if (request->cpu != EVENT_NONE)
		filter_add(filter, FILTER_CPU, cpu, NULL);
	if (request->mode >= 0)
		filter_add(filter, FILTER_MODE, filter_modes[request->mode], NULL);
	if (request->thread)
		filter_add(filter, FILTER_THREAD, request->thread, NULL);
	if (request->function)
		filter_add(filter, FILTER_FUNCTION, request->function, NULL);
	return excerpt;
}

static void ask(struct report *report)
{
	struct profile_request request;

	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &profile_kind;
	request.request.excerpt = excerpt_of(report);
	request.request.pause_ms = LOOK_MS;
	request.callers = report->request.json;
	request.inlined = report->request.inlined && report->request.folded;
	session_request(report->subscription, &request.request);
	report->asked = true;
}

/* A window into a longer profile is as long as its slices. */
static double seconds_of(const struct report *report)
{
	const struct table *table = report->profile->table;
	bool all = report->whole && report->request.phase < 0;
	uint64_t span = all ? report->end - report->begin : table->to - table->from;

	return (double)span / 1e9;
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
			&report->profile->question, &choice);
}

void report_write_file(struct report *report)
{
	if (!report_file_done(report->file, &report->unwritten))
		return;
	report->file = NULL;
	report->state = REPORT_DONE;
}

/* If the table is empty, says which option is the cause. */
static void note_nothing(struct report *report)
{
	const struct report_request *request = &report->request;
	bool thread = request->thread, mode = request->mode >= 0;
	char *options;

	if (report->profile->table->count)
		return;
	options = util_format("no sample passes%s%s%s%s; leave one out",
		thread ? " --thread" : "", mode ? " --mode" : "",
		request->cpu != EVENT_NONE ? " --cpu" : "", request->filter ? " --filter" : "");
	if (report->profile->table->samples)
		report_note(report, request->function ? "no function of the table matches --function" :
			"no function of the table has the filter's name", request->function ? request->function : "");
	else if (thread || mode || request->cpu != EVENT_NONE || request->filter)
		report_note(report, report->profile->sampled ? options :
			"no sample came; give more --seconds", "");
	free(options);
}

static void note_names(struct report *report)
{
	if (names_come(report))
		report_note(report, "the guest has not yet told all names of its kernel: "
			"some functions are [unknown]; report again", "");
	if (symbols_reading(report->epoch->inputs.symbols))
		report_note(report, "files of programs are still being read: some "
			"functions are [unknown]; report again", "");
}

/* Asks once all names have come or have had their time. Source lines and inlined functions are waited for likewise. */
void report_find_answer(struct report *report)
{
	struct answer *answer;

	if (!report->asked && awaits_names(report))
		return;
	if (!report->asked && !limit_to_phase(report, &(struct excerpt) { .window_ns = 0 })) {
		fail_without_mark(report);
		return;
	}
	if (!report->asked)
		ask(report);
	answer = session_answer(report->subscription);
	if (answer) {
		profile_free(report->profile);
		report->profile = (struct profile *)answer;
	}
	if (!report->profile || (report->profile->answer.partial && !report_is_late(report)))
		return;
	report->seconds = seconds_of(report);
	note_unread(report, report->profile->unread);
	note_nothing(report);
	note_names(report);
	table_sort(report->profile->table, report->epoch->inputs.symbols, report->request.sort, false);
	begin_file(report);
}
