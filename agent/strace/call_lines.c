/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/duration_text.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/call_text.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/threads.h"
#include "agent/session/session.h"
#include "agent/trace/latencies.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "call_lines.h"

enum {
	TITLE = 64,
	CALLS = 1024,			/* of the summary, by number: more than any kernel has */
};

struct call_sum {
	uint64_t number, boot;
	uint64_t count, errors, lost, total, max;	/* lost: those without an end; they count in nothing else, */
	uint64_t exits;			/* as do those that never return */
	struct latencies latencies;
};

struct call_lines {
	const char *whom;
	bool summary;
	FILE *out;
	struct session *session;
	struct trace_watcher watcher;
	uint64_t boot;			/* number of the epoch whose calls come; 0: none has come */
	uint64_t count, lost, refused;	/* calls; events; calls for which the summary has no room */
	struct call_sum *sums[CALLS];
	uint32_t sum_count;
	struct hash by_number;		/* of `sums` */
	struct latency_pages latencies;	/* of them */
};

/* ---- whose calls ---- */

static bool is_whom(const struct call_lines *lines, const struct epoch *epoch, uint32_t thread)
{
	struct threads *threads = epoch->inputs.threads;
	uint32_t process = threads_owner(threads, thread, EVENT_KERNEL);
	char title[TITLE], *end;
	unsigned long number;

	if (!lines->whom)
		return true;
	number = strtoul(lines->whom, &end, 10);
	if (!*end)
		return number == thread || (number == process && process != EVENT_KERNEL);
	threads_title(threads, thread, title, sizeof(title));
	return strcmp(lines->whom, title) == 0 || strcmp(lines->whom, threads_name(threads, thread)) == 0 ||
		(process != EVENT_KERNEL && strcmp(lines->whom, threads_process_name(threads, process)) == 0);
}

/* By its name: it never returns. */
static bool is_exit(const struct epoch *epoch, uint64_t number)
{
	const char *name = guest_events_called(epoch->events, ROLE_CALL_BEGIN, number);

	return strcmp(name, "exit") == 0 || strcmp(name, "exit_group") == 0;
}

/* ---- a line ---- */

static void write_time(FILE *out, uint64_t ns)
{
	fprintf(out, "%5" PRIu64 ".%06" PRIu64 "  ", ns / NS_PER_SECOND, ns % NS_PER_SECOND / 1000);
}

/* Up to its arguments. */
static void begin_line(const struct call_lines *lines, const struct epoch *epoch, const struct trace_span *call)
{
	char title[TITLE], text[CALL_TEXT];

	write_time(lines->out, call->begin);
	threads_title(epoch->inputs.threads, (uint32_t)call->thread, title, sizeof(title));
	fprintf(lines->out, "%s  %s", title, call_text(epoch, call, text));
}

static void write_call(const struct call_lines *lines, const struct epoch *epoch, const struct trace_span *call)
{
	char result[CALL_RESULT], took[DURATION_TEXT];

	begin_line(lines, epoch, call);
	if (call->lost)
		fputs(") = ? <end not known>\n", lines->out);
	else
		fprintf(lines->out, ") = %s <%s>\n", call_text_result(epoch, call->result, result),
			duration_text(call->end - call->begin, 3, took));
}

static void write_unfinished(void *context, const struct trace_span *call)
{
	struct call_lines *lines = context;
	const struct epoch *epoch = session_epoch(lines->session);

	if (!is_whom(lines, epoch, (uint32_t)call->thread) || is_exit(epoch, call->number))
		return;
	lines->count++;
	begin_line(lines, epoch, call);
	fputs(call->lost ? ") = ? <end not known>\n" : " <unfinished ...>\n", lines->out);
}

/* ---- the summary ---- */

/* NULL: there are too many. */
static struct call_sum *sum_of(struct call_lines *lines, uint64_t number)
{
	uint64_t hash = hash_pair(&lines->by_number, number, lines->boot);
	uint32_t at = 0, position;

	while ((position = hash_next(&lines->by_number, hash, &at)) != HASH_NONE)
		if (lines->sums[position]->number == number && lines->sums[position]->boot == lines->boot)
			return lines->sums[position];
	if (lines->sum_count == CALLS || !hash_add(&lines->by_number, hash, lines->sum_count))
		return NULL;
	lines->sums[lines->sum_count] = util_alloc(sizeof(struct call_sum));
	lines->sums[lines->sum_count]->number = number;
	lines->sums[lines->sum_count]->boot = lines->boot;
	return lines->sums[lines->sum_count++];
}

static void sum_call(struct call_lines *lines, const struct trace_span *call)
{
	struct call_sum *sum = sum_of(lines, call->number);
	uint64_t took = call->end - call->begin;

	lines->refused += !sum;
	if (!sum)
		return;
	if (call->lost) {
		sum->lost++;
		return;
	}
	sum->count++;
	sum->errors += call_is_error(call->result);
	sum->total += took;
	sum->max = took > sum->max ? took : sum->max;
	latencies_add(&sum->latencies, &lines->latencies, took, 1);	/* which has no limit */
}

static int by_total(const void *left, const void *right)
{
	const struct call_sum *a = *(struct call_sum *const *)left, *b = *(struct call_sum *const *)right;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static void write_sum(const struct call_lines *lines, const struct epoch *epoch, const struct call_sum *sum)
{
	const uint64_t times[] = {
		sum->total,
		latencies_percentile(&sum->latencies, &lines->latencies, sum->max, 50),
		latencies_percentile(&sum->latencies, &lines->latencies, sum->max, 99), sum->max,
	};
	char text[DURATION_TEXT], name[CALL_TEXT];

	fprintf(lines->out, "%9" PRIu64 " %9" PRIu64, sum->count + sum->exits, sum->errors);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		fprintf(lines->out, " %8s", sum->count ? duration_text(times[i], 3, text) : "-");
	fprintf(lines->out, "  %s", call_text_name(epoch, sum->number, name));
	if (sum->lost)
		fprintf(lines->out, " (and %" PRIu64 " whose end was lost)", sum->lost);
	putc('\n', lines->out);
}

/* Of the last boot: names of an earlier one are not known any more. */
static void write_summary(struct call_lines *lines, const struct epoch *epoch)
{
	qsort(lines->sums, lines->sum_count, sizeof(*lines->sums), by_total);
	fprintf(lines->out, "%9s %9s %8s %8s %8s %8s  %s\n", "CALLS", "ERRORS", "TOTAL", "p50", "p99", "MAX", "CALL");
	for (uint32_t i = 0; i < lines->sum_count; i++)
		if (lines->sums[i]->boot == lines->boot)
			write_sum(lines, epoch, lines->sums[i]);
	if (lines->lost)
		fprintf(lines->out, "(%" PRIu64 " event%s lost: calls are missing)\n", lines->lost,
			lines->lost == 1 ? " was" : "s were");
	if (lines->refused)
		fprintf(lines->out, "(%" PRIu64 " call%s of other numbers found no room)\n", lines->refused,
			util_plural(lines->refused));
}

/* ---- what comes ---- */

/* The present boot, whose calls come. */
static const struct epoch *have_boot(struct call_lines *lines)
{
	const struct epoch *epoch = session_epoch(lines->session);

	if (lines->boot && lines->boot != epoch->number)
		fprintf(lines->out, "-- the guest has booted anew --\n");
	lines->boot = epoch->number;
	return epoch;
}

static void take_beginning(void *context, const struct trace_span *call)
{
	struct call_lines *lines = context;
	const struct epoch *epoch = lines->session ? have_boot(lines) : NULL;
	struct call_sum *sum;

	if (!epoch || !is_exit(epoch, call->number) || !is_whom(lines, epoch, (uint32_t)call->thread))
		return;
	lines->count++;
	if (lines->summary) {
		sum = sum_of(lines, call->number);
		*(sum ? &sum->exits : &lines->refused) += 1;
		return;
	}
	begin_line(lines, epoch, call);
	fputs(") = ?\n", lines->out);
}

static void take_call(void *context, const struct trace_span *call)
{
	struct call_lines *lines = context;
	const struct epoch *epoch = lines->session ? have_boot(lines) : NULL;

	if (!epoch || !is_whom(lines, epoch, (uint32_t)call->thread))
		return;
	lines->count++;
	if (lines->summary)
		sum_call(lines, call);
	else
		write_call(lines, epoch, call);
}

static void take_loss(void *context, uint64_t time, uint32_t cpu, uint64_t count)
{
	struct call_lines *lines = context;

	if (!lines->session)
		return;
	have_boot(lines);
	lines->lost += count;
	if (lines->summary)
		return;
	write_time(lines->out, time);
	fprintf(lines->out, "-- %" PRIu64 " event%s of CPU %" PRIu32 " %s lost here --\n", count,
		util_plural(count), cpu, count == 1 ? "was" : "were");
}

struct call_lines *call_lines_new(const char *whom, bool summary, FILE *out)
{
	struct call_lines *lines = util_alloc(sizeof(*lines));

	lines->whom = whom;
	lines->summary = summary;
	lines->out = out;
	lines->watcher = (struct trace_watcher) {
		.context = lines, .begun = take_beginning, .call = take_call, .lost = take_loss,
	};
	hash_init(&lines->by_number, NULL);
	return lines;
}

void call_lines_free(struct call_lines *lines)
{
	if (!lines)
		return;
	for (uint32_t i = 0; i < lines->sum_count; i++)
		free(lines->sums[i]);
	hash_clear(&lines->by_number);
	latency_pages_clear(&lines->latencies);
	free(lines);
}

const struct trace_watcher *call_lines_watcher(const struct call_lines *lines)
{
	return &lines->watcher;
}

void call_lines_of(struct call_lines *lines, struct session *session)
{
	lines->session = session;
}

void call_lines_end(struct call_lines *lines)
{
	const struct epoch *epoch = session_epoch(lines->session);

	if (!epoch)
		return;
	trace_end(epoch->trace);
	have_boot(lines);
	if (lines->summary)
		write_summary(lines, epoch);
	else
		pairs_calls(trace_pairs(epoch->trace), write_unfinished, lines);
	lines->session = NULL;
}

uint64_t call_lines_count(const struct call_lines *lines)
{
	return lines->count;
}
