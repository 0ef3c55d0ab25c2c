/* SPDX-License-Identifier: MIT */
/* Asks QEMU what machine it is: a dialogue (qmp.h). */
#ifndef QMP_DISCOVER_H
#define QMP_DISCOVER_H

#include "qmp.h"

enum { DISCOVER_PORTS = 256 };		/* the most of one folder that are asked about */

struct qmp_discovery {
	struct qmp_talk talk;
	struct qmp_facts facts;		/* complete once the dialogue has ended without an error */

	unsigned folder;		/* the folder of devices that is being searched */
	char *ports[DISCOVER_PORTS];	/* paths in that folder; those from `next` on are still to be asked about */
	size_t next, count;
	char *port, *label;		/* what is being asked about, and its chardev; NULL: none */
};

/* Begins; talk_step(&discovery->talk, ...) goes on. */
void discover_begin(struct qmp_discovery *discovery, struct qmp *qmp, uint64_t now, int timeout_ms);
void discover_clear(struct qmp_discovery *discovery);	/* frees the facts, unless they were taken over */

/*
 * Has the guest closed the port whose chardev is `label`? `answer` is a whole answer to query-chardev,
 * which this frees.
 */
bool qmp_port_is_closed(struct cJSON *answer, const char *label);

/*
 * The path of the pty on which the guest's serial port is, in fresh memory; NULL: there is none. `answer`: likewise. A
 * pty of the monitor, a parallel port or the gdb stub is none.
 */
char *qmp_serial_pty(struct cJSON *answer);

#endif
