/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/samples/kept_paths.h"
#include "agent/samples/sample_collect.h"
#include "agent/samples/sample_set.h"
#include "diff_request.h"
#include "diff_side.h"
#include "diff_tables.h"
#include "set_diff.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_SVG, FORMAT_HTML, FORMATS };
enum { SHARE_SELF, SHARE_TOTAL };
enum { PER_TIME, PER_SAMPLES };
enum { TOP = 30 };
static const char *const endings[FORMATS] = { ".txt", ".json", ".svg", ".html" };
#define TOP_UNSET UINT32_MAX
#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct diff_request, member), __VA_ARGS__ }

/* "2%" or "2". */
static bool read_points(const char *text, double *points)
{
	char *end;

	*points = strtod(text, &end);
	if (end == text || *text < '0' || *text > '9')
		return false;
	end += *end == '%';
	return !*end && *points <= 100;
}

static bool check_points(const char *text, char **error)
{
	double points;

	return read_points(text, &points) || util_fail(error, "it is no share; give such as 2%%");
}

static bool check_filter(const char *text, char **error)
{
	struct filter filter;

	return filter_parse(text, &filter, error);
}

static struct filter filter_of(const struct diff_request *request)
{
	struct filter filter = { 0 };

	if (request->filter)
		filter_parse(request->filter, &filter, NULL);
	return filter;
}

const struct option_row diff_request_options[] = {
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "of recordings: only what these words let pass, as typed on the "
		"screen: " FILTER_WORDS, .check = check_filter, .once = option_words_once),
	OPTION("by", GROUP_CHOICES, OPTION_CHOICE, by, "what a row of the table is (function)"),
	OPTION("share", "self|total", OPTION_CHOICE, share, "of what ran itself, or with all that it called (self)"),
	OPTION("per", "time|samples", OPTION_CHOICE, per,
		"what shares are of: the time that samples stand for, or their number (time)"),
	OPTION("inline", NULL, OPTION_FLAG, inlined,
		"inlined functions are rows and frames; else they count for the one that they are in"),
	OPTION("fail-above", "N", OPTION_TEXT, fail_above,
		"exit status 3 if the share of a row grew by more, such as 2%", .check = check_points),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("format", "text|json|svg|html", OPTION_CHOICE, format,
		"how it is written (by the ending of FILE; text)"),
	OPTION("flame", NULL, OPTION_FLAG, flame, "pictures: flames, from the foot up, in place of icicles"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write: .txt, .json, .svg, .html (standard output)",
		.letter = 'o'),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct diff_request diff_request_default = { .format = -1, .top = TOP_UNSET };

/* -1: the ending of the file's name tells none. */
static int format_of(const struct diff_request *request)
{
	const char *ending = request->file ? strrchr(request->file, '.') : endings[FORMAT_TEXT];
	int format = ending ? FORMATS - 1 : -1;

	if (request->format >= 0)
		return request->format;
	while (format >= 0 && strcmp(ending, endings[format]) != 0)
		format--;
	return format;
}

static bool is_picture(const struct diff_request *request)
{
	return format_of(request) == FORMAT_SVG || format_of(request) == FORMAT_HTML;
}

/* An option of rows that was given; NULL: none was. */
static const char *option_of_rows(const struct diff_request *request)
{
	return request->by != GROUP_FUNCTION ? "--by" : request->share != SHARE_SELF ? "--share" :
		request->top != TOP_UNSET ? "--top" : NULL;
}

static bool names_rows(const struct diff_request *request)
{
	const struct filter filter = filter_of(request);

	return !filter_lacks(&filter, FILTER_FUNCTION);
}

bool diff_request_check(const struct diff_request *request, char **error)
{
	const char *option = option_of_rows(request);

	if (format_of(request) < 0)
		return util_fail(error, "%s: its ending names no format; give --format, or one of .txt, .json, .svg, "
			".html", request->file);
	if (is_picture(request) && option)
		return util_fail(error, "%s: without effect: a picture has stacks, and no rows; leave it out", option);
	if (is_picture(request) && names_rows(request))
		return util_fail(error, "--filter: without effect: a NAME alone chooses rows, and a picture has none; "
			"give under:NAME");
	if (!is_picture(request) && request->flame)
		return util_fail(error, "--flame: without effect: it is for pictures; leave it out");
	return true;
}

/* False with `error` set: no memory to draw it. */
static bool put(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	const struct kept_paths *kept, FILE *to, char **error)
{
	int format = format_of(request);

	if (is_picture(request))
		return diff_picture(diff, sides, (struct diff_look) {
			.html = format == FORMAT_HTML, .flame = request->flame, .kept = kept,
		}, to, error);
	if (format == FORMAT_JSON)
		diff_json(diff, sides, request->top == TOP_UNSET ? 0 : request->top, to);
	else
		diff_text(diff, sides, request->top == TOP_UNSET ? TOP : request->top, to);
	return true;
}

static bool write_out(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	const struct kept_paths *kept, char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;

	if (request->file && !file)
		return false;
	if (!put(request, diff, sides, kept, file ? util_file_stream(file) : stdout, error)) {
		util_file_discard(file);
		return false;
	}
	return !file || util_file_commit(file, error);
}

/* False with `error` set: the share of a row has grown by more than it may. */
static bool hold_limit(const struct diff_request *request, const struct set_diff *diff, char **error)
{
	const struct diff_row *row;
	double points;
	char *name;

	if (!request->fail_above || !read_points(request->fail_above, &points))
		return true;
	row = set_diff_grown(diff, points);
	if (!row)
		return true;
	name = util_printable(row->name, strlen(row->name));
	if (row->named.share < row->change.share)
		util_fail(error, "of what has names, the share of %s has grown by %.2f points: --fail-above %s allows "
			"less; see the table", name, 100 * row->named.share, request->fail_above);
	else
		util_fail(error, "the share of %s has grown by %.2f points: --fail-above %s allows less; see the table",
			name, 100 * row->change.share, request->fail_above);
	free(name);
	return false;
}

/* False with `error` set: a side does not know what is asked for. */
static bool check_sides(const struct diff_request *request, const struct diff_side *sides, char **error)
{
	if (request->names && !sides[0].recorded && !sides[1].recorded)
		return util_fail(error, "no names: neither side is a recording; leave out --kernel and the like");
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (!set_diff_knows(sides[i].set, (enum group_by)request->by))
			return util_fail(error, "--by %s: without effect: %s does not tell it; choose other rows, or "
				"name a recording", group_words[request->by], sides[i].name);
		if (request->per == PER_SAMPLES && !sides[i].set->samples)
			return util_fail(error, "--per samples: without effect: %s does not tell their number; "
				"leave it out", sides[i].name);
	}
	return true;
}

static enum diff_outcome compare(const struct diff_request *request, const struct diff_side *sides,
	const struct kept_paths *kept, struct budget *budget, char **error)
{
	const struct filter filter = filter_of(request);
	const struct diff_question question = {
		.filter = &filter,
		.by = (enum group_by)request->by, .total = request->share == SHARE_TOTAL,
		.inlined = request->inlined, .samples = request->per == PER_SAMPLES,
	};
	enum diff_outcome outcome = DIFF_FAILED;
	struct set_diff diff;

	if (!check_sides(request, sides, error))
		return DIFF_FAILED;
	if (!set_diff_make(&diff, sides[0].set, sides[1].set, question, budget))
		util_fail(error, "no diff: there is no memory for its rows; give more by --memory");
	else if (write_out(request, &diff, sides, kept, error))
		outcome = hold_limit(request, &diff, error) ? DIFF_DONE : DIFF_GROWN;
	set_diff_clear(&diff);
	return outcome;
}

/* What is asked for, and where it comes from. */
struct asked {
	const struct diff_request *request;
	const char *words[DIFF_SIDES];
	struct diff_side_options options;
	struct budget *budget;
};

static bool read_side(const struct asked *asked, int i, struct diff_side *sides, char **error)
{
	return diff_side_read(&sides[i], asked->words[i], &asked->options, asked->budget, error);
}

static bool is_merged(const struct diff_side *side)
{
	return side->set->facts.merged;
}

/* Can all frames of both sides be drawn? */
static bool fits(const struct diff_side *sides, const struct budget *budget)
{
	return !is_merged(&sides[0]) && !is_merged(&sides[1]) &&
		sample_collect_drawn(sides[0].set) + sample_collect_drawn(sides[1].set) <= budget_left(budget);
}

/* Reads what each side has merged by itself again, now with the paths that both keep. */
static bool read_again(struct asked *asked, struct diff_side *sides, char **error)
{
	const bool merged[DIFF_SIDES] = { is_merged(&sides[0]), is_merged(&sides[1]) };

	for (int i = 0; i < DIFF_SIDES; i++)
		if (merged[i])
			diff_side_clear(&sides[i]);
	for (int i = 0; i < DIFF_SIDES; i++)
		if (merged[i] && !read_side(asked, i, sides, error))
			return false;
	return true;
}

/*
 * Chooses the heaviest frames of each side: on both sides they stand alone, and all others are merged. NULL with
 * `error` set.
 */
static struct kept_paths *merge(struct asked *asked, struct diff_side *sides, char **error)
{
	struct kept_paths *kept = kept_paths_new(asked->options.lines, asked->budget);

	asked->options.kept = kept;
	if (asked->request->fail_above && (is_merged(&sides[0]) || is_merged(&sides[1])))
		util_fail(error, "--fail-above: not decided: there is no memory for all frames; give more by --memory, "
			"or choose shorter ranges");
	else if (!kept_paths_choose(kept, sides[0].set, SAMPLE_COLLECT_ALONE) ||
			!kept_paths_choose(kept, sides[1].set, SAMPLE_COLLECT_ALONE))
		util_fail(error, "no diff: there is no memory for its frames; give more by --memory");
	else if (read_again(asked, sides, error))
		return kept;
	kept_paths_free(kept);
	return NULL;
}

enum diff_outcome diff_request_do(const struct diff_request *request, const char *before, const char *after,
	char **error)
{
	struct asked asked = {
		.request = request, .words = { before, after },
		.options = {
			.filter = request->filter, .names = request->names,
			.lines = request->inlined || request->by == GROUP_LINE || request->by == GROUP_FILE,
			.nobody = !grouping_is_by_who((enum group_by)request->by),
			.most = is_picture(request) ? SAMPLE_COLLECT_ALONE : 0,
		},
		.budget = budget_new(request->memory ? request->memory : BUDGET_MIB),
	};
	struct diff_side sides[DIFF_SIDES] = { 0 };
	enum diff_outcome outcome = DIFF_FAILED;
	struct kept_paths *kept = NULL;

	if (read_side(&asked, 0, sides, error) && read_side(&asked, 1, sides, error)) {
		bool whole = !is_picture(request) || fits(sides, asked.budget);

		if (!whole)
			kept = merge(&asked, sides, error);
		if (whole || kept)
			outcome = compare(request, sides, kept, asked.budget, error);
	}
	kept_paths_free(kept);
	diff_side_clear(&sides[0]);
	diff_side_clear(&sides[1]);
	budget_release(asked.budget);
	return outcome;
}

char *diff_request_remark(const struct diff_request *request)
{
	static const char *const names[FORMATS] = { "text", "json", "svg", "html" };
	int format = format_of(request);

	return request->file && request->format < 0 ?
		util_file_ends_twice(request->file, endings[format], names[format]) : NULL;
}
