/* SPDX-License-Identifier: MIT */
/*
 * Plugs the port org.ktop.0 into a machine that has none, and takes it out again; each is a dialogue
 * (qmp_talk.h). QEMU gets one end of a socket pair for it: no path, so nobody else can connect,
 * nothing is left behind in a folder, and QEMU sees when the ktop at the other end has ended. The ids
 * are always the same: of two ktops at once QEMU refuses the second, and who comes later knows what
 * is a ktop's.
 */
#ifndef QMP_PLUG_H
#define QMP_PLUG_H

#include <stdbool.h>
#include <stdint.h>

#include "qmp.h"
#include "qmp_buses.h"
#include "qmp_talk.h"

#define QMP_PLUG_CONTROLLER "ktop-plugged-bus"	/* of the virtio-serial controller */

struct qmp_plugged {
	char bus[64];			/* where the port is, or its controller; "": nothing is */
	bool controller;		/* that was plugged in, too */
};

struct qmp_plug {
	struct qmp_talk talk;

	/* plugging in */
	struct qmp_plugged plugged;	/* with the end of the dialogue */
	int fd;				/* our end of the port, the user's from then on; -1: none */
	bool given;			/* QEMU may have something of ours: take it out, whatever came */
	int theirs;			/* QEMU's end, until it has it; -1 */
	struct qmp_buses buses;
	size_t bus;			/* that is tried */
	char *refusal;			/* of what QEMU was to plug in last; NULL */
	bool refused;			/* with an error: this machine takes it nowhere, now and later */
	bool was_killed;		/* an earlier ktop was, and left its port */

	/* taking out */
	qmp_take *then;			/* what follows, asked for nothing */
	uint64_t until;			/* so long the controller is waited for */
	bool kept;			/* it is still there */
};

/*
 * Our end of the port and `plugged`, or an error; what a ktop that was killed has left is taken out
 * first.
 */
void plug_begin(struct qmp_plug *plug, struct qmp *qmp, uint64_t now, int timeout_ms);

/*
 * Takes out all that has our ids. An error: not all is gone in that time; a controller goes when the
 * guest's kernel lets it go.
 */
void unplug_begin(struct qmp_plug *plug, struct qmp *qmp, uint64_t now, int timeout_ms);
void plug_clear(struct qmp_plug *plug);	/* closes what is not the user's */

/* ---- parts that both have (qmp_unplug.c); `then` is called when it is done ---- */

void unplug_port(struct qmp_plug *plug, qmp_take *then);
void unplug_await_controller(struct qmp_plug *plug, bool ask, uint64_t until, qmp_take *then);

/* Of an answer to query-chardev: ours is there; *held: with a ktop at its other end. */
bool plug_chardev(const struct cJSON *chardevs, bool *held);

#endif
