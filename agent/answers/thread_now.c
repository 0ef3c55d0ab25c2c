/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/threads.h"
#include "agent/trace/trace.h"
#include "thread_now.h"

enum { TITLE = 96 };

/* The number behind the name, if the thread of that number has this title. */
static bool read_number(const struct threads *threads, const char *title, uint32_t *thread)
{
	const char *digits = title + strlen(title);
	char own[TITLE];

	while (digits > title && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	*thread = (uint32_t)strtoul(digits, NULL, 10);
	threads_title(threads, *thread, own, sizeof(own));
	return *digits && strcmp(own, title) == 0;
}

static void add(char text[THREAD_NOW], const char *part)
{
	size_t used = strlen(text);

	util_print(text + used, THREAD_NOW - used, "%s", part);
}

static void add_state(const struct trace_span *now, uint64_t ns, char text[THREAD_NOW])
{
	char lasts[DURATION_TEXT], part[TITLE];

	duration_text(ns, 2, lasts);
	if (now->kind == SPAN_THREAD)
		add(text, util_print(part, sizeof(part), "runs on CPU %u for %s", now->cpu, lasts));
	else if (now->kind == SPAN_SLEEP)
		add(text, util_print(part, sizeof(part), "%s for %s",
			now->number == SLEEP_BLOCKED ? "is blocked" : "sleeps", lasts));
	else
		add(text, util_print(part, sizeof(part), "waits for a CPU for %s, %s", lasts,
			now->number == READY_WOKEN ? "woken" : "preempted"));
}

static void add_call(const struct epoch *epoch, uint64_t number, char text[THREAD_NOW])
{
	const char *called = guest_events_called(epoch->events, ROLE_CALL_BEGIN, number);
	char plain[SPAN_TEXT], part[TITLE];

	add(text, util_print(part, sizeof(part), " in %s%s", *called ? "syscall " : "",
		*called ? called : span_text(SPAN_CALL, number, plain)));
}

static void add_waker(const struct threads *threads, uint64_t waker, char text[THREAD_NOW])
{
	char title[TITLE], part[2 * TITLE];

	if (waker != EVENT_NONE)
		threads_title(threads, (uint32_t)waker, title, sizeof(title));
	add(text, util_print(part, sizeof(part), "; woken last by %s", waker == EVENT_NONE ? "an interrupt" : title));
}

const char *thread_now(const struct epoch *epoch, const char *title, char text[THREAD_NOW])
{
	uint64_t until = trace_until(epoch->trace);
	struct pairs_thread is;
	uint32_t thread;

	text[0] = '\0';
	if (until == UINT64_MAX || !read_number(epoch->inputs.threads, title, &thread))
		return text;
	is = trace_thread(epoch->trace, thread, until);
	if (is.now.begin)
		add_state(&is.now, until > is.now.begin ? until - is.now.begin : 0, text);
	if (is.now.begin && is.call.begin)
		add_call(epoch, is.call.number, text);
	if (is.now.begin && is.woken)
		add_waker(epoch->inputs.threads, is.waker, text);
	return text;
}
