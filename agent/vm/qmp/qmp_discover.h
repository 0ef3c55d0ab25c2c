/* SPDX-License-Identifier: MIT */
/* Asks QEMU what a machine is: a dialogue (qmp_talk.h). */
#ifndef QMP_DISCOVER_H
#define QMP_DISCOVER_H

#include "qmp.h"
#include "qmp_talk.h"

enum { DISCOVER_PORTS = 256 };		/* of a folder, that are looked at */

struct qmp_discovery {
	struct qmp_talk talk;
	struct qmp_facts facts;		/* whole when the dialogue has ended without an error */

	unsigned folder;		/* of devices, that is looked at */
	char *ports[DISCOVER_PORTS];	/* paths in it; from `next` on, they are still to be asked */
	size_t next, count;
	char *port, *label;		/* that is asked now, and its chardev; NULL */
};

void discover_begin(struct qmp_discovery *discovery, struct qmp *qmp, uint64_t now, int timeout_ms);
void discover_clear(struct qmp_discovery *discovery);	/* with the facts that were not taken over */

/* Of a whole answer to query-chardev, which it frees: has the guest closed the port behind `label`? */
bool qmp_port_is_closed(struct cJSON *answer, const char *label);

#endif
