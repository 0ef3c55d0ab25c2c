/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/guest/call_text.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/store/run.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "event_table.h"
#include "thread_now.h"
#include "thread_states.h"

/* ---- texts ---- */

enum {
	CHAIN = 8,			/* threads of a chain, each of which waits for the next, that are told */
	OWN_FRAMES = 10, FRAMES = 6,	/* of the stacks of the thread itself; of others */
};

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

static void add_name(const struct epoch *epoch, const struct trace_span *of, char text[THREAD_NOW])
{
	char name[EVENT_NAME];

	add_text(text, "%s", event_name(epoch, of->kind, of->number, name));
}

/* ", at mutex_lock < log_add"; nothing if it was not told. */
static void add_stack(const struct epoch *epoch, const char *before, uint32_t stack, unsigned most,
	char text[THREAD_NOW])
{
	char names[STACK_TEXT];

	if (call_text_stack(epoch, stack, most, names)[0])
		add_text(text, "%s%s", before, names);
}

/* It is blocked, and a request of its own is with a block device: most likely it waits for that. */
static bool has_request(const struct epoch *epoch, const struct pairs_thread *is)
{
	return is->now.kind == SPAN_SLEEP && is->now.number == SLEEP_BLOCKED && is->pair.begin &&
		guest_events_is_block(epoch->events, SPAN_EVENT(is->pair.number));
}

/* "is blocked for 2.3s in syscall read while its block read is under way for 2.3s, at schedule < folio_wait_bit" */
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
	if (has_request(epoch, is)) {
		add_text(text, " while its ");
		add_name(epoch, &is->pair, text);
		add_text(text, " is under way for %s", lasts(&is->pair, until, ns));
	}
	add_stack(epoch, is->now.kind == SPAN_READY && is->now.number == READY_WOKEN ? " at " : ", at ", is->now.stack,
		frames, text);
}

void thread_now_brief(const struct epoch *epoch, const struct thread_states *states, uint64_t thread,
	char brief[THREAD_BRIEF])
{
	const struct pairs_thread is = thread_states_of(states, thread);
	const struct trace_span *doing;
	uint64_t until = thread_states_at(states);
	char ns[DURATION_TEXT], title[THREAD_TITLE], plain[SPAN_TEXT], text[THREAD_NOW] = "";

	if (is.wait.begin) {
		add_name(epoch, &is.wait, text);
		threads_title(epoch->inputs.threads, (uint32_t)is.wait.holder, title, sizeof(title));
		add_text(text, " %s", lasts(&is.wait, until, ns));
		if (is.wait.holder != EVENT_NONE)
			add_text(text, ", %s%s", is.held_last ? "last " : "", title);
	} else if (is.now.begin) {
		if (is.now.kind == SPAN_THREAD)
			add_text(text, "on cpu%u", is.now.cpu);
		else
			add_text(text, "%s", span_text(is.now.kind, is.now.number, plain));
		doing = has_request(epoch, &is) ? &is.pair : &is.call;
		add_text(text, " %s%s", lasts(&is.now, until, ns), doing->begin ? ", " : "");
		if (doing->begin)
			add_name(epoch, doing, text);
	}
	util_print(brief, THREAD_BRIEF, "%s", *text || !is.lost ? text : "not known: events lost");
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
		add_text(text, ", %sheld by ", is.held_last ? "last " : "");
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

void thread_now(const struct epoch *epoch, const struct thread_states *states, uint64_t thread, char now[THREAD_NOW],
	char next[THREAD_TITLE])
{
	const struct pairs_thread is = thread_states_of(states, thread);
	uint64_t other = is.wait.begin ? is.wait.holder : is.woken ? is.waker : EVENT_NONE;
	char text[THREAD_NOW] = "", name[EVENT_NAME];
	bool circle;

	now[0] = next[0] = '\0';
	if (!is.now.begin && !is.wait.begin) {
		util_print(now, THREAD_NOW, "%s", is.lost ? "not known, since trace events were lost" : "");
		return;
	}
	circle = add_chain(epoch, states, thread, text);
	add_text(now, "%s%s", circle ? "a circle: " : "", text);
	if (other != EVENT_NONE)
		threads_title(epoch->inputs.threads, (uint32_t)other, next, THREAD_TITLE);
	if (is.woken && !is.wait.begin) {
		add_text(now, "; woken last by %s", is.waker != EVENT_NONE ? next :
			is.woken_in.kind == SPAN_THREAD ? "an interrupt" : "");
		if (is.waker == EVENT_NONE && is.woken_in.kind != SPAN_THREAD)
			add_text(now, "%s", event_name(epoch, is.woken_in.kind, is.woken_in.number, name));
		if (is.now.kind != SPAN_READY)
			add_stack(epoch, " at ", is.woken_at, FRAMES, now);
	}
}

uint64_t thread_now_waits(const struct pairs_thread *is, uint64_t at)
{
	const struct trace_span *span = is->wait.begin ? &is->wait : &is->now;

	return span->begin && span->kind != SPAN_THREAD && at > span->begin ? at - span->begin : 0;
}

/* ---- all threads ---- */

struct making {
	struct thread_list *list;
	const struct thread_states *states;
	struct filter filter;
	uint32_t room;
};

static void add_thread(void *context, uint64_t thread)
{
	struct making *making = context;
	struct thread_list *list = making->list;
	const struct epoch *epoch = list->answer.epoch;
	const struct who who = {
		.thread = (uint32_t)thread, .cpu = WHO_NO_CPU,
		.process = threads_owner(epoch->inputs.threads, (uint32_t)thread, EVENT_KERNEL),
	};
	struct thread_row *rows;
	char next[THREAD_TITLE];

	if (!filter_passes(&making->filter, epoch->inputs.threads, &who, CONTEXT_UNTOLD))
		return;
	rows = budget_array(epoch->inputs.budget, list->rows, list->count, &making->room, sizeof(*rows));
	list->refused += !rows;
	if (!rows)
		return;
	list->rows = rows;
	rows[list->count] = (struct thread_row) {
		.thread = (uint32_t)thread, .is = thread_states_of(making->states, thread),
	};
	rows[list->count].waits = thread_now_waits(&rows[list->count].is, list->at);
	threads_title(epoch->inputs.threads, (uint32_t)thread, rows[list->count].title, THREAD_TITLE);
	event_called(epoch, SPAN_CALL, rows[list->count].is.call.number, rows[list->count].call);
	event_called(epoch, SPAN_LOCK, rows[list->count].is.wait.number, rows[list->count].lock);
	thread_now(epoch, making->states, thread, rows[list->count].now, next);
	list->count++;
}

static int longest_first(const void *left, const void *right)
{
	const struct thread_row *a = left, *b = right;

	if (a->waits != b->waits)
		return a->waits < b->waits ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void list_threads(struct making *making, uint64_t at)
{
	struct thread_list *list = making->list;
	struct thread_states *states = thread_states_new(list->answer.epoch, at, EVENT_NONE);

	making->states = states;
	list->at = thread_states_at(states);
	list->forgot = thread_states_forgot(states);
	thread_states_each(states, add_thread, making);
	thread_states_free(states);
}

static void meet_end(void *context, const struct span_row *row)
{
	uint64_t *newest = context;

	*newest = row->end > *newest ? row->end : *newest;
}

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	struct thread_list *list = util_alloc(sizeof(*list));
	struct making making = { .list = list, .filter = event_filter(&asked->excerpt.filter) };
	uint64_t to, newest = 0;
	const struct epoch *epoch;
	struct question question;

	list->answer = answer_begin(&thread_list_kind, moment);
	epoch = list->answer.epoch;
	if (!epoch || trace_until(epoch->trace) == UINT64_MAX)
		return &list->answer;
	question = excerpt_question(epoch, &asked->excerpt);
	to = question.to;
	list->answer.partial = asked->excerpt.until_ns && to <= epoch_now(epoch) && !trace_is_whole(epoch->trace, to);
	list_threads(&making, asked->excerpt.until_ns ? to : 0);
	if (!list->count && asked->excerpt.until_ns && !list->forgot) {
		span_rows_read(trace_rows(epoch->trace), question.from, to, meet_end, &newest);
		list->stopped = newest && newest <= to;
		if (list->stopped)
			list_threads(&making, newest - 1);
	}
	list->rows = budget_trim(epoch->inputs.budget, list->rows, making.room * sizeof(*list->rows),
		list->count * sizeof(*list->rows));
	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), longest_first);
	list->answer.begun = list->count;
	return &list->answer;
}

static void free_answer(struct answer *answer)
{
	struct thread_list *list = (struct thread_list *)answer;

	if (answer->epoch)
		budget_free(answer->epoch->inputs.budget, list->rows, list->count * sizeof(*list->rows));
}

const struct answer_kind thread_list_kind = {
	.name = "threads", .request_size = sizeof(struct request), .make = make, .free = free_answer,
};
