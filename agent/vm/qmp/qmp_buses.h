/* SPDX-License-Identifier: MIT */
/*
 * The names of all buses of a machine that a port, or its controller, might be plugged into. This is part
 * of a dialogue (qmp_talk.h): it lists the folders of devices, then the devices, then their buses.
 */
#ifndef QMP_BUSES_H
#define QMP_BUSES_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;
struct qmp_talk;

enum {
	QMP_BUSES_MAX = 64,		/* of each kind */
	QMP_PLACES_MAX = 1024,		/* that are listed */
};

struct qmp_bus_list {
	char *names[QMP_BUSES_MAX];	/* as QEMU tells them: any text */
	size_t count;
};

struct qmp_place {
	enum { PLACE_FOLDER, PLACE_DEVICE, PLACE_BUS } kind;
	bool board;			/* it belongs to the board itself */
	char *path;
	char *bus;			/* PLACE_BUS: its name */
};

struct qmp_buses {
	struct qmp_bus_list serial;	/* each belongs to a virtio-serial controller, of any kind */
	struct qmp_bus_list pci;	/* from the board outwards */

	struct qmp_place places[QMP_PLACES_MAX];	/* those from `next` on have not been listed yet */
	size_t next, count;
};

/*
 * Finds the buses. Whether a bus takes a device and has room, only QEMU knows. The caller lists buses_next
 * (talk_list), and gives each answer to buses_take, until buses_next is NULL.
 */
void buses_begin(struct qmp_buses *buses);
const char *buses_next(const struct qmp_buses *buses);
void buses_take(struct qmp_buses *buses, const struct cJSON *answer);
void buses_clear(struct qmp_buses *buses);

#endif
