/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "machine.h"

enum { MARKS_MS = 500 };		/* the pause between two answers for a tab's mark alone */

static void name_it(struct machine *machine, const char *name)
{
	util_print(machine->name, sizeof(machine->name), "%u %s", machine->number,
		name[0] || !machine->label ? name : machine->label);
}

/* ---- questions ---- */

static bool asks_vitals(const struct machine *machine)
{
	bool asks = false;

	for (int i = 0; i < READERS; i++)
		asks = asks || machine->readers[i][FEED_VITALS].request;
	return asks;
}

/* The marks need vitals of their own only while no reader asks for the vitals. */
static void ask_marks(struct machine *machine)
{
	struct vitals_request request;

	if (machine->marks_asked == !asks_vitals(machine))
		return;
	machine->marks_asked = !machine->marks_asked;
	memset(&request, 0, sizeof(request));
	request.request.kind = &vitals_kind;
	request.request.pause_ms = MARKS_MS;
	session_request(machine->marks, machine->marks_asked ? &request.request : NULL);
}

void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label, struct wakeup *wakeup)
{
	*machine = (struct machine) { .session = session, .number = number, .label = label, .wakeup = wakeup };
	machine->marks = session_subscribe(session, wakeup, NULL);
	name_it(machine, "");
	ask_marks(machine);
}

static bool is_asked(const struct machine_question *question, const struct request *request)
{
	const struct request *before = question->request;

	if (!before || !request)
		return before == request;
	return before->kind == request->kind &&
		memcmp(before, request, request->kind->request_size) == 0;
}

/* The request as this machine is asked it, in fresh memory. */
static struct request *own_request(const struct machine *machine, const struct request *request)
{
	size_t size = request->kind->request_size;
	struct request *own = memcpy(util_alloc(size), request, size);

	filter_at_machine(&own->excerpt.filter, machine->number, machine->name);
	return own;
}

void machine_ask(struct machine *machine, enum reader reader, enum feed_question of,
	const struct request *request)
{
	struct machine_question *question = &machine->readers[reader][of];
	struct request *own = request ? own_request(machine, request) : NULL;

	if (is_asked(question, own)) {
		free(own);
		return;
	}
	free(question->request);
	question->request = own;
	question->awaited = own;
	if (!question->subscription)
		question->subscription = session_subscribe(machine->session, machine->wakeup, NULL);
	session_request(question->subscription, own);
	ask_marks(machine);
}

static void clear(struct machine_question *question)
{
	session_unsubscribe(question->subscription);
	answer_free(question->answer);
	free(question->request);
	*question = (struct machine_question) { .request = NULL };
}

void machine_look_away(struct machine *machine, enum reader reader)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		clear(&machine->readers[reader][i]);
	ask_marks(machine);
}

void machine_clear(struct machine *machine)
{
	for (int i = 0; i < READERS; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++)
			clear(&machine->readers[i][k]);
	session_unsubscribe(machine->marks);
}

/* ---- answers ---- */

/* Takes the machine's state from its vitals. True: the mark of its tab has changed. */
static bool take_marks(struct machine *machine, const struct vitals *vitals)
{
	struct machine before = *machine;

	machine->known = true;
	machine->running = vitals->running;
	machine->kept = vitals->kept;
	machine->link = vitals->link;
	machine->vm = vitals->vm;
	machine->lost = vitals->lost_guest + vitals->lost_host;
	name_it(machine, vitals->name);
	return !before.known || before.running != machine->running ||
		before.link != machine->link || before.vm != machine->vm ||
		before.lost != machine->lost || strcmp(before.name, machine->name) != 0;
}

static bool take(struct machine *machine, struct machine_question *question)
{
	struct answer *answer = question->subscription ? session_answer(question->subscription) : NULL;

	if (!answer)
		return false;
	if (answer->kind == &vitals_kind) {
		struct vitals *vitals = (struct vitals *)answer;

		take_marks(machine, vitals);
		util_print(vitals->tab, sizeof(vitals->tab), "%s", machine->name);
	}
	answer_free(question->answer);
	question->answer = answer;
	question->awaited = false;
	return true;
}

bool machine_step(struct machine *machine)
{
	struct answer *marks;
	bool changed = false;

	session_clear_message_fd(machine->session);
	for (int i = 0; i < READERS; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++)
			changed = take(machine, &machine->readers[i][k]) || changed;
	marks = session_answer(machine->marks);
	if (marks)
		changed = take_marks(machine, (const struct vitals *)marks) || changed;
	answer_free(marks);
	return changed;
}

struct answer *machine_answer(struct machine *machine, enum reader reader, enum feed_question question)
{
	struct answer *answer = machine->readers[reader][question].answer;

	machine->readers[reader][question].answer = NULL;
	return answer;
}

/* ---- orders ---- */

void machine_snapshot(struct machine *machine, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice)
{
	struct excerpt own = *excerpt;

	filter_at_machine(&own.filter, machine->number, machine->name);
	session_snapshot(machine->session, path, &own, choice);
}

void machine_run_profiler(struct machine *machine, bool on)
{
	machine->asked = on ? KEPT_ON : KEPT_OFF;
	session_run_profiler(machine->session, on);
}

/* Two presses in a row mean on and then off, although no answer has shown the first one's outcome yet. */
bool machine_runs(const struct machine *machine)
{
	enum kept_wish wish = machine->asked ? machine->asked : machine->kept;

	return wish ? wish == KEPT_ON : machine->running;
}

bool machine_message(struct machine *machine, struct session_message *message)
{
	if (!session_message(machine->session, message))
		return false;
	if (message->profiler && !message->kept) {
		if (!message->failed)
			machine->running = machine_runs(machine);
		machine->asked = machine->kept = KEPT_NONE;
	}
	return true;
}
