/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/formats/writing/trace_spans.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/event_list.h"

/* What the sink is told, a line each. */
static void note_begin(void *context, const struct trace_span *span)
{
	static const char letters[] = "tic";

	fprintf(context, "[%c %u %lu\n", letters[span->kind], span->cpu, (unsigned long)span->begin);
}

static void note_end(void *context, const struct trace_span *span)
{
	static const char *const names[] = {
		"thread", "irq", "call", "softirq", "lock", "hold", "pair", "sleep", "ready",
	};
	uint64_t what = span->kind == SPAN_THREAD ? span->thread : span->number;

	fprintf(context, "%s %lu on %u: %lu-%lu%s", names[span->kind], (unsigned long)what, span->cpu,
		(unsigned long)span->begin, (unsigned long)span->end, span->lost ? " lost" : "");
	if (span->kind == SPAN_CALL)
		fprintf(context, " by %lu = %ld%s", (unsigned long)span->thread, (long)span->result,
			span->first ? ", its first" : "");
	fputs("\n", context);
}

static void note_open(void *context, const struct trace_span *span)
{
	fputs("open: ", context);
	note_end(context, span);
}

static void note_event(void *context, const struct set_event *event)
{
	fprintf(context, "%s at %lu: %lu\n", event->kind->name, (unsigned long)event->time,
		(unsigned long)event->values[0]);
}

static void note_alone(void *context, const struct set_event *event, uint32_t untold)
{
	fprintf(context, "alone without %u: ", (unsigned)(untold & ((1u << event->kind->count) - 1)));
	note_event(context, event);
}

static void note_lost(void *context, const struct set_event *event, uint64_t since)
{
	fprintf(context, "%s on %u in %lu-%lu: %lu\n", event->kind->name, event->cpu, (unsigned long)since,
		(unsigned long)event->time, (unsigned long)event->values[0]);
}

static bool never(void *context)
{
	(void)context;
	return false;
}

static void assert_spans(const struct set_event *events, size_t count, const char *wanted)
{
	struct sample_set *set = sample_set_new(NULL);
	char *text, *error = NULL;
	size_t size;
	struct trace_spans_sink sink = {
		.context = util_text_open(&text, &size), .begin = note_begin, .end = note_end, .open = note_open,
		.event = note_event, .alone = note_alone, .lost = note_lost, .stop = never,
	};

	event_list_give(set, events, count);
	assert_true(trace_spans_read(set, &sink, &error));
	util_text_close(sink.context, &text);
	assert_string_equal(text, wanted);
	free(text);
	sample_set_free(set);
}

#define ASSERT_SPANS(events, wanted) assert_spans(events, sizeof(events) / sizeof(*(events)), wanted)

static void what_begins_ends(void **state)
{
	static const struct set_event events[] = {
		{ 10, 0, &event_switch, { 0, 7 } }, { 20, 0, &event_irq_enter, { 3 } },
		{ 21, 0, &event_irq_enter, { 4 } }, { 22, 0, &event_irq_exit, { 4 } },
		{ 25, 0, &event_irq_exit, { 3 } }, { 26, 0, &event_mail, { 1, 2 } },
		{ 30, 0, &event_switch, { 7, 8 } }, { 40, 0, &event_call, { 8, 1 } },
		{ 50, 1, &event_return, { 8, 1, 5 } },
		{ 60, 1, &event_call, { 8, 2 } }, { 70, 1, &event_return, { 8, 2, (uint64_t)-1 } },
	};

	(void)state;
	ASSERT_SPANS(events, "[t 0 10\n[i 0 20\n[i 0 21\nirq 4 on 0: 21-22\nirq 3 on 0: 20-25\nmail \"put\" at 26: 1\n"
		"thread 7 on 0: 10-30\n[t 0 30\ncall 1 on 0: 40-50 by 8 = 5, its first\n"
		"call 2 on 1: 60-70 by 8 = -1\nthread 8 on 0: 30-40\n");
}

/* A call of 40 ns, whose end and the next one's beginning are missing, is no call of a second. */
static void what_is_under_way_ends_at_a_loss(void **state)
{
	static const struct set_event events[] = {
		{ 10, 0, &event_switch, { 0, 7 } }, { 20, 0, &event_call, { 7, 1 } },
		{ 30, 0, &event_irq_enter, { 3 } },
		{ 900, 0, &event_lost, { 12 } }, { 1000, 0, &event_return, { 7, 1, 5 } },
		{ 1010, 0, &event_irq_exit, { 3 } }, { 1020, 0, &event_switch, { 9, 8 } },
	};

	(void)state;
	ASSERT_SPANS(events, "[t 0 10\n[i 0 30\nthread 7 on 0: 10-30 lost\nirq 3 on 0: 30-30 lost\n"
		"call 1 on 0: 20-30 lost by 7 = 0, its first\nalone without 0: syscall_exit at 1000: 7\n"
		"alone without 0: irq_exit at 1010: 3\n[t 0 1020\nthread 8 on 0: 1020-1020\n"
		"events lost on 0 in 30-1020: 12\n");
}

static void a_call_ends_at_the_first_loss_where_its_end_may_have_been(void **state)
{
	static const struct set_event other_cpu[] = {
		{ 20, 0, &event_call, { 7, 1 } }, { 100, 1, &event_lost, { 1 } },
		{ 200, 0, &event_return, { 7, 1, 5 } },
	};
	static const struct set_event where_it_ended[] = {
		{ 5, 1, &event_mail, { 0, 0 } }, { 20, 0, &event_call, { 7, 1 } }, { 100, 1, &event_lost, { 1 } },
		{ 150, 0, &event_lost, { 1 } }, { 200, 1, &event_return, { 7, 1, 5 } },
	};
	static const struct set_event later[] = {
		{ 20, 0, &event_call, { 7, 1 } }, { 30, 0, &event_return, { 7, 1, 5 } }, { 40, 0, &event_lost, { 1 } },
		{ 50, 0, &event_call, { 7, 1 } }, { 60, 0, &event_return, { 7, 1, 6 } },
	};
	static const struct set_event never_ended[] = {
		{ 20, 0, &event_call, { 7, 1 } }, { 30, 0, &event_mail, { 0, 0 } }, { 40, 0, &event_lost, { 1 } },
		{ 60, 0, &event_call, { 8, 1 } },
	};

	(void)state;
	ASSERT_SPANS(other_cpu, "call 1 on 0: 20-200 by 7 = 5, its first\nevents lost on 1 in 100-200: 1\n");
	ASSERT_SPANS(where_it_ended, "mail \"put\" at 5: 0\ncall 1 on 0: 20-20 lost by 7 = 0, its first\n"
		"alone without 0: syscall_exit at 200: 7\nevents lost on 0 in 20-200: 1\n"
		"events lost on 1 in 5-200: 1\n");
	ASSERT_SPANS(later, "call 1 on 0: 20-30 by 7 = 5, its first\ncall 1 on 0: 50-60 by 7 = 6\n"
		"events lost on 0 in 30-60: 1\n");
	ASSERT_SPANS(never_ended, "mail \"put\" at 30: 0\ncall 1 on 0: 20-30 lost by 7 = 0, its first\n"
		"open: call 1 on 0: 60-60 by 8 = 0, its first\nevents lost on 0 in 30-60: 1\n");
}

static void without_a_known_loss_what_contradicts_is_marked(void **state)
{
	static const struct set_event events[] = {
		{ 10, 0, &event_switch, { 0, 7 } }, { 15, 0, &event_irq_enter, { 3 } },
		{ 16, 0, &event_irq_enter, { 4 } },
		{ 18, 0, &event_irq_exit, { 3 } }, { 19, 0, &event_irq_exit, { 9 } },
		{ 30, 0, &event_switch, { 8, 9 } },
		{ 25, 0, &event_mail, { 1, 2 } },
	};

	(void)state;
	ASSERT_SPANS(events, "[t 0 10\n[i 0 15\n[i 0 16\nirq 4 on 0: 16-16 lost\nirq 3 on 0: 15-18\n"
		"alone without 0: irq_exit at 19: 9\n"
		"thread 7 on 0: 10-19 lost\n[t 0 30\nmail \"put\" at 30: 1\nthread 9 on 0: 30-30\n");
}

/* Behind the last event before, and up to where nothing is missing any more; a second loss meanwhile is the same. */
static void a_loss_lies_where_it_may_have_been(void **state)
{
	static const struct set_event events[] = {
		{ 5, 1, &event_mail, { 0, 0 } }, { 20, 0, &event_call, { 7, 1 } },
		{ 90, 0, &event_lost, { 12 } }, { 100, 0, &event_mail, { 1, 0 } }, { 110, 0, &event_lost, { 3 } },
		{ 120, 1, &event_call, { 8, 2 } }, { 130, 0, &event_return, { 7, 1, 5 } },
		{ 140, 0, &event_sure, { 0 } },
		{ 150, 0, &event_mail, { 2, 0 } }, { 160, 1, &event_return, { 8, 2, 0 } },
	};
	static const struct set_event first[] = { { 30, 2, &event_lost, { 4 } }, { 50, 2, &event_sure, { 0 } } };

	(void)state;
	ASSERT_SPANS(events, "mail \"put\" at 5: 0\nmail \"put\" at 100: 1\n"
		"call 1 on 0: 20-20 lost by 7 = 0, its first\n"
		"alone without 0: syscall_exit at 130: 7\nevents lost on 0 in 20-140: 15\nmail \"put\" at 150: 2\n"
		"call 2 on 1: 120-160 by 8 = 0, its first\n");
	ASSERT_SPANS(first, "events lost on 2 in 30-50: 4\n");
}

/* Nothing that was traced is left out: not the end of what began before, and not what has not ended. */
static void ends_alone_and_what_is_under_way_are_told(void **state)
{
	static const struct set_event events[] = {
		{ 5, 0, &event_return, { 7, 1, 9 } }, { 6, 0, &event_irq_exit, { 3 } },
		{ 7, 0, &event_waited, { 4, 7, 1 } }, { 8, 0, &event_call, { 7, 2 } },
		{ 9, 1, &event_wait, { 4, 7, 8 } },
		{ 20, 1, &event_mail, { 0, 0 } },
	};
	static const struct set_event changed[] = {
		{ 7, 0, &event_wait, { 4, 7, 8 } }, { 8, 0, &event_call, { 7, 2 } }, { 10, 0, &event_changed, { 0 } },
		{ 20, 0, &event_return, { 7, 2, 0 } },
	};
	static const struct set_event asleep[] = {
		{ 7, 0, &event_leave, { 4, SET_NONE, LEAVES_ASLEEP } },
		{ 8, 1, &event_leave, { 5, SET_NONE, LEAVES_READY } },
		{ 10, 0, &event_changed, { 0 } }, { 20, 0, &event_mail, { 7, 2 } },
	};

	(void)state;
	ASSERT_SPANS(events, "alone without 0: syscall_exit at 5: 7\nalone without 0: irq_exit at 6: 3\n"
		"alone without 4: lock_waited at 7: 4\n"
		"mail \"put\" at 20: 0\nopen: lock 4 on 1: 9-20\nopen: call 2 on 0: 8-20 by 7 = 0, its first\n");
	ASSERT_SPANS(changed, "call 2 on 0: 8-10 lost by 7 = 0, its first\nalone without 0: syscall_exit at 20: 7\n"
		"lock 4 on 0: 7-10 lost\n");
	ASSERT_SPANS(asleep, "[t 0 7\n[t 1 8\nthread 4294967295 on 0: 7-7 lost\nmail \"put\" at 20: 7\n"
		"thread 4294967295 on 1: 8-8\nsleep 0 on 0: 7-10 lost\nready 1 on 1: 8-10 lost\n");
}

/* The set with these events as a Chrome trace, in fresh memory. */
static char *chrome_text(struct sample_set *set, const struct set_event *events, size_t count)
{
	struct set_writing writing = { .title = "t" };
	char *text, *error = NULL;
	size_t size;

	event_list_give(set, events, count);
	writing.to = util_text_open(&text, &size);
	assert_true(set_format_named("chrome")->write(set, &writing, &error));
	util_text_close(writing.to, &text);
	return text;
}

/* The same in a Chrome trace: the end is marked, and so is the place. */
static void a_chrome_trace_marks_what_a_loss_has_ended(void **state)
{
	static const struct set_event events[] = {
		{ 10000, 0, &event_switch, { 0, 7 } }, { 20000, 0, &event_call, { 7, 1 } },
		{ 900000, 0, &event_lost, { 12 } }, { 1000000, 0, &event_return, { 7, 1, 5 } },
	};
	struct sample_set *set = sample_set_new(NULL);
	char *text;
	cJSON *json, *event;
	unsigned seen = 0;

	(void)state;
	text = chrome_text(set, events, sizeof(events) / sizeof(*events));
	json = cJSON_Parse(text);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) {
		const char *phase = cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph"));
		const cJSON *args = cJSON_GetObjectItem(event, "args");
		const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat"));
		bool lost = cat && strcmp(cat, "lost") == 0;

		if (strchr("EX", *phase) && !lost) {
			assert_true(cJSON_IsTrue(cJSON_GetObjectItem(args, "lost")));
			seen++;
		}
		if (*phase == 'X' && !lost)
			assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(event, "dur")) == 0);
		if (*phase == 'X' && lost) {
			assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(event, "ts")) == 20);
			assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(event, "dur")) == 980);
			assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(args, "events")) == 12);
			seen++;
		}
		if (*phase == 'i') {
			assert_string_equal(cat, "alone");
			assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(args, "result")) == 5);
			seen++;
		}
	}
	assert_int_equal(seen, 4);
	cJSON_Delete(json);
	free(text);
	sample_set_free(set);
}

/* A sleep, a wake, and a wait for a CPU. */
static const struct set_event sleeper[] = {
	{ 5000, 1, &event_leave, { SET_NONE, 8, LEAVES_READY } },
	{ 10000, 0, &event_leave, { 7, SET_NONE, LEAVES_ASLEEP } },
	{ 30000, 1, &event_wake, { 7, 8 } }, { 35000, 1, &event_wake, { 9, SET_NONE } },
	{ 40000, 0, &event_leave, { SET_NONE, 7, LEAVES_READY } },
	{ 50000, 0, &event_leave, { 7, SET_NONE, LEAVES_BLOCKED } },
};

static void waits_are_spans_and_wakes_events_too(void **state)
{
	(void)state;
	ASSERT_SPANS(sleeper, "[t 1 5000\n[t 0 10000\nsleep 0 on 0: 10000-30000\nsched_wake at 30000: 7\n"
		"sched_wake at 35000: 9\nthread 4294967295 on 0: 10000-40000\n[t 0 40000\n"
		"ready 0 on 0: 30000-40000\nthread 7 on 0: 40000-50000\n[t 0 50000\n"
		"thread 4294967295 on 0: 50000-50000\nthread 8 on 1: 5000-35000\nopen: sleep 1 on 0: 50000-50000\n");
}

/* "phase process track time;" of all ends of arrows, and the names of what runs. */
static void assert_arrows(const struct set_event *events, size_t count, const char *wanted)
{
	struct sample_set *set = sample_set_new(NULL);
	char *text, *seen;
	cJSON *json, *event;
	size_t size;
	FILE *to;

	text = chrome_text(set, events, count);
	json = cJSON_Parse(text);
	to = util_text_open(&seen, &size);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) {
		const char *phase = cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph"));
		const char *cat = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat"));

		if (*phase == 'E')		/* speedscope ends nothing else */
			assert_non_null(cJSON_GetStringValue(cJSON_GetObjectItem(event, "name")));
		if (strchr("sf", *phase))
			fprintf(to, "%s %g %g %g;", phase, cJSON_GetNumberValue(cJSON_GetObjectItem(event, "pid")),
				cJSON_GetNumberValue(cJSON_GetObjectItem(event, "tid")),
				cJSON_GetNumberValue(cJSON_GetObjectItem(event, "ts")));
		if (cat && strcmp(cat, "sched") == 0 && *phase == 'B')
			fprintf(to, "%s;", cJSON_GetStringValue(cJSON_GetObjectItem(event, "name")));
		if (cat && strcmp(cat, "ready") == 0 && *phase == 'B')
			fprintf(to, "by %s;", cJSON_GetStringValue(cJSON_GetObjectItem(
				cJSON_GetObjectItem(event, "args"), "waker")));
	}
	util_text_close(to, &seen);
	assert_string_equal(seen, wanted);
	cJSON_Delete(json);
	free(seen);
	free(text);
	sample_set_free(set);
}

/*
 * From thread 8 on CPU 1 at the wake to where thread 7 runs on CPU 0; none to thread 9, of which nothing is known. From
 * an interrupt; but none from where it is not known what ran, and none to where nothing has run for a nanosecond.
 */
static void a_chrome_trace_has_an_arrow_for_each_wake(void **state)
{
	static const struct set_event others[] = {
		{ 10000, 0, &event_leave, { 7, SET_NONE, LEAVES_ASLEEP } }, { 20000, 1, &event_wake, { 7, 8 } },
		{ 30000, 0, &event_leave, { SET_NONE, 7, LEAVES_READY } },
		{ 40000, 0, &event_leave, { 7, SET_NONE, LEAVES_ASLEEP } },
		{ 50000, 1, &event_irq_enter, { 3 } }, { 51000, 1, &event_wake, { 7, SET_NONE } },
		{ 52000, 1, &event_irq_exit, { 3 } }, { 60000, 0, &event_leave, { SET_NONE, 7, LEAVES_READY } },
		{ 70000, 0, &event_leave, { 7, SET_NONE, LEAVES_ASLEEP } }, { 80000, 0, &event_wake, { 7, 8 } },
		{ 90000, 0, &event_leave, { SET_NONE, 7, LEAVES_READY } },
	};

	(void)state;
	assert_arrows(sleeper, sizeof(sleeper) / sizeof(*sleeper),
		"thread 8;idle;thread 7;by thread 8;s 2 2 30;f 2 1 40.001;idle;");
	assert_arrows(others, sizeof(others) / sizeof(*others),
		"idle;thread 7;by thread 8;idle;thread 7;by irq 3;s 3 2 51;f 2 1 60.001;idle;thread 7;by thread 8;");
}

/* A stack of the set plus 1: of these functions, the root first. */
static uint32_t stack_of(struct sample_set *set, const char *const *names, uint32_t count, bool cut)
{
	uint32_t stack = SET_NONE;

	for (uint32_t i = 0; i < count; i++) {
		const struct set_line inlined = { sample_set_function(set, &(struct set_function) {
			.name = "inlined", .object = "", .file = "" }), 0 };
		const struct set_line lines[] = { inlined, { sample_set_function(set, &(struct set_function) {
			.name = names[i], .object = "", .file = "" }), 0 } };

		stack = sample_set_stack(set, stack, sample_set_location(set, 0, SET_NONE, lines, 2), cut && i == 0);
	}
	return stack + 1;
}

/* Where a wait, a call, an interrupt began; of a wake to run, where the waker was. Inlined functions are not told. */
static void a_chrome_trace_says_where_spans_began(void **state)
{
	static const char *const ways[][3] = {
		{ "main", "f\"<g>", "sleep" }, { "main", "irq" }, { "main", "call" }, { "run", "lock" } };
	static const uint32_t depths[] = { 3, 2, 2, 2 };
	struct set_event events[] = {
		{ 10000, 0, &event_leave, { 7, 8, LEAVES_ASLEEP }, 1 },
		{ 20000, 1, &event_irq_enter, { 3 }, 2 }, { 30000, 1, &event_wake, { 7, SET_NONE }, 2 },
		{ 31000, 1, &event_irq_exit, { 3 }, 0 }, { 40000, 0, &event_leave, { 8, 7, LEAVES_READY }, 4 },
		{ 50000, 0, &event_call, { 7, 1 }, 3 }, { 51000, 0, &event_mail, { 1, 2 }, 3 },
		{ 60000, 0, &event_wait, { 4, 7, 8 }, 4 }, { 70000, 0, &event_waited, { 4, 7, 1 }, 3 },
		{ 80000, 0, &event_return, { 7, 1, 5 }, 4 },
	};
	static const char *const wanted =
		"B irq stack irq < main\n"
		"B sleep stack sleep < f\"<g> < main\n"
		"i event stack irq < main\n"
		"B ready waker_stack irq < main\n"
		"i event stack call < main\n"
		"X lock stack lock < run < ...\n"
		"X syscall stack call < main\n"
		"B ready stack lock < run < ...\n";
	struct sample_set *set = sample_set_new(NULL);
	char *text, *seen;
	uint32_t stacks[4];
	cJSON *json, *event;
	FILE *to;
	size_t size;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		stacks[i] = stack_of(set, ways[i], depths[i], i == 3);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		events[i].stack = events[i].stack ? stacks[events[i].stack - 1] : 0;
	text = chrome_text(set, events, sizeof(events) / sizeof(*events));
	json = cJSON_Parse(text);
	to = util_text_open(&seen, &size);
	cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) {
		const cJSON *arg;

		cJSON_ArrayForEach(arg, cJSON_GetObjectItem(event, "args"))
			if (strstr(arg->string, "stack"))
				fprintf(to, "%s %s %s %s\n", cJSON_GetStringValue(cJSON_GetObjectItem(event, "ph")),
					cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat")), arg->string,
					cJSON_GetStringValue(arg));
	}
	util_text_close(to, &seen);
	assert_string_equal(seen, wanted);
	cJSON_Delete(json);
	free(seen);
	free(text);
	sample_set_free(set);
}

/* A call and an interrupt that are under way at the end say so; a run goes on. */
static void what_has_not_ended_says_so(void **state)
{
	static const struct set_event events[] = {
		{ 10000, 0, &event_leave, { SET_NONE, 7, LEAVES_READY } }, { 20000, 0, &event_call, { 7, 1 } },
		{ 30000, 0, &event_irq_enter, { 3 } }, { 40000, 1, &event_mail, { 0 } },
	};
	struct sample_set *set = sample_set_new(NULL);
	char *text;
	const char *at;
	int count = 0;

	(void)state;
	text = chrome_text(set, events, sizeof(events) / sizeof(*events));
	assert_non_null(strstr(text, "\"open\":true"));
	for (at = text; (at = strstr(at, "\"lost\":true")); at++)
		count++;
	assert_int_equal(count, 1);
	free(text);
	sample_set_free(set);
}

static void without_memory_nothing_is_left_out_in_silence(void **state)
{
	static const struct set_event call[] = {
		{ 20, 0, &event_call, { 7, 1 } }, { 30, 0, &event_return, { 7, 1, 5 } },
	};
	static const struct set_event loss[] = { { 20, 0, &event_lost, { 7 } } };
	char ignored[1024], *error = NULL;
	struct trace_spans_sink sink = {
		.context = fmemopen(ignored, sizeof(ignored), "w"), .begin = note_begin, .end = note_end,
		.open = note_open, .event = note_event, .alone = note_alone, .lost = note_lost, .stop = never,
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct budget *budget = budget_new(16);
		struct sample_set *set = sample_set_new(budget);

		event_list_give(set, i ? loss : call, i ? 1 : 2);
		assert_false(trace_spans_read(set, &sink, &error));
		assert_non_null(strstr(error, "memory"));
		free(error);
		error = NULL;
		sample_set_free(set);
		budget_release(budget);
	}
	fclose(sink.context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_begins_ends),
		cmocka_unit_test(what_is_under_way_ends_at_a_loss),
		cmocka_unit_test(a_call_ends_at_the_first_loss_where_its_end_may_have_been),
		cmocka_unit_test(a_loss_lies_where_it_may_have_been),
		cmocka_unit_test(ends_alone_and_what_is_under_way_are_told),
		cmocka_unit_test(without_a_known_loss_what_contradicts_is_marked),
		cmocka_unit_test(a_chrome_trace_marks_what_a_loss_has_ended),
		cmocka_unit_test(waits_are_spans_and_wakes_events_too),
		cmocka_unit_test(a_chrome_trace_has_an_arrow_for_each_wake),
		cmocka_unit_test(a_chrome_trace_says_where_spans_began),
		cmocka_unit_test(what_has_not_ended_says_so),
		cmocka_unit_test(without_memory_nothing_is_left_out_in_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
