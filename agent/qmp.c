#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"
#include "qmp.h"
#include "qmp_state.h"
#include "unix_socket.h"
#include "util.h"

enum {
	LINE_MAX_BYTES = 1 << 20,	/* of one message; a longer one is skipped */
	VALUES_MAX = 3 << 14,		/* in one message, which takes up to 150 bytes for each */
	READ_BYTES = 16384,
	NS_PER_MS = 1000000,
};

struct qmp {
	int fd;
	bool gone;
	enum vm_state state;
	uint64_t resets;

	/* the line that is being received */
	char *line;
	size_t size, room;
	bool skipping;

	bool greeted;
	uint64_t last_id;		/* of the last request */
	uint64_t call_id;		/* of the call that waits; 0: none does */
	cJSON *answer;			/* to that one, whole; NULL: not yet */
	bool answered;			/* the last call was */
	uint64_t asked_id, asked_at;	/* for the state; id 0: nothing is asked */
};

/* After a reset the machine runs or not, as it was told to: it has to say which. */
static void handle_event(struct qmp *qmp, const char *name)
{
	qmp->state = qmp_state_after(qmp->state, name);
	if (strcmp(name, "RESET") == 0) {
		qmp->resets++;
		qmp_ask(qmp);
	}
}

static void take_status(struct qmp *qmp, const cJSON *answer)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(answer, "status");

	if (cJSON_IsString(status) && status->valuestring[0])
		qmp->state = qmp_state_told(qmp->state, status->valuestring);
}

/* Few enough values: each has one of these before it. */
static bool is_modest(const char *line, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += line[i] == ',' || line[i] == '[' || line[i] == '{';
	return count <= VALUES_MAX;
}

static void handle_line(struct qmp *qmp, const char *line, size_t size)
{
	cJSON *message = cJSON_ParseWithLength(line, size);
	const cJSON *event = cJSON_GetObjectItemCaseSensitive(message, "event");
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(message, "id");
	double number = cJSON_IsNumber(id) ? id->valuedouble : 0;

	if (cJSON_GetObjectItemCaseSensitive(message, "QMP"))
		qmp->greeted = true;
	if (cJSON_IsString(event))
		handle_event(qmp, event->valuestring);
	if (qmp->asked_id && number == (double)qmp->asked_id) {
		qmp->asked_id = 0;
		take_status(qmp, cJSON_GetObjectItemCaseSensitive(message, "return"));
	}
	if (qmp->call_id && number == (double)qmp->call_id && !qmp->answer)
		qmp->answer = message;
	else
		cJSON_Delete(message);
}

static void take_line(struct qmp *qmp, const char *bytes, size_t size)
{
	if (qmp->size + size > LINE_MAX_BYTES)
		qmp->skipping = true;
	if (qmp->skipping || size == 0)
		return;
	if (qmp->size + size > qmp->room) {
		qmp->room = 2 * (qmp->size + size);
		qmp->line = util_grow(qmp->line, qmp->room, 1);
	}
	memcpy(qmp->line + qmp->size, bytes, size);
	qmp->size += size;
}

static void take_bytes(struct qmp *qmp, const char *bytes, size_t size)
{
	const char *end;

	while ((end = memchr(bytes, '\n', size))) {
		take_line(qmp, bytes, (size_t)(end - bytes));
		if (!qmp->skipping && qmp->size && is_modest(qmp->line, qmp->size))
			handle_line(qmp, qmp->line, qmp->size);
		qmp->size = 0;
		qmp->skipping = false;
		size -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	if (size)
		take_line(qmp, bytes, size);
}

bool qmp_step(struct qmp *qmp)
{
	char bytes[READ_BYTES];
	ssize_t got = recv(qmp->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got > 0)
		take_bytes(qmp, bytes, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		qmp->gone = true;
	if (qmp->gone)
		qmp->state = VM_GONE;
	return !qmp->gone;
}

/* Waits for something to read until the deadline, and handles it. */
static bool wait_and_step(struct qmp *qmp, uint64_t deadline)
{
	uint64_t now = util_now();
	struct pollfd ready = { .fd = qmp->fd, .events = POLLIN };
	int wait = now < deadline ? (int)((deadline - now) / NS_PER_MS + 1) : 0;

	if (poll(&ready, 1, wait) > 0 && !qmp_step(qmp))
		return false;
	return util_now() < deadline;
}

/*
 * Requests are small, and QEMU reads them before it does anything else: a socket that does not
 * take a whole one at once is given up.
 */
static bool send_request(struct qmp *qmp, const char *command, cJSON *arguments, int passed)
{
	cJSON *request = cJSON_CreateObject();
	char *text, *line;
	size_t size;

	cJSON_AddStringToObject(request, "execute", command);
	cJSON_AddNumberToObject(request, "id", (double)++qmp->last_id);
	if (arguments)
		cJSON_AddItemToObject(request, "arguments", arguments);
	text = cJSON_PrintUnformatted(request);
	line = util_format("%s\n", text ? text : "");
	size = strlen(line);
	if (!unix_socket_send(qmp->fd, line, size, passed))
		qmp->gone = true;
	free(line);
	cJSON_free(text);
	cJSON_Delete(request);
	return !qmp->gone;
}

bool qmp_send(struct qmp *qmp, const char *command, cJSON *arguments)
{
	return send_request(qmp, command, arguments, -1);
}

char *qmp_refusal(const struct qmp *qmp)
{
	const cJSON *refusal = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(qmp->answer, "error"), "desc");

	return cJSON_IsString(refusal) ?
		util_printable(refusal->valuestring, strlen(refusal->valuestring)) : NULL;
}

static void explain(const struct qmp *qmp, const char *command, char **error)
{
	char *why = qmp_refusal(qmp);

	if (why)
		util_fail(error,
			"QMP %s: QEMU refuses: %.200s; is this a QMP socket of a full QEMU?",
			command, why);
	else if (qmp->gone)
		util_fail(error,
			"QMP %s: the connection was closed; is the virtual machine still there?",
			command);
	else
		util_fail(error,
			"QMP %s: no answer in time: QEMU hangs, or the host is busy; try again",
			command);
	free(why);
}

static cJSON *call(struct qmp *qmp, const char *command, cJSON *arguments, int passed,
	uint64_t deadline, char **error)
{
	cJSON *result;

	cJSON_Delete(qmp->answer);
	qmp->answer = NULL;
	qmp->call_id = qmp->last_id + 1;
	if (send_request(qmp, command, arguments, passed))
		while (!qmp->answer && wait_and_step(qmp, deadline))
			;
	qmp->call_id = 0;
	qmp->answered = qmp->answer;
	result = cJSON_DetachItemFromObjectCaseSensitive(qmp->answer, "return");
	if (!result)
		explain(qmp, command, error);
	return result;
}

cJSON *qmp_call(struct qmp *qmp, const char *command, cJSON *arguments, uint64_t deadline,
	char **error)
{
	return call(qmp, command, arguments, -1, deadline, error);
}

bool qmp_pass(struct qmp *qmp, int fd, const char *name, uint64_t deadline, char **error)
{
	cJSON *arguments = cJSON_CreateObject(), *answer;
	bool taken;

	cJSON_AddStringToObject(arguments, "fdname", name);
	answer = call(qmp, "getfd", arguments, fd, deadline, error);
	taken = answer;
	cJSON_Delete(answer);
	return taken;
}

bool qmp_answered(const struct qmp *qmp)
{
	return qmp->answered;
}

/* Leaves the negotiation mode, and asks how the machine is; events tell of changes from then on. */
static bool negotiate(struct qmp *qmp, uint64_t deadline, char **error)
{
	cJSON *agreed = qmp_call(qmp, "qmp_capabilities", NULL, deadline, error);
	cJSON *answer = agreed ? qmp_call(qmp, "query-status", NULL, deadline, error) : NULL;
	bool known = answer;

	if (qmp->state == VM_UNKNOWN)
		take_status(qmp, answer);
	cJSON_Delete(answer);
	cJSON_Delete(agreed);
	return known;
}

static bool greet(struct qmp *qmp, const char *path, int timeout_ms, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)timeout_ms * NS_PER_MS;
	char *client;

	while (!qmp->greeted && wait_and_step(qmp, deadline))
		;
	if (qmp->greeted)
		return negotiate(qmp, deadline + (uint64_t)timeout_ms * NS_PER_MS, error);
	if (qmp->gone)
		return util_fail(error,
			"QMP socket %s: closed without a greeting; is it a QMP socket?", path);
	client = error ? peer_client(path, qmp->fd) : NULL;	/* a search, for the error alone */
	if (client)
		util_fail(error,
			"QMP socket %s: no greeting in %d ms: QEMU serves one client at a time, and "
			"%s has it; end that one, or give QEMU a second -qmp socket",
			path, timeout_ms, client);
	else
		util_fail(error,
			"QMP socket %s: no greeting in %d ms: another client has it, QEMU hangs, or "
			"the host is busy; try again, or give QEMU a second -qmp socket",
			path, timeout_ms);
	free(client);
	return false;
}

struct qmp *qmp_from_fd(int fd, const char *path, int timeout_ms, char **error)
{
	struct qmp *qmp = util_alloc(sizeof(*qmp));

	qmp->fd = fd;
	if (greet(qmp, path, timeout_ms, error))
		return qmp;
	qmp_free(qmp);
	return NULL;
}

struct qmp *qmp_connect(const char *path, int timeout_ms, char **error)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		return qmp_from_fd(fd, path, timeout_ms, error);
	if (errno == EAGAIN) {
		char *client = error ? peer_client(path, -1) : NULL;

		util_fail(error,
			"QMP socket %s: taken by %s, and others wait; end them, or give QEMU a "
			"second -qmp socket",
			path, client ? client : "another client");
		free(client);
	} else {
		util_fail(error,
			"QMP socket %s: %s; start QEMU with -qmp unix:%s,server=on,wait=off", path,
			strerror(errno), path);
	}
	return NULL;
}

void qmp_free(struct qmp *qmp)
{
	if (!qmp)
		return;
	close(qmp->fd);
	cJSON_Delete(qmp->answer);
	free(qmp->line);
	free(qmp);
}

int qmp_fd(const struct qmp *qmp)
{
	return qmp->fd;
}

void qmp_ask(struct qmp *qmp)
{
	if (qmp->asked_id)
		return;
	qmp->asked_id = qmp->last_id + 1;
	qmp->asked_at = util_now();
	qmp_send(qmp, "query-status", NULL);
}

uint64_t qmp_asked(const struct qmp *qmp)
{
	return qmp->asked_id ? qmp->asked_at : 0;
}

enum vm_state qmp_state(const struct qmp *qmp)
{
	return qmp->state;
}

uint64_t qmp_resets(const struct qmp *qmp)
{
	return qmp->resets;
}

bool qmp_quit(struct qmp *qmp)
{
	return qmp_send(qmp, "quit", NULL);
}
