/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/query/query.h"
#include "agent/wire/event.h"
#include "report.h"

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct report_request, member), __VA_ARGS__ }

const struct option_row report_options[] = {
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns, "guest time to profile (5)"),
	OPTION("wait", "N", OPTION_SECONDS, wait_ns,
		"how long a guest may stand still or say nothing (10; 30 with run)"),
	OPTION("json", NULL, OPTION_FLAG, json, "the report as JSON"),
	OPTION("folded", "FILE", OPTION_FILE, folded,
		"write the stacks as well, one per line, for flame graphs"),
	OPTION("raw", "DIR", OPTION_TEXT, raw, "record what the guest sends, as a CTF trace"),
	OPTION("top", "N", OPTION_NUMBER, top, "rows of the table, 0 for all (30)"),
	OPTION("sort", "self|total|hits|cpu|function|object|source", OPTION_CHOICE, sort,
		"order of the table"),
	OPTION("rate", "N", OPTION_NUMBER, rate, "samples per second and CPU, 1 to 20000",
		.least = 1, .most = 20000),
	OPTION("sampler", "timer|nmi", OPTION_CHOICE, sampler, "nmi sees code with interrupts off"),
	OPTION("cpu", "N", OPTION_NUMBER, cpu, "only this CPU"),
	OPTION("thread", "NAME", OPTION_TEXT, thread,
		"only threads or processes with this in their name"),
	OPTION("mode", "kernel|user|idle", OPTION_CHOICE, mode, "only samples taken in this mode"),
	OPTION("function", "PATTERN", OPTION_TEXT, function,
		"only functions with this in their name"),
	OPTION("threads", NULL, OPTION_FLAG, threads,
		"folded: the thread's name as the root frame"),
	OPTION("inline", NULL, OPTION_FLAG, inlined,
		"folded: what was inlined as frames, marked _[i]"),
	OPTION("kernel-mark", "no|yes", OPTION_CHOICE, kernel_mark,
		"folded: _[k] behind kernel frames (yes)"),
	{ 0 },
};

const struct report_request report_default = {
	.duration_ns = 5000000000u,
	.wait_ns = 10 * NS_PER_SECOND,
	.kernel_mark = 1,
	.sort = COLUMN_SELF,
	.top = 30,
	.sampler = -1,
	.cpu = EVENT_NONE,
	.mode = -1,
};

char *report_mistake(const struct report_request *request)
{
	const struct filter *filter = NULL;
	struct util_file *file;
	char *error = NULL;

	if (request->thread && strlen(request->thread) >= sizeof(filter->thread))
		return util_format("--thread: longer than %zu bytes; give a part of the name",
			sizeof(filter->thread) - 1);
	if (request->function && strlen(request->function) >= sizeof(filter->pattern))
		return util_format("--function: longer than %zu bytes; give a part of the name",
			sizeof(filter->pattern) - 1);
	if (!request->folded)
		return NULL;
	file = util_file_open(request->folded, &error);
	util_file_discard(file);
	return error;
}
