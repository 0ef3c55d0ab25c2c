/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "qmp_gdbserver.h"

enum {
	LOOK_MS = 50,			/* between two looks whether a stub is free */
	LOOKS = 6, LOOKS_LEFT = 50,	/* so often it is looked; the latter at one that a ktop has started */
};

#define LABEL "gdb"			/* of the stub's chardev (gdbstub.c) */
#define STARTED "Waiting for gdb connection"
#define DENIED "Permission denied"
#define LEFT "/ktop-run-"		/* in the path of one that a ktop has left (launch_folder.h) */

static struct qmp_gdbserver *of(struct qmp_talk *talk)
{
	return (struct qmp_gdbserver *)talk;
}

/* Takes over the line. QMP itself has no such command: it is one of the monitor for people. */
static void command(struct qmp_talk *talk, char *line, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "command-line", line);
	talk_ask(talk, "human-monitor-command", arguments, -1, take);
	free(line);
}

/* ---- starting ---- */

/* The answer is what the monitor prints. */
static void take_started(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_gdbserver *gdbserver = of(talk);
	const char *said = cJSON_IsString(answer) ? answer->valuestring : talk->refusal ? talk->refusal : "";
	char *shown = util_printable(said, strcspn(said, "\r\n"));

	if (cJSON_IsString(answer) && strncmp(said, STARTED, strlen(STARTED)) == 0) {
		gdbserver->stub = util_format("unix:%s", gdbserver->path);
		gdbserver->ours = true;
	} else if (strstr(said, DENIED)) {
		util_fail(&talk->error, "gdb stub: QEMU may not make the socket %s: it runs as another user, or is "
			"confined; run ktop as QEMU's user, or start QEMU with -gdb unix:PATH,server=on,wait=off",
			gdbserver->path);
	} else {
		util_fail(&talk->error, "gdb stub: QEMU does not start it: %s; use another source", shown);
	}
	free(shown);
	talk_end(talk);
}

static void start(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	command(talk, util_format("gdbserver unix:%s,server=on,wait=off", of(talk)->path), take_started);
}

static void ask(struct qmp_talk *talk, const cJSON *answer);

/*
 * The client may be that of a ktop that was killed, or is about to end: it lets the guest go on first, and then leaves.
 * A debugger's stub is looked at again, too, since a ktop may have used it.
 */
static bool may_be_left(struct qmp_talk *talk, const char *file)
{
	return of(talk)->looks++ < (strstr(file, LEFT) ? LOOKS_LEFT : LOOKS);
}

/* `file`: of the stub's chardev, such as "disconnected:unix:/path,server=on" while nobody is connected. */
static void take_stub(struct qmp_talk *talk, const char *file)
{
	static const char nobody[] = "disconnected:";
	const char *place = file + strlen(nobody);

	if (strncmp(file, nobody, strlen(nobody)) != 0 && may_be_left(talk, file)) {
		talk_pause(talk, LOOK_MS, ask);
	} else if (strncmp(file, nobody, strlen(nobody)) != 0) {
		util_fail(&talk->error, "gdb stub: a debugger is connected to it, and is left alone; end that one, or "
			"use another source");
		talk_end(talk);
	} else if (strstr(place, LEFT)) {
		command(talk, util_format("gdbserver none"), start);
	} else {
		of(talk)->stub = util_copy(place, strcspn(place, ","));
		talk_end(talk);
	}
}

static void take_chardevs(struct qmp_talk *talk, const cJSON *answer)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, answer) {
		const char *label = talk_member(row, "label"), *file = talk_member(row, "filename");

		if (label && file && strcmp(label, LABEL) == 0) {
			take_stub(talk, file);
			return;
		}
	}
	start(talk, NULL);
}

static void ask(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	talk_ask(talk, "query-chardev", NULL, -1, take_chardevs);
}

void gdbserver_begin(struct qmp_gdbserver *gdbserver, struct qmp *qmp, const char *path, uint64_t now, int timeout_ms)
{
	*gdbserver = (struct qmp_gdbserver) { .path = util_copy(path, strlen(path)) };
	talk_begin(&gdbserver->talk, qmp, now, timeout_ms);
	ask(&gdbserver->talk, NULL);
}

/* ---- taking it away ---- */

static void finish(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	talk_end(talk);
}

void gdbserver_end(struct qmp_gdbserver *gdbserver, struct qmp *qmp, uint64_t now, int timeout_ms)
{
	*gdbserver = (struct qmp_gdbserver) { .path = NULL };
	talk_begin(&gdbserver->talk, qmp, now, timeout_ms);
	command(&gdbserver->talk, util_format("gdbserver none"), finish);
}

void gdbserver_clear(struct qmp_gdbserver *gdbserver)
{
	talk_clear(&gdbserver->talk);
	free(gdbserver->path);
	free(gdbserver->stub);
	gdbserver->path = gdbserver->stub = NULL;
}
