/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/lease.h"
#include "agent/report/recorder.h"
#include "agent/report/report.h"
#include "agent/session/saver.h"
#include "agent/session/session.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "control_socket.h"
#include "service.h"

enum {
	LOOK_MS = 500,			/* between two checks whether the VM has another socket */
	KNOWN_MS = 15000,		/* a line for the guest waits so long in each state until the guest is known */
	PAUSED_MS = 1000,		/* and so long until it runs: a stop for a sample is over by then */
};

struct serving {				/* what is done for one client */
	struct service *service;
	struct report *report;		/* NULL: none */
	struct recorder *recorder;	/* NULL: none */
	char *words;			/* the request's words: the report's or recorder's texts point into them */
	char *line;			/* a control line that is to be sent; NULL: none waits */
	uint64_t send_by;		/* it is given up then */
	uint32_t states;		/* of the link, seen while it waited: bits 1 << enum link_state */
};

struct service {
	struct session *session;
	char *socket;			/* the VM's socket */
	struct control_sink sink;
	struct control_socket *control;
	uint64_t look_at;		/* when to check next whether the VM has another socket */
	struct serving servings[CONTROL_CLIENTS];	/* by client */
	unsigned next;			/* the serving whose turn it is */
};

static unsigned client_of(const struct serving *serving)
{
	return (unsigned)(serving - serving->service->servings);
}

static void answer(const struct serving *serving, bool ok, const char *text)
{
	control_socket_answer(serving->service->control, client_of(serving), ok, text, strlen(text));
}

/* Ends what is done for the client; its answer was given, or is not wanted. */
static void forget(struct serving *serving)
{
	report_free(serving->report);
	recorder_free(serving->recorder);
	free(serving->words);
	free(serving->line);
	serving->report = NULL;
	serving->recorder = NULL;
	serving->words = serving->line = NULL;
	session_forget(serving->service->session, serving);
}

/* ---- ctl ---- */

static void guest_answered(void *context, bool ok, const char *text)
{
	const struct serving *serving = context;

	if (ok)
		lease_line_obeyed(session_lease(serving->service->session), text);
	answer(serving, ok, text);
}

/* The source may not be chosen yet, or its connection not made: nobody would read the line. */
static void begin_ctl(struct serving *serving, char *const *words, size_t count)
{
	serving->line = util_join(words, count, " ");
	serving->states = 0;
}

static void give_up_line(struct serving *serving, bool paused)
{
	enum link_state link = session_link(serving->service->session);
	char *why = link == LINK_UP ? util_format("not sent: %s", state_words_of_vm(VM_PAUSED)->trouble) :
		util_format("the guest has told nothing of itself in %d s: %s", KNOWN_MS / 1000,
			paused ? state_words_of_vm(VM_PAUSED)->trouble :
			session_words(serving->service->session)->trouble);

	answer(serving, false, why);
	free(why);
}

/* A busy host takes long from state to state, so each has its own time, once: a link may go to and fro. */
static void note_state(struct serving *serving)
{
	enum link_state link = session_link(serving->service->session);

	if (serving->states >> link & 1)
		return;
	serving->states |= 1u << link;
	serving->send_by = util_now() + (uint64_t)(link == LINK_UP ? PAUSED_MS : KNOWN_MS) * NS_PER_MS;
}

static void step_ctl(struct serving *serving)
{
	const struct command_sink sink = { .context = serving, .answered = guest_answered };
	struct session *session = serving->service->session;
	bool paused = session_vm(session) == VM_PAUSED, ready = session_link(session) == LINK_UP && !paused;
	char *line = serving->line;

	note_state(serving);
	if (!ready && util_now() < serving->send_by)
		return;
	serving->line = NULL;
	if (ready)
		session_ask(session, line, &sink);
	else
		give_up_line(serving, paused);
	free(line);
}

/* ---- report ---- */

/* Copies the words into the serving's memory, since the request will point to them. Returns the copies. */
static char **keep_words(struct serving *serving, char *const *words, size_t count)
{
	size_t size = count * sizeof(char *);
	char **kept;
	char *to;

	for (size_t i = 0; i < count; i++)
		size += strlen(words[i]) + 1;
	serving->words = util_alloc(size);
	kept = (char **)(void *)serving->words;
	to = serving->words + count * sizeof(char *);
	for (size_t i = 0; i < count; i++) {
		kept[i] = to;
		to = stpcpy(to, words[i]) + 1;
	}
	return kept;
}

/* False: an option is wrong, and the client was told so. */
static bool parse(struct serving *serving, char *const *words, size_t count, const struct option_set *set)
{
	char *error = NULL;
	size_t used;

	if (options_parse(keep_words(serving, words, count), count, set, 1, &used, &error))
		return true;
	answer(serving, false, error);
	free(error);
	forget(serving);
	return false;
}

static void begin_report(struct serving *serving, const struct option_row *rows, char *const *words, size_t count)
{
	struct report_request request = report_default;
	const struct option_set set = { .rows = rows, .into = &request };

	if (!parse(serving, words, count, &set))
		return;
	serving->report = report_new(serving->service->session, &request);
	serving->report->stays = true;
}

static void begin_record(struct serving *serving, char *const *words, size_t count)
{
	struct recorder_request request = recorder_default;
	const struct option_set set = { .rows = recorder_options, .into = &request };

	if (!parse(serving, words, count, &set))
		return;
	if (request.folder) {
		serving->recorder = recorder_new(serving->service->session, &request);
		return;
	}
	answer(serving, false, "no folder: none was named; give -o DIR");
	forget(serving);
}

/* Writes the report, and ends its recording, if it has one. */
static void write_report(struct serving *serving, FILE *out, char **error)
{
	struct capture *capture = report_take_capture(serving->report);
	char *unrecorded = NULL;

	report_write(serving->report, out, error);
	if (capture && !capture_close(capture, &unrecorded) && !*error)
		*error = unrecorded;
	else
		free(unrecorded);
}

/* What belongs on the standard error, where the client's standard output is the export. */
static void tell_beside(const struct report *report, FILE *out)
{
	fputs(CONTROL_SEPARATOR, out);
	report_export_tell_beside(report, out);
}

/* The serving is done: answers with what was written, and why it failed, if it did. */
static void finish(struct serving *serving)
{
	char *text = NULL, *error = NULL;
	const char *why = NULL;
	size_t size = 0;
	FILE *out = util_text_stream(&text, &size);

	if (out) {
		if (serving->report)
			write_report(serving, out, &error);
		else
			recorder_write(serving->recorder, out, &error);
		why = error ? error : serving->report ? serving->report->error : NULL;
		if (why)
			fprintf(out, CONTROL_SEPARATOR "%s", why);
		else if (serving->report && serving->report->request.out)
			tell_beside(serving->report, out);
	}
	if (out && util_text_whole(out, &text))
		control_socket_answer(serving->service->control, client_of(serving), !why, text, size);
	else
		answer(serving, false, "no report: no memory for it; give more by --memory, or take "
			"fewer --seconds");
	free(error);
	free(text);
	forget(serving);
}

static void step_recorder(struct serving *serving)
{
	if (recorder_step(serving->recorder))
		finish(serving);
}

static void step_report(struct serving *serving)
{
	switch (report_step(serving->report)) {
	case REPORT_DONE:
		if (!serving->report->capture || !capture_writes(serving->report->capture))
			finish(serving);
		break;
	case REPORT_FAILED:
		answer(serving, false, serving->report->error);
		forget(serving);
		break;
	default:
		break;
	}
}

/* ---- the whole ---- */

static void take_request(void *context, unsigned client, char *const *words, size_t count)
{
	struct service *service = context;
	struct serving *serving = &service->servings[client];

	if (strcmp(words[0], "ctl") == 0)
		begin_ctl(serving, words + 1, count - 1);
	else if (strcmp(words[0], "report") == 0)
		begin_report(serving, report_options, words + 1, count - 1);
	else if (strcmp(words[0], "export") == 0)
		begin_report(serving, export_options, words + 1, count - 1);
	else if (strcmp(words[0], "record") == 0)
		begin_record(serving, words + 1, count - 1);
	else if (strcmp(words[0], "vm") == 0)
		answer(serving, true, service->socket);
	else
		answer(serving, false, "the live ktop does not know this: it is of another version; "
			"start it again");
}

static void client_hurried(void *context, unsigned client)
{
	struct service *service = context;

	uint64_t late = util_now() + (uint64_t)SESSION_HURRY_MS * NS_PER_MS;

	if (service->servings[client].report)
		report_cut(service->servings[client].report, "interrupted", late);
	if (service->servings[client].recorder)
		recorder_cut(service->servings[client].recorder, "interrupted", late);
}

static void client_gone(void *context, unsigned client)
{
	struct service *service = context;

	forget(&service->servings[client]);
}

/* The absolute path, which is the same for clients in any folder. */
static char *whole_path(const char *socket)
{
	char *whole = realpath(socket, NULL);

	return whole ? whole : util_copy(socket, strlen(socket));
}

struct service *service_new(struct session *session, const char *socket, char **error)
{
	struct service *service = util_alloc(sizeof(*service));
	char *path = control_socket_path(socket, error);

	service->socket = whole_path(socket);
	service->sink = (struct control_sink) {
		.context = service, .request = take_request, .hurried = client_hurried,
		.gone = client_gone };
	service->session = session;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		service->servings[i].service = service;
	if (path)
		service->control = control_socket_new(path, &service->sink, error);
	free(path);
	if (service->control)
		return service;
	service_free(service);
	return NULL;
}

void service_free(struct service *service)
{
	if (!service)
		return;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		forget(&service->servings[i]);
	control_socket_free(service->control);
	free(service->socket);
	free(service);
}

/* A VM that was started anew has another socket, so its ktop is found at another control socket. */
static void follow(struct service *service)
{
	struct control_socket *next = NULL;
	char *path;

	if (util_now() < service->look_at || !control_socket_idle(service->control))
		return;
	service->look_at = util_now() + (uint64_t)LOOK_MS * NS_PER_MS;
	path = control_socket_path(service->socket, NULL);
	if (path && strcmp(path, control_socket_at(service->control)) != 0)
		next = control_socket_new(path, &service->sink, NULL);
	if (next) {
		control_socket_free(service->control);
		service->control = next;
	}
	free(path);
}

static void step_job(struct serving *serving)
{
	if (serving->line)
		step_ctl(serving);
	else if (serving->report)
		step_report(serving);
	else if (serving->recorder)
		step_recorder(serving);
}

/* Steps the servings in turn for TURN_MS. The rest follows in the next step, after the guest was read. */
static void step_jobs(struct service *service)
{
	uint64_t end = util_now() + (uint64_t)TURN_MS * NS_PER_MS;
	bool late = false;

	for (int i = 0; i < CONTROL_CLIENTS && !late; i++) {
		struct serving *serving = &service->servings[service->next];
		bool busy = serving->line || serving->report || serving->recorder;

		service->next = (service->next + 1) % CONTROL_CLIENTS;
		step_job(serving);
		late = busy && util_now() >= end;
	}
}

void service_step(struct service *service)
{
	follow(service);
	control_socket_step(service->control, util_now());
	step_jobs(service);
}
