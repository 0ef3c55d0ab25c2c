/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "qmp.h"
#include "qmp_plug.h"

/* ---- taking it out ---- */

/*
 * The questions of unplug_begin, in order: device_del of the port; chardev-remove, again while query-chardev still
 * lists the chardev; qom-list; device_del of the controller, if it is listed; and qom-list until it is gone.
 */

enum { LOOK_MS = 10 };			/* between two checks whether it is gone */

static struct qmp_plug *unplug_of(struct qmp_talk *talk)
{
	return (struct qmp_plug *)talk;
}

/* From an answer to query-chardev: true if ktop's chardev is there; *held: a ktop is at its other end. */
static bool plug_chardev(const cJSON *chardevs, bool *held)
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

static void unplug_take_chardevs(struct qmp_talk *talk, const cJSON *answer)
{
	bool held;

	if (plug_chardev(answer, &held))
		talk_pause(talk, LOOK_MS, remove_chardev);
	else
		unplug_of(talk)->then(talk, NULL);
}

static void take_removed(struct qmp_talk *talk, const cJSON *answer)
{
	if (answer)
		unplug_of(talk)->then(talk, NULL);
	else
		talk_ask(talk, "query-chardev", NULL, -1, unplug_take_chardevs);
}

static void unplug_port(struct qmp_plug *plug, qmp_take *then)
{
	plug->then = then;
	talk_ask_for(&plug->talk, "device_del", QMP_PLUG_PORT, remove_chardev);
}

/* ---- the controller ---- */

static void look(struct qmp_talk *talk, const cJSON *answer);

static void take_devices(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = unplug_of(talk);

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

/* Waits until the guest has released the controller, or `until`. `ask`: first asks the guest to release it. */
static void unplug_await_controller(struct qmp_plug *plug, bool ask, uint64_t until, qmp_take *then)
{
	plug->then = then;
	plug->until = until;
	talk_list(&plug->talk, "/machine/peripheral", ask ? take_devices_first : take_devices);
}

/* ---- all ---- */

static void unplug_finish(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	if (unplug_of(talk)->kept)
		util_fail(&talk->error, "the controller stays: the guest has not released it; a "
			"reset removes it");
	talk_end(talk);
}

static void port_is_out(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	unplug_await_controller(unplug_of(talk), true, talk->deadline, unplug_finish);
}

void unplug_begin(struct qmp_plug *plug, struct qmp *qmp, uint64_t now, int timeout_ms)
{
	*plug = (struct qmp_plug) { .fd = -1, .theirs = -1 };
	talk_begin(&plug->talk, qmp, now, timeout_ms);
	unplug_port(plug, port_is_out);
}

/* ---- qmp plug ---- */

/*
 * The questions of plug_begin, in order. Each is asked by the function that takes the answer before it, so the
 * file is best read from its end:
 *
 *	query-chardev		Does another ktop hold the port? Has one left it behind? That is taken out first.
 *	qom-list ...		If no controller may be added: is there one? Else this is the end.
 *	getfd, chardev-add	QEMU gets one end of a socket pair, and makes a chardev of it.
 *	qom-list		Is an earlier ktop's controller still kept, after a wait? The port goes onto it.
 *	qom-list ...		Which buses are there? This was asked already if none may be added.
 *	device_add ...		The port is tried on each virtio-serial bus; then a controller, if one may be added, is
 *				tried on each PCI bus, and the port goes onto that controller.
 *	qom-get			If no bus takes it: what machine is this? The error then says what to do.
 */

enum { NAME_BYTES = 256 };		/* no device and no bus has a longer name */

static struct qmp_plug *of(struct qmp_talk *talk)
{
	return (struct qmp_plug *)talk;
}

static void fail(struct qmp_plug *plug, char *why)
{
	plug->talk.error = util_format("port org.ktop.0: %s", why);
	free(why);
	talk_end(&plug->talk);
}

/* ---- the buses: folders of devices are listed, then the devices, then their buses ---- */

static void add_bus(struct qmp_bus_list *list, const char *name)
{
	if (list->count < QMP_BUSES_MAX)
		list->names[list->count++] = util_copy(name, strlen(name));
}

/* Takes over the path. NULL: there are too many. */
static struct qmp_place *add_place(struct qmp_buses *buses, int kind, bool board, char *path)
{
	struct qmp_place *place = &buses->places[buses->count];

	if (buses->count == QMP_PLACES_MAX) {
		free(path);
		return NULL;
	}
	*place = (struct qmp_place) { .kind = kind, .board = board, .path = path };
	buses->count++;
	return place;
}

static bool is_short(const char *text)
{
	return text && strlen(text) < NAME_BYTES;
}

/*
 * Notes a device whose buses are to be listed. Of the board's own devices, only PCI host bridges count: PCI begins
 * at them. The bus of a virtio-serial-pci is not its own child, but its virtio-backend's.
 */
static void take_device(struct qmp_buses *buses, const struct qmp_place *folder, const char *name,
	const char *type)
{
	if (strncmp(type, "child<", 6) == 0 && (!folder->board || strstr(type, "-pcihost>")))
		add_place(buses, PLACE_DEVICE, folder->board, util_format("%s/%s%s", folder->path,
			name, strstr(type, "<virtio-serial-pci") ? "/virtio-backend" : ""));
}

/*
 * The buses of a device are its children. A PCI Express port with one device is full: QEMU would take a
 * second one, but no guest looks for it.
 */
static void take_bus(struct qmp_buses *buses, const struct qmp_place *device, const char *name,
	const char *type)
{
	if (strcmp(type, "child<virtio-serial-bus>") == 0) {
		add_bus(&buses->serial, name);
	} else if (strcmp(type, "child<PCI>") == 0 ||
			(strcmp(type, "child<PCIE>") == 0 && device->board)) {
		add_bus(&buses->pci, name);
	} else if (strcmp(type, "child<PCIE>") == 0) {
		struct qmp_place *place = add_place(buses, PLACE_BUS, false,
			util_format("%s/%s", device->path, name));

		if (place)
			place->bus = util_copy(name, strlen(name));
	}
}

static bool has_device(const cJSON *children)
{
	const cJSON *child;
	bool found = false;

	cJSON_ArrayForEach(child, children) {
		const char *name = talk_member(child, "name");

		found |= name && strncmp(name, "child[", 6) == 0;
	}
	return found;
}

/*
 * Finds the buses. Whether a bus takes a device and has room, only QEMU knows. The caller lists buses_next
 * (talk_list), and gives each answer to buses_take, until buses_next is NULL.
 */
static void buses_begin(struct qmp_buses *buses)
{
	static const struct { const char *path; bool board; } folders[] = {
		{ "/machine", true }, { "/machine/unattached", true },
		{ "/machine/peripheral", false }, { "/machine/peripheral-anon", false },
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		add_place(buses, PLACE_FOLDER, folders[i].board,
			util_copy(folders[i].path, strlen(folders[i].path)));
}

static const char *buses_next(const struct qmp_buses *buses)
{
	return buses->next < buses->count ? buses->places[buses->next].path : NULL;
}

static void free_place(struct qmp_place *place)
{
	free(place->path);
	free(place->bus);
}

static void buses_take(struct qmp_buses *buses, const cJSON *answer)
{
	struct qmp_place *place = &buses->places[buses->next++];
	const cJSON *child;

	if (place->kind == PLACE_BUS && !has_device(answer))
		add_bus(&buses->pci, place->bus);
	if (place->kind != PLACE_BUS)
		cJSON_ArrayForEach(child, answer) {
			const char *name = talk_member(child, "name");
			const char *type = talk_member(child, "type");

			if (!is_short(name) || !is_short(type))
				continue;
			if (place->kind == PLACE_FOLDER)
				take_device(buses, place, name, type);
			else
				take_bus(buses, place, name, type);
		}
	free_place(place);
}

static void clear_buses(struct qmp_bus_list *list)
{
	while (list->count > 0)
		free(list->names[--list->count]);
}

static void buses_clear(struct qmp_buses *buses)
{
	clear_buses(&buses->serial);
	clear_buses(&buses->pci);
	while (buses->next < buses->count)
		free_place(&buses->places[buses->next++]);
	buses->next = buses->count = 0;
}

/* ---- why it cannot be plugged in ---- */

/* A bus that refuses is skipped; its reason is told if all refuse. */
static void keep_refusal(struct qmp_plug *plug)
{
	free(plug->refusal);
	plug->refusal = plug->talk.refusal;
	plug->talk.refusal = NULL;
}

static void take_type(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);
	bool micro = cJSON_IsString(answer) && strcmp(answer->valuestring, "microvm-machine") == 0;

	plug->refused = true;
	fail(plug, util_format("not plugged in: %.200s; start QEMU with %s", plug->refusal ?
		plug->refusal : "the machine has no bus that it could be plugged into",
		micro ? "-device virtio-serial-device, and ktop plugs the port in" :
		plug->buses.pci.count ? "-device virtio-serial-pci, and ktop plugs the port in" :
		"a machine that has PCI, such as -M pc"));
}

static void explain(struct qmp_plug *plug)
{
	talk_get(&plug->talk, "/machine", "type", take_type);
}

/* ---- the port: on a bus of an existing controller, else on a controller of ktop's own ---- */

static void try_serial(struct qmp_plug *plug);
static void try_pci(struct qmp_plug *plug);

static void finish(struct qmp_plug *plug, const char *bus)
{
	char *name = util_printable(bus, strlen(bus));

	strncat(plug->plugged.bus, name, sizeof(plug->plugged.bus) - 1);
	free(name);
	talk_end(&plug->talk);
}

static void add_port(struct qmp_plug *plug, const char *bus, qmp_take *take)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "driver", "virtserialport");
	cJSON_AddStringToObject(arguments, "id", QMP_PLUG_PORT);
	cJSON_AddStringToObject(arguments, "bus", bus);
	cJSON_AddStringToObject(arguments, "chardev", QMP_PLUG_PORT);
	cJSON_AddStringToObject(arguments, "name", "org.ktop.0");
	talk_ask(&plug->talk, "device_add", arguments, -1, take);
}

static void take_own_port(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	plug->plugged.controller = answer != NULL;
	if (answer) {
		finish(plug, plug->buses.pci.names[plug->bus]);
	} else {
		keep_refusal(plug);
		explain(plug);
	}
}

static void take_controller(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	if (answer) {
		add_port(plug, QMP_PLUG_CONTROLLER ".0", take_own_port);
	} else {
		keep_refusal(plug);
		plug->bus++;
		try_pci(plug);
	}
}

static void try_pci(struct qmp_plug *plug)
{
	cJSON *arguments;

	if (plug->bus == plug->buses.pci.count) {
		explain(plug);
		return;
	}
	arguments = cJSON_CreateObject();
	cJSON_AddStringToObject(arguments, "driver", "virtio-serial-pci");
	cJSON_AddStringToObject(arguments, "id", QMP_PLUG_CONTROLLER);
	cJSON_AddStringToObject(arguments, "bus", plug->buses.pci.names[plug->bus]);
	cJSON_AddNumberToObject(arguments, "max_ports", QMP_PLUG_PORTS);
	talk_ask(&plug->talk, "device_add", arguments, -1, take_controller);
}

static void take_port(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	if (answer) {
		finish(plug, plug->buses.serial.names[plug->bus]);
	} else {
		keep_refusal(plug);
		plug->bus++;
		try_serial(plug);
	}
}

/* Skips a controller that is full, and a bus that takes no port. */
static void try_serial(struct qmp_plug *plug)
{
	if (plug->bus < plug->buses.serial.count) {
		add_port(plug, plug->buses.serial.names[plug->bus], take_port);
	} else if (plug->may_add) {
		plug->bus = 0;
		try_pci(plug);
	} else {
		explain(plug);
	}
}

static void take_buses(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	buses_take(&plug->buses, answer);
	if (buses_next(&plug->buses))
		talk_list(talk, buses_next(&plug->buses), take_buses);
	else
		try_serial(plug);
}

static void refuse_kept(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	fail(of(talk), util_format("not plugged in: the guest has not released the controller of "
		"an earlier ktop; reset the machine, or start QEMU with -device virtio-serial-pci"));
}

static void take_kept(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	if (answer) {
		finish(plug, QMP_PLUG_CONTROLLER ".0");
	} else {
		keep_refusal(plug);
		plug->given = false;
		unplug_port(plug, refuse_kept);
	}
}

/*
 * A controller that the guest has kept is still driven, for example by the hook's own driver: it takes the
 * new port, too.
 */
static void way_is_free(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	(void)answer;
	if (plug->kept) {
		add_port(plug, QMP_PLUG_CONTROLLER ".0", take_kept);
	} else if (plug->buses.count) {
		try_serial(plug);
	} else {
		buses_begin(&plug->buses);
		talk_list(talk, buses_next(&plug->buses), take_buses);
	}
}

/* ---- the chardev: only one ktop can have it ---- */

static void take_closed(struct qmp_talk *talk, const cJSON *answer)
{
	(void)answer;
	fail(of(talk), util_format("not plugged in: %.200s; is another ktop starting? Try again",
		of(talk)->refusal));
}

/*
 * What an earlier ktop has left is in the way while the guest keeps it. A ktop that ended by itself has
 * asked the guest to release it. It must not be asked again: the guest would obey late, and release
 * whatever is in that slot by then.
 */
static void take_chardev(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);
	cJSON *arguments;

	if (answer) {
		unplug_await_controller(plug, plug->was_killed,
			talk->now + (talk->deadline - talk->now) / 2, way_is_free);
		return;
	}
	keep_refusal(plug);
	plug->given = false;
	arguments = cJSON_CreateObject();
	cJSON_AddStringToObject(arguments, "fdname", QMP_PLUG_PORT);
	talk_ask(talk, "closefd", arguments, -1, take_closed);
}

static void add_chardev(struct qmp_plug *plug)
{
	cJSON *arguments = cJSON_CreateObject(), *backend, *data, *address;

	cJSON_AddStringToObject(arguments, "id", QMP_PLUG_PORT);
	backend = cJSON_AddObjectToObject(arguments, "backend");
	cJSON_AddStringToObject(backend, "type", "socket");
	data = cJSON_AddObjectToObject(backend, "data");
	cJSON_AddBoolToObject(data, "server", false);
	address = cJSON_AddObjectToObject(data, "addr");
	cJSON_AddStringToObject(address, "type", "fd");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(address, "data"), "str", QMP_PLUG_PORT);
	plug->given = true;
	talk_ask(&plug->talk, "chardev-add", arguments, -1, take_chardev);
}

static void take_passed(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	close(plug->theirs);
	plug->theirs = -1;
	if (answer)
		add_chardev(plug);
	else
		fail(plug, util_format("not plugged in: QEMU did not get the port's socket; is "
			"the QMP socket QEMU's own, not a relay's?"));
}

/* Makes a socket pair, and gives QEMU one end for its chardev. */
static void give(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);
	cJSON *arguments;
	int ends[2];

	(void)answer;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		fail(plug, util_format("not plugged in: the system gives no more sockets; close "
			"other programs"));
		return;
	}
	plug->fd = ends[0];
	plug->theirs = ends[1];
	arguments = cJSON_CreateObject();
	cJSON_AddStringToObject(arguments, "fdname", QMP_PLUG_PORT);
	talk_ask(talk, "getfd", arguments, plug->theirs, take_passed);
}

/* ---- before all else ---- */

static void take_places(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);

	buses_take(&plug->buses, answer);
	if (buses_next(&plug->buses)) {
		talk_list(talk, buses_next(&plug->buses), take_places);
	} else if (plug->buses.serial.count) {
		give(talk, NULL);
	} else {
		plug->refused = true;
		fail(plug, util_format("not plugged in: the machine has no virtio-serial controller; give --source "
			"hook, and ktop plugs one in"));
	}
}

/* A machine that is to be left as it is must not even get the chardev, so its controllers are looked for first. */
static void look_first(struct qmp_talk *talk)
{
	struct qmp_plug *plug = of(talk);

	if (plug->may_add) {
		give(talk, NULL);
		return;
	}
	buses_begin(&plug->buses);
	talk_list(talk, buses_next(&plug->buses), take_places);
}

static void take_chardevs(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_plug *plug = of(talk);
	bool held, there = plug_chardev(answer, &held);

	plug->was_killed = there && !held;
	if (held)
		fail(plug, util_format("taken by the ktop that plugged it in; end that one, or name the "
			"VM by the same --qmp as it does"));
	else if (there)
		unplug_port(plug, give);
	else
		look_first(talk);
}

void plug_begin(struct qmp_plug *plug, struct qmp *qmp, bool may_add, uint64_t now, int timeout_ms)
{
	*plug = (struct qmp_plug) { .may_add = may_add, .fd = -1, .theirs = -1 };
	talk_begin(&plug->talk, qmp, now, timeout_ms);
	talk_ask(&plug->talk, "query-chardev", NULL, -1, take_chardevs);
}

void plug_clear(struct qmp_plug *plug)
{
	talk_clear(&plug->talk);
	buses_clear(&plug->buses);
	free(plug->refusal);
	plug->refusal = NULL;
	if (plug->fd >= 0)
		close(plug->fd);
	if (plug->theirs >= 0)
		close(plug->theirs);
	plug->fd = plug->theirs = -1;
}
