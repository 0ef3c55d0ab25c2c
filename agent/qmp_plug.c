#include <cjson/cJSON.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qmp.h"
#include "qmp_buses.h"
#include "qmp_plug.h"
#include "qmp_qom.h"
#include "util.h"

enum {
	BACK_MS = 1000,			/* to take out again what was in vain */
	LOOK_MS = 10,
	NS_PER_MS = 1000000,
};

struct plug {
	struct qom qom;
	struct qmp_buses buses;
	bool was_killed;		/* an earlier ktop was, and left its port */
	char *refusal;			/* the last that QEMU said; NULL: nothing */
};

/* ---- single steps; true: QEMU has done it ---- */

static bool obeyed(struct plug *plug, const char *command, cJSON *arguments)
{
	cJSON *answer = qom_call(&plug->qom, command, arguments);
	char *refusal = answer || plug->qom.error ? NULL : qmp_refusal(plug->qom.qmp);

	if (refusal) {
		free(plug->refusal);
		plug->refusal = refusal;
	}
	cJSON_Delete(answer);
	return answer;
}

static bool obeyed_for(struct plug *plug, const char *command, const char *id)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "id", id);
	return obeyed(plug, command, arguments);
}

static bool add_chardev(struct plug *plug)
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
	return obeyed(plug, "chardev-add", arguments);
}

static bool add_port(struct plug *plug, const char *bus)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "driver", "virtserialport");
	cJSON_AddStringToObject(arguments, "id", QMP_PLUG_PORT);
	cJSON_AddStringToObject(arguments, "bus", bus);
	cJSON_AddStringToObject(arguments, "chardev", QMP_PLUG_PORT);
	cJSON_AddStringToObject(arguments, "name", "org.ktop.0");
	return obeyed(plug, "device_add", arguments);
}

static bool add_controller(struct plug *plug, const char *bus)
{
	cJSON *arguments = cJSON_CreateObject();

	cJSON_AddStringToObject(arguments, "driver", "virtio-serial-pci");
	cJSON_AddStringToObject(arguments, "id", QMP_PLUG_CONTROLLER);
	cJSON_AddStringToObject(arguments, "bus", bus);
	return obeyed(plug, "device_add", arguments);
}

/* ---- taking out ---- */

/* False: not asked either, for QEMU answers no more. */
static bool is_there(struct plug *plug, const char *id)
{
	cJSON *devices = qom_list(&plug->qom, "/machine/peripheral");
	const cJSON *device;
	bool found = false;

	cJSON_ArrayForEach(device, devices) {
		const char *name = qom_member(device, "name");

		found |= name && strcmp(name, id) == 0;
	}
	cJSON_Delete(devices);
	return found;
}

static bool is_late(const struct plug *plug)
{
	return plug->qom.error || util_now() >= plug->qom.deadline;
}

static void pause_a_little(void)
{
	poll(NULL, 0, LOOK_MS);
}

static cJSON *chardev_row(cJSON *chardevs)
{
	cJSON *row;

	cJSON_ArrayForEach(row, chardevs) {
		const char *label = qom_member(row, "label");

		if (label && strcmp(label, QMP_PLUG_PORT) == 0)
			return row;
	}
	return NULL;
}

/* Our chardev is there; *held: with a ktop at its other end. */
static bool has_chardev(struct plug *plug, bool *held)
{
	cJSON *chardevs = qom_call(&plug->qom, "query-chardev", NULL);
	const cJSON *row = chardev_row(chardevs);
	const char *filename = qom_member(row, "filename");
	bool found = row;

	*held = filename && strncmp(filename, "disconnected:", strlen("disconnected:")) != 0;
	cJSON_Delete(chardevs);
	return found;
}

/* A port goes at once, but QEMU lets go its chardev only some time later. */
static void take_out_port(struct plug *plug)
{
	bool held;

	obeyed_for(plug, "device_del", QMP_PLUG_PORT);
	while (!obeyed_for(plug, "chardev-remove", QMP_PLUG_PORT) && has_chardev(plug, &held) &&
			!is_late(plug))
		pause_a_little();
}

/* Waits until `late` for the guest to let go what it was asked for. */
static void await_controller(struct plug *plug, uint64_t late)
{
	while (is_there(plug, QMP_PLUG_CONTROLLER) && !is_late(plug) && util_now() < late)
		pause_a_little();
}

static void ask_for_controller(struct plug *plug)
{
	if (is_there(plug, QMP_PLUG_CONTROLLER))
		obeyed_for(plug, "device_del", QMP_PLUG_CONTROLLER);
}

static struct plug begin(struct qmp *qmp, int timeout_ms)
{
	return (struct plug){ .qom = {
		.qmp = qmp,
		.deadline = util_now() + (uint64_t)timeout_ms * NS_PER_MS,
	} };
}

static void end(struct plug *plug)
{
	qmp_buses_clear(&plug->buses);
	free(plug->refusal);
	free(plug->qom.error);
}

bool qmp_unplug(struct qmp *qmp, int timeout_ms)
{
	struct plug plug = begin(qmp, timeout_ms);
	bool gone;

	take_out_port(&plug);
	ask_for_controller(&plug);
	await_controller(&plug, plug.qom.deadline);
	gone = !plug.qom.error && !is_there(&plug, QMP_PLUG_PORT) &&
		!is_there(&plug, QMP_PLUG_CONTROLLER) && !plug.qom.error;
	end(&plug);
	return gone;
}

/* ---- plugging in ---- */

static void tell_bus(struct qmp_plugged *plugged, const char *bus)
{
	char *name = util_printable(bus, strlen(bus));

	strncat(plugged->bus, name, sizeof(plugged->bus) - 1);
	free(name);
}

/* A controller that is full, and a bus that takes none, are passed over. */
static bool plug_anywhere(struct plug *plug, struct qmp_plugged *plugged)
{
	const struct qmp_bus_list *serial = &plug->buses.serial, *pci = &plug->buses.pci;
	size_t i = 0, port = 0;

	qmp_buses_find(&plug->qom, &plug->buses);
	while (port < serial->count && !add_port(plug, serial->names[port]))
		port++;
	if (port < serial->count) {
		tell_bus(plugged, serial->names[port]);
		return true;
	}
	while (i < pci->count && !add_controller(plug, pci->names[i]))
		i++;
	if (i == pci->count || !add_port(plug, QMP_PLUG_CONTROLLER ".0"))
		return false;
	tell_bus(plugged, pci->names[i]);
	plugged->controller = true;
	return true;
}

/*
 * What an earlier ktop has left is in our way while its guest keeps it. One that ended itself has
 * asked for it: a second request that comes late makes the guest let go what is in that slot next.
 */
static bool has_way(struct plug *plug, char **error)
{
	uint64_t now = util_now();

	if (plug->was_killed)
		ask_for_controller(plug);
	await_controller(plug, now + (plug->qom.deadline - now) / 2);
	return plug->qom.error || !is_there(plug, QMP_PLUG_CONTROLLER) ||
		util_fail(error,
			"port org.ktop.0: not plugged in: the guest has not let go the controller of an "
			"earlier ktop; reset the machine, or start QEMU with -device virtio-serial-pci");
}

static const char *why(const struct plug *plug)
{
	return plug->qom.error ? plug->qom.error : plug->refusal ? plug->refusal :
		"the machine has no bus that it could be plugged into";
}

static void explain(struct plug *plug, char **error)
{
	char *type = qom_text(&plug->qom, "/machine", "type");
	bool micro = type && strcmp(type, "microvm-machine") == 0;

	if (plug->qom.error)
		util_fail(error, "%s", plug->qom.error);
	else
		util_fail(error, "port org.ktop.0: not plugged in: %.200s; start QEMU with %s",
			why(plug), micro ?
			"-device virtio-serial-device, and ktop plugs the port in" :
			plug->buses.pci.count ?
			"-device virtio-serial-pci, and ktop plugs the port in" :
			"a machine that has PCI, such as -M pc");
	free(type);
}

/* With the chardev, which only one ktop can have. False: nothing of it is left. */
static bool plug_in(struct plug *plug, struct qmp_plugged *plugged, char **error)
{
	bool good = has_way(plug, error);

	if (good && plug_anywhere(plug, plugged))
		return true;
	*plugged = (struct qmp_plugged){ 0 };
	if (good) {
		explain(plug, error);
		qmp_unplug(plug->qom.qmp, BACK_MS);
	} else {
		take_out_port(plug);
	}
	return false;
}

/* Makes QEMU's end of the pair its chardev. */
static bool give(struct plug *plug, int fd, char **error)
{
	cJSON *arguments;

	if (!qmp_pass(plug->qom.qmp, fd, QMP_PLUG_PORT, plug->qom.deadline, NULL))
		return util_fail(error,
			"port org.ktop.0: not plugged in: QEMU did not get its socket; is the QMP "
			"socket QEMU's own, and no relay's?");
	if (add_chardev(plug))
		return true;
	arguments = cJSON_CreateObject();
	cJSON_AddStringToObject(arguments, "fdname", QMP_PLUG_PORT);
	cJSON_Delete(qom_call(&plug->qom, "closefd", arguments));
	return util_fail(error, "port org.ktop.0: not plugged in: %.200s; does another ktop begin "
		"now? Try again", why(plug));
}

static bool is_free(struct plug *plug, char **error)
{
	bool held = false;

	plug->was_killed = has_chardev(plug, &held) && !held;
	if (plug->was_killed)
		take_out_port(plug);
	return !held || util_fail(error,
		"port org.ktop.0: taken by the ktop that plugged it in; end that one, or name the VM by "
		"the same --qmp as it does");
}

int qmp_plug(struct qmp *qmp, int timeout_ms, struct qmp_plugged *plugged, char **error)
{
	struct plug plug = begin(qmp, timeout_ms);
	int ends[2] = { -1, -1 };
	bool good = is_free(&plug, error);

	*plugged = (struct qmp_plugged){ 0 };
	if (good && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		good = util_fail(error, "port org.ktop.0: not plugged in: no sockets left; close "
			"other programs");
	good = good && give(&plug, ends[1], error) && plug_in(&plug, plugged, error);
	close(ends[1]);
	if (!good)
		close(ends[0]);
	end(&plug);
	return good ? ends[0] : -1;
}
