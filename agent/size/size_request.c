/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "size_format.h"
#include "size_request.h"

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct size_request, member), __VA_ARGS__ }

static bool check_filter(const char *text, char **error)
{
	struct filter filter;

	return size_rows_filter(text, &filter, error);
}

const struct option_row size_request_options[] = {
	OPTION("by", "function|file|folder|object|namespace", OPTION_CHOICE, by, "what a row is (function)"),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "only the code that these choose: NAME, object:NAME, "
		"file:NAME, !NAME",
		.check = check_filter, .once = option_words_once),
	OPTION("format", SIZE_FORMAT_NAMES, OPTION_CHOICE, format, "how it is written (by the ending of FILE; text)"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write: .txt, .json, .folded, .svg (standard output)",
		.letter = 'o'),
	OPTION("debug-dir", "DIR", OPTION_FOLDER, debug, "a folder with debug files, laid out as /usr/lib/debug"),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct size_request size_request_default = { .format = -1, .top = SIZE_TOP_UNSET };

static const struct size_format *format_of(const struct size_request *request)
{
	if (request->format >= 0)
		return size_format_at(request->format);
	return request->file ? size_format_of_file(request->file) : &size_text;
}

bool size_request_check(const struct size_request *request, struct size_asked *asked, char **error)
{
	const struct size_format *format = format_of(request);

	*asked = (struct size_asked) { .by = (enum size_by)request->by };
	if (request->filter && !size_rows_filter(request->filter, &asked->filter, error))
		return false;
	if (!util_file_is_folder("debug-dir", request->debug, error))
		return false;
	if (!format)
		return util_fail(error, "%s: its ending names no format; give --format, or one of .txt, .json, "
			".folded, .svg", request->file);
	if (request->top != SIZE_TOP_UNSET && !format->rows)
		return util_fail(error, "--top: without effect: %s has no rows; leave it out", format->name);
	return true;
}

bool size_request_write(const struct size_request *request, struct code_sizes *sizes, const struct size_asked *asked,
	char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;
	const char *nothing = "there is no memory for its rows; give more by --memory";

	if (request->file && !file)
		return false;
	if (!format_of(request)->write(sizes, asked, request->top, file ? util_file_stream(file) : stdout,
			&nothing)) {
		util_file_discard(file);
		return util_fail(error, "%s: not written: %s", request->file ? request->file : "standard output",
			nothing);
	}
	return !file || util_file_commit(file, error);
}

char *size_request_remark(const struct size_request *request)
{
	const struct size_format *format = format_of(request);

	return request->file && request->format < 0 ?
		util_file_ends_twice(request->file, format->ending, format->name) : NULL;
}
