/*
 * Plugs the port org.ktop.0 into a machine that has none, and takes it out again. QEMU gets one end
 * of a socket pair for it: no path, so nobody else can connect, nothing is left behind in a folder,
 * and QEMU sees when the ktop at the other end has ended. The ids are always the same: of two ktops
 * at once QEMU refuses the second, and who comes later knows what is a ktop's.
 */
#ifndef QMP_PLUG_H
#define QMP_PLUG_H

#include <stdbool.h>

struct qmp;

#define QMP_PLUG_PORT "ktop-plugged"		/* id of the port, and of its chardev */
#define QMP_PLUG_CONTROLLER "ktop-plugged-bus"	/* of the virtio-serial controller */

struct qmp_plugged {
	char bus[64];			/* where the port is, or its controller; "": nothing is */
	bool controller;		/* that was plugged in, too */
};

/*
 * Our end of the port, to be closed by the caller, and `plugged`; what a ktop that was killed has
 * left is taken out first. -1 with `error` set, and nothing plugged in. Blocks at most timeout_ms.
 */
int qmp_plug(struct qmp *qmp, int timeout_ms, struct qmp_plugged *plugged, char **error);

/*
 * Takes out all that has our ids. False: not all is gone in that time; a controller goes when the
 * guest's kernel lets it go.
 */
bool qmp_unplug(struct qmp *qmp, int timeout_ms);

#endif
