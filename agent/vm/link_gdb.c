/* SPDX-License-Identifier: MIT */
/* QEMU's gdb stub in place of a port: finding or starting it, the process that samples by it, giving it back. */
#include <stdlib.h>

#include "agent/base/peer.h"
#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

enum {
	STUB_MS = 5000,
	AGAIN_MS = 3000,		/* until LINK_AUTO tries a stub again that a debugger uses */
	/*
	 * A machine that ran this shortly ago is stopped for a sample, not paused. A host may be so busy that a sample
	 * takes long. But when the process is gone, the machine goes on only if it is sure that nobody has paused it.
	 */
	SAMPLE_MS = 2000, STEADY_MS = 300,
};

/* ---- is it stopped for a sample, or by somebody? ---- */

static bool ran_within(const struct link *link, int ms, uint64_t now)
{
	return link->ran_at && now < link->ran_at + (uint64_t)ms * NS_PER_MS;
}

/*
 * The process greets the stub, and has said nothing yet. It began while the machine ran, and the machine stands until
 * the greeting is over, however long each of its answers takes.
 */
static bool is_greeted(const struct link *link)
{
	return choice_is_gdb(link) && link->socket && !link->heard;
}

void gdb_watch(struct link *link, uint64_t now)
{
	enum vm_state state = link->qmp ? qmp_state(link->qmp) : VM_UNKNOWN;
	uint64_t resumes = link->qmp ? qmp_resumes(link->qmp) : 0;

	if (state == VM_RUNNING || resumes != link->resumes)
		link->ran_at = now;
	link->resumes = resumes;
	link->steady = state == VM_PAUSED && ran_within(link, STEADY_MS, now);
	link->sampled = state == VM_PAUSED && link->process.pid &&
		(is_greeted(link) || ran_within(link, SAMPLE_MS, now));
}

/* ---- taking it ---- */

/* Takes over the text. With LINK_AUTO, the next step goes on without the stub. */
static void refuse(struct link *link, char *why, uint64_t now)
{
	if (link->choice != LINK_AUTO) {
		link_fail(link, why, now);
		return;
	}
	choice_lost_stub(link, why, now + (uint64_t)AGAIN_MS * NS_PER_MS);
	link_rest(link, now);
	link->retry_at = now;
}

void gdb_begin(struct link *link, uint64_t now)
{
	char *error = NULL, *path;

	if (link_vm(link) != VM_RUNNING || link->process.pid) {
		link_rest(link, now);
		return;
	}
	if (!link->folder.path && !launch_folder_make(&link->folder, peer_user(qmp_fd(link->qmp)), &error)) {
		refuse(link, error, now);
		return;
	}
	path = util_format("%s/" LAUNCH_GDB, link->folder.path);
	gdbserver_begin(&link->gdbserver, link->qmp, path, now, STUB_MS);
	link_enter(link, STAGE_STUB);
	free(path);
}

void gdb_end_talk(struct link *link, uint64_t now)
{
	struct qmp_gdbserver *gdbserver = &link->gdbserver;
	char *error = NULL;
	int port = -1;

	link->stub_is_ours |= gdbserver->ours;
	if (gdbserver->talk.error)
		error = util_format("%s", gdbserver->talk.error);
	else
		port = gdb_process_start(&link->process, gdbserver->stub, &error);
	gdbserver_clear(gdbserver);
	if (port < 0) {
		refuse(link, error, now);
		return;
	}
	if (link->choice == LINK_AUTO)
		choice_took_stub(link);
	link->heard = false;
	link->heard_at = now;
	port_connected(link, port_socket_from_fd(port), now);
}

/* ---- the process ---- */

/* A process that was killed may have left the machine stopped. A machine that somebody has paused is not steady. */
void gdb_watch_process(struct link *link, uint64_t now)
{
	bool killed;
	char *why;

	if (!link->process.pid || !gdb_process_ended(&link->process, &killed, &why))
		return;
	if (killed && link->qmp && link->steady)
		qmp_send(link->qmp, "cont", NULL);
	if (link->socket && choice_is_gdb(link))
		link_lost_port(link);
	if (why && !link->heard && !link->left && choice_is_gdb(link)) {
		char *error = util_format("gdb stub: %s; use another source", why);

		if (link->choice == LINK_AUTO)
			choice_lost_stub(link, util_format("%s", error), UINT64_MAX);
		link_fail(link, error, now);
	}
	free(why);
}

/* ---- giving it back ---- */

bool gdb_leave(struct link *link, uint64_t now, int timeout_ms)
{
	link_lost_port(link);
	link->return_by = now + (uint64_t)timeout_ms * NS_PER_MS;
	if (!link->process.pid && !link->stub_is_ours)
		return false;
	link_enter(link, STAGE_LEAVING_STUB);
	return true;
}

/* The stub must not end before the process: the process may still have to let the machine go on. */
void gdb_step_leaving(struct link *link, uint64_t now)
{
	if (now >= link->return_by) {
		link_gave_back(link, now);
	} else if (!link->process.pid && link->stub_is_ours && link->qmp) {
		link->stub_is_ours = false;
		gdbserver_end(&link->gdbserver, link->qmp, now, (int)((link->return_by - now) / NS_PER_MS));
		link_enter(link, STAGE_RETURNING_STUB);
	} else if (!link->process.pid) {
		link_gave_back(link, now);
	}
}

void gdb_clear(struct link *link)
{
	gdb_process_leave(&link->process);
	if (link->folder.path)
		launch_folder_remove(&link->folder);
}
