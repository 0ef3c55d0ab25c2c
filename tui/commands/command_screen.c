/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/lease.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "tui/screen/app.h"
#include "tui/screen/tabs.h"
#include "tui/views/config.h"
#include "command.h"

enum {
	STEP_MS = 50, CALM_MS = 250,	/* longest wait of a step; of one for which only bytes and orders can come */
	OFFER_MS = 500,			/* between two tries to serve others */
};

struct ingest {				/* the ingest thread of one machine */
	struct session *session;
	const char *socket;		/* the VM's; NULL: it is a recording */
	struct service *service;	/* NULL: none, or not yet */
	uint64_t offer_at;		/* when to try again to serve others */
	bool alone;			/* it was told that others cannot work beside this ktop */
	pthread_t thread;
	_Atomic uint64_t end;		/* 0: go on; else end by then (util_now); written by the screen's thread */
	const struct command_start *start;	/* still to be told to the guest; NULL: nothing is */
	unsigned unanswered;	/* of its lines */
	bool starts;		/* the guest is to be profiled once they are answered */
};

/* True: the guest answers, so that it can be told to start. */
static bool can_start(const struct session *session, const struct command_start *start)
{
	return session_link(session) == LINK_UP && session_epoch(session)->status_known &&
		(!start->own || (session_source(session).own && !session_ordered(session)));
}

static void tell_reply(void *context, bool ok, const char *text)
{
	struct ingest *ingest = context;

	if (ok)
		lease_line_obeyed(session_lease(ingest->session), text);
	session_say(ingest->session, !ok, text);
	ingest->unanswered--;
}

/* Whoever wants no samples gets none: the key that starts may be faster than the lines. */
static void start(struct ingest *ingest)
{
	const struct command_sink reply = { .context = ingest, .answered = tell_reply };

	for (size_t i = 0; i < sizeof(ingest->start->lines) / sizeof(ingest->start->lines[0]); i++)
		if (ingest->start->lines[i]) {
			ingest->unanswered++;
			session_ask(ingest->session, ingest->start->lines[i], &reply);
		}
	ingest->start = NULL;
	ingest->starts = true;
}

/* Tells that others cannot work beside this ktop. Frees `why`. */
static void say_alone(struct session *session, char *why)
{
	char *text = command_alone(why);

	session_say(session, true, text);
	session_remark(session, text);
	free(text);
}

/*
 * Without a control socket the screen still works, but nobody can work beside it. It tries again: another ktop that
 * has the VM may end, and a VM that is not there may come.
 */
static void offer(struct ingest *ingest)
{
	char *error = NULL;

	ingest->offer_at = util_now() + (uint64_t)OFFER_MS * NS_PER_MS;
	ingest->service = service_new(ingest->session, ingest->socket, &error);
	if (ingest->service && ingest->alone)
		session_remark(ingest->session, "");
	if (error && !ingest->alone)
		say_alone(ingest->session, error);
	else
		free(error);
	ingest->alone = !ingest->service;
}

/* True: nobody is served, and the guest is connected, and has answered. */
static bool is_calm(const struct ingest *ingest)
{
	return session_link(ingest->session) == LINK_UP && !ingest->starts &&
		(!ingest->service || service_fd(ingest->service) >= 0);
}

/* The ingest thread: drives the session, and serves other ktops, until `end` is set. */
static void *run_ingest(void *context)
{
	struct ingest *ingest = context;

	while (!atomic_load(&ingest->end)) {
		session_await(ingest->session, ingest->service ? service_fd(ingest->service) : -1);
		session_step(ingest->session, is_calm(ingest) ? CALM_MS : STEP_MS);
		if (ingest->service)
			service_step(ingest->service);
		else if (ingest->socket && util_now() >= ingest->offer_at)
			offer(ingest);
		if (ingest->start && can_start(ingest->session, ingest->start))
			start(ingest);
		if (ingest->starts && ingest->unanswered == 0) {
			ingest->starts = false;
			session_run_profiler(ingest->session, true);
		}
	}
	session_forget(ingest->session, ingest);
	service_free(ingest->service);
	session_leave(ingest->session, atomic_load(&ingest->end));
	return NULL;
}

static bool begin(struct ingest *ingest, const struct command_vm *vm,
	const struct command_start *start)
{
	ingest->session = vm->session;
	ingest->start = start;
	ingest->socket = vm->socket;
	if (vm->socket)
		offer(ingest);
	if (pthread_create(&ingest->thread, NULL, run_ingest, ingest) == 0)
		return true;
	service_free(ingest->service);
	return false;
}

/* Tells all threads to end by `late`, so that they end at the same time, and waits for them. */
static void end_all(struct ingest *ingests, size_t count, uint64_t late)
{
	for (size_t i = 0; i < count; i++) {
		atomic_store(&ingests[i].end, late);
		session_give_up(ingests[i].session);
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(ingests[i].thread, NULL);
}

/* `end`: how it ended. `format`: set to that of snapshots which was chosen last. */
static bool show(const struct command_vm *vms, size_t count, struct budget *budget,
	const struct config *config, struct app_end *end, size_t *format, char **error)
{
	struct tabs_machine machines[FLEET_MOST] = { { .session = NULL } };
	struct config shown = *config;
	struct tabs *tabs;
	bool good;

	for (size_t i = 0; i < count; i++)
		machines[i] = (struct tabs_machine) { vms[i].session, vms[i].label, vms[i].console };
	shown.keys.tabs = count > 1;
	shown.keys.replay = !vms[0].socket;
	shown.keys.console = vms[0].console;
	tabs = tabs_new(machines, count, budget, &shown);
	good = app_run(tabs, &shown, end, error);
	*format = tabs_format(tabs);
	tabs_free(tabs);
	return good;
}

/* The next start has the format that was chosen last. */
static void keep_format(const struct config *config, size_t format)
{
	char *error = NULL;

	if (format != config->format && !config_file_keep_format(format, &error))
		command_tell(error);
}

int command_screen(const struct command_vm *vms, size_t count, struct budget *budget,
	const struct config *config, const struct command_start *start, bool *detach)
{
	struct ingest ingests[FLEET_MOST] = { { .session = NULL } };
	char *error = NULL;
	struct app_end end = { .asked = util_now() };
	bool shown = false;
	size_t begun = 0, format = config->format;

	while (begun < count && begin(&ingests[begun], &vms[begun], start))
		begun++;
	if (begun == count)
		shown = show(vms, count, budget, config, &end, &format, &error);
	else
		util_fail(&error,
			"no thread for the guest's data: no memory for it, or too many threads; close "
			"other programs");
	end_all(ingests, begun, end.asked + (uint64_t)SESSION_HURRY_MS * NS_PER_MS);
	if (detach)
		*detach = end.detach;
	keep_format(config, format);
	for (size_t i = 0; i < count; i++)
		if (!command_await_files(vms[i].session, vms[i].capture, shown ? &error : NULL))
			shown = false;
	return shown ? COMMAND_DONE : command_fail(error);
}
