/* SPDX-License-Identifier: MIT */
/*
 * The buses of a machine that a port, or its controller, could be plugged into; by their names. A
 * part of a dialogue (qmp_talk.h): folders of devices are listed, then the devices, then their buses.
 */
#ifndef QMP_BUSES_H
#define QMP_BUSES_H

#include <stdbool.h>
#include <stddef.h>

struct cJSON;
struct qmp_talk;

enum {
	QMP_BUSES_MAX = 64,		/* of a kind */
	QMP_PLACES_MAX = 1024,		/* that are listed */
};

struct qmp_bus_list {
	char *names[QMP_BUSES_MAX];	/* as QEMU has them: anything */
	size_t count;
};

struct qmp_place {
	enum { PLACE_FOLDER, PLACE_DEVICE, PLACE_BUS } kind;
	bool board;			/* a part of the board itself */
	char *path;
	char *bus;			/* PLACE_BUS: its name */
};

struct qmp_buses {
	struct qmp_bus_list serial;	/* each is one of a virtio-serial controller, of any kind */
	struct qmp_bus_list pci;	/* from the board outwards */

	struct qmp_place places[QMP_PLACES_MAX];	/* from `next` on, they are still to be listed */
	size_t next, count;
};

/*
 * Finds those that there are; whether they take anything, and have room, only QEMU knows: lists
 * buses_next, and gives each answer to buses_take, until that is NULL.
 */
void buses_begin(struct qmp_buses *buses);
const char *buses_next(const struct qmp_buses *buses);
void buses_take(struct qmp_buses *buses, const struct cJSON *answer);
void buses_clear(struct qmp_buses *buses);

#endif
