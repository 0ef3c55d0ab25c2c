/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "qmp.h"
#include "qmp_talk.h"

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

static void take_answer(struct qmp_talk *talk)
{
	qmp_take *take = talk->take;
	cJSON *answer = qmp_take_answer(talk->qmp);

	free(talk->refusal);
	talk->refusal = qmp_refusal(answer);
	take(talk, cJSON_GetObjectItemCaseSensitive(answer, "return"));
	cJSON_Delete(answer);
}

static void fail(struct qmp_talk *talk, const char *why)
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
		take_answer(talk);
	else if (qmp_state(talk->qmp) == VM_GONE)
		fail(talk, "the connection was closed; is the VM still there?");
	if (talk->take && now >= talk->deadline) {
		char *why = util_format("no answer within %.4g s: QEMU hangs, or the host "
			"is busy; try again", (double)(talk->deadline - talk->begun) / (double)NS_PER_SECOND);

		fail(talk, why);
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
