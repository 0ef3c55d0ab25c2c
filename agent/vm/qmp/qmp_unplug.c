/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "qmp.h"
#include "qmp_plug.h"

/*
 * The questions of unplug_begin, in order: device_del of the port; chardev-remove, again while query-chardev still
 * lists the chardev; qom-list; device_del of the controller, if it is listed; and qom-list until it is gone.
 */

enum { LOOK_MS = 10 };			/* between two checks whether it is gone */

static struct qmp_plug *of(struct qmp_talk *talk)
{
	return (struct qmp_plug *)talk;
}

bool plug_chardev(const cJSON *chardevs, bool *held)
{
	const cJSON *row;
	bool found = false;

	*held = false;
	cJSON_ArrayForEach(row, chardevs) {
		const char *label = talk_member(row, "label");
		const char *file = talk_member(row, "filename");

		if (found || !label || strcmp(label, QMP_PLUG_PORT) != 0)
			continue;
		found = true;
		*held = file && strncmp(file, "disconnected:", strlen("disconnected:")) != 0;
	}
	return found;
}

static bool is_listed(const cJSON *devices, const char *id)
{
	const cJSON *device;
	bool found = false;

	cJSON_ArrayForEach(device, devices) {
		const char *name = talk_member(device, "name");

		found |= name && strcmp(name, id) == 0;
	}
	return found;
}

/* ---- the port, then its chardev, which QEMU releases only some time later ---- */

static void take_removed(struct qmp_talk *talk, const cJSON *answer);

static void remove_chardev(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	talk_ask_for(talk, "chardev-remove", QMP_PLUG_PORT, take_removed);
}

static void take_chardevs(struct qmp_talk *talk, const cJSON *answer)
{
	bool held;

	if (plug_chardev(answer, &held))
		talk_pause(talk, LOOK_MS, remove_chardev);
	else
		of(talk)->then(talk, NULL);
}

static void take_removed(struct qmp_talk *talk, const cJSON *answer)
{
	if (answer)
		of(talk)->then(talk, NULL);
	else
		talk_ask(talk, "query-chardev", NULL, -1, take_chardevs);
}

void unplug_port(struct qmp_plug *plug, qmp_take *then)
{
	plug->then = then;
	talk_ask_for(&plug->talk, "device_del", QMP_PLUG_PORT, remove_chardev);
}

/* ---- the controller ---- */

static void look(struct qmp_talk *talk, const cJSON *answer);

static void take_devices(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	plug->kept = is_listed(answer, QMP_PLUG_CONTROLLER);
	if (plug->kept && talk->now < plug->until)
		talk_pause(talk, LOOK_MS, look);
	else
		plug->then(talk, NULL);
}

static void look(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	talk_list(talk, "/machine/peripheral", take_devices);
}

static void take_devices_first(struct qmp_talk *talk, const cJSON *answer)
{
	if (is_listed(answer, QMP_PLUG_CONTROLLER))
		talk_ask_for(talk, "device_del", QMP_PLUG_CONTROLLER, look);
	else
		take_devices(talk, answer);
}

void unplug_await_controller(struct qmp_plug *plug, bool ask, uint64_t until, qmp_take *then)
{
	plug->then = then;
	plug->until = until;
	talk_list(&plug->talk, "/machine/peripheral", ask ? take_devices_first : take_devices);
}

/* ---- all ---- */

static void finish(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	if (of(talk)->kept)
		util_fail(&talk->error, "the controller stays: the guest has not released it; a "
			"reset removes it");
	talk_end(talk);
}

static void port_is_out(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	unplug_await_controller(of(talk), true, talk->deadline, finish);
}

void unplug_begin(struct qmp_plug *plug, struct qmp *qmp, uint64_t now, int timeout_ms)
{
	*plug = (struct qmp_plug) { .fd = -1, .theirs = -1 };
	talk_begin(&plug->talk, qmp, now, timeout_ms);
	unplug_port(plug, port_is_out);
}
