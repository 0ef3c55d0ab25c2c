/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/job.h"
#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "hook_search.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

/*
 * Who samples. The guest's own hook sees more; the plugin sees any guest. Where there are both, it is the hook while
 * the guest has its port open, else the plugin. Where there is neither, it is the gdb stub: once the machine has run
 * for some time and no byte has come from its port. The port stays connected meanwhile, and a hook that speaks there
 * takes over.
 */

enum {
	WATCH_MS = 500,			/* between two questions whether the guest has its port open */
	LISTEN_MS = 100,		/* between two looks whether a hook speaks */
	MUTE_MS = 3000,			/* a guest from which nothing has come for this long has no hook */
	PLUGGED_MS = 6000,		/* the same after a port was plugged in, which the guest has to find first */
	BOOT_MS = 10000,		/* the same if the file of its kernel has the hook: it may still boot */
	GIVE_BACK_MS = 5000,
};

bool choice_is_gdb(const struct link *link)
{
	return !link->port_path && (link->choice == LINK_GDB || link->by_stub);
}

bool choice_is_plugin(const struct link *link)
{
	if (link->port_path || link->choice == LINK_HOOK || choice_is_gdb(link))
		return false;
	return link->choice == LINK_PLUGIN || (link->facts.plugin && !link->facts.port_open);
}

bool choice_is_open(const struct link *link)
{
	return link->choice == LINK_AUTO && !link->port_path && link->facts.plugin && link->facts.label &&
		!link->facts.port_plugged && link->qmp && link->socket;
}

/* ---- hook or plugin ---- */

static void watch_port(struct link *link, uint64_t now)
{
	if (!choice_is_open(link) || link->stage != STAGE_NOTHING) {
		link->change_asked = false;
		return;
	}
	if (link->change_asked && qmp_has_answer(link->qmp)) {
		link->change = qmp_port_is_closed(qmp_take_answer(link->qmp), link->facts.label) ==
			link->facts.port_open;
		link->change_asked = false;
	}
	if (!link->change_asked && now >= link->change_at) {
		qmp_request(link->qmp, "query-chardev", NULL, -1);
		link->change_asked = true;
		link->change_at = now + (uint64_t)WATCH_MS * NS_PER_MS;
	}
}

/* ---- the hook or the gdb stub ---- */

static bool may_fall_back(const struct link *link)
{
	return link->choice == LINK_AUTO && !link->port_path && !link->by_stub && !link->facts.plugin && link->qmp &&
		link_vm(link) == VM_RUNNING;
}

bool choice_allows_stub(const struct link *link, uint64_t now)
{
	return may_fall_back(link) && now >= link->stub_at;
}

static uint64_t patience(const struct link *link)
{
	bool boots = link->has_hook || link->hook_search;

	return (uint64_t)(boots ? BOOT_MS : link->plugged.bus[0] ? PLUGGED_MS : MUTE_MS) * NS_PER_MS;
}

/*
 * Is there no hook in the guest? A silent port that has a path is first connected a second time
 * (silence_wants_new_port). If another client has the port, that client gets the bytes of a hook.
 */
static bool is_mute(const struct link *link, uint64_t now)
{
	return link->mute_at && now >= link->mute_at + patience(link) && link->socket && !link->holder &&
		(link->tried_again || !link_port_path(link));
}

static void note_mute(struct link *link, uint64_t now)
{
	bool mute = !link->heard && may_fall_back(link) && (link->socket || link->mute_at);

	link->news += mute != (link->mute_at != 0);
	link->mute_at = !mute ? 0 : link->mute_at ? link->mute_at : now;
}

static void watch_silence(struct link *link, uint64_t now)
{
	if (link->hook_search && hook_searched(link->hook_search, &link->has_hook))
		link->hook_search = NULL;
	note_mute(link, now);
	if (is_mute(link, now) && link->stage == STAGE_NOTHING && !link->left && now >= link->stub_at)
		gdb_begin(link, now);
}

/* The port that waits can be read: it has bytes, or was closed. Only reading tells which, so the port is taken back. */
static bool speaks(const struct link *link)
{
	struct pollfd fds[] = {
		{ .fd = port_socket_fd(link->waiting), .events = POLLIN },
		{ .fd = port_socket_wakeup(link->waiting, 0), .events = POLLIN },
	};

	return poll(fds, 2, 0) > 0;
}

void choice_watch(struct link *link, uint64_t now)
{
	watch_port(link, now);
	watch_silence(link, now);
	if (link->by_stub && link->waiting && link->socket && link->stage == STAGE_NOTHING && speaks(link))
		link->change = true;
}

uint64_t choice_due(const struct link *link, uint64_t now)
{
	if (link->waiting)
		return now + (uint64_t)LISTEN_MS * NS_PER_MS;
	if (choice_is_open(link))
		return link->change_at;
	return link->mute_at && now < link->mute_at + patience(link) ? link->mute_at + patience(link) : UINT64_MAX;
}

void choice_begin(struct link *link)
{
	choice_clear(link);
	if ((link->facts.kernel || link->kernel_path) && link->choice == LINK_AUTO)
		link->hook_search = hook_search(link->facts.kernel, link->kernel_path);
}

void choice_clear(struct link *link)
{
	job_leave(link->hook_search);
	link->hook_search = NULL;
	port_socket_free(link->waiting);
	link->waiting = NULL;
	free(link->stub_why);
	link->stub_why = NULL;
	link->has_hook = link->by_stub = false;
	link->mute_at = link->stub_at = 0;
}

void choice_took_stub(struct link *link)
{
	free(link->stub_why);
	link->stub_why = NULL;
	link->by_stub = true;
	if (!link->socket)
		return;
	link->waiting = link->socket;
	link->socket = NULL;
}

/* The stub is tried again later. The next step takes back a port that waits. */
void choice_lost_stub(struct link *link, char *why, uint64_t again_at)
{
	free(link->stub_why);
	link->stub_why = why;
	link->stub_at = again_at;
	link->by_stub = false;
	link->news++;
}

/* ---- for the source ---- */

bool link_by_gdb(const struct link *link)
{
	return choice_is_gdb(link);
}

enum link_by link_by(const struct link *link)
{
	bool awaited = link->choice == LINK_AUTO && !link->port_path && !link->facts.plugin && !link->stub_why &&
		!link->heard;

	if (link->qmp && (choice_is_gdb(link) || awaited))
		return BY_STUB;
	return choice_is_plugin(link) ? BY_PLUGIN : BY_HOOK;
}

bool link_by_plugin(const struct link *link)
{
	return choice_is_plugin(link);
}

bool link_wants_change(const struct link *link)
{
	return link->change;
}

void link_change(struct link *link, uint64_t now)
{
	link->change = link->heard = false;
	link->retry_at = 0;
	link->news++;
	silence_clear(link);
	if (link->by_stub) {
		link->by_stub = false;
		gdb_leave(link, now, GIVE_BACK_MS);
	} else {
		link->facts.port_open = !link->facts.port_open;
		link_lost_port(link);
	}
}

/* ---- silence ---- */

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

/* ---- what is said of it ---- */

/* The link's remarks, each in one line: what was plugged in, what could not be taken out, what is wrong. */

const char *link_plugged(const struct link *link, char *text, size_t size)
{
	const char *bus = link->plugged.bus;

	util_print(text, size, "%s%s%s",
		bus[0] ? "the port org.ktop.0 is plugged in, " : "",
		link->plugged.controller ? "with a virtio-serial controller on bus " :
			bus[0] ? "on bus " : "", bus);
	return text;
}

const char *link_stays(const struct link *link)
{
	static const char *const texts[] = {
		[STAYS_NOTHING] = NULL,
		[STAYS_CONTROLLER] = "the virtio-serial controller that ktop plugged in stays "
			"until the guest releases it or is reset",
		[STAYS_UNKNOWN] = "QEMU did not answer: the port that ktop plugged in may still "
			"be there; the next ktop takes it out",
	};

	return texts[link->stays];
}

static char *opening_remark(const struct link *link)
{
	const char *slow = qmp_phase(link->opening) == QMP_GREETING ?
		": QEMU hangs, its host is busy, another client has it, or it is no QMP socket" :
		": QEMU hangs, or its host is busy";

	return util_format("waits for %s on the QMP socket %s%s", qmp_awaits(link->opening), link->qmp_path,
		link->slow ? slow : "");
}

/* What is under way, and how long it may take; NULL: nothing to tell. */
static char *stage_remark(const struct link *link)
{
	const struct qmp_plug *plug = &link->plugging;

	switch (link->stage) {
	case STAGE_OPENING:
		return opening_remark(link);
	case STAGE_DISCOVERING:
		return util_format("asks QEMU what machine it is: waits for the answer to `%s`%s",
			link->discovery.talk.question, link->slow ? ": QEMU hangs, or its host is busy" : "");
	case STAGE_SEEKING:
		return link->opening ? opening_remark(link) :
			util_format("looks for the program that holds the socket %s", link->wanted);
	case STAGE_STUB:
		return util_format("asks QEMU for its gdb stub: waits for the answer to `%s`, 5 s at most",
			link->gdbserver.talk.question);
	case STAGE_PLUGGING:
		return util_format("plugs the port in: waits for the answer to `%s`, 10 s at "
			"most", plug->talk.question);
	default:
		return NULL;
	}
}

static char *vm_remark(const struct link *link)
{
	enum vm_state vm = link_vm(link);

	if (vm == VM_HANGS && link->stopped)
		return util_format("QEMU is stopped: `kill -CONT %d` lets it run on",
			(int)link->stopped);
	if (vm == VM_GONE && link->ended)
		return util_format("%s: what came is kept; q leaves", link->how_ended ? link->how_ended :
			"QEMU is ending, or is gone and what has started it cleans up");
	if (vm == VM_GONE)
		return util_format("QEMU %s: what came is kept; ktop goes on when it is back, on the "
			"same sockets", link->last == VM_SHUTDOWN ? "has ended (its machine was shut down)" :
			link->last == VM_PANICKED ? "has ended (its guest's kernel panicked)" :
			"is gone (killed, or crashed)");
	return vm == VM_HANGS ? util_format("QEMU does not answer: it hangs, or its host is busy; "
		"ktop waits for it") :
		vm == VM_PANICKED ? util_format("the guest's kernel has panicked: what came "
			"before is kept; a reset starts it again") :
		vm == VM_SHUTDOWN ? util_format("the machine was shut down: what came is kept") : NULL;
}

static unsigned silent_for(const struct link *link)
{
	uint64_t now = util_now();

	return now > link->heard_at ? (unsigned)((now - link->heard_at) / NS_PER_SECOND) : 0;
}

static char *port_remark(const struct link *link, enum link_state state)
{
	if (state == LINK_LOST)
		return util_format("the port was closed: ktop connects again when it is back");
	if (state == LINK_TAKEN)
		return util_format("the port is taken by %s: QEMU serves one client at a time; "
			"end that one", link->holder);
	if (state == LINK_NOT_OPENED && link->stub_why)
		return util_format("%s", link->stub_why);
	if (state == LINK_NOT_OPENED && link->silent && link->plugged.controller)
		return util_format("the guest has not found the controller that was just plugged "
			"in: its kernel may look for one only while it boots; reset it if this lasts");
	if (state == LINK_NOT_OPENED && link->mute_at)
		return util_format("no hook has spoken so far; soon QEMU's gdb stub samples the guest. A hook need "
			"not stop it, samples more often, and adds events");
	if (state == LINK_SILENT && link->closed)
		return util_format("the guest closed the port (rebooted, or ktop.ko unloaded?); last "
			"data %u s ago; ktop goes on when it is open again", silent_for(link));
	if (state == LINK_SILENT && choice_is_plugin(link))
		return util_format("nothing comes from the plugin in QEMU: is its host busy? Last data %u s ago",
			silent_for(link));
	if (state == LINK_SILENT)
		return util_format("nothing comes from the guest: does its kernel hang, or no "
			"longer call ktop_drain? Last data %u s ago", silent_for(link));
	return link->qmp_path && !link->qmp ? util_format("QMP was closed: until ktop is "
		"connected again, the VM's state is unknown and keys cannot be pressed") : NULL;
}

const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size)
{
	char *remark = link->was_connected ? NULL :
		link->why ? util_format("%s", link->why) : stage_remark(link);

	if (!remark)
		remark = vm_remark(link);

	if (!remark)
		remark = port_remark(link, state);
	util_print(text, size, "%s", remark ? remark : "");
	free(remark);
	return text;
}
