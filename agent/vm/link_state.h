/* SPDX-License-Identifier: MIT */
/* What a link knows: for link.c, which drives it, and for those that it has its parts in. */
#ifndef LINK_STATE_H
#define LINK_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/vm/qmp/qmp_discover.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "link.h"

struct errand;

/*
 * What is under way: one thing at a time, each with an end of its own. link.c has the whole machine
 * at its head.
 */
enum link_stage {
	STAGE_NOTHING,			/* what is not connected is tried at `retry_at` */
	STAGE_OPENING,			/* QMP: greeting, capabilities, state */
	STAGE_DISCOVERING,
	STAGE_SEEKING,			/* who has a socket that we want */
	STAGE_PLUGGING,
	STAGE_PLUGGING_BACK,		/* taking out what was plugged in in vain */
	STAGE_UNPLUGGING,
};

struct link {
	char *qmp_path, *port_path;	/* as the user gave them; NULL: not given */
	enum link_stage stage;
	uint64_t news;			/* grows when what is under way is something else */
	uint64_t retry_at;

	struct qmp *qmp;		/* NULL: not connected, or not yet ready */
	struct qmp *opening;		/* the one that is to be it */
	struct qmp_discovery discovery;
	struct qmp_facts facts;		/* of the last VM that told */
	enum vm_state last;		/* of a QMP that was closed */

	struct port_socket *socket;
	bool was_connected;		/* the port, at some time */
	bool heard;			/* bytes came since it was connected */

	struct errand *seek;		/* who has `wanted`; NULL: nobody is looked for */
	const char *wanted;		/* borrowed: one of the paths */

	bool plug;			/* a port that is not there may be plugged in */
	bool plug_refused;		/* it was, by this QEMU */
	struct qmp_plug plugging;	/* or taking out */
	struct qmp_plugged plugged;
	uint64_t deletions;		/* of ports, when it was plugged in */
	bool left;			/* nothing is begun any more */
	enum { STAYS_NOTHING, STAYS_CONTROLLER, STAYS_UNKNOWN } stays;	/* when it was to be taken out */

	/* silence: the VM should run, and nothing comes */
	uint64_t heard_at;		/* or connected, or let run */
	uint64_t look_at;
	struct errand *look;		/* NULL: none is under way */
	bool looked;			/* that has told, in this silence */
	bool silent, hangs;		/* the port; QEMU */
	bool asks, closed;		/* of the port: QEMU was asked; the guest has closed it */
	bool tried_again;		/* connected anew because of it, in vain so far */
	char *holder;			/* who is served instead of us; NULL: nobody is known */
	pid_t stopped;			/* QEMU, when it is; 0: it is not */
	char *why;			/* what is tried again failed last; NULL: it did not */
};

const char *link_port_path(const struct link *link);	/* NULL: the port has no socket */

/* ---- stages (link.c) ---- */

void link_enter(struct link *link, enum link_stage stage);
void link_rest(struct link *link, uint64_t now);	/* the try is over, the next one comes later */
void link_fail(struct link *link, char *why, uint64_t now);	/* takes the text; and rests */
void link_seek(struct link *link, const char *path, int own_fd);	/* who has this socket? */

/* ---- the port (link_port.c) ---- */

bool port_awaits_vm(const struct link *link);	/* a port is to be plugged in when the VM runs */
void port_begin(struct link *link, uint64_t now);
void port_take_holder(struct link *link, const char *client, uint64_t now);	/* that was sought */
void port_end_plug(struct link *link, uint64_t now);
void port_end_unplug(struct link *link, uint64_t now);

/* ---- silence (link_silence.c) ---- */

void silence_watch(struct link *link, uint64_t now);
void silence_clear(struct link *link);
bool silence_wants_new_port(struct link *link);	/* once: it is to be closed, and connected again */
bool silence_is_of_lost_port(const struct link *link);	/* what was plugged in is out: so again */

#endif
