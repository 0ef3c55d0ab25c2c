/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/lease.h"
#include "agent/report/recorder.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "agent/session/turn.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "control_socket.h"
#include "service.h"

enum {
	LOOK_MS = 500,			/* between two checks whether the VM has another socket */
	KNOWN_MS = 15000,		/* a line for the guest waits so long in each state until the guest is known */
	PAUSED_MS = 1000,		/* and so long until it runs: a stop for a sample is over by then */
};

struct job {				/* what is done for one client */
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
	struct job jobs[CONTROL_CLIENTS];	/* by client */
	unsigned next;			/* the job whose turn it is */
};

static unsigned client_of(const struct job *job)
{
	return (unsigned)(job - job->service->jobs);
}

static void answer(const struct job *job, bool ok, const char *text)
{
	control_socket_answer(job->service->control, client_of(job), ok, text, strlen(text));
}

/* Ends what is done for the client; its answer was given, or is not wanted. */
static void forget(struct job *job)
{
	report_free(job->report);
	recorder_free(job->recorder);
	free(job->words);
	free(job->line);
	job->report = NULL;
	job->recorder = NULL;
	job->words = job->line = NULL;
	session_forget(job->service->session, job);
}

/* ---- ctl ---- */

static void guest_answered(void *context, bool ok, const char *text)
{
	const struct job *job = context;

	if (ok)
		lease_line_obeyed(session_lease(job->service->session), text);
	answer(job, ok, text);
}

/* The source may not be chosen yet, or its connection not made: nobody would read the line. */
static void begin_ctl(struct job *job, char *const *words, size_t count)
{
	job->line = util_join(words, count, " ");
	job->states = 0;
}

static void give_up_line(struct job *job, bool paused)
{
	enum link_state link = session_link(job->service->session);
	char *why = link == LINK_UP ? util_format("not sent: %s", state_words_of_vm(VM_PAUSED)->trouble) :
		util_format("the guest has told nothing of itself in %d s: %s", KNOWN_MS / 1000,
			paused ? state_words_of_vm(VM_PAUSED)->trouble :
			session_words(job->service->session)->trouble);

	answer(job, false, why);
	free(why);
}

/* A busy host takes long from state to state, so each has its own time, once: a link may go to and fro. */
static void note_state(struct job *job)
{
	enum link_state link = session_link(job->service->session);

	if (job->states >> link & 1)
		return;
	job->states |= 1u << link;
	job->send_by = util_now() + (uint64_t)(link == LINK_UP ? PAUSED_MS : KNOWN_MS) * NS_PER_MS;
}

static void step_ctl(struct job *job)
{
	const struct command_sink sink = { .context = job, .answered = guest_answered };
	struct session *session = job->service->session;
	bool paused = session_vm(session) == VM_PAUSED, ready = session_link(session) == LINK_UP && !paused;
	char *line = job->line;

	note_state(job);
	if (!ready && util_now() < job->send_by)
		return;
	job->line = NULL;
	if (ready)
		session_ask(session, line, &sink);
	else
		give_up_line(job, paused);
	free(line);
}

/* ---- report ---- */

/* Copies the words into the job's memory, since the request will point to them. Returns the copies. */
static char **keep_words(struct job *job, char *const *words, size_t count)
{
	size_t size = count * sizeof(char *);
	char **kept;
	char *to;

	for (size_t i = 0; i < count; i++)
		size += strlen(words[i]) + 1;
	job->words = util_alloc(size);
	kept = (char **)(void *)job->words;
	to = job->words + count * sizeof(char *);
	for (size_t i = 0; i < count; i++) {
		kept[i] = to;
		to = stpcpy(to, words[i]) + 1;
	}
	return kept;
}

/* False: an option is wrong, and the client was told so. */
static bool parse(struct job *job, char *const *words, size_t count, const struct option_set *set)
{
	char *error = NULL;
	size_t used;

	if (options_parse(keep_words(job, words, count), count, set, 1, &used, &error))
		return true;
	answer(job, false, error);
	free(error);
	forget(job);
	return false;
}

static void begin_report(struct job *job, const struct option_row *rows, char *const *words, size_t count)
{
	struct report_request request = report_default;
	const struct option_set set = { .rows = rows, .into = &request };

	if (!parse(job, words, count, &set))
		return;
	job->report = report_new(job->service->session, &request);
	job->report->stays = true;
}

static void begin_record(struct job *job, char *const *words, size_t count)
{
	struct recorder_request request = recorder_default;
	const struct option_set set = { .rows = recorder_options, .into = &request };

	if (!parse(job, words, count, &set))
		return;
	if (request.folder) {
		job->recorder = recorder_new(job->service->session, &request);
		return;
	}
	answer(job, false, "no folder: none was named; give -o DIR");
	forget(job);
}

/* Writes the report, and ends its recording, if it has one. */
static void write_report(struct job *job, FILE *out, char **error)
{
	struct capture *capture = report_take_capture(job->report);
	char *unrecorded = NULL;

	report_write(job->report, out, error);
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

/* The job is done: answers with what was written, and why it failed, if it did. */
static void finish(struct job *job)
{
	char *text = NULL, *error = NULL;
	const char *why = NULL;
	size_t size = 0;
	FILE *out = util_text_stream(&text, &size);

	if (out) {
		if (job->report)
			write_report(job, out, &error);
		else
			recorder_write(job->recorder, out, &error);
		why = error ? error : job->report ? job->report->error : NULL;
		if (why)
			fprintf(out, CONTROL_SEPARATOR "%s", why);
		else if (job->report && job->report->request.out)
			tell_beside(job->report, out);
	}
	if (out && util_text_whole(out, &text))
		control_socket_answer(job->service->control, client_of(job), !why, text, size);
	else
		answer(job, false, "no report: no memory for it; give more by --memory, or take "
			"fewer --seconds");
	free(error);
	free(text);
	forget(job);
}

static void step_recorder(struct job *job)
{
	if (recorder_step(job->recorder))
		finish(job);
}

static void step_report(struct job *job)
{
	switch (report_step(job->report)) {
	case REPORT_DONE:
		if (!job->report->capture || !capture_writes(job->report->capture))
			finish(job);
		break;
	case REPORT_FAILED:
		answer(job, false, job->report->error);
		forget(job);
		break;
	default:
		break;
	}
}

/* ---- the whole ---- */

static void take_request(void *context, unsigned client, char *const *words, size_t count)
{
	struct service *service = context;
	struct job *job = &service->jobs[client];

	if (strcmp(words[0], "ctl") == 0)
		begin_ctl(job, words + 1, count - 1);
	else if (strcmp(words[0], "report") == 0)
		begin_report(job, report_options, words + 1, count - 1);
	else if (strcmp(words[0], "export") == 0)
		begin_report(job, export_options, words + 1, count - 1);
	else if (strcmp(words[0], "record") == 0)
		begin_record(job, words + 1, count - 1);
	else if (strcmp(words[0], "vm") == 0)
		answer(job, true, service->socket);
	else
		answer(job, false, "the live ktop does not know this: it is of another version; "
			"start it again");
}

static void client_hurried(void *context, unsigned client)
{
	struct service *service = context;

	uint64_t late = util_now() + (uint64_t)SESSION_HURRY_MS * NS_PER_MS;

	if (service->jobs[client].report)
		report_cut(service->jobs[client].report, "interrupted", late);
	if (service->jobs[client].recorder)
		recorder_cut(service->jobs[client].recorder, "interrupted", late);
}

static void client_gone(void *context, unsigned client)
{
	struct service *service = context;

	forget(&service->jobs[client]);
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
		service->jobs[i].service = service;
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
		forget(&service->jobs[i]);
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

static void step_job(struct job *job)
{
	if (job->line)
		step_ctl(job);
	else if (job->report)
		step_report(job);
	else if (job->recorder)
		step_recorder(job);
}

/* Steps the jobs in turn for TURN_MS. The rest follows in the next step, after the guest was read. */
static void step_jobs(struct service *service)
{
	uint64_t end = util_now() + (uint64_t)TURN_MS * NS_PER_MS;
	bool late = false;

	for (int i = 0; i < CONTROL_CLIENTS && !late; i++) {
		struct job *job = &service->jobs[service->next];
		bool busy = job->line || job->report || job->recorder;

		service->next = (service->next + 1) % CONTROL_CLIENTS;
		step_job(job);
		late = busy && util_now() >= end;
	}
}

void service_step(struct service *service)
{
	follow(service);
	control_socket_step(service->control, util_now());
	step_jobs(service);
}
