/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/question/grouping.h"
#include "agent/trace/trace.h"
#include "function_table.h"

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

static void add_text(char text[THREAD_NOW], const char *part)
{
	size_t used = strlen(text);

	util_print(text + used, THREAD_NOW - used, "%s", part);
}

static void add_state(const struct trace_span *now, uint64_t ns, char text[THREAD_NOW])
{
	char lasts[DURATION_TEXT], part[TITLE];

	duration_text(ns, 2, lasts);
	if (now->kind == SPAN_THREAD)
		add_text(text, util_print(part, sizeof(part), "runs on CPU %u for %s", now->cpu, lasts));
	else if (now->kind == SPAN_SLEEP)
		add_text(text, util_print(part, sizeof(part), "%s for %s",
			now->number == SLEEP_BLOCKED ? "is blocked" : "sleeps", lasts));
	else
		add_text(text, util_print(part, sizeof(part), "waits for a CPU for %s, %s", lasts,
			now->number == READY_WOKEN ? "woken" : "preempted"));
}

static void add_call(const struct epoch *epoch, uint64_t number, char text[THREAD_NOW])
{
	const char *called = guest_events_called(epoch->events, ROLE_CALL_BEGIN, number);
	char plain[SPAN_TEXT], part[TITLE];

	add_text(text, util_print(part, sizeof(part), " in %s%s", *called ? "syscall " : "",
		*called ? called : span_text(SPAN_CALL, number, plain)));
}

static void add_waker(const struct threads *threads, uint64_t waker, char text[THREAD_NOW])
{
	char title[TITLE], part[2 * TITLE];

	if (waker != EVENT_NONE)
		threads_title(threads, (uint32_t)waker, title, sizeof(title));
	add_text(text, util_print(part, sizeof(part), "; woken last by %s",
		waker == EVENT_NONE ? "an interrupt" : title));
}

/*
 * Says what the thread of this title does now, by the guest's trace events: "sleeps for 2.3s in syscall read; woken
 * last by pulse/5". "": it is not known, as where nothing is traced.
 */
static void tell_now(const struct epoch *epoch, const char *title, char text[THREAD_NOW])
{
	uint64_t until = trace_until(epoch->trace);
	struct pairs_thread is;
	uint32_t thread;

	text[0] = '\0';
	if (until == UINT64_MAX || !read_number(epoch->inputs.threads, title, &thread))
		return;
	is = trace_thread(epoch->trace, thread, until);
	if (is.now.begin)
		add_state(&is.now, until > is.now.begin ? until - is.now.begin : 0, text);
	if (is.now.begin && is.call.begin)
		add_call(epoch, is.call.number, text);
	if (is.now.begin && is.woken)
		add_waker(epoch->inputs.threads, is.waker, text);
}

/* ---- the answer ---- */

struct function_table *function_table_new(const struct function_request *request, const struct moment *moment)
{
	const struct request *asked = &request->request;
	struct function_table *answer = util_alloc(sizeof(*answer));
	struct question question;
	bool callers;

	answer->answer = answer_begin(&function_table_kind, moment);
	answer->filter = asked->excerpt.filter;
	answer->by = asked->excerpt.by;
	answer->selected = FUNCTION_NONE;
	if (!answer->answer.epoch)
		return answer;
	util_print(answer->kernel, sizeof(answer->kernel), "%s", answer->answer.epoch->kernel);
	if (request->selected < symbols_functions(answer->answer.symbols))
		answer->selected = request->selected;
	question = excerpt_question(answer->answer.epoch, &asked->excerpt);
	question.reader = moment->readers[0];
	callers = request->callers && answer->selected != FUNCTION_NONE && question.by == GROUP_FUNCTION;
	question.callers = request->ran && grouping_has_ran(question.by);
	answer->table = query_table(answer->answer.epoch->query, &question);
	if (asked->excerpt.base.until_ns)
		compare(answer, asked, moment);
	answer->answer.begun = answer->table->samples;
	answer->answer.partial = answer->answer.partial || answer->table->unread;
	tell_rows(answer, request, &question);
	if (callers)
		tell_selected(answer, &question);
	if (answer->selected != FUNCTION_NONE && question.by == GROUP_THREAD && !asked->excerpt.until_ns)
		tell_now(answer->answer.epoch, symbols_get(answer->answer.symbols, answer->selected)->name,
			answer->now);
	return answer;
}

void function_table_free(struct function_table *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->machine_count; i++)
		epoch_release(functions->machines[i].epoch);
	table_free(functions->table);
	free(functions->machines);
	free(functions->visible);
	answer_end(&functions->answer);
	free(functions);
}

static struct answer *make(const struct request *request, const struct moment *moment)
{
	return &function_table_new((const struct function_request *)request, moment)->answer;
}

static void free_answer(struct answer *answer)
{
	function_table_free((struct function_table *)answer);
}

const struct answer_kind function_table_kind = {
	.name = "functions", .request_size = sizeof(struct function_request), .questions = 1,
	.make = make, .free = free_answer,
};
