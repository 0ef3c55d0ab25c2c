/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "fake_session.h"

/* ---- in place of a session's subscriptions ---- */

struct subscription {
	struct session *session;
	const struct answer_kind *kind;	/* asked last */
	bool marks;
};

struct subscription *session_subscribe(struct session *session, struct wakeup *wakeup, struct epoch *boot)
{
	struct subscription *subscription = util_alloc(sizeof(*subscription));

	(void)wakeup;
	(void)boot;
	subscription->session = session;
	session->subscriptions++;
	return subscription;
}

static int *asking(struct session *session, const struct answer_kind *kind)
{
	return kind == &time_line_kind ? &session->asking_line :
		kind == &vitals_kind ? &session->asking_vitals : &session->asking_functions;
}

static void stop(struct subscription *subscription)
{
	if (subscription->kind)
		--*asking(subscription->session, subscription->kind);
	subscription->kind = NULL;
}

void subscription_leave(struct subscription *subscription)
{
	if (!subscription)
		return;
	stop(subscription);
	subscription->session->subscriptions--;
	free(subscription);
}

static void keep_excerpt(struct fake_wanted *wanted, const struct excerpt *excerpt)
{
	wanted->window_ns = excerpt->window_ns;
	wanted->zero_ns = excerpt->zero_ns;
	wanted->until_ns = excerpt->until_ns;
	wanted->back_ns = excerpt->back_ns;
	wanted->moved = excerpt->moved;
	wanted->filter = excerpt->filter;
	wanted->by = excerpt->by;
	wanted->base = excerpt->base;
}

static bool is_marks(const struct request *request)
{
	return request->kind == &vitals_kind &&
		((const struct vitals_request *)request)->cpus == VITALS_NO_CPUS;
}

void fake_keep(struct fake_wanted *wanted, const struct request *request)
{
	const struct function_request *functions = (const struct function_request *)request;

	if (request->kind == &vitals_kind)
		wanted->cpus = ((const struct vitals_request *)request)->cpus;
	if (!is_marks(request) && request->kind != &time_line_kind && request->kind != &heat_map_kind)
		keep_excerpt(wanted, &request->excerpt);
	if (request->kind != &function_table_kind)
		return;
	wanted->selected = functions->selected;
	wanted->callers = functions->callers;
	wanted->ran = functions->ran;
	wanted->visible_count = functions->visible_count;
	memcpy(wanted->visible, functions->visible, sizeof(functions->visible));
}

/* A real session does not make an answer that nobody has asked for: removes it. */
static void drop(struct session *session, const struct answer_kind *kind)
{
	struct answers *answers = session->next;

	if (answers && kind == &vitals_kind) {
		answer_free((struct answer *)answers->vitals);
		answers->vitals = NULL;
	} else if (answers && kind != &time_line_kind) {
		answer_free((struct answer *)answers->functions);
		answers->functions = NULL;
	}
}

void subscription_ask(struct subscription *subscription, const struct request *request)
{
	struct session *session = subscription->session;

	stop(subscription);
	session->wants++;
	if (!request)
		return;
	if (!*asking(session, request->kind))
		drop(session, request->kind);
	subscription->kind = request->kind;
	subscription->marks = is_marks(request);
	++*asking(session, request->kind);
	fake_keep(&session->wanted, request);
	if (request->kind == &time_line_kind)
		session->line = *(const struct time_line_request *)request;
	else if (request->kind != &vitals_kind)
		session->viewed = request->kind;
	if (request->kind == &call_tree_kind)
		memcpy(&session->tree, request, sizeof(session->tree));
	if (request->kind == &function_page_kind)
		memcpy(&session->page, request, sizeof(session->page));
	if (request->kind == &annotation_kind)
		memcpy(&session->annotation, request, sizeof(session->annotation));
	if (request->kind == &heat_map_kind)
		memcpy(&session->heat, request, sizeof(session->heat));
	if (request->kind == &event_table_kind)
		memcpy(&session->events, request, sizeof(session->events));
	if (request->kind == &timeline_kind)
		memcpy(&session->timeline, request, sizeof(session->timeline));
	if (request->kind == &memory_table_kind)
		memcpy(&session->memory, request, sizeof(session->memory));
}

/* The answer of this kind, from the next answers. Who asks first gets it. */
struct answer *subscription_take(struct subscription *subscription)
{
	struct session *session = subscription->session;
	struct answers *answers = session->next;
	struct answer *answer = NULL;

	if (!answers || !subscription->kind)
		return NULL;
	if (subscription->kind == &vitals_kind && answers->vitals) {
		answer = &answers->vitals->answer;
		session->running = answers->vitals->kept ? answers->vitals->kept == KEPT_ON :
			answers->vitals->running;
		if (!subscription->marks)
			session->took_vitals = answers->vitals;
		answers->vitals = NULL;
	} else if (subscription->kind == &function_table_kind && answers->functions) {
		answer = &answers->functions->answer;
		session->took_functions = answers->functions;
		session->took_boot = answers->functions->answer.boot;
		session->took_begun = answers->functions->answer.begun;
		session->took_by = answers->functions->by;
		answers->functions = NULL;
	} else if (subscription->kind == &call_tree_kind && answers->tree) {
		answers->tree->hot = session->tree.tree.hot;
		answers->tree->below = session->tree.tree.below;
		answers->tree->find = session->tree.tree.find;
		answer = &answers->tree->answer;
		answers->tree = NULL;
	} else if (subscription->kind == &function_page_kind && answers->page) {
		answer = &answers->page->answer;
		answers->page = NULL;
	} else if (subscription->kind == &annotation_kind && answers->annotation) {
		answer = &answers->annotation->answer;
		answers->annotation = NULL;
	} else if (subscription->kind == &heat_map_kind && answers->heat) {
		answer = &answers->heat->answer;
		answers->heat = NULL;
	} else if (subscription->kind == &event_table_kind && answers->events) {
		answer = &answers->events->answer;
		answers->events = NULL;
	} else if (subscription->kind == &timeline_kind && answers->timeline) {
		answer = &answers->timeline->answer;
		answers->timeline = NULL;
	} else if (subscription->kind == &memory_table_kind && answers->memory) {
		answer = &answers->memory->answer;
		answers->memory = NULL;
	} else if (subscription->kind == &time_line_kind && answers->line) {
		answer = &answers->line->answer;
		answers->line = NULL;
	}
	return answer;
}

int session_message_fd(const struct session *session)
{
	(void)session;
	return -1;
}

void session_clear_message_fd(struct session *session)
{
	(void)session;
}

void session_run_profiler(struct session *session, bool on)
{
	session->runs++;
	session->ran_on = on;
}

void session_mark(struct session *session, const char *text)
{
	session->marks++;
	snprintf(session->mark, sizeof(session->mark), "%s", text);
}

void session_trace_function(struct session *session, const char *name, uint64_t address)
{
	(void)address;
	snprintf(session->function, sizeof(session->function), "%s", name);
}

void session_keep(struct session *session, const char *path)
{
	session->keeps++;
	snprintf(session->path, sizeof(session->path), "%s", path);
}

void session_read_dead(struct session *session, const char *path)
{
	session->autopsies++;
	snprintf(session->path, sizeof(session->path), "%s", path);
}

void session_play(struct session *session, struct play play)
{
	session->plays++;
	session->played = play;
}

void session_snapshot(struct session *session, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice)
{
	struct stack_options stacks;
	struct set_options set;

	memcpy(&stacks, choice->options, sizeof(stacks));
	memcpy(&set, choice->options, sizeof(set));
	session->set = choice->format == &export_set ? set.format : NULL;
	session->marked = !session->set && stacks.kernel_mark;
	snprintf(session->root, sizeof(session->root), "%s", session->set ? set.machine : stacks.root);
	snprintf(session->path, sizeof(session->path), "%s", path);
	keep_excerpt(&session->snapped, excerpt);
	session->snapshots++;
}

bool session_message(struct session *session, struct session_message *message)
{
	*message = session->message;
	session->message.text[0] = '\0';
	return message->text[0] != '\0';
}

/* ---- a feed of this session alone, as a machine gives to a screen ---- */

static bool fake_is_asked(const struct session *session, enum feed_question question,
	const struct request *request)
{
	const struct request *last = &session->asked[question].request;

	if (!request)
		return !last->kind;
	return last->kind == request->kind && memcmp(last, request, request->kind->request_size) == 0;
}

static void ask(void *self, enum feed_question question, const struct request *request)
{
	struct session *session = self;
	struct subscription *subscription = session->feed[question];

	if (!subscription)
		subscription = session->feed[question] = session_subscribe(session, NULL, NULL);
	if (fake_is_asked(session, question, request))
		return;
	subscription_ask(subscription, request);
	memset(&session->asked[question], 0, sizeof(session->asked[question]));
	assert(!request || request->kind->request_size <= sizeof(session->asked[question]));
	if (request)
		memcpy(&session->asked[question], request, request->kind->request_size);
}

static struct answer *answer(void *self, enum feed_question question)
{
	struct session *session = self;

	return session->feed[question] ? subscription_take(session->feed[question]) : NULL;
}

static bool message(void *self, struct session_message *message)
{
	return session_message(self, message);
}

static bool running(void *self)
{
	return ((const struct session *)self)->running;
}

static void play(void *self, const struct play *wanted)
{
	session_play(self, *wanted);
}

static void run_profiler(void *self, bool on)
{
	session_run_profiler(self, on);
}

static void mark(void *self, const char *text)
{
	session_mark(self, text);
}

static void trace_function(void *self, const char *name, uint64_t address)
{
	session_trace_function(self, name, address);
}

static void snapshot(void *self, const struct excerpt *excerpt, const char *kernel)
{
	const struct session *session = self;
	const struct export_choice choice = save_format_choice(session->format, "");
	char name[SNAPSHOT_NAME];

	session_snapshot(self, snapshot_name(kernel, time(NULL), save_format_at(session->format).ending, name),
		excerpt, &choice);
}

static void read_dead(void *self, const char *kernel)
{
	(void)kernel;
	session_read_dead(self, "dead");
}

static void keep(void *self, const char *kernel)
{
	char name[SNAPSHOT_NAME];

	session_keep(self, snapshot_name(kernel, time(NULL), "", name));
}

static size_t format(void *self)
{
	return ((struct session *)self)->format;
}

static void set_format(void *self, size_t chosen)
{
	((struct session *)self)->format = chosen;
}

struct feed fake_feed(struct session *session)
{
	return (struct feed) {
		.self = session, .ask = ask, .answer = answer, .message = message,
		.read_dead = read_dead, .trace_function = trace_function,
		.running = running, .run_profiler = run_profiler, .mark = mark, .keep = keep, .play = play,
		.snapshot = snapshot, .format = format, .set_format = set_format,
	};
}

/* NULL: the view asks for something else. */
static void *view_answer(const struct session *session, const struct request *request, const struct moment *moment)
{
	return request->kind == session->viewed ? answer_new(request, moment) : NULL;
}

/* The vitals and the table have the newest excerpt, whoever asked for it. */
void fake_give(struct session *session, const struct moment *moment)
{
	const struct fake_wanted *wanted = &session->wanted;
	struct function_request functions = answers_function_request();
	struct vitals_request vitals = answers_vitals_request();

	functions.request.excerpt = fake_excerpt(session);
	vitals.request.excerpt = functions.request.excerpt;
	memcpy(functions.visible, wanted->visible, sizeof(wanted->visible));
	functions.visible_count = wanted->visible_count;
	functions.selected = wanted->selected;
	functions.callers = wanted->callers;
	functions.ran = wanted->ran;
	answers_free(session->next);
	session->next = answers_new(answer_new(&vitals.request, moment),
		view_answer(session, &functions.request, moment));
	if (session->line.request.kind)
		session->next->line = (struct time_line *)answer_new(&session->line.request, moment);
	if (!session->viewed)
		return;
	session->next->tree = view_answer(session, &session->tree.request, moment);
	session->next->page = view_answer(session, &session->page.request, moment);
	session->next->events = view_answer(session, &session->events.request, moment);
	session->next->timeline = view_answer(session, &session->timeline.request, moment);
	session->next->memory = view_answer(session, &session->memory.request, moment);
	session->next->heat = view_answer(session, &session->heat.request, moment);
	session->next->annotation = view_answer(session, &session->annotation.request, moment);
}

void fake_end(struct session *session)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		subscription_leave(session->feed[i]);
	answers_free(session->next);
	session->next = NULL;
}

struct excerpt fake_excerpt(const struct session *session)
{
	const struct fake_wanted *wanted = &session->wanted;

	return (struct excerpt) {
		.window_ns = wanted->window_ns, .zero_ns = wanted->zero_ns, .until_ns = wanted->until_ns,
		.back_ns = wanted->back_ns, .moved = wanted->moved,
		.filter = wanted->filter, .by = wanted->by, .base = wanted->base,
	};
}
