/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/job.h"
#include "agent/base/peer.h"
#include "agent/base/util.h"
#include "link_state.h"
#include "port_socket.h"

enum {
	LOOK_MS = 1000,			/* between two looks for the cause of a silence */
	HANGS_MS = 2000,		/* without an answer, QEMU hangs */
};

/* The chardev of the port to ask QEMU about. NULL: there is no port, or link_choice.c asks already. */
static const char *port_label(const struct link *link)
{
	if (choice_is_plugin(link) || choice_is_gdb(link) || choice_is_open(link))
		return NULL;
	return link->plugged.bus[0] ? QMP_PLUG_PORT : link->facts.label;
}

/* A guest that reboots, or unloads its driver, closes the port; a guest that hangs does not. */
static void ask_of_port(struct link *link)
{
	if (!link->qmp || link->stage != STAGE_NOTHING || !port_label(link))
		return;
	qmp_request(link->qmp, "query-chardev", NULL, -1);
	link->asks = true;
}

static void take_answer(struct link *link)
{
	if (!link->asks || !link->qmp || link->stage != STAGE_NOTHING || !port_label(link) ||
			!qmp_has_answer(link->qmp))
		return;
	link->closed = qmp_port_is_closed(qmp_take_answer(link->qmp), port_label(link));
	link->asks = false;
}

/*
 * Begins to look for the cause: QEMU's process is stopped, QEMU does not answer, it serves another client, or the
 * guest has closed the port. If it is none of these, the guest itself is silent.
 */
static void look_into_silence(struct link *link, uint64_t now)
{
	const char *path = link_port_path(link);
	int fd = port_socket_fd(link->socket);

	link->look = peer_search(link->heard ? NULL : path, fd,
		path ? fd : link->qmp ? qmp_fd(link->qmp) : -1);
	if (link->qmp)
		qmp_ask(link->qmp);
	ask_of_port(link);
	link->look_at = now + (uint64_t)LOOK_MS * NS_PER_MS;
}

static void take_look(struct link *link)
{
	struct peer_found found;

	if (!link->look || !peer_found(link->look, &found))
		return;
	link->look = NULL;
	link->looked = true;
	free(link->holder);
	link->holder = link->heard ? NULL : found.client;
	if (link->heard)
		free(found.client);
	link->stopped = found.stopped;
}

void silence_clear(struct link *link)
{
	job_leave(link->look);
	free(link->holder);
	link->look = NULL;
	link->holder = NULL;
	link->stopped = 0;
	link->silent = link->hangs = link->looked = link->asks = link->closed = false;
	link->look_at = 0;
}

void silence_watch(struct link *link, uint64_t now)
{
	enum vm_state vm = link_vm(link);
	uint64_t asked = link->qmp ? qmp_asked(link->qmp) : 0;

	if (!link->socket || vm == VM_PAUSED || vm == VM_SHUTDOWN)
		link->heard_at = now;
	if (now < link->heard_at + (uint64_t)LINK_SILENT_MS * NS_PER_MS) {
		silence_clear(link);
		return;
	}
	link->silent = true;
	take_look(link);
	take_answer(link);
	if (now >= link->look_at && !link->look)
		look_into_silence(link, now);
	link->hangs = link->stopped || (asked && now > asked + (uint64_t)HANGS_MS * NS_PER_MS);
}

/*
 * The plugged-in port may be deleted behind ktop's back: by another client of QMP; or by a reset of the guest, which
 * removes a controller whose removal was asked for, and the port with it.
 */
bool silence_is_of_lost_port(const struct link *link)
{
	return link->socket && !choice_is_gdb(link) && link->plugged.bus[0] && link->qmp &&
		link->stage == STAGE_NOTHING && qmp_deletions(link->qmp) != link->deletions;
}

/*
 * QEMU may have throttled the port just when its last client left. Then it stays throttled for the next client,
 * which is ktop, and is free again once that client has left, too. So ktop leaves, and connects again.
 */
bool silence_wants_new_port(struct link *link)
{
	if (!link->looked || link->heard || link->holder || link->hangs || link->tried_again ||
			!link_port_path(link))
		return false;
	link->tried_again = true;
	return true;
}
