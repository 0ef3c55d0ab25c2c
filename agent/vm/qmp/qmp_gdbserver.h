/* SPDX-License-Identifier: MIT */
/*
 * QEMU's gdb stub, by dialogues (qmp.h): finds it, or has QEMU start it at a socket of ours; takes it away again.
 * One that is in use is left alone, unless it is free a moment later.
 */
#ifndef QMP_GDBSERVER_H
#define QMP_GDBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "qmp.h"

struct qmp_gdbserver {
	struct qmp_talk talk;
	char *path;			/* where it is to listen, if it is to be started */
	char *stub;			/* at the end: unix:PATH or tcp:HOST:PORT; NULL: an error */
	int looks;			/* how often somebody was found connected to it */
	bool ours;			/* it was started here, and is to be taken away; else it is the user's */
};

/* At the end there is `stub`, or an error. */
void gdbserver_begin(struct qmp_gdbserver *gdbserver, struct qmp *qmp, const char *path, uint64_t now, int timeout_ms);

/* Takes away the one that was started here. A client that is connected to it is cut off. */
void gdbserver_end(struct qmp_gdbserver *gdbserver, struct qmp *qmp, uint64_t now, int timeout_ms);
void gdbserver_clear(struct qmp_gdbserver *gdbserver);

#endif
