/* SPDX-License-Identifier: MIT */
/*
 * Plugs the port org.ktop.0 into a machine that has none, and takes it out again. Each is a dialogue
 * (qmp.h). QEMU gets one end of a socket pair for the port. A pair has no path, so nobody else can
 * connect, and no file is left behind. QEMU also sees when the ktop at the other end has ended. The ids are
 * always the same: so QEMU refuses the second of two ktops, and a later ktop recognizes what an earlier one
 * has left.
 */
#ifndef QMP_PLUG_H
#define QMP_PLUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qmp.h"

#define QMP_PLUG_CONTROLLER "ktop-plugged-bus"	/* id of the virtio-serial controller */

/*
 * Ports of a controller of ktop's own: number 0 is for consoles alone. Each has two queues. For each queue QEMU takes
 * down a notifier when the machine stops, and sets one up when it goes on; the gdb stub does that for each sample.
 */
#define QMP_PLUG_PORTS 2

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

struct qmp_buses {			/* all that a port, or its controller, might be plugged into */
	struct qmp_bus_list serial;	/* each belongs to a virtio-serial controller, of any kind */
	struct qmp_bus_list pci;	/* from the board outwards */

	struct qmp_place places[QMP_PLACES_MAX];	/* those from `next` on have not been listed yet */
	size_t next, count;
};

struct qmp_plugged {
	char bus[64];			/* of the port, or of its controller if that was plugged in, too; "": nothing */
	bool controller;		/* the controller was plugged in, too */
};

struct qmp_plug {
	struct qmp_talk talk;

	/* plugging in */
	bool may_add;			/* a controller of ktop's own may be plugged in */
	struct qmp_plugged plugged;	/* valid once the dialogue has ended */
	int fd;				/* ktop's end of the port; the caller takes it over; -1: none */
	bool given;			/* QEMU may have something of ktop's: unplug, whatever the result */
	int theirs;			/* QEMU's end, until QEMU has it; -1: none */
	struct qmp_buses buses;
	size_t bus;			/* the index of the bus that is being tried */
	char *refusal;			/* QEMU's reason for its last refusal; NULL: none */
	bool refused;			/* this machine takes the port nowhere, now or later */
	bool was_killed;		/* an earlier ktop was killed, and has left its port */

	/* taking out */
	qmp_take *then;			/* what to do next; it gets NULL for an answer */
	uint64_t until;			/* the end of the wait for the controller's removal */
	bool kept;			/* the controller is still there */
};

/*
 * Plugs the port in. In the end there is `fd` and `plugged`, or an error. First takes out what a killed
 * ktop has left. `may_add` false: a machine without a controller is left as it is.
 */
void plug_begin(struct qmp_plug *plug, struct qmp *qmp, bool may_add, uint64_t now, int timeout_ms);

/*
 * Takes out everything that has ktop's ids. An error: not all is gone within timeout_ms. A controller is
 * gone only once the guest's kernel has released it.
 */
void unplug_begin(struct qmp_plug *plug, struct qmp *qmp, uint64_t now, int timeout_ms);
void plug_clear(struct qmp_plug *plug);	/* closes `fd`, too, unless the caller has taken it over */

/* ---- parts of both dialogues (qmp_unplug.c); they call `then` at their end ---- */

#endif
