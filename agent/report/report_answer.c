/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/annotation.h"
#include "agent/answers/event_table.h"
#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/export.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/table.h"
#include "agent/query/tree/contexts.h"
#include "agent/samples/sample_set.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_file.h"
#include "report_parts.h"

enum { LOOK_MS = 20 };			/* between two checks whether all names are known */

/* The guest is still sending its names, or they are found in its memory: until then functions may be [unknown]. */
static bool names_come(const struct report *report)
{
	return kernel_watch_is_walking(report->epoch->watch) ||
		(report_is_up(report) && symbols_being_told(report->epoch->inputs.symbols));
}

/* True: there are names to wait for. While more of them come, the deadline moves on. */
static bool awaits_names(struct report *report)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	uint64_t told = symbols_generation(symbols), end = util_now() + (uint64_t)REPORT_NAMES_MS * NS_PER_MS;

	if ((session_reads_names(report->session) || epoch_awaits(report->epoch, report->end)) && !report->hurried)
		return true;
	if (!names_come(report) && !symbols_reading(symbols))
		return false;
	if (told != report->told && !report->hurried && report->deadline < end)
		report->deadline = end;
	report->told = told;
	return !report_is_late(report);
}

/* Limits the excerpt to a phase of the boot, up to the next one. False: the boot is not known to have this phase. */
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
	char *why = util_format("--phase %s: not seen in this boot: it has not come to it, or was not sampled "
		"from its first instruction; use `ktop run --boot`, or report for longer",
		boot_phase_words[report->request.phase]);

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
	excerpt.by = request->by == GROUP_LOCK ? GROUP_FUNCTION : (enum group_by)request->by;
	snprintf(cpu, sizeof(cpu), "%" PRIu32, request->cpu);
	if (request->filter)
		filter_parse(request->filter, filter, NULL);
	if (request->cpu != EVENT_NONE)
		filter_add(filter, FILTER_CPU, cpu, NULL);
	if (request->mode >= 0)
		filter_add(filter, FILTER_MODE, mode_names[request->mode], NULL);
	if (request->thread)
		filter_add(filter, FILTER_THREAD, request->thread, NULL);
	if (request->function)
		filter_add(filter, FILTER_FUNCTION, request->function, NULL);
	filter_at_machine(filter, 0, session_facts(report->session, report->epoch).machine);
	return excerpt;
}

static bool writes_files(const struct report *report)
{
	bool any = false;

	for (int i = 0; i < EXPORTS; i++)
		any = any || report->request.files[i];
	return any;
}

static void ask(struct report *report)
{
	struct profile_request request;

	memset(&request, 0, sizeof(request));		/* requests are compared as bytes */
	request.request.kind = &profile_kind;
	request.request.excerpt = report->asked_excerpt = excerpt_of(report);
	request.request.pause_ms = LOOK_MS;
	request.callers = report->request.json || report_export_callers(&report->request);
	request.lines = report->request.lines || report_export_lines(&report->request);
	request.inlined = request.lines || (report->request.inlined && (writes_files(report) || report->request.out));
	subscription_ask(report->subscription, &request.request);
	report->asked = true;
}

bool report_traces_alone(const struct report *report)
{
	const struct profile *profile = report->profile;

	return report->status.sampler == SAMPLER_NONE && !profile->sampled &&
		!filter_off_cpu(&profile->question.filter);
}

/* A window into a longer profile is as long as its slices, if it has any. */
static void tell_time(struct report *report)
{
	const struct table *table = report->profile->table;
	bool all = (report->whole && report->request.phase < 0) || table->from >= table->to;

	report->from = all ? report->begin : table->from;
	report->to = all && !report->waited ? report->end : table->to;
	report->seconds = (double)(report->to - report->from) / (double)NS_PER_SECOND;
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

static void begin_folded(struct report *report, enum export_id format)
{
	const struct stack_options options = {
		.kernel_mark = report->request.kernel_mark,
		.thread_first = report->request.threads,
	};
	struct epoch *epoch = report->epoch;
	const struct export_choice choice = export_stacks(format, options);

	report->file = report_file_begin(report->request.files[format], epoch, &(struct export_input) {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
	}, &choice, NULL);
}

/* Begins to write the next file that is wanted, from this format on. What it collects for that can be given up. */
static void begin_file(struct report *report, int format)
{
	bool begun = format <= EXPORTS;

	while (format < EXPORTS && !report->request.files[format])
		format++;
	report->format = format;
	query_heed(report->epoch->query, session_given_up(report->session));
	if (format < EXPORTS)
		begin_folded(report, (enum export_id)format);
	else
		begun = begun && report_export_begin(report);
	query_heed(report->epoch->query, NULL);
	report->state = begun ? REPORT_WRITING : REPORT_DONE;
}

void report_write_file(struct report *report)
{
	if (!report_file_done(report->file, &report->exported, &report->unwritten))
		return;
	report->file = NULL;
	report->progress = NULL;
	begin_file(report, report->unwritten ? EXPORTS + 1 : report->format + 1);
}

/* If the table is empty, says which option is the cause. */
static void note_nothing(struct report *report)
{
	const struct report_request *request = &report->request;
	bool thread = request->thread, mode = request->mode >= 0;
	char *options;

	if (report->profile->table->count || report_traces_alone(report))
		return;
	options = util_format("no sample passes%s%s%s%s; leave one out",
		thread ? " --thread" : "", mode ? " --mode" : "",
		request->cpu != EVENT_NONE ? " --cpu" : "", request->filter ? " --filter" : "");
	if (!report->profile->sampled && report_looks_back(request))
		report_note(report, "no sample lies in this range", "");
	else if (report->profile->table->samples)
		report_note(report, request->function ? "no function of the table matches --function" :
			"no function of the table has the filter's name", request->function ? request->function : "");
	else if (thread || mode || request->cpu != EVENT_NONE || request->filter)
		report_note(report, report->profile->sampled ? options :
			"no sample came; give more --seconds", "");
	free(options);
}

static const char *machine_of(const struct report *report)
{
	return session_facts(report->session, report->epoch).machine;
}

/* What the filter calls a machine, if this one is not called so, in fresh memory. A report's machine has no number. */
static char *stray_machine(const struct report *report)
{
	const char *name = machine_of(report), *stray;
	struct filter filter = { .count = 0 };

	if (report->request.filter)
		filter_parse(report->request.filter, &filter, NULL);
	stray = filter_stray_machine(&filter, &name, 1, false);
	return stray ? util_copy(stray, strlen(stray)) : NULL;
}

static void note_machine(struct report *report)
{
	const char *name = machine_of(report);
	char *stray = stray_machine(report), *what;

	if (!stray)
		return;
	what = util_format("no machine is called %s: this one %s%s", stray, *name ? "is " : "has no name", name);
	report_note(report, what, "");
	free(what);
	free(stray);
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

/* Rows that the filter seems to choose, and does not. */
static void note_events(struct report *report)
{
	const struct filter *filter = &report->asked_excerpt.filter;

	if ((report->request.timeline || report->request.waits) && event_filter_ignores(filter, false))
		report_note(report, "of the filter, only CPUs, threads and processes count for events", "");
	else if (report->request.events && event_filter_ignores(filter, true))
		report_note(report, "of the filter, only names, CPUs, threads and processes count for events", "");
}

/* An export of nothing is a mistake. */
static void fail_empty(struct report *report)
{
	char *stray = stray_machine(report);
	char *why = report_traces_alone(report) ?
		util_format("%s: not written: the guest only traced, so there is no sample; chrome and firefox have "
		"its events", report->request.out) :
		util_format("%s: not written: %s; take another range or filter, or record for longer",
		report->request.out, stray ? "no machine has the filter's name" :
		report->profile->sampled ? "no sample passes the filter" : "there is no sample");

	report_fail(report, why);
	free(why);
	free(stray);
}

/* A report that was cut short says so anyway. */
static void note_books(struct report *report)
{
	if (!report->profile->books && !report->error)
		report_note(report, "the guest restarted at the report's end, so it is not known how many samples "
			"are lost; report again", "");
}

/* True once it is as complete as it gets. */
static bool have_profile(struct report *report)
{
	struct answer *answer = subscription_take(report->subscription);

	if (answer) {
		answer_free((struct answer *)report->profile);
		report->profile = (struct profile *)answer;
	}
	return report->profile && (!report->profile->answer.partial || report_is_late(report));
}

/* Asks once all names have come or have had their time. Source lines and inlined functions are waited for likewise. */
void report_find_answer(struct report *report)
{
	if (!report->asked && awaits_names(report))
		return;
	if (!report->asked && !limit_to_phase(report, &(struct excerpt) { .window_ns = 0 })) {
		fail_without_mark(report);
		return;
	}
	if (!report->asked)
		ask(report);
	if (report->asked_for == ASKED_PROFILE && !have_profile(report))
		return;
	tell_time(report);
	if (!report_find_tree(report) || !report_find_events(report) || !report_find_memory(report) ||
			!report_find_timeline(report) || !report_find_threads(report) ||
			!report_find_annotation(report))
		return;
	note_unread(report, report->profile->unread);
	note_machine(report);
	note_nothing(report);
	note_events(report);
	if (report->unannotated)
		report_note(report, "nothing is annotated: no function of the table has the name of --annotate",
			report->request.annotate);
	if (report->annotation && report->annotation->answer.partial)
		report_note(report, "the code of --annotate is still being read; report again", "");
	note_names(report);
	note_books(report);
	table_sort_named(report->profile->table, report->epoch->inputs.symbols, report->request.sort);
	if (report->request.out && !report->profile->table->samples && !report_export_has_events(report))
		fail_empty(report);
	else
		begin_file(report, 0);
}
