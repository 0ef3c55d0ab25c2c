/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "qmp_buses.h"
#include "qmp_talk.h"

enum { NAME_BYTES = 256 };		/* no device and no bus has a longer name */

static void add(struct qmp_bus_list *list, const char *name)
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
		add(&buses->serial, name);
	} else if (strcmp(type, "child<PCI>") == 0 ||
			(strcmp(type, "child<PCIE>") == 0 && device->board)) {
		add(&buses->pci, name);
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

void buses_begin(struct qmp_buses *buses)
{
	static const struct { const char *path; bool board; } folders[] = {
		{ "/machine", true }, { "/machine/unattached", true },
		{ "/machine/peripheral", false }, { "/machine/peripheral-anon", false },
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		add_place(buses, PLACE_FOLDER, folders[i].board,
			util_copy(folders[i].path, strlen(folders[i].path)));
}

const char *buses_next(const struct qmp_buses *buses)
{
	return buses->next < buses->count ? buses->places[buses->next].path : NULL;
}

static void free_place(struct qmp_place *place)
{
	free(place->path);
	free(place->bus);
}

void buses_take(struct qmp_buses *buses, const cJSON *answer)
{
	struct qmp_place *place = &buses->places[buses->next++];
	const cJSON *child;

	if (place->kind == PLACE_BUS && !has_device(answer))
		add(&buses->pci, place->bus);
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

static void clear(struct qmp_bus_list *list)
{
	while (list->count > 0)
		free(list->names[--list->count]);
}

void buses_clear(struct qmp_buses *buses)
{
	clear(&buses->serial);
	clear(&buses->pci);
	while (buses->next < buses->count)
		free_place(&buses->places[buses->next++]);
	buses->next = buses->count = 0;
}
