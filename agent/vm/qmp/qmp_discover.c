/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "qmp_discover.h"

/*
 * The questions, in order; each take_... asks the next one:
 *
 *	query-cpus-fast, query-name, query-version, query-kvm, qom-get of the kernel's path
 *	for each of `folders`: qom-list; then for each port in it, until one is ktop's:
 *		qom-get of its name; if that is ktop's: of its chardev, and query-chardev
 *	qom-get of the path of the plugin's socket
 */

#define PORT_NAME "org.ktop.0"

enum { CPUS_MAX = 4096 };

static const char *const folders[] = {
	"/machine/peripheral", "/machine/peripheral-anon", "/machine/unattached",
};
enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };

static struct qmp_discovery *of(struct qmp_talk *talk)
{
	return (struct qmp_discovery *)talk;
}

/* QEMU's paths are relative to its own working directory. */
static char *absolute_path(const struct qmp_discovery *discovery, const char *path)
{
	char *folder = path[0] == '/' ? NULL : peer_folder(qmp_fd(discovery->talk.qmp));
	char *absolute =
		folder ? util_format("%s/%s", folder, path) : util_copy(path, strlen(path));

	free(folder);
	return absolute;
}

/* ---- the port: a device in one of the folders, and its chardev ---- */

static void next_port(struct qmp_discovery *discovery);
static void take_devices(struct qmp_talk *talk, const cJSON *answer);

static void forget_ports(struct qmp_discovery *discovery)
{
	while (discovery->next < discovery->count)
		free(discovery->ports[discovery->next++]);
	discovery->next = discovery->count = 0;
}

static void forget_port(struct qmp_discovery *discovery)
{
	free(discovery->port);
	free(discovery->label);
	discovery->port = discovery->label = NULL;
}

/* query-chardev tells of a listening socket as "disconnected:unix:port.sock,server=on". */
static void take_chardev(struct qmp_discovery *discovery, const char *filename)
{
	static const char free_mark[] = "disconnected:", kind[] = "unix:";
	bool taken = strncmp(filename, free_mark, strlen(free_mark)) != 0;
	const char *path = taken ? filename : filename + strlen(free_mark);
	const char *next, *end = NULL;
	char *copy;

	if (strncmp(path, kind, strlen(kind)) != 0)
		return;
	path += strlen(kind);
	for (next = path; (next = strstr(next, ",server")); next++)
		end = next;
	if (!end)
		return;
	copy = util_copy(path, (size_t)(end - path));
	discovery->facts.port = absolute_path(discovery, copy);
	discovery->facts.port_taken = taken;
	free(copy);
}

static void take_chardevs(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);
	const cJSON *row;

	cJSON_ArrayForEach(row, answer) {
		const char *name = talk_member(row, "label"), *file = talk_member(row, "filename");

		if (!name || !file || discovery->facts.port || strcmp(name, discovery->label) != 0)
			continue;
		discovery->facts.port_open = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "frontend-open"));
		take_chardev(discovery, file);
	}
	next_port(discovery);
}

static void take_label(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);

	discovery->label = talk_text(answer);
	free(discovery->facts.label);
	discovery->facts.label =
		discovery->label ? util_copy(discovery->label, strlen(discovery->label)) : NULL;
	if (discovery->label && strcmp(discovery->label, QMP_PLUG_PORT) == 0)
		discovery->facts.port_plugged = true;
	if (discovery->label && !discovery->facts.port_plugged)
		talk_ask(talk, "query-chardev", NULL, -1, take_chardevs);
	else
		next_port(discovery);
}

static void take_port_name(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);
	char *name = talk_text(answer);

	if (name && strcmp(name, PORT_NAME) == 0) {
		discovery->facts.port_present = true;
		talk_get(talk, discovery->port, "chardev", take_label);
	} else {
		next_port(discovery);
	}
	free(name);
}

/* The path of the plugin's socket, which the plugin itself has put there. It sees nothing of what KVM runs. */
static void take_plugin(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);
	char *path = talk_text(answer);

	if (path && !discovery->facts.kvm)
		discovery->facts.plugin = absolute_path(discovery, path);
	free(path);
	talk_end(talk);
}

/* Asks about the next device of this folder that may be the port, or lists the next folder. */
static void next_port(struct qmp_discovery *discovery)
{
	struct qmp_talk *talk = &discovery->talk;

	forget_port(discovery);
	if (discovery->facts.port_present)
		forget_ports(discovery);
	if (discovery->next < discovery->count) {
		discovery->port = discovery->ports[discovery->next++];
		talk_get(talk, discovery->port, "name", take_port_name);
	} else if (++discovery->folder < FOLDERS) {
		talk_list(talk, folders[discovery->folder], take_devices);
	} else {
		talk_get(talk, "/", "ktop-plugin", take_plugin);
	}
}

static bool is_port(const char *name, const char *type)
{
	return name && type && strcmp(type, "child<virtserialport>") == 0;
}

/* A list of devices may be long: only the ports are kept. */
static void take_devices(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);
	const cJSON *device;

	forget_ports(discovery);
	cJSON_ArrayForEach(device, answer) {
		const char *name = talk_member(device, "name"), *type = talk_member(device, "type");

		if (name && type && strcmp(type, "child<i8042>") == 0)
			discovery->facts.i8042 = true;
		if (is_port(name, type) && discovery->count < DISCOVER_PORTS)
			discovery->ports[discovery->count++] =
				util_format("%s/%s", folders[discovery->folder], name);
	}
	next_port(discovery);
}

/* ---- the machine ---- */

static void take_kernel(struct qmp_talk *talk, const cJSON *answer)
{
	struct qmp_discovery *discovery = of(talk);
	char *kernel = talk_text(answer);

	if (kernel)
		discovery->facts.kernel = absolute_path(discovery, kernel);
	free(kernel);
	talk_list(talk, folders[0], take_devices);
}

static void take_kvm(struct qmp_talk *talk, const cJSON *answer)
{
	of(talk)->facts.kvm = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "enabled"));
	talk_get(talk, "/machine", "kernel", take_kernel);
}

static void take_version(struct qmp_talk *talk, const cJSON *answer)
{
	const cJSON *qemu = cJSON_GetObjectItemCaseSensitive(answer, "qemu");
	const cJSON *major = cJSON_GetObjectItemCaseSensitive(qemu, "major");
	const cJSON *minor = cJSON_GetObjectItemCaseSensitive(qemu, "minor");
	const cJSON *micro = cJSON_GetObjectItemCaseSensitive(qemu, "micro");

	if (cJSON_IsNumber(major) && cJSON_IsNumber(minor) && cJSON_IsNumber(micro))
		of(talk)->facts.qemu = util_format("%d.%d.%d", major->valueint, minor->valueint,
			micro->valueint);
	talk_ask(talk, "query-kvm", NULL, -1, take_kvm);
}

static void take_name(struct qmp_talk *talk, const cJSON *answer)
{
	const char *name = talk_member(answer, "name");

	if (name)
		of(talk)->facts.name = util_printable(name, strlen(name));
	talk_ask(talk, "query-version", NULL, -1, take_version);
}

static void take_cpus(struct qmp_talk *talk, const cJSON *answer)
{
	int count = cJSON_IsArray(answer) ? cJSON_GetArraySize(answer) : 0;

	if (cJSON_IsArray(answer) && !count) {
		util_fail(&talk->error, "the machine of QEMU has no CPU: there is nothing to sample; start QEMU with "
			"another machine than -M none");
		talk_end(talk);
		return;
	}
	of(talk)->facts.cpus = (uint32_t)(count < CPUS_MAX ? count : CPUS_MAX);
	talk_ask(talk, "query-name", NULL, -1, take_name);
}

void discover_begin(struct qmp_discovery *discovery, struct qmp *qmp, uint64_t now, int timeout_ms)
{
	*discovery = (struct qmp_discovery) { .count = 0 };
	talk_begin(&discovery->talk, qmp, now, timeout_ms);
	talk_ask(&discovery->talk, "query-cpus-fast", NULL, -1, take_cpus);
}

void discover_clear(struct qmp_discovery *discovery)
{
	talk_clear(&discovery->talk);
	forget_port(discovery);
	forget_ports(discovery);
	qmp_facts_clear(&discovery->facts);
}

bool qmp_port_is_closed(struct cJSON *answer, const char *label)
{
	const cJSON *row;
	bool closed = false;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(answer, "return")) {
		const char *name = talk_member(row, "label");

		if (name && strcmp(name, label) == 0)
			closed = cJSON_IsFalse(
				cJSON_GetObjectItemCaseSensitive(row, "frontend-open"));
	}
	cJSON_Delete(answer);
	return closed;
}

/* How likely the guest's console is on a chardev of this name: QEMU calls those of -serial serial0, serial1. */
static int console_rank(const char *label)
{
	static const char *const others[] = { "compat_monitor", "parallel", "gdb" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strncmp(label, others[i], strlen(others[i])) == 0)
			return 0;
	return strcmp(label, "serial0") == 0 ? 3 : strncmp(label, "serial", strlen("serial")) == 0 ? 2 : 1;
}

char *qmp_serial_pty(struct cJSON *answer)
{
	static const char kind[] = "pty:";
	const cJSON *row;
	char *path = NULL;
	int best = 0;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(answer, "return")) {
		const char *label = talk_member(row, "label"), *file = talk_member(row, "filename");

		if (!label || !file || strncmp(file, kind, strlen(kind)) != 0 || console_rank(label) <= best)
			continue;
		best = console_rank(label);
		free(path);
		path = util_copy(file + strlen(kind), strlen(file + strlen(kind)));
	}
	cJSON_Delete(answer);
	return path;
}

void qmp_facts_clear(struct qmp_facts *facts)
{
	free(facts->kernel);
	free(facts->port);
	free(facts->label);
	free(facts->name);
	free(facts->qemu);
	free(facts->plugin);
	*facts = (struct qmp_facts) { 0 };
}
