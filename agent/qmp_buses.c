#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "qmp_buses.h"
#include "qmp_qom.h"
#include "util.h"

enum { DEVICES_MAX = 256 };		/* of a folder, that are looked at */

static void add(struct qmp_bus_list *list, const char *name)
{
	if (list->count < QMP_BUSES_MAX)
		list->names[list->count++] = util_copy(name, strlen(name));
}

static bool has_device(struct qom *qom, const char *path, const char *bus)
{
	char *whole = util_format("%s/%s", path, bus);
	cJSON *children = qom_list(qom, whole);
	const cJSON *child;
	bool found = false;

	cJSON_ArrayForEach(child, children) {
		const char *name = qom_member(child, "name");

		found |= name && strncmp(name, "child[", 6) == 0;
	}
	cJSON_Delete(children);
	free(whole);
	return found;
}

/*
 * Those of one device are its children. A port of PCI Express is full when it has one device: QEMU
 * takes a second, but no guest looks for it.
 */
static void look_at_device(struct qom *qom, const char *path, bool board,
	struct qmp_buses *buses)
{
	cJSON *children = qom_list(qom, path);
	const cJSON *child;

	cJSON_ArrayForEach(child, children) {
		const char *name = qom_member(child, "name"), *type = qom_member(child, "type");

		if (!name || !type)
			continue;
		if (strcmp(type, "child<virtio-serial-bus>") == 0)
			add(&buses->serial, name);
		if (strcmp(type, "child<PCI>") == 0 || (strcmp(type, "child<PCIE>") == 0 &&
				(board || !has_device(qom, path, name))))
			add(&buses->pci, name);
	}
	cJSON_Delete(children);
}

/* What the board has by itself matters only where PCI begins. */
static void look_at_folder(struct qom *qom, const char *folder, bool board,
	struct qmp_buses *buses)
{
	cJSON *devices = qom_list(qom, folder);
	const cJSON *device;
	char *paths[DEVICES_MAX];
	size_t count = 0;

	cJSON_ArrayForEach(device, devices) {
		const char *name = qom_member(device, "name"), *type = qom_member(device, "type");

		if (name && type && count < DEVICES_MAX && strncmp(type, "child<", 6) == 0 &&
				(!board || strstr(type, "-pcihost>")))
			paths[count++] = util_format("%s/%s%s", folder, name,
				strstr(type, "<virtio-serial-pci") ? "/virtio-backend" : "");
	}
	cJSON_Delete(devices);
	for (size_t i = 0; i < count; i++) {
		look_at_device(qom, paths[i], board, buses);
		free(paths[i]);
	}
}

void qmp_buses_find(struct qom *qom, struct qmp_buses *buses)
{
	look_at_folder(qom, "/machine", true, buses);
	look_at_folder(qom, "/machine/unattached", true, buses);
	look_at_folder(qom, "/machine/peripheral", false, buses);
	look_at_folder(qom, "/machine/peripheral-anon", false, buses);
}

static void clear(struct qmp_bus_list *list)
{
	while (list->count > 0)
		free(list->names[--list->count]);
}

void qmp_buses_clear(struct qmp_buses *buses)
{
	clear(&buses->serial);
	clear(&buses->pci);
}
