#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "qmp.h"
#include "qmp_plug.h"
#include "qmp_qom.h"
#include "util.h"

#define PORT_NAME "org.ktop.0"

enum { NS_PER_MS = 1000000, CPUS_MAX = 4096, PORTS_MAX = 256 };

/* One discovery. */
struct search {
	struct qom qom;
	struct qmp_facts *facts;
};

/* QEMU's paths are relative to its own working directory. */
static char *absolute_path(struct search *search, const char *path)
{
	char *folder = path[0] == '/' ? NULL : peer_folder(qmp_fd(search->qom.qmp));
	char *absolute =
		folder ? util_format("%s/%s", folder, path) : util_copy(path, strlen(path));

	free(folder);
	return absolute;
}

/* "disconnected:unix:port.sock,server=on": how query-chardev tells of a listening socket. */
static void take_chardev(struct search *search, const char *filename)
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
	search->facts->port = absolute_path(search, copy);
	search->facts->port_taken = taken;
	free(copy);
}

static void find_chardev(struct search *search, const char *label)
{
	cJSON *answer = qom_call(&search->qom, "query-chardev", NULL);
	const cJSON *row;

	cJSON_ArrayForEach(row, answer) {
		const char *name = qom_member(row, "label"), *filename = qom_member(row, "filename");

		if (name && filename && !search->facts->port && strcmp(name, label) == 0)
			take_chardev(search, filename);
	}
	cJSON_Delete(answer);
}

static void look_at_port(struct search *search, const char *path)
{
	char *name = qom_text(&search->qom, path, "name");
	char *label =
		name && strcmp(name, PORT_NAME) == 0 ? qom_text(&search->qom, path, "chardev") : NULL;

	if (name && strcmp(name, PORT_NAME) == 0)
		search->facts->port_present = true;
	if (label && strcmp(label, QMP_PLUG_PORT) == 0)
		search->facts->port_plugged = true;
	else if (label)
		find_chardev(search, label);
	free(label);
	free(name);
}

/* Answers may be large: the list goes before the ports in it are asked. */
static void walk_devices(struct search *search, const char *folder)
{
	cJSON *devices = qom_list(&search->qom, folder);
	const cJSON *device;
	char *ports[PORTS_MAX];
	size_t count = 0;

	cJSON_ArrayForEach(device, devices) {
		const char *name = qom_member(device, "name"), *type = qom_member(device, "type");

		if (name && type && strcmp(type, "child<i8042>") == 0)
			search->facts->i8042 = true;
		if (name && type && count < PORTS_MAX &&
				strcmp(type, "child<virtserialport>") == 0)
			ports[count++] = util_format("%s/%s", folder, name);
	}
	cJSON_Delete(devices);
	for (size_t i = 0; i < count; i++) {
		if (!search->facts->port_present)
			look_at_port(search, ports[i]);
		free(ports[i]);
	}
}

static void ask_kernel(struct search *search)
{
	char *kernel = qom_text(&search->qom, "/machine", "kernel");

	if (kernel)
		search->facts->kernel = absolute_path(search, kernel);
	free(kernel);
}

static void ask_name(struct search *search)
{
	cJSON *answer = qom_call(&search->qom, "query-name", NULL);
	const char *name = qom_member(answer, "name");

	if (name)
		search->facts->name = util_printable(name, strlen(name));
	cJSON_Delete(answer);
}

static void ask_version(struct search *search)
{
	cJSON *answer = qom_call(&search->qom, "query-version", NULL);
	const cJSON *qemu = cJSON_GetObjectItemCaseSensitive(answer, "qemu");
	const cJSON *major = cJSON_GetObjectItemCaseSensitive(qemu, "major");
	const cJSON *minor = cJSON_GetObjectItemCaseSensitive(qemu, "minor");
	const cJSON *micro = cJSON_GetObjectItemCaseSensitive(qemu, "micro");

	if (cJSON_IsNumber(major) && cJSON_IsNumber(minor) && cJSON_IsNumber(micro))
		search->facts->qemu = util_format("%d.%d.%d", major->valueint, minor->valueint,
			micro->valueint);
	cJSON_Delete(answer);
}

static void ask_cpus(struct search *search)
{
	cJSON *answer = qom_call(&search->qom, "query-cpus-fast", NULL);
	int count = cJSON_IsArray(answer) ? cJSON_GetArraySize(answer) : 0;

	search->facts->cpus = (uint32_t)(count < CPUS_MAX ? count : CPUS_MAX);
	cJSON_Delete(answer);
}

bool qmp_discover(struct qmp *qmp, int timeout_ms, struct qmp_facts *facts, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)timeout_ms * NS_PER_MS;
	struct search search = {
		.qom = { .qmp = qmp, .deadline = deadline },
		.facts = facts,
	};

	*facts = (struct qmp_facts){ 0 };
	ask_cpus(&search);
	ask_name(&search);
	ask_version(&search);
	ask_kernel(&search);
	walk_devices(&search, "/machine/peripheral");
	walk_devices(&search, "/machine/peripheral-anon");
	walk_devices(&search, "/machine/unattached");
	if (!search.qom.error)
		return true;
	qmp_facts_clear(facts);
	if (qmp_step(qmp))
		util_fail(error, "QMP: QEMU did not answer all in %.4g s: it hangs, or the host is "
			"busy; try again", timeout_ms / 1000.0);
	else
		util_fail(error, "%s", search.qom.error);
	free(search.qom.error);
	return false;
}

void qmp_facts_clear(struct qmp_facts *facts)
{
	free(facts->kernel);
	free(facts->port);
	free(facts->name);
	free(facts->qemu);
	*facts = (struct qmp_facts){ 0 };
}
