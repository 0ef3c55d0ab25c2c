/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/lease.h"
#include "agent/report/recorder.h"
#include "agent/report/report.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "agent/session/subscription.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "service.h"

/* ---- the control socket ---- */

enum {
	REQUEST_MAX = CONTROL_REQUEST_MAX,
	WORDS_MAX = CONTROL_WORDS_MAX,
	HEAD_MAX = 32,			/* bytes of an answer's first line */
};

static const uint64_t patience_ns = CONTROL_PATIENCE_MS * NS_PER_MS;

struct client {
	int fd;				/* -1: free */
	char request[REQUEST_MAX + 1];
	size_t size;
	uint64_t moved;			/* host ns of its coming, or of the last bytes; 0: the next step sets it */
	bool asked;			/* a whole request came, and is being answered */
	bool hurried;			/* the client wants the answer now */
	char *answer;			/* NULL: there is none yet */
	size_t answer_size, sent;
};

struct control_socket {
	int fd;
	char *path;
	struct control_sink sink;
	unsigned connected;		/* so many of the clients are not free */
	struct client clients[CONTROL_CLIENTS];
};

/* ---- paths ---- */

char *control_socket_folder(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && runtime[0] == '/')
		return util_format("%s/ktop", runtime);
	return util_format("/tmp/ktop-%u", (unsigned)getuid());
}

/* The folder must belong to this user, and nobody else may look into it. */
static char *private_folder(char **error)
{
	char *path = control_socket_folder();
	struct stat is;

	if ((mkdir(path, 0700) == 0 || errno == EEXIST) && lstat(path, &is) == 0 &&
			S_ISDIR(is.st_mode) && is.st_uid == getuid() && (is.st_mode & 077) == 0)
		return path;
	util_fail(error, "control socket: %s is not a private folder of this user; remove it",
		path);
	free(path);
	return NULL;
}

char *control_socket_path(const char *socket, char **error)
{
	struct stat is;
	char *folder, *path;

	if (stat(socket, &is) < 0) {
		util_fail(error, "%s: %s; %s", socket, strerror(errno),
			util_open_remedy(errno, "is the VM running?"));
		return NULL;
	}
	folder = private_folder(error);
	if (!folder)
		return NULL;
	path = util_format("%s/%jx-%jx", folder, (uintmax_t)is.st_dev, (uintmax_t)is.st_ino);
	free(folder);
	return path;
}

bool control_socket_is_live(const char *path)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EAGAIN;
}

/* ---- the live ktop's side ---- */

/* Removes the sockets of ktops that were killed. Names with a dot belong to sockets that do not listen yet. */
static void remove_dead(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	struct stat is;

	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && !control_socket_is_live(path) && errno == ECONNREFUSED &&
				lstat(path, &is) == 0 && S_ISSOCK(is.st_mode))
			unlink(path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* The socket has a name of its own until it listens. So a socket at `path` either answers, or is dead. */
static bool listen_at(struct control_socket *control, const char *folder, const char *path)
{
	char *fresh = util_format("%s/.%d", folder, (int)getpid());
	struct sockaddr_un address;
	bool good;

	unlink(fresh);
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	good = control->fd >= 0 && unix_socket_address(&address, fresh) &&
		bind(control->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		listen(control->fd, SOMAXCONN) == 0 && rename(fresh, path) == 0;
	if (!good)
		unlink(fresh);
	free(fresh);
	return good;
}

struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error)
{
	struct control_socket *control = util_alloc(sizeof(*control));
	char *folder = util_copy(path, (size_t)(strrchr(path, '/') - path));

	control->sink = *sink;
	control->fd = -1;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		control->clients[i].fd = -1;
	remove_dead(folder);
	if (control_socket_is_live(path))
		util_fail(error, "control socket %s: another ktop serves this VM; end that one", path);
	else if (listen_at(control, folder, path))
		control->path = util_copy(path, strlen(path));
	else
		util_fail(error, "control socket %s: %s; %s", path, strerror(errno),
			util_open_remedy(errno, "make room there"));
	free(folder);
	if (control->path)
		return control;
	control_socket_free(control);
	return NULL;
}

const char *control_socket_at(const struct control_socket *control)
{
	return control->path;
}

int control_socket_fd(const struct control_socket *control)
{
	return control->fd;
}

bool control_socket_idle(const struct control_socket *control)
{
	return control->connected == 0;
}

static void drop(struct control_socket *control, struct client *client)
{
	if (client->fd >= 0) {
		close(client->fd);
		control->connected--;
	}
	free(client->answer);
	*client = (struct client) { .fd = -1 };
}

void control_socket_free(struct control_socket *control)
{
	if (!control)
		return;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		drop(control, &control->clients[i]);
	if (control->fd >= 0)
		close(control->fd);
	if (control->path)
		unlink(control->path);
	free(control->path);
	free(control);
}

/* Ends the connection. If the client's request is being answered, tells that no answer is wanted. */
static void give_up(struct control_socket *control, unsigned index)
{
	bool waits = control->clients[index].asked && !control->clients[index].answer;

	drop(control, &control->clients[index]);
	if (waits)
		control->sink.gone(control->sink.context, index);
}

static void handle_request(struct control_socket *control, unsigned index)
{
	struct client *client = &control->clients[index];
	char *words[WORDS_MAX], *rest = client->request;
	size_t count = 0;

	while (rest && count < WORDS_MAX)
		words[count++] = strsep(&rest, CONTROL_SEPARATOR);
	client->asked = true;
	control->sink.request(control->sink.context, index, words, count);
}

static void read_request(struct control_socket *control, unsigned index, uint64_t now)
{
	struct client *client = &control->clients[index];
	ssize_t got = recv(client->fd, client->request + client->size, REQUEST_MAX - client->size,
		MSG_DONTWAIT);
	char *end;

	if (got <= 0) {
		if (got == 0 || (errno != EAGAIN && errno != EINTR))
			give_up(control, index);
		return;
	}
	client->moved = now;
	client->size += (size_t)got;
	client->request[client->size] = '\0';
	end = strchr(client->request, '\n');
	if (end) {
		*end = '\0';
		handle_request(control, index);
	} else if (client->size == REQUEST_MAX) {
		give_up(control, index);
	}
}

/*
 * While the answer is being made, the client may only close its side for writing, which means that it wants the answer
 * now, or close altogether. Anything else ends the connection.
 */
static void watch(struct control_socket *control, unsigned index)
{
	struct client *client = &control->clients[index];
	struct pollfd is = { .fd = client->fd, .events = POLLIN | POLLRDHUP };

	if (poll(&is, 1, 0) <= 0)
		return;
	if (is.revents & (POLLHUP | POLLERR) || !(is.revents & POLLRDHUP)) {
		give_up(control, index);
	} else if (!client->hurried) {
		client->hurried = true;
		control->sink.hurried(control->sink.context, index);
	}
}

static void write_answer(struct control_socket *control, struct client *client, uint64_t now)
{
	ssize_t went = send(client->fd, client->answer + client->sent,
		client->answer_size - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (went > 0) {
		client->sent += (size_t)went;
		client->moved = now;
	}
	if (client->sent == client->answer_size || (went < 0 && errno != EAGAIN && errno != EINTR))
		drop(control, client);
}

/* Most often nobody comes, and then accept4 costs far more than a look whether somebody does. */
static bool comes(int fd)
{
	struct pollfd is = { .fd = fd, .events = POLLIN };

	return poll(&is, 1, 0) > 0;
}

static void accept_clients(struct control_socket *control, uint64_t now)
{
	bool more = comes(control->fd);

	for (int i = 0; i < CONTROL_CLIENTS && more; i++) {
		if (control->clients[i].fd >= 0)
			continue;
		control->clients[i].fd =
			accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		control->clients[i].moved = now;
		more = control->clients[i].fd >= 0;
		control->connected += more;
	}
}

static void fail(struct control_socket *control, unsigned index, const char *text)
{
	control_socket_answer(control, index, false, text, strlen(text));
	drop(control, &control->clients[index]);
}

/* Ends the connection of a client that sent no request, or took none of its answer, for CONTROL_PATIENCE_MS. */
static void dismiss_silent(struct control_socket *control, unsigned index, uint64_t now)
{
	struct client *client = &control->clients[index];

	client->moved = client->moved ? client->moved : now;
	if (client->fd < 0 || now - client->moved < patience_ns)
		return;
	if (client->answer)
		drop(control, client);
	else if (!client->asked)
		fail(control, index, "closed: no whole request came in time, and others wait; "
			"connect again, and send one");
}

void control_socket_step(struct control_socket *control, uint64_t now)
{
	accept_clients(control, now);
	for (unsigned i = 0; i < CONTROL_CLIENTS && control->connected; i++) {
		struct client *client = &control->clients[i];

		if (client->fd < 0)
			continue;
		if (client->answer)
			write_answer(control, client, now);
		else if (client->asked)
			watch(control, i);
		else
			read_request(control, i, now);
		dismiss_silent(control, i, now);
	}
}

void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size)
{
	struct client *to = &control->clients[client];
	char head[HEAD_MAX];
	size_t head_size;

	if (to->fd < 0 || to->answer)
		return;
	head_size = (size_t)snprintf(head, sizeof(head), "%s %zu\n", ok ? "ok" : "failed", size);
	to->answer = util_alloc(head_size + size);
	memcpy(to->answer, head, head_size);
	memcpy(to->answer + head_size, text, size);
	to->answer_size = head_size + size;
	to->moved = 0;
	write_answer(control, to, 0);
}

/* ---- service ---- */

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
	bool paused = session_source(session).vm == VM_PAUSED, ready = session_link(session) == LINK_UP && !paused;
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

int service_fd(const struct service *service)
{
	return control_socket_idle(service->control) ? control_socket_fd(service->control) : -1;
}
