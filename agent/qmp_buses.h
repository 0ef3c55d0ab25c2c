/* The buses of a machine that a port, or its controller, could be plugged into; by their names. */
#ifndef QMP_BUSES_H
#define QMP_BUSES_H

#include <stddef.h>

struct qom;

enum { QMP_BUSES_MAX = 64 };		/* of a kind */

struct qmp_bus_list {
	char *names[QMP_BUSES_MAX];	/* as QEMU has them: anything */
	size_t count;
};

struct qmp_buses {
	struct qmp_bus_list serial;	/* each is one of a virtio-serial controller, of any kind */
	struct qmp_bus_list pci;	/* from the board outwards */
};

/* Adds those that there are; whether they take anything, and have room, only QEMU knows. */
void qmp_buses_find(struct qom *qom, struct qmp_buses *buses);
void qmp_buses_clear(struct qmp_buses *buses);

#endif
