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
#include "thread_now.h"
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

static void compare(struct function_table *answer, const struct request *request, const struct moment *moment)
{
	struct question question = excerpt_base_question(answer->answer.epoch, &request->excerpt);

	question.reader = moment->readers[0];
	table_compare(answer->table, query_table_kept(answer->answer.epoch->query, &question));
	answer->answer.partial = answer->answer.partial || query_awaits_files(answer->answer.epoch->query, &question);
}

/* ---- what a thread does now ---- */

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

/*
 * Says what the thread of this title does now, by the guest's trace events. Nothing where that is not known, as where
 * nothing is traced.
 */
static void tell_now(struct function_table *answer, const struct thread_states *states, const char *title)
{
	const struct epoch *epoch = answer->answer.epoch;
	struct pairs_thread is;
	uint32_t thread;

	if (thread_states_forgot(states)) {
		util_print(answer->now, THREAD_NOW, "not known: spans of that time were forgotten; give more by "
			"--memory");
	} else if (read_number(epoch->inputs.threads, title, &thread)) {
		thread_now(epoch, states, thread, answer->now, answer->next);
		is = thread_states_of(states, thread);
		answer->lost = !*answer->next && (is.lost || is.other_lost);
	}
}

/* Of each visible row. */
static void tell_briefly(struct function_table *answer, const struct thread_states *states)
{
	const struct epoch *epoch = answer->answer.epoch;
	uint32_t thread;

	for (size_t i = 0; i < answer->visible_count; i++) {
		struct function_row *row = &answer->visible[i];

		if (read_number(epoch->inputs.threads, symbols_get(answer->answer.symbols, row->function)->name,
				&thread))
			thread_now_brief(epoch, states, thread, row->now);
		answer->tells_now = answer->tells_now || *row->now;
	}
}

/* ---- threads without samples ---- */

enum { IDLE_ROWS = 4096 };		/* of them, at most */

struct idle_threads {
	struct function_table *answer;
	const struct thread_states *states;
	struct filter filter;		/* of the table */
	struct grouping grouping;
	bool may_add;			/* the filter has no terms that only samples pass */
	uint32_t *rows;			/* by function, `count` of them: its row plus 1; 0: it has none */
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
	const struct pairs_thread is = thread_states_of(idle->states, thread);
	struct table *table = idle->answer->table;
	uint32_t function = grouping_who(&idle->grouping, &who, CONTEXT_UNTOLD);
	uint32_t known = function < idle->count ? idle->rows[function] : 0;
	struct row *row = known ? &table->rows[known - 1] : NULL;

	if (!row && idle->may_add && idle->added < IDLE_ROWS &&
			filter_passes(&idle->filter, threads, &who, CONTEXT_UNTOLD)) {
		row = table_add(table, function);
		idle->added++;
	}
	if (row)
		row->waits = thread_now_waits(&is, thread_states_at(idle->states));
}

/*
 * A thread that sleeps or waits has no samples, and is the one that is asked about: each of which the trace events tell
 * what it does now has a row, with how long it has waited. Not where the filter has terms that only samples pass.
 */
static void add_idle_threads(struct function_table *answer, const struct thread_states *states,
	const struct filter *filter)
{
	const struct epoch *epoch = answer->answer.epoch;
	struct idle_threads idle = {
		.answer = answer, .states = states, .filter = event_filter(filter),
		.count = symbols_functions(epoch->inputs.symbols),
		.grouping = { .by = GROUP_THREAD, .symbols = epoch->inputs.symbols, .threads = epoch->inputs.threads },
	};

	idle.may_add = idle.filter.count == filter->count && filter_lacks(filter, FILTER_CPU);
	idle.rows = util_grow(NULL, idle.count + 1, sizeof(*idle.rows));
	memset(idle.rows, 0, (idle.count + 1) * sizeof(*idle.rows));
	for (uint32_t i = 0; i < answer->table->count; i++)
		idle.rows[answer->table->rows[i].function] = i + 1;
	thread_states_each(states, add_idle, &idle);
	free(idle.rows);
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
	answer->time = !excerpt->until_ns ? FUNCTION_NOW :
		trace_is_whole(epoch->trace, to) ? FUNCTION_THEN : FUNCTION_BEFORE;
	answer->answer.partial = answer->answer.partial ||
		(answer->time == FUNCTION_BEFORE && to <= epoch_now(epoch));
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
	answer->tells_selected = answer->selected != FUNCTION_NONE;
	question = excerpt_question(answer->answer.epoch, &asked->excerpt);
	question.reader = moment->readers[0];
	callers = request->callers && answer->selected != FUNCTION_NONE && question.by == GROUP_FUNCTION;
	question.callers = request->ran && grouping_has_ran(question.by);
	answer->table = query_table(answer->answer.epoch->query, &question);
	states = question.by == GROUP_THREAD ? states_of(answer, &asked->excerpt, question.to) : NULL;
	if (states)
		add_idle_threads(answer, states, &asked->excerpt.filter);
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
	if (asked->excerpt.base.until_ns)	/* last, for all else is about the same range */
		compare(answer, asked, moment);
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
