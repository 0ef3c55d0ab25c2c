/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/query/filter_words.h"
#include "diff_request.h"
#include "diff_side.h"
#include "diff_tables.h"
#include "set_diff.h"

enum { FORMAT_TEXT, FORMAT_JSON, TOP = 30 };
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

const struct option_row diff_request_options[] = {
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "of recordings: only what these words let pass, as typed on the "
		"screen: " FILTER_WORDS, .check = check_filter),
	OPTION("share", "self|total", OPTION_CHOICE, share, "of what ran itself, or with all that it called (self)"),
	OPTION("fail-above", "N", OPTION_TEXT, fail_above,
		"exit status 1 if a function's share grew by more, such as 2%", .check = check_points),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("format", "text|json", OPTION_CHOICE, format, "how it is written (by the ending of FILE; text)"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write: .txt, .json (standard output)",
		.letter = 'o'),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct diff_request diff_request_default = { .format = -1, .top = TOP_UNSET };

/* -1: the ending of the file's name tells none. */
static int format_of(const struct diff_request *request)
{
	const char *ending = request->file ? strrchr(request->file, '.') : ".txt";

	if (request->format >= 0)
		return request->format;
	if (!ending)
		return -1;
	return strcmp(ending, ".json") == 0 ? FORMAT_JSON : strcmp(ending, ".txt") == 0 ? FORMAT_TEXT : -1;
}

bool diff_request_check(const struct diff_request *request, char **error)
{
	return format_of(request) >= 0 ||
		util_fail(error, "%s: its ending names no format; give --format, or one of .txt, .json", request->file);
}

static void put(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	FILE *to)
{
	if (format_of(request) == FORMAT_JSON)
		diff_json(diff, sides, request->top == TOP_UNSET ? 0 : request->top, to);
	else
		diff_text(diff, sides, request->top == TOP_UNSET ? TOP : request->top, to);
}

static bool write_out(const struct diff_request *request, const struct set_diff *diff, const struct diff_side *sides,
	char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;

	if (request->file && !file)
		return false;
	put(request, diff, sides, file ? util_file_stream(file) : stdout);
	return !file || util_file_commit(file, error);
}

/* False with `error` set: a function's share has grown by more than it may. */
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
	util_fail(error, "the share of %s has grown by %.2f points: --fail-above %s allows less; see the table", name,
		100 * row->change.share, request->fail_above);
	free(name);
	return false;
}

static bool compare(const struct diff_request *request, const struct diff_side *sides, struct budget *budget,
	char **error)
{
	struct set_diff diff;
	bool good = set_diff_make(&diff, sides[0].set, sides[1].set, request->share == 1, budget);

	if (!good)
		util_fail(error, "no diff: there is no memory for its rows; give more by --memory");
	good = good && write_out(request, &diff, sides, error) && hold_limit(request, &diff, error);
	set_diff_clear(&diff);
	return good;
}

bool diff_request_do(const struct diff_request *request, const char *before, const char *after, char **error)
{
	struct budget *budget = budget_new(request->memory ? request->memory : BUDGET_MIB);
	struct diff_side sides[DIFF_SIDES] = { 0 };
	bool good = diff_side_read(&sides[0], before, request->filter, budget, error) &&
		diff_side_read(&sides[1], after, request->filter, budget, error) &&
		compare(request, sides, budget, error);

	diff_side_clear(&sides[0]);
	diff_side_clear(&sides[1]);
	budget_release(budget);
	return good;
}
