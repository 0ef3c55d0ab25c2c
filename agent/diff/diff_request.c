/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/import/set_import.h"
#include "agent/samples/sample_set.h"
#include "diff_request.h"
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

const struct option_row diff_request_options[] = {
	OPTION("share", "self|total", OPTION_CHOICE, share, "of what ran itself, or with all that it called (self)"),
	OPTION("fail-above", "N", OPTION_TEXT, fail_above,
		"exit status 1 if a function's share grew by more, such as 2%", .check = check_points),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("format", "text|json", OPTION_CHOICE, format, "how it is written (by the ending of FILE; text)"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write, such as diff.json (standard output)",
		.letter = 'o'),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct diff_request diff_request_default = { .format = -1, .top = TOP_UNSET };

static bool is_json(const struct diff_request *request)
{
	const char *ending = request->file ? strrchr(request->file, '.') : NULL;

	return request->format >= 0 ? request->format == FORMAT_JSON : ending && strcmp(ending, ".json") == 0;
}

static void put(const struct diff_request *request, const struct set_diff *diff, const struct diff_names *names,
	FILE *to)
{
	if (is_json(request))
		diff_json(diff, names, request->top == TOP_UNSET ? 0 : request->top, to);
	else
		diff_text(diff, names, request->top == TOP_UNSET ? TOP : request->top, to);
}

static bool write_out(const struct diff_request *request, const struct set_diff *diff, const struct diff_names *names,
	char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;

	if (request->file && !file)
		return false;
	put(request, diff, names, file ? util_file_stream(file) : stdout);
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

static bool compare(const struct diff_request *request, const struct sample_set *before,
	const struct sample_set *after, const struct diff_names *names, struct budget *budget, char **error)
{
	struct set_diff diff;
	bool good = set_diff_make(&diff, before, after, request->share == 1, budget);

	if (!good)
		util_fail(error, "no diff: there is no memory for its rows; give more by --memory");
	good = good && write_out(request, &diff, names, error) && hold_limit(request, &diff, error);
	set_diff_clear(&diff);
	return good;
}

bool diff_request_do(const struct diff_request *request, const char *before, const char *after, char **error)
{
	struct budget *budget = budget_new(request->memory ? request->memory : BUDGET_MIB);
	struct sample_set *a = set_import_file(before, budget, error);
	struct sample_set *b = a ? set_import_file(after, budget, error) : NULL;
	const struct diff_names names = { before, after };
	bool good = b && compare(request, a, b, &names, budget, error);

	sample_set_free(a);
	sample_set_free(b);
	budget_release(budget);
	return good;
}
