/* SPDX-License-Identifier: MIT */
/*
 * The state of a link. link.c drives it; link_choice.c, link_gdb.c, link_port.c, link_remark.c and link_silence.c are
 * parts of it.
 */
#ifndef LINK_STATE_H
#define LINK_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/vm/gdb/gdb_process.h"
#include "agent/vm/qmp/qmp_discover.h"
#include "agent/vm/qmp/qmp_gdbserver.h"
#include "agent/vm/qmp/qmp_memory.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "launch_folder.h"
#include "link.h"

struct job;

/* What is under way: one stage at a time, and each ends by itself. The head of link.c tells how they follow. */
enum link_stage {
	STAGE_NOTHING,			/* missing connections are tried at `retry_at` */
	STAGE_OPENING,			/* QMP's greeting, capabilities and state */
	STAGE_DISCOVERING,
	STAGE_SEEKING,			/* who holds a socket that the link wants */
	STAGE_STUB,			/* QEMU is asked for its gdb stub */
	STAGE_LEAVING_STUB,		/* the process that samples lets the machine go on */
	STAGE_RETURNING_STUB,		/* QEMU takes its stub away */
	STAGE_LENT,			/* QMP is in use elsewhere, until it is given back */
	STAGE_READING,			/* QEMU is asked for a page of the guest's memory */
	STAGE_PLUGGING,
	STAGE_PLUGGING_BACK,		/* takes out what was plugged in in vain */
	STAGE_UNPLUGGING,
};

struct link {
	char *qmp_path, *port_path, *kernel_path;	/* as the user gave them; NULL: not given */
	enum link_stage stage;
	uint64_t news;			/* grows when another thing is under way */
	uint64_t retry_at;		/* the next try begins no earlier (host ns, as all times here) */

	struct qmp *qmp;		/* NULL: not connected, or not yet ready */
	struct qmp *opening;		/* will become `qmp` once it is ready */
	uint64_t opening_by;		/* if it has not gone on by then, it is slow */
	bool slow;			/* QEMU lets ktop wait: it is still waited for */
	struct qmp_discovery discovery;
	struct qmp_facts facts;		/* of the last VM that was asked */
	enum vm_state last;		/* of the last QMP connection */
	char *(*ended)(void *context, bool *well);	/* how its own QEMU has ended; NULL: somebody else's */
	void *ended_context;
	char *how_ended;		/* its answer; NULL: none yet */
	bool ended_well;

	struct port_socket *socket;
	bool was_connected;		/* the port was connected before */
	uint64_t crowded_since;		/* since when the port's other clients leave no room; 0: they do */
	bool crowded;			/* not for long: `why` is no failure yet */
	uint64_t lost_at;		/* when it was lost last; 0: never */
	bool heard;			/* bytes have come since it was connected */

	struct job *seek;		/* looks for the holder of `wanted`; NULL: none is under way */
	const char *wanted;		/* borrowed: qmp_path or the port's path */

	enum link_choice choice;
	bool change_asked;		/* QEMU was asked whether the guest has its port open */
	bool change;			/* since hook or plugin was chosen, the guest has opened or closed its port */
	uint64_t change_at;		/* when QEMU is to be asked next */
	struct job *hook_search;	/* looks for the hook in the files of the kernel; NULL: not under way */
	bool has_hook;			/* one of these files has the hook */

	/* The gdb stub. */
	bool by_stub;			/* LINK_AUTO has taken the stub, since there is neither a hook nor the plugin */
	struct port_socket *waiting;	/* meanwhile: the guest's port, where a hook may speak; NULL: none */
	uint64_t mute_at;		/* since when the machine runs and its port is mute; 0: it is not */
	uint64_t stub_at;		/* LINK_AUTO tries the stub no earlier */
	char *stub_why;			/* why the stub could not be taken; NULL: it could, or was not tried */
	struct qmp_gdbserver gdbserver;	/* the dialogue that finds, starts or ends the stub */
	struct gdb_process process;
	struct launch_folder folder;	/* with the stub's socket */
	bool stub_is_ours;		/* ktop has started the stub, so ktop ends it */
	uint64_t return_by;		/* the stub is left as it is if it has not ended by then */
	uint64_t resumes;		/* qmp_resumes() at the last look */
	uint64_t ran_at;		/* when the machine was last known to run */
	bool steady;			/* the machine is stopped, but ran a moment ago */
	bool sampled;			/* it is stopped, perhaps for a sample: it does not count as paused */

	struct qmp_memory reading;	/* of a page of the guest's memory */
	bool page_come;			/* it has ended, and nobody has taken the page yet */

	bool plug;			/* a missing port may be plugged in */
	bool plug_refused;		/* this QEMU has refused that */
	struct qmp_plug plugging;	/* for plugging in and for taking out */
	struct qmp_plugged plugged;
	uint64_t deletions;		/* qmp_deletions() when it was plugged in */
	bool left;			/* no stage is begun any more */
	bool unplug;			/* with `left`: something is to be taken out, until `leave_by` */
	uint64_t leave_by;
	enum { STAYS_NOTHING, STAYS_CONTROLLER, STAYS_UNKNOWN } stays;	/* what could not be taken out */

	/* Silence: the VM should run, but nothing comes. */
	uint64_t heard_at;		/* the last byte, or the connection, or the end of a pause */
	uint64_t look_at;		/* when to look for the cause again */
	struct job *look;		/* the job that looks for it; NULL: none is under way */
	bool looked;			/* that job has ended once in this silence */
	bool silent, hangs;		/* the port is silent; QEMU does not answer */
	bool asks, closed;		/* QEMU was asked about the port; the guest has closed the port */
	bool tried_again;		/* connected again because of the silence, in vain so far */
	char *holder;			/* the client whom QEMU serves instead; NULL: not known */
	pid_t stopped;			/* QEMU's process, if it is stopped; else 0 */
	char *why;			/* why the last try failed; NULL: it did not */
};

const char *link_port_path(const struct link *link);	/* NULL: the port has no socket */

/* ---- stages (link.c) ---- */

void link_enter(struct link *link, enum link_stage stage);	/* begins a stage */
void link_rest(struct link *link, uint64_t now);	/* ends the try; the next one comes later */
void link_gave_back(struct link *link, uint64_t now);	/* ends RETURNING_STUB, or LEAVING_STUB */
void link_fail(struct link *link, char *why, uint64_t now);	/* the same, after a failure; takes over the text */
void link_seek(struct link *link, const char *path, int own_fd);	/* looks for who holds this socket */

/* ---- the port (link_port.c) ---- */

void port_connected(struct link *link, struct port_socket *socket, uint64_t now);
bool port_awaits_vm(const struct link *link);	/* a port will be plugged in once the VM runs */
bool port_awaits_search(const struct link *link);	/* or once it is known whether the kernel's file has the hook */
void port_begin(struct link *link, uint64_t now);	/* connects the port, or plugs it in */
/* ends SEEKING: `client` or nobody holds the port */
void port_take_holder(struct link *link, const char *client, uint64_t now);
void port_end_plug(struct link *link, uint64_t now);
void port_end_unplug(struct link *link, uint64_t now);

/* ---- who samples (link_choice.c) ---- */

bool choice_is_plugin(const struct link *link);	/* as far as the machine's facts are known */
bool choice_is_gdb(const struct link *link);
bool choice_is_open(const struct link *link);	/* there are hook and plugin, and the user chose neither */
void choice_watch(struct link *link, uint64_t now);	/* does the guest open its port, close it, say nothing? */
uint64_t choice_due(const struct link *link, uint64_t now);	/* when choice_watch is due */
void choice_begin(struct link *link);			/* another QEMU is there: nothing is known of it yet */
void choice_clear(struct link *link);
bool choice_allows_stub(const struct link *link, uint64_t now);	/* LINK_AUTO may try the gdb stub now */
void choice_took_stub(struct link *link);		/* LINK_AUTO has it */
void choice_lost_stub(struct link *link, char *why, uint64_t again_at);	/* it has not; takes over the text */

/* ---- the gdb stub (link_gdb.c) ---- */

void gdb_watch(struct link *link, uint64_t now);	/* in each step: tells a stop for a sample from a pause */
void gdb_begin(struct link *link, uint64_t now);
void gdb_end_talk(struct link *link, uint64_t now);
void gdb_watch_process(struct link *link, uint64_t now);
bool gdb_leave(struct link *link, uint64_t now, int timeout_ms);	/* false: nothing is to be given back */
void gdb_step_leaving(struct link *link, uint64_t now);
void gdb_clear(struct link *link);

/* ---- the guest's memory (link_memory.c) ---- */

void link_end_reading(struct link *link);

/* ---- silence (link_silence.c) ---- */

void silence_watch(struct link *link, uint64_t now);	/* a part of each step */
void silence_clear(struct link *link);			/* the silence is over */
bool silence_wants_new_port(struct link *link);	/* the port is to be connected again; true once in a silence */
bool silence_is_of_lost_port(const struct link *link);	/* the plugged-in port was deleted: plug it in again */

#endif
