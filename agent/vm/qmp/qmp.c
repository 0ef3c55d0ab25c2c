/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "qmp.h"

enum {
	LINE_MAX_BYTES = 1 << 20,	/* of one message; a longer one is ignored */
	VALUES_MAX = 3 << 14,		/* in one message; parsing takes up to 150 bytes for each */
	READ_BYTES = 16384,
};

struct qmp {
	int fd;
	bool gone, greeted;
	bool strange;			/* what came first is no greeting */
	enum vm_state state;
	uint64_t resumes, resets, deletions;

	/* The line that is being received. */
	char *line;
	size_t size, room;
	bool skipping;

	/* Used until it is ready. */
	char *path;			/* for errors */
	enum qmp_phase phase;
	int timeout_ms;
	uint64_t deadline;		/* of the phase; 0: set by the next step */
	char *error;			/* NULL: none */

	uint64_t last_id;		/* of the last request */
	uint64_t wanted_id;		/* of the request whose answer is kept; 0: none */
	cJSON *answer;			/* the whole answer to it; NULL: not yet */
	uint64_t asked_id, asked_at;	/* of the question for the state; id 0: none is open */
};

/*
 * The new state after query-status has told this RunState (qapi/run-state.json); `state` is the one before. A kernel
 * that has panicked stays so, even if QEMU was told to let it run.
 */
static enum vm_state state_told(enum vm_state state, const char *status)
{
	if (strcmp(status, "running") == 0)
		return state == VM_PANICKED ? state : VM_RUNNING;
	if (strcmp(status, "shutdown") == 0)
		return VM_SHUTDOWN;
	return strcmp(status, "guest-panicked") == 0 ? VM_PANICKED : VM_PAUSED;
}

/*
 * The new state after an event. QEMU also sends STOP for a machine that has shut down or panicked. It changes nothing
 * then: those states say more.
 */
static enum vm_state state_after(enum vm_state state, const char *event)
{
	bool ended = state == VM_SHUTDOWN || state == VM_PANICKED;

	if (strcmp(event, "RESUME") == 0)
		return VM_RUNNING;
	if (strcmp(event, "STOP") == 0)
		return ended ? state : VM_PAUSED;
	if (strcmp(event, "SHUTDOWN") == 0)
		return ended ? state : VM_SHUTDOWN;
	if (strcmp(event, "RESET") == 0)
		return ended ? VM_PAUSED : state;
	return strcmp(event, "GUEST_PANICKED") == 0 ? VM_PANICKED : state;
}

/* After a reset, the machine may run or not, so QEMU is asked for its state. */
static void handle_event(struct qmp *qmp, const char *name, const cJSON *data)
{
	const cJSON *device = cJSON_GetObjectItemCaseSensitive(data, "device");

	qmp->state = state_after(qmp->state, name);
	qmp->resumes += strcmp(name, "RESUME") == 0;
	if (strcmp(name, "RESET") == 0) {
		qmp->resets++;
		qmp_ask(qmp);
	}
	qmp->deletions += strcmp(name, "DEVICE_DELETED") == 0 && cJSON_IsString(device) &&
		strcmp(device->valuestring, QMP_PLUG_PORT) == 0;
}

static void take_status(struct qmp *qmp, const cJSON *answer)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(answer, "status");

	if (cJSON_IsString(status) && status->valuestring[0])
		qmp->state = state_told(qmp->state, status->valuestring);
}

/* Has the line few enough values to be parsed? One of these characters stands before each value. */
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

	qmp->greeted |= cJSON_GetObjectItemCaseSensitive(message, "QMP") != NULL;
	qmp->strange |= !qmp->greeted;
	if (cJSON_IsString(event))
		handle_event(qmp, event->valuestring,
			cJSON_GetObjectItemCaseSensitive(message, "data"));
	if (qmp->asked_id && number == (double)qmp->asked_id) {
		qmp->asked_id = 0;
		take_status(qmp, cJSON_GetObjectItemCaseSensitive(message, "return"));
	}
	if (qmp->wanted_id && number == (double)qmp->wanted_id && !qmp->answer)
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

	if (!qmp->greeted && !qmp->size)	/* another server may end no line at all */
		qmp->strange |= bytes[0] != '{' && bytes[0] != '\r' && bytes[0] != '\n' && bytes[0] != ' ';
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

/*
 * Requests are small, and QEMU reads them before it does anything else. So a connection that does not take
 * a whole request at once is given up.
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

void qmp_request(struct qmp *qmp, const char *command, cJSON *arguments, int passed)
{
	cJSON_Delete(qmp->answer);
	qmp->answer = NULL;
	qmp->wanted_id = qmp->last_id + 1;
	send_request(qmp, command, arguments, passed);
}

bool qmp_has_answer(const struct qmp *qmp)
{
	return qmp->answer;
}

cJSON *qmp_take_answer(struct qmp *qmp)
{
	cJSON *answer = qmp->answer;

	qmp->answer = NULL;
	qmp->wanted_id = 0;
	return answer;
}

/*
 * Why an answer has no "return", in fresh memory: QEMU's own words, or that the answer makes no sense.
 * NULL: it has one.
 */
static char *qmp_refusal(const cJSON *answer)
{
	const cJSON *refusal = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(answer, "error"), "desc");

	if (cJSON_GetObjectItemCaseSensitive(answer, "return"))
		return NULL;
	return cJSON_IsString(refusal) ?
		util_printable(refusal->valuestring, strlen(refusal->valuestring)) :
		util_format("its answer has neither a result nor an error");
}

/* ---- until it is ready ---- */

static void enter(struct qmp *qmp, enum qmp_phase phase)
{
	static const char *const commands[] = {
		[QMP_AGREEING] = "qmp_capabilities", [QMP_ASKING] = "query-status",
		[QMP_FAILED] = NULL,
	};

	qmp->phase = phase;
	qmp->deadline = 0;
	if (commands[phase])
		qmp_request(qmp, commands[phase], NULL, -1);
}

static void fail(struct qmp *qmp, const char *what, const char *advice)
{
	if (qmp->phase == QMP_GREETING)
		util_fail(&qmp->error, "QMP socket %s: %s; %s", qmp->path, what, advice);
	else
		util_fail(&qmp->error, "QMP %s: %s; %s", qmp->phase == QMP_AGREEING ?
			"qmp_capabilities" : "query-status", what, advice);
	qmp->phase = QMP_FAILED;
}

static void fail_late(struct qmp *qmp)
{
	char *what = util_format("no greeting in %d ms: another client has it, QEMU hangs, or the "
		"host is busy", qmp->timeout_ms);

	if (qmp->phase == QMP_GREETING)
		fail(qmp, what, "try again, or give QEMU a second -qmp socket");
	else
		fail(qmp, "no answer in time: QEMU hangs, or the host is busy", "try again");
	free(what);
}

/* Leaves the negotiation mode, and asks for the machine's state. From then on, events tell of changes. */
static void take_answer(struct qmp *qmp)
{
	char *refusal = qmp_refusal(qmp->answer);
	char *what = util_format("QEMU refuses: %.200s", refusal ? refusal : "");

	if (refusal) {
		fail(qmp, what, "is this the QMP socket of a QEMU that runs a VM?");
	} else if (qmp->phase == QMP_AGREEING) {
		enter(qmp, QMP_ASKING);
	} else {
		if (qmp->state == VM_UNKNOWN)
			take_status(qmp, cJSON_GetObjectItemCaseSensitive(qmp->answer, "return"));
		enter(qmp, QMP_READY);
	}
	free(what);
	free(refusal);
}

/* The steps until it is ready. Each phase has its own deadline. */
static void get_ready(struct qmp *qmp, uint64_t now)
{
	if (!qmp->deadline)
		qmp->deadline = now + (uint64_t)qmp->timeout_ms * NS_PER_MS;
	if (qmp->phase == QMP_GREETING && qmp->greeted)
		enter(qmp, QMP_AGREEING);
	else if (qmp->phase != QMP_GREETING && qmp->answer)
		take_answer(qmp);
	else if (qmp->phase == QMP_GREETING && qmp->strange)
		fail(qmp, "what it sends is no greeting", "is it a QMP socket?");
	else if (qmp->gone)
		fail(qmp, qmp->phase == QMP_GREETING ? "closed without a greeting" :
			"the connection was closed", qmp->phase == QMP_GREETING ?
			"is it a QMP socket?" : "is the VM still there?");
	else if (now >= qmp->deadline)
		fail_late(qmp);
}

bool qmp_step(struct qmp *qmp, uint64_t now)
{
	char bytes[READ_BYTES];
	ssize_t got = recv(qmp->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got > 0)
		take_bytes(qmp, bytes, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		qmp->gone = true;
	if (qmp->phase < QMP_READY)
		get_ready(qmp, now);
	if (qmp->gone)
		qmp->state = VM_GONE;
	return !qmp->gone && qmp->phase != QMP_FAILED;
}

enum qmp_phase qmp_phase(const struct qmp *qmp)
{
	return qmp->phase;
}

const char *qmp_error(const struct qmp *qmp)
{
	return qmp->error;
}

const char *qmp_awaits(const struct qmp *qmp)
{
	static const char *const words[] = {
		[QMP_GREETING] = "QEMU's greeting",
		[QMP_AGREEING] = "QEMU's answer to qmp_capabilities",
		[QMP_ASKING] = "QEMU's answer to query-status",
		[QMP_READY] = "", [QMP_FAILED] = "",
	};

	return words[qmp->phase];
}

struct qmp *qmp_from_fd(int fd, const char *path, int timeout_ms)
{
	struct qmp *qmp = util_alloc(sizeof(*qmp));

	qmp->fd = fd;
	qmp->path = util_copy(path, strlen(path));
	qmp->timeout_ms = timeout_ms;
	return qmp;
}

struct qmp *qmp_connect(const char *path, int timeout_ms, bool *taken, char **error)
{
	int fd = unix_socket_connect(path);
	const char *starved = util_open_remedy(errno, NULL);

	*taken = fd < 0 && errno == EAGAIN;
	if (fd >= 0)
		return qmp_from_fd(fd, path, timeout_ms);
	if (*taken)
		util_fail(error,
			"QMP socket %s: taken by another client, and others wait; end them, or give "
			"QEMU a second -qmp socket", path);
	else if (starved)
		util_fail(error, "QMP socket %s: %s; %s", path, strerror(errno), starved);
	else
		util_fail(error,
			"QMP socket %s: %s; start QEMU with -qmp unix:%s,server=on,wait=off", path,
			strerror(errno), path);
	return NULL;
}

void qmp_free(struct qmp *qmp)
{
	if (!qmp)
		return;
	close(qmp->fd);
	cJSON_Delete(qmp->answer);
	free(qmp->error);
	free(qmp->path);
	free(qmp->line);
	free(qmp);
}

int qmp_fd(const struct qmp *qmp)
{
	return qmp->fd;
}

void qmp_ask(struct qmp *qmp)
{
	if (qmp->asked_id || qmp->phase != QMP_READY)
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

uint64_t qmp_resumes(const struct qmp *qmp)
{
	return qmp->resumes;
}

uint64_t qmp_resets(const struct qmp *qmp)
{
	return qmp->resets;
}

uint64_t qmp_deletions(const struct qmp *qmp)
{
	return qmp->deletions;
}

bool qmp_quit(struct qmp *qmp)
{
	return qmp_send(qmp, "quit", NULL);
}

/* ---- keys ---- */

enum { CODES_MAX = 16 };		/* in one key press */

/* QEMU takes set-1 codes as keys of type "number" (qapi/ui.json, KeyValue). */
static void add_key(cJSON *events, uint8_t code, bool down)
{
	cJSON *event = cJSON_CreateObject();
	cJSON *data, *key;

	cJSON_AddStringToObject(event, "type", "key");
	data = cJSON_AddObjectToObject(event, "data");
	cJSON_AddBoolToObject(data, "down", down);
	key = cJSON_AddObjectToObject(data, "key");
	cJSON_AddStringToObject(key, "type", "number");
	cJSON_AddNumberToObject(key, "data", code);
	cJSON_AddItemToArray(events, event);
}

bool qmp_send_keys(struct qmp *qmp, const uint8_t *codes, size_t count)
{
	cJSON *arguments, *events;

	if (count == 0 || count > CODES_MAX)
		return false;
	arguments = cJSON_CreateObject();
	events = cJSON_AddArrayToObject(arguments, "events");
	for (size_t i = 0; i < count; i++)
		add_key(events, codes[i], true);
	for (size_t i = count; i-- > 0;)
		add_key(events, codes[i], false);
	return qmp_send(qmp, "input-send-event", arguments);
}

/* ---- a talk: questions and answers, in order ---- */

void talk_begin(struct qmp_talk *talk, struct qmp *qmp, uint64_t now, int timeout_ms)
{
	*talk = (struct qmp_talk) {
		.qmp = qmp, .begun = now, .now = now,
		.deadline = now + (uint64_t)timeout_ms * NS_PER_MS,
	};
}

void talk_clear(struct qmp_talk *talk)
{
	free(talk->refusal);
	free(talk->error);
	talk->refusal = talk->error = NULL;
}

static void ask(struct qmp_talk *talk, const char *command, const char *about, cJSON *arguments,
	int passed, qmp_take *take)
{
	talk->take = take;
	talk->pause_until = 0;
	snprintf(talk->question, sizeof(talk->question), "%s%s%.60s", command, about[0] ? " " : "",
		about);
	qmp_request(talk->qmp, command, arguments, passed);
}

void talk_ask(struct qmp_talk *talk, const char *command, cJSON *arguments, int passed,
	qmp_take *take)
{
	ask(talk, command, "", arguments, passed, take);
}

void talk_ask_for(struct qmp_talk *talk, const char *command, const char *id, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "id", id);
	ask(talk, command, id, arguments, -1, take);
}

void talk_list(struct qmp_talk *talk, const char *path, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();
	char *shown = util_printable(path, strlen(path));

	cJSON_AddStringToObject(arguments, "path", path);
	ask(talk, "qom-list", shown, arguments, -1, take);
	free(shown);
}

void talk_get(struct qmp_talk *talk, const char *path, const char *property, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();
	char *shown = util_printable(path, strlen(path));

	cJSON_AddStringToObject(arguments, "path", path);
	cJSON_AddStringToObject(arguments, "property", property);
	ask(talk, "qom-get", shown, arguments, -1, take);
	free(shown);
}

void talk_pause(struct qmp_talk *talk, int ms, qmp_take *take)
{
	talk->take = take;
	talk->pause_until = talk->now + (uint64_t)ms * NS_PER_MS;
}

void talk_end(struct qmp_talk *talk)
{
	talk->take = NULL;
}

static void talk_take_answer(struct qmp_talk *talk)
{
	qmp_take *take = talk->take;
	cJSON *answer = qmp_take_answer(talk->qmp);

	free(talk->refusal);
	talk->refusal = qmp_refusal(answer);
	take(talk, cJSON_GetObjectItemCaseSensitive(answer, "return"));
	cJSON_Delete(answer);
}

static void talk_fail(struct qmp_talk *talk, const char *why)
{
	util_fail(&talk->error, "QMP %s: %s", talk->question, why);
	talk->silent = true;
	talk_end(talk);
}

bool talk_step(struct qmp_talk *talk, uint64_t now)
{
	talk->now = now;
	if (!talk->take)
		return true;
	if (talk->pause_until && now >= talk->pause_until)
		talk->take(talk, NULL);
	else if (!talk->pause_until && qmp_has_answer(talk->qmp))
		talk_take_answer(talk);
	else if (qmp_state(talk->qmp) == VM_GONE)
		talk_fail(talk, "the connection was closed; is the VM still there?");
	if (talk->take && now >= talk->deadline) {
		char *why = util_format("no answer within %.4g s: QEMU hangs, or the host "
			"is busy; try again", (double)(talk->deadline - talk->begun) / (double)NS_PER_SECOND);

		talk_fail(talk, why);
		free(why);
	}
	return !talk->take;
}

uint64_t talk_due(const struct qmp_talk *talk)
{
	return !talk->take ? UINT64_MAX : talk->pause_until && talk->pause_until < talk->deadline ?
		talk->pause_until : talk->deadline;
}

const char *talk_member(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

char *talk_text(const cJSON *answer)
{
	return cJSON_IsString(answer) && answer->valuestring[0] ?
		util_copy(answer->valuestring, strlen(answer->valuestring)) : NULL;
}
