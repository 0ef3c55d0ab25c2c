/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/table.h"
#include "agent/wire/event.h"
#include "report.h"

/* Such names fit into a filter, beside its words. */
enum { THREAD_MOST = 63, FUNCTION_MOST = 126 };

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct report_request, member), __VA_ARGS__ }

/* Where a row counts besides a report of a guest. */
#define GUEST .heeded = REPORT_OF_SCREEN
#define ANSWER .heeded = REPORT_OF_RECORDING

static bool check_filter(const char *text, char **error)
{
	struct filter filter;

	return filter_parse(text, &filter, error);
}

static bool check_thread(const char *text, char **error)
{
	struct filter filter = { .count = 0 };

	return filter_add(&filter, FILTER_THREAD, text, error);
}

static bool check_function(const char *text, char **error)
{
	struct filter filter = { .count = 0 };

	return filter_add(&filter, FILTER_FUNCTION, text, error);
}

/* What is asked about: the rows that a report and an export share. */
#define EXCERPT_ROWS \
	OPTION("from", "T", OPTION_TEXT, from, "what is past, from this time on: 90 or 1:30 by the guest's clock, " \
		"-30 for 30 s before now", .check = report_check_time, ANSWER), \
	OPTION("to", "T", OPTION_TEXT, to, "likewise, up to this time (now); +30 is 30 s after the first sample", \
		.check = report_check_time, ANSWER), \
	OPTION("rate", "N", OPTION_NUMBER, rate, "samples per second on each CPU, 1 to 20000", \
		.least = 1, .most = 20000, GUEST), \
	OPTION("sampler", SAMPLER_CHOICES, OPTION_CHOICE, sampler, "nmi sees code with interrupts off; none: the " \
		"guest only traces", GUEST), \
	OPTION("phase", "firmware|loader|kernel|user", OPTION_CHOICE, phase, \
		"only this phase of a boot that was sampled from its first instruction", ANSWER), \
	OPTION("cpu", "N", OPTION_NUMBER, cpu, "only this CPU", ANSWER), \
	OPTION("thread", "NAME", OPTION_TEXT, thread, \
		"only threads or processes with this in their name", \
		.most = THREAD_MOST, .check = check_thread, ANSWER), \
	OPTION("mode", "kernel|user|idle|irq|softirq", OPTION_CHOICE, mode, \
		"only samples taken in this mode", ANSWER), \
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "only what these words let pass, as typed on the screen: " \
		FILTER_WORDS, .check = check_filter, .once = option_words_once, ANSWER),

/* Which table, of those that the report has. */
#define TABLE_ROWS \
	OPTION("by", GROUP_CHOICES "|lock", OPTION_CHOICE, by, \
		"what a row of the table is (function)", ANSWER), \
	OPTION("sort", "self|total|hits|cpu|function|object|source", OPTION_CHOICE, sort, \
		"order of the table", ANSWER), \
	OPTION("tree", "down|up", OPTION_CHOICE, tree, "also the call tree: down from the roots of the stacks, " \
		"or up from the functions that ran", ANSWER), \
	OPTION("least", "N", OPTION_NUMBER, least, "rows of the tree have N percent of all or more (1)", \
		.most = 100, ANSWER), \
	OPTION("annotate", "FUNCTION", OPTION_TEXT, annotate, "also the code of this function: source lines and " \
		"instructions, with the samples on each", .most = FUNCTION_MOST, ANSWER), \
	OPTION("function", "PATTERN", OPTION_TEXT, function, \
		"only functions with this in their name", \
		.most = FUNCTION_MOST, .check = check_function, ANSWER),

/* How folded stacks are written. */
#define FOLDED_ROWS \
	OPTION("threads", NULL, OPTION_FLAG, threads, \
		"folded: the thread's name as the root frame", ANSWER), \
	OPTION("inline", NULL, OPTION_FLAG, inlined, \
		"folded: inlined functions as frames, marked _[i]", ANSWER), \
	OPTION("kernel-mark", "no|yes", OPTION_CHOICE, kernel_mark, \
		"folded: _[k] after the names of kernel frames (yes)", ANSWER),

const struct option_row report_options[] = {
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns, "how long to profile, in seconds of "
		"guest time (5)", ANSWER),
	OPTION("wait", "N", OPTION_SECONDS, wait_ns,
		"seconds to wait for a guest that is silent (10; 30 with run)"),
	OPTION("json", NULL, OPTION_FLAG, json, "the report as JSON", ANSWER),
	OPTION("folded", "FILE", OPTION_FILE, files[EXPORT_FOLDED],
		"write the stacks as well, one per line, for flame graphs", ANSWER),
	OPTION("raw", "DIR", OPTION_FOLDER, raw, "also record what the guest sends, as `ktop record` does", GUEST),
	OPTION("events", NULL, OPTION_FLAG, events, "also what the guest's trace events say took time: "
		"system calls and interrupts", ANSWER),
	OPTION("allocations", NULL, OPTION_FLAG, allocations, "also what the guest's allocators have given out and not "
		"taken back, by its trace events", ANSWER),
	OPTION("baseline", "FROM..TO", OPTION_TEXT, baseline, "events, allocations: also what each row was in this "
		"range; both as for --from", .check = report_check_range, ANSWER),
	OPTION("timeline", NULL, OPTION_FLAG, timeline, "also what each CPU and each thread did when, by the guest's "
		"trace events", ANSWER),
	OPTION("waits", NULL, OPTION_FLAG, waits, "also what each thread waits for, and who holds that, at the end",
		ANSWER),
	OPTION("top", "N", OPTION_NUMBER, top, "rows of the table, 0 for all (30)", ANSWER),
	TABLE_ROWS
	EXCERPT_ROWS
	FOLDED_ROWS
	{ 0 },
};

const struct option_row export_options[] = {
	OPTION("output", "FILE", OPTION_OUTPUT, out, "the file to write (or -o FILE); - is the standard output",
		.letter = 'o', ANSWER),
	OPTION("format", "FORMAT", OPTION_TEXT, format,
		"its format, if the ending of its name does not tell; help lists all", ANSWER),
	OPTION("flame", NULL, OPTION_FLAG, flame, "pictures: flames, from the foot up, in place of icicles", ANSWER),
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns, "how long to profile, in seconds of "
		"guest time (5)", ANSWER),
	OPTION("wait", "N", OPTION_SECONDS, wait_ns,
		"seconds to wait for a guest that is silent (10)"),
	TABLE_ROWS
	EXCERPT_ROWS
	FOLDED_ROWS
	{ 0 },
};

const struct report_request report_default = {
	.duration_ns = 5 * NS_PER_SECOND,
	.wait_ns = REPORT_WAIT_SECONDS * NS_PER_SECOND,
	.kernel_mark = 1,
	.sort = COLUMN_SELF,
	.top = 30,
	.tree = -1,
	.least = REPORT_LEAST,
	.sampler = -1,
	.phase = -1,
	.cpu = EVENT_NONE,
	.mode = -1,
};
