/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/guest/call_text.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/run.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "event_table.h"
#include "function_table.h"
#include "thread_states.h"

static void tell_rows(struct function_table *answer, const struct function_request *request,
	const struct question *question)
{
	struct epoch *epoch = answer->answer.epoch;
	struct symbols *symbols = epoch->inputs.symbols;

	uint64_t trends[FUNCTION_ROWS][TABLE_TREND];
	uint32_t functions[FUNCTION_ROWS];

	answer->visible = util_alloc(request->visible_count * sizeof(*answer->visible));
	for (size_t i = 0; i < request->visible_count; i++) {
		struct function_row *row = &answer->visible[answer->visible_count];

		if (request->visible[i] >= symbols_functions(symbols))
			continue;
		row->function = functions[answer->visible_count++] = request->visible[i];
		row->line = symbols_source(symbols, row->function);
		row->ran = query_ran(epoch->query, question, row->function);
	}
	query_trends(epoch->query, question, functions, answer->visible_count, trends);
	for (size_t i = 0; i < answer->visible_count; i++)
		memcpy(answer->visible[i].trend, trends[i], sizeof(trends[i]));
}

static void tell_selected(struct function_table *answer, const struct question *question)
{
	struct query *query = answer->answer.epoch->query;

	answer->caller_count = query_callers(query, question, answer->selected, answer->callers,
		sizeof(answer->callers) / sizeof(answer->callers[0]));
	answer->inlined_count = query_inlined(query, question, answer->selected, answer->inlined,
		sizeof(answer->inlined) / sizeof(answer->inlined[0]), &answer->inlined_of);
}

/* The baseline does not change, so its reader keeps its table from answer to answer. */
static void compare(struct function_table *answer, const struct request *request, const struct moment *moment)
{
	struct question question = excerpt_base_question(answer->answer.epoch, &request->excerpt);
	const struct table *base;

	question.reader = moment->base_readers[0];
	base = query_table_kept(answer->answer.epoch->query, &question);
	table_compare(answer->table, base);
	answer->answer.partial = query_awaits_files(answer->answer.epoch->query, &question);
}

/* ---- what a thread does now ---- */

enum {
	CHAIN = 8,			/* threads of a chain, each of which waits for the next, that are told */
	OWN_FRAMES = 10, FRAMES = 6,	/* of the stacks of the thread itself; of others */
};

/* The number behind the name, if the thread of that number has this title. */
static bool read_number(const struct threads *threads, const char *title, uint32_t *thread)
{
	const char *digits = title + strlen(title);
	char own[THREAD_TITLE];

	while (digits > title && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	*thread = (uint32_t)strtoul(digits, NULL, 10);
	threads_title(threads, *thread, own, sizeof(own));
	return *digits && strcmp(own, title) == 0;
}

static void add_text(char text[THREAD_NOW], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(char text[THREAD_NOW], const char *format, ...)
{
	size_t used = strlen(text);
	va_list values;

	va_start(values, format);
	vsnprintf(text + used, THREAD_NOW - used, format, values);
	va_end(values);
}

static const char *lasts(const struct trace_span *span, uint64_t until, char text[DURATION_TEXT])
{
	return duration_text(until > span->begin ? until - span->begin : 0, 2, text);
}

/* "syscall read", "lock inode"; without a name, its number. */
static void add_name(const struct epoch *epoch, const struct trace_span *span, char text[THREAD_NOW])
{
	char own[EVENT_CALLED], plain[SPAN_TEXT];
	const char *called = event_called(epoch, span->kind, span->number, own);

	if (*called)
		add_text(text, "%s %s", span_words[span->kind], called);
	else
		add_text(text, "%s", span_text(span->kind, span->number, plain));
}

/* ", at mutex_lock < log_add"; nothing if it was not told. */
static void add_stack(const struct epoch *epoch, const char *before, uint32_t stack, unsigned most,
	char text[THREAD_NOW])
{
	char names[STACK_TEXT];

	if (call_text_stack(epoch, stack, most, names)[0])
		add_text(text, "%s%s", before, names);
}

/* "sleeps for 2.3s in syscall read, at schedule < pipe_read" */
static void add_state(const struct epoch *epoch, const struct pairs_thread *is, uint64_t until, unsigned frames,
	char text[THREAD_NOW])
{
	char ns[DURATION_TEXT];

	lasts(&is->now, until, ns);
	if (is->now.kind == SPAN_THREAD)
		add_text(text, "runs on CPU %u for %s", is->now.cpu, ns);
	else if (is->now.kind == SPAN_SLEEP)
		add_text(text, "%s for %s", is->now.number == SLEEP_BLOCKED ? "is blocked" : "sleeps", ns);
	else
		add_text(text, "waits for a CPU for %s, %s", ns,
			is->now.number == READY_WOKEN ? "woken" : "preempted");
	if (is->call.begin) {
		add_text(text, " in ");
		add_name(epoch, &is->call, text);
	}
	add_stack(epoch, is->now.kind == SPAN_READY && is->now.number == READY_WOKEN ? " at " : ", at ", is->now.stack,
		frames, text);
}

/* "lock log 51ms, journal/10"; "on cpu1 3ms"; "sleep 2.3s, syscall read" */
static void add_brief(const struct epoch *epoch, const struct thread_states *states, uint64_t thread,
	char text[THREAD_NOW])
{
	const struct pairs_thread is = thread_states_of(states, thread);
	uint64_t until = thread_states_at(states);
	char ns[DURATION_TEXT], title[THREAD_TITLE], plain[SPAN_TEXT];

	if (is.wait.begin) {
		add_name(epoch, &is.wait, text);
		threads_title(epoch->inputs.threads, (uint32_t)is.wait.holder, title, sizeof(title));
		add_text(text, " %s%s%s", lasts(&is.wait, until, ns), is.wait.holder == EVENT_NONE ? "" : ", ",
			is.wait.holder == EVENT_NONE ? "" : title);
	} else if (is.now.begin) {
		if (is.now.kind == SPAN_THREAD)
			add_text(text, "on cpu%u", is.now.cpu);
		else
			add_text(text, "%s", span_text(is.now.kind, is.now.number, plain));
		add_text(text, " %s%s", lasts(&is.now, until, ns), is.call.begin ? ", " : "");
		if (is.call.begin)
			add_name(epoch, &is.call, text);
	}
}

static bool is_among(const uint64_t *threads, int count, uint64_t thread)
{
	while (count > 0 && threads[count - 1] != thread)
		count--;
	return count > 0;
}

/*
 * "waits for lock log for 51ms, at mutex_lock < commit, held by journal/10, which took it at mutex_lock < journal, and
 * waits for lock disk for 54ms, held by ..." Stacks are there where they are told. True: it ends in a circle.
 */
static bool add_chain(const struct epoch *epoch, const struct thread_states *states, uint64_t thread,
	char text[THREAD_NOW])
{
	struct pairs_thread is = thread_states_of(states, thread);
	uint64_t until = thread_states_at(states);
	char ns[DURATION_TEXT], title[THREAD_TITLE];
	uint64_t met[CHAIN];
	struct trace_span hold;
	int count = 0;

	while (is.wait.begin && count < CHAIN) {
		met[count++] = thread;
		add_text(text, "waits for ");
		add_name(epoch, &is.wait, text);
		add_text(text, " for %s", lasts(&is.wait, until, ns));
		add_stack(epoch, ", at ", is.wait.stack, count > 1 ? FRAMES : OWN_FRAMES, text);
		add_text(text, ", held by ");
		hold = thread_states_hold(states, is.wait.number);
		thread = is.wait.holder;
		if (thread == EVENT_NONE) {
			add_text(text, "nobody who is known");
			return false;
		}
		threads_title(epoch->inputs.threads, (uint32_t)thread, title, sizeof(title));
		add_text(text, "%s", title);
		if (hold.thread == thread)
			add_stack(epoch, ", which took it at ", hold.stack, FRAMES, text);
		if (is_among(met, count, thread))
			return true;
		is = thread_states_of(states, thread);
		if (is.wait.begin || is.now.begin)
			add_text(text, hold.thread == thread && hold.stack ? ", and " : ", which ");
	}
	if (is.wait.begin)
		add_text(text, "waits for a lock as well");
	else if (is.now.begin)
		add_state(epoch, &is, until, count ? FRAMES : OWN_FRAMES, text);
	return false;
}

/*
 * Says what the thread of this title does now, by the guest's trace events: "sleeps for 2.3s in syscall read; woken
 * last by pulse/5". Nothing where that is not known, as where nothing is traced.
 */
static void tell_now(struct function_table *answer, const struct thread_states *states, const char *title)
{
	const struct epoch *epoch = answer->answer.epoch;
	uint64_t next;
	struct pairs_thread is;
	char text[THREAD_NOW];
	uint32_t thread;
	bool circle;

	if (thread_states_forgot(states))
		add_text(answer->now, "not known: spans of that time were forgotten; give more by --memory");
	if (!read_number(epoch->inputs.threads, title, &thread))
		return;
	is = thread_states_of(states, thread);
	if (!is.now.begin && !is.wait.begin)
		return;
	text[0] = '\0';
	circle = add_chain(epoch, states, thread, text);
	add_text(answer->now, "%s%s", circle ? "a circle: " : "", text);
	next = is.wait.begin ? is.wait.holder : is.woken ? is.waker : EVENT_NONE;
	if (next != EVENT_NONE)
		threads_title(epoch->inputs.threads, (uint32_t)next, answer->next, sizeof(answer->next));
	if (is.woken && !is.wait.begin) {
		add_text(answer->now, "; woken last by %s", is.waker == EVENT_NONE ? "an interrupt" : answer->next);
		if (is.now.kind != SPAN_READY)
			add_stack(epoch, " at ", is.woken_at, FRAMES, answer->now);
	}
}

/* Of each visible row. */
static void tell_briefly(struct function_table *answer, const struct thread_states *states)
{
	const struct epoch *epoch = answer->answer.epoch;
	char text[THREAD_NOW];
	uint32_t thread;

	for (size_t i = 0; i < answer->visible_count; i++) {
		struct function_row *row = &answer->visible[i];

		text[0] = '\0';
		if (read_number(epoch->inputs.threads, symbols_get(answer->answer.symbols, row->function)->name,
				&thread))
			add_brief(epoch, states, thread, text);
		util_print(row->now, sizeof(row->now), "%s", text);
		answer->tells_now = answer->tells_now || *text;
	}
}

/* ---- threads without samples ---- */

enum { IDLE_ROWS = 4096 };		/* of them, at most */

struct idle_threads {
	struct function_table *answer;
	struct filter filter;		/* of the table */
	struct grouping grouping;
	bool *sampled;			/* by function, `count` of them: it has a row */
	uint32_t count, added;
};

static void add_idle(void *context, uint64_t thread)
{
	struct idle_threads *idle = context;
	struct threads *threads = idle->grouping.threads;
	const struct who who = {
		.thread = (uint32_t)thread, .process = threads_owner(threads, (uint32_t)thread, EVENT_KERNEL),
		.cpu = WHO_NO_CPU,
	};
	uint32_t function;

	if (idle->added == IDLE_ROWS || !filter_passes(&idle->filter, threads, &who, CONTEXT_UNTOLD))
		return;
	function = grouping_who(&idle->grouping, &who, CONTEXT_UNTOLD);
	if (function < idle->count && idle->sampled[function])
		return;
	table_add(idle->answer->table, function);
	idle->added++;
}

/*
 * A thread that sleeps or waits has no samples, and is the one that is asked about: each of which the trace events tell
 * what it does now has a row. Not where the filter has terms that only samples pass.
 */
static void add_idle_threads(struct function_table *answer, const struct thread_states *states,
	const struct filter *filter)
{
	const struct epoch *epoch = answer->answer.epoch;
	struct idle_threads idle = {
		.answer = answer, .filter = event_filter(filter), .count = symbols_functions(epoch->inputs.symbols),
		.grouping = { .by = GROUP_THREAD, .symbols = epoch->inputs.symbols, .threads = epoch->inputs.threads },
	};

	if (idle.filter.count != filter->count || !filter_lacks(filter, FILTER_CPU))
		return;
	idle.sampled = util_alloc(idle.count + 1);
	for (size_t i = 0; i < answer->table->count; i++)
		idle.sampled[answer->table->rows[i].function] = true;
	thread_states_each(states, add_idle, &idle);
	free(idle.sampled);
}

/* ---- the answer ---- */

/* Now, or at the end of a range that is past. While events of that time are still to come, there is a next answer. */
static struct thread_states *states_of(struct function_table *answer, const struct excerpt *excerpt, uint64_t to)
{
	const struct epoch *epoch = answer->answer.epoch;
	uint32_t thread;

	if (trace_until(epoch->trace) == UINT64_MAX)
		return NULL;
	if (answer->selected == FUNCTION_NONE || !read_number(epoch->inputs.threads,
			symbols_get(answer->answer.symbols, answer->selected)->name, &thread))
		thread = EVENT_NONE;
	answer->tells_then = excerpt->until_ns;
	answer->answer.partial = answer->answer.partial ||
		(excerpt->until_ns && to <= epoch_now(epoch) && !trace_is_whole(epoch->trace, to));
	return thread_states_new(epoch, excerpt->until_ns ? to : 0, thread);
}

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct function_request *request = (const struct function_request *)asked;
	struct function_table *answer = util_alloc(sizeof(*answer));
	struct thread_states *states;
	struct question question;
	bool callers;

	answer->answer = answer_begin(&function_table_kind, moment);
	answer->filter = asked->excerpt.filter;
	answer->by = asked->excerpt.by;
	answer->selected = FUNCTION_NONE;
	if (!answer->answer.epoch)
		return &answer->answer;
	util_print(answer->kernel, sizeof(answer->kernel), "%s", answer->answer.epoch->kernel);
	if (request->selected < symbols_functions(answer->answer.symbols))
		answer->selected = request->selected;
	question = excerpt_question(answer->answer.epoch, &asked->excerpt);
	question.reader = moment->readers[0];
	callers = request->callers && answer->selected != FUNCTION_NONE && question.by == GROUP_FUNCTION;
	question.callers = request->ran && grouping_has_ran(question.by);
	answer->table = query_table(answer->answer.epoch->query, &question);
	states = question.by == GROUP_THREAD ? states_of(answer, &asked->excerpt, question.to) : NULL;
	if (states)
		add_idle_threads(answer, states, &asked->excerpt.filter);
	if (asked->excerpt.base.until_ns)
		compare(answer, asked, moment);
	answer->answer.begun = answer->table->samples;
	answer->answer.partial = answer->answer.partial || answer->table->unread;
	tell_rows(answer, request, &question);
	if (callers)
		tell_selected(answer, &question);
	if (states)
		tell_briefly(answer, states);
	if (states && answer->selected != FUNCTION_NONE)
		tell_now(answer, states, symbols_get(answer->answer.symbols, answer->selected)->name);
	if (states)
		thread_states_free(states);
	return &answer->answer;
}

static void free_answer(struct answer *answer)
{
	struct function_table *functions = (struct function_table *)answer;

	for (size_t i = 0; i < functions->machine_count; i++)
		epoch_release(functions->machines[i].epoch);
	table_free(functions->table);
	free(functions->machines);
	free(functions->visible);
}

const struct answer_kind function_table_kind = {
	.name = "functions", .request_size = sizeof(struct function_request), .questions = 1,
	.make = make, .free = free_answer,
};
