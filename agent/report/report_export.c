/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/cut/recording_cut.h"
#include "agent/export/export_csv.h"
#include "agent/export/save_format.h"
#include "agent/formats/set_format.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/stop.h"
#include "agent/samples/sample_collect.h"
#include "agent/session/session.h"
#include "agent/wire/recording_writer.h"
#include "report.h"
#include "report_file.h"
#include "report_parts.h"

/* What is written: a recording, a sample set, or one of the report's own formats. */
struct chosen {
	bool recording;
	const struct set_format *set;	/* NULL: it is `own` */
	enum export_id own;
};

void report_export_list(FILE *out)
{
	struct save_format format;

	for (size_t i = 0; (format = save_format_at(i)).name; i++)
		fprintf(out, "  %-13s %-18s %s\n", format.name, format.ending, format.about);
}

/* One of the tables of the answer, which the report writes itself. */
static bool is_table(const struct chosen *chosen)
{
	return !chosen->recording && !chosen->set && chosen->own != EXPORT_FOLDED;
}

static bool find_named(const char *name, struct chosen *chosen)
{
	chosen->recording = strcmp(name, export_recording.name) == 0;
	chosen->set = set_format_named(name);
	for (int i = 0; !chosen->set && i < EXPORTS; i++)
		if (strcmp(export_formats[i]->name, name) == 0) {
			chosen->own = (enum export_id)i;
			return true;
		}
	return chosen->set || chosen->recording;
}

static bool ends_in(const char *path, const char *ending)
{
	size_t size = strlen(path), length = strlen(ending);

	return size > length && strcmp(path + size - length, ending) == 0;
}

/* The longest ending counts: "a.speedscope.json" is no "a.json". */
static bool find_of_file(const char *path, struct chosen *chosen)
{
	chosen->recording = ends_in(path, export_recording.ending);
	chosen->set = set_format_of_file(path);
	for (int i = 0; !chosen->set && i < EXPORTS; i++)
		if (ends_in(path, export_formats[i]->ending)) {
			chosen->own = (enum export_id)i;
			return true;
		}
	return chosen->set || chosen->recording;
}

static bool find(const struct report_request *request, struct chosen *chosen)
{
	return request->format ? find_named(request->format, chosen) : find_of_file(request->out, chosen);
}

static bool to_stdout(const struct report_request *request)
{
	return strcmp(request->out, "-") == 0;
}

bool report_export_cuts(const struct report_request *request)
{
	struct chosen chosen;

	return request->out && find(request, &chosen) && chosen.recording;
}

static bool lies_in(const char *inner, const char *outer)
{
	char *path = realpath(inner, NULL), *above = realpath(outer, NULL);
	size_t size = above ? strlen(above) : 0;
	bool lies = path && above && strncmp(path, above, size) == 0 && path[size] == '/';

	free(path);
	free(above);
	return lies;
}

/* Tries whether the folder can be made, and leaves none. Returns why not; NULL: it can. `source` NULL: no recording. */
static char *folder_mistake(const char *folder, const char *source)
{
	char *error = NULL;

	if (!recording_folder(folder, &error))
		return error;
	if (source && lies_in(folder, source))
		util_fail(&error, "%s: not recorded: it lies in the recording, and babeltrace2 would read both; name a "
			"folder elsewhere", folder);
	rmdir(folder);
	return error;
}

/* The option that chooses samples, or what is made of them: a cut copies packets. NULL: there is none. */
static const char *unheeded_by_cut(const struct report_request *request)
{
	const char *chooses = request->filter ? "filter" : request->thread ? "thread" : request->mode >= 0 ? "mode" :
		request->cpu != EVENT_NONE ? "cpu" : NULL;

	return chooses ? chooses : request->flame ? "flame" : request->threads ? "threads" :
		request->inlined ? "inline" : request->by != GROUP_FUNCTION ? "by" : request->tree >= 0 ? "tree" :
		request->annotate ? "annotate" : request->function ? "function" : NULL;
}

char *report_export_cut_mistake(const struct report_request *request)
{
	const char *option = unheeded_by_cut(request);

	if (option)
		return util_format("--%s: without effect: a recording is cut to a range of time alone; leave it out",
			option);
	if (to_stdout(request))
		return util_format("no export: a recording is a folder, not a stream; give -o DIR");
	if (!request->recording && (report_looks_back(request) || request->phase >= 0))
		return util_format("no export: ktop keeps no packets of what is past; record the guest, and export "
			"from the recording");
	return folder_mistake(request->out, request->recording);
}

/* The option that only tables heed, and that this format does not. NULL: there is none. */
static const char *unheeded(const struct report_request *request, const struct chosen *chosen)
{
	if (!is_table(chosen))
		return request->by != GROUP_FUNCTION ? "by" : request->tree >= 0 ? "tree" :
			request->annotate ? "annotate" : request->function ? "function" : NULL;
	if (chosen->own != EXPORT_CSV)
		return NULL;
	return request->annotate ? "annotate" : request->tree >= 0 && request->by != GROUP_FUNCTION ? "by" : NULL;
}

/* Are there words of the filter that choose rows alone? */
static bool names_rows(const struct report_request *request)
{
	struct filter filter = { 0 };

	if (request->filter)
		filter_parse(request->filter, &filter, NULL);
	return !filter_lacks(&filter, FILTER_FUNCTION);
}

/* The option that only pictures heed, or only folded stacks, and that this format does not. */
static char *look_mistake(const struct report_request *request, const struct chosen *chosen)
{
	bool folded = !chosen->set && chosen->own == EXPORT_FOLDED;

	if (request->flame && !(chosen->set && chosen->set->flame))
		return util_format("--flame: without effect: it is for svg and html; leave it out");
	if (!folded && (request->threads || request->inlined))
		return util_format("--%s: without effect: it is for folded; leave it out",
			request->threads ? "threads" : "inline");
	return NULL;
}

static char *unheeded_mistake(const struct report_request *request, const struct chosen *chosen)
{
	const char *option = unheeded(request, chosen);
	char *mistake = look_mistake(request, chosen);

	if (mistake)
		return mistake;
	if (!is_table(chosen) && names_rows(request))
		return util_format("--filter: without effect: a NAME alone chooses rows of the tables of json and csv, "
			"and this file has none of that kind; give under:NAME");
	return option ? util_format("--%s: without effect: it chooses among the tables of json and csv, and this file "
		"has none of that kind; leave it out", option) : NULL;
}

char *report_export_mistake(const struct report_request *request)
{
	struct chosen chosen;
	char *mistake;

	if (report_export_cuts(request))
		return request->recording ? report_export_cut_mistake(request) :
			util_format("no export: a report keeps no packets; record the guest");
	if (find(request, &chosen)) {
		mistake = unheeded_mistake(request, &chosen);
		return mistake || to_stdout(request) ? mistake : report_file_mistake(request->out);
	}
	if (request->format)
		return util_format("--format %s: there is no such format; --format help lists all", request->format);
	if (to_stdout(request))
		return util_format("no export: the standard output has no ending that tells the format; give --format");
	return util_format("%s: not written: no format has this ending; give --format, help lists all", request->out);
}

bool report_export_lines(const struct report_request *request)
{
	struct chosen chosen;

	return request->out && find(request, &chosen) && chosen.set && chosen.set->lines;
}

bool report_export_callers(const struct report_request *request)
{
	struct chosen chosen;

	return request->out && find(request, &chosen) && is_table(&chosen) && chosen.own == EXPORT_JSON;
}

bool report_export_rows(const struct report_request *request)
{
	struct chosen chosen;

	return request->out && find(request, &chosen) && chosen.set && chosen.set->rows;
}

bool report_export_has_events(const struct report *report)
{
	const struct profile *profile = report->profile;
	struct chosen chosen;
	uint64_t events = 0;

	for (uint32_t cpu = 0; profile->books && cpu < profile->cpu_count; cpu++)
		events += profile->books[cpu].trace.received;
	return !profile->sampled && events && find(&report->request, &chosen) &&
		(chosen.recording || (chosen.set && chosen.set->events));
}

/* The log of a recording has begun with its session. */
void report_export_log(struct report *report)
{
	if (!report_export_rows(&report->request))
		return;
	if (session_source(report->session).play.there)
		report->logging = report->epoch->log;
	else
		report->logging = epoch_log_begin(report->epoch);
}

void report_export_end_log(struct report *report)
{
	if (report->logging)
		report->log = epoch_log_end(report->epoch);
	report->logging = false;
}

static struct export_choice choice_of(const struct report *report, const struct chosen *chosen)
{
	if (!chosen->set)
		return export_stacks(chosen->own, (struct stack_options) {
			.kernel_mark = report->request.kernel_mark, .thread_first = report->request.threads,
		});
	return export_set_choice((struct set_options) {
		.format = chosen->set, .progress = report->progress, .flame = report->request.flame,
		.stop = session_given_up(report->session),
	});
}

static struct set_facts facts_of(const struct report *report)
{
	struct set_facts facts = session_facts(report->session, report->epoch);

	facts.from = report->from;
	facts.to = report->to;
	facts.lost = report->profile->lost;
	for (uint32_t cpu = 0; report->profile->books && cpu < report->profile->cpu_count; cpu++)
		facts.events_lost += report->profile->books[cpu].trace.lost;
	return facts;
}

static void begin(struct report *report, const struct export_choice *choice)
{
	const struct epoch *epoch = report->epoch;
	const struct set_facts facts = facts_of(report);
	const struct export_input input = {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
		.log = report->log, .facts = &facts,
	};

	if (to_stdout(&report->request))
		report->export = export_new(choice, &input);
	else
		report->file = report_file_begin(report->request.out, report->epoch, &input, choice, report->progress);
}

struct sample_set *report_samples(const struct report *report, const struct sample_collect *how, char **error)
{
	const struct epoch *epoch = report->epoch;
	const struct set_facts facts = facts_of(report);

	if (report->profile->table->samples)
		return sample_collect(&(struct sample_collect) {
			.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
			.facts = &facts, .lines = report->request.lines,
			.most = how->most, .kept = how->kept, .nobody = how->nobody,
		}, error);
	if (report->profile->sampled)
		util_fail(error, "no report: no sample passes the filter; take another range or filter");
	else
		util_fail(error, "no report: there is no sample; take another range, or record for longer");
	return NULL;
}

/* A range whose last slice holds "now" has the last tick, too. */
static void begin_cut(struct report *report)
{
	bool begins = report->whole && report->request.phase < 0;
	uint64_t now = epoch_now(report->epoch);
	bool ends = report->to >= now && report->profile->question.to > now;

	report->progress = util_alloc(sizeof(*report->progress));
	report->file = report_file_begin_cut(report->request.out, report->epoch, report->request.recording,
		begins ? 0 : report->from, ends ? UINT64_MAX : report->to, report->progress);
}

bool report_export_begin(struct report *report)
{
	struct export_choice choice;
	struct chosen chosen;

	if (!report->request.out || !find(&report->request, &chosen) ||
			is_table(&chosen))
		return false;
	if (chosen.recording) {
		begin_cut(report);
		return true;
	}
	report_export_end_log(report);
	report->progress = to_stdout(&report->request) ? NULL : util_alloc(sizeof(*report->progress));
	choice = choice_of(report, &chosen);
	begin(report, &choice);
	return report->file;
}

void report_export_cut(struct report *report)
{
	if (report->progress)
		atomic_store_explicit(&report->progress->stop, true, memory_order_relaxed);
}

bool report_export_given_up(const struct report *report)
{
	return report->progress && report->state == REPORT_WRITING &&
		atomic_load_explicit(&report->progress->stop, memory_order_relaxed);
}

void report_export_abandon(const struct report *report)
{
	if (report->state == REPORT_WRITING && report->request.recording && report_export_cuts(&report->request))
		recording_cut_abandon(report->request.out);
}

int report_export_done(const struct report *report)
{
	return report->progress ? (int)atomic_load_explicit(&report->progress->done, memory_order_relaxed) : -1;
}

static bool put_csv(const struct report *report, FILE *out, char **error)
{
	const struct epoch *epoch = report->epoch;
	const struct export_choice choice = csv_choice((struct csv_options) {
		.stop = session_given_up(report->session),
	});
	struct export *export = export_new(&choice, &(struct export_input) {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
		.table = report->profile->table,
	});
	struct export_result result;
	bool good = export_put(export, "CSV", out, &result, error);

	export_free(export);
	return good;
}

/* CSV is one table: the tree takes the place of the other. */
static bool put_table_to(const struct report *report, enum export_id format, FILE *out, char **error)
{
	if (format == EXPORT_JSON)
		return report_json(report, out, error);
	return report->tree ? report_tree_csv(report, out, error) : put_csv(report, out, error);
}

static bool is_given_up(const struct report *report)
{
	return stop_now(session_given_up(report->session));
}

/* The table as JSON or CSV, into its file. False without `error`: it was given up. */
static bool put_table(const struct report *report, enum export_id format, FILE *out, char **error)
{
	struct util_file *file;

	if (to_stdout(&report->request))
		return put_table_to(report, format, out, error) && !is_given_up(report);
	file = util_file_open(report->request.out, error);
	if (file && put_table_to(report, format, util_file_stream(file), error) && !is_given_up(report))
		return util_file_commit(file, error);
	util_file_discard(file);
	return false;
}

void report_export_tell_beside(const struct report *report, FILE *out)
{
	if (!report->request.out || !to_stdout(&report->request))
		return;
	if (report->profile->lost)
		fprintf(out, "ktop: lost %" PRIu64 "\n", report->profile->lost);
	report_remarks(report, "ktop: ", out);
}

/* "chrome.json" as a whole is the ending of another format. */
static bool is_an_ending(const char *path, const struct chosen *chosen)
{
	const char *slash = strrchr(path, '/');
	char *longer = util_format("name.%s", slash ? slash + 1 : path);
	struct chosen other = { .own = EXPORTS };
	bool found = find_of_file(longer, &other);

	free(longer);
	return found && (other.set != chosen->set || other.recording != chosen->recording ||
		(!other.set && !other.recording && other.own != chosen->own));
}

/* The file is written in a format that may not be the one that its name was to mean. */
static void tell_format(const struct report_request *request, const struct chosen *chosen, FILE *out)
{
	const struct export_format *own = chosen->recording ? &export_recording : NULL;
	char *text = NULL;

	if (!own && !chosen->set)
		own = export_formats[chosen->own];
	if (!request->format)
		text = util_file_ends_twice(request->out, own ? own->ending : chosen->set->ending,
			own ? own->name : chosen->set->name);
	if (!request->format && !text && is_an_ending(request->out, chosen))
		text = util_file_written_as(request->out, own ? own->name : chosen->set->name);
	if (text)
		fprintf(out, "%s\n", text);
	free(text);
}

bool report_export_tell(struct report *report, FILE *out, char **error)
{
	const struct export_result *done = &report->exported;
	struct chosen chosen;

	if (!find(&report->request, &chosen) || report->unwritten)
		return true;			/* report_write tells why */
	if (chosen.recording) {
		fprintf(out, "%s: samples and gaps %" PRIu64 "\n", report->request.out, done->samples);
		tell_format(&report->request, &chosen, out);
		return true;
	}
	if (is_table(&chosen) && !put_table(report, chosen.own, out, error))
		return false;
	if (to_stdout(&report->request))
		return !report->export || export_put(report->export, "standard output", out, &report->exported, error);
	if (is_table(&chosen))
		fprintf(out, "%s: written", report->request.out);
	else
		fprintf(out, "%s: %" PRIu64 " sample%s (weight %" PRIu64 ")", report->request.out, done->samples,
			util_plural(done->samples), done->weight);
	if (report->profile->lost)
		fprintf(out, ", lost %" PRIu64, report->profile->lost);
	fputc('\n', out);
	tell_format(&report->request, &chosen, out);
	report_remarks(report, "", out);
	return true;
}
