/* SPDX-License-Identifier: MIT */
/*
 * Who samples. The guest's own hook sees more; the plugin sees any guest. Where there are both, it is the hook while
 * the guest has its port open, else the plugin. Where there is neither, it is the gdb stub: once the machine has run
 * for some time and no byte has come from its port. The port stays connected meanwhile, and a hook that speaks there
 * takes over.
 */
#include <poll.h>
#include <stdlib.h>

#include "agent/base/job.h"
#include "agent/base/util.h"
#include "hook_search.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

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
		{ .fd = port_socket_wakeup(link->waiting), .events = POLLIN },
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
