/* SPDX-License-Identifier: MIT */
/* The port: connecting it, plugging it in if the VM has none, taking it out. */
#include <stdlib.h>

#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"
#include "port_socket.h"

enum {
	PLUG_MS = 10000,
	BACK_MS = 1000,
};

#define PORT_OPTIONS "-device virtio-serial-pci " \
	"-chardev socket,id=ktop,path=ktop.sock,server=on,wait=off " \
	"-device virtserialport,chardev=ktop,name=org.ktop.0"

static bool has_foreign_port(const struct link *link)
{
	return link->facts.port_present && !link->facts.port_plugged;
}

/* A VM that does not run must not be changed: it may be about to come by migration. */
bool port_awaits_vm(const struct link *link)
{
	if (choice_is_gdb(link))
		return link_vm(link) != VM_RUNNING;
	return link->plug && !link_port_path(link) && link_vm(link) != VM_RUNNING &&
		!has_foreign_port(link) && !choice_is_plugin(link);
}

bool port_awaits_search(const struct link *link)
{
	return link->hook_search && link->plug && !link->plug_refused && !link_port_path(link) &&
		!has_foreign_port(link) && !choice_is_plugin(link) && !choice_is_gdb(link);
}

void port_connected(struct link *link, struct port_socket *socket, uint64_t now)
{
	free(link->why);
	link->why = NULL;
	link->socket = socket;
	link->was_connected = true;
	link_rest(link, now);
}

/* A port that has waited (`waiting`) is connected already. */
static void take_port(struct link *link, uint64_t now)
{
	char *error = NULL;
	struct port_socket *socket =
		link->waiting ? link->waiting : port_socket_connect(link_port_path(link), &error);

	link->waiting = NULL;
	link->heard = false;
	link->heard_at = now;
	if (socket)
		port_connected(link, socket, now);
	else
		link_fail(link, error, now);
}

static void begin_plug(struct link *link, uint64_t now)
{
	plug_begin(&link->plugging, link->qmp, link->choice == LINK_HOOK || link->has_hook, now, PLUG_MS);
	link_enter(link, STAGE_PLUGGING);
}

/* Before the first connection, the link looks whether the port has another client. */
void port_begin(struct link *link, uint64_t now)
{
	const char *path = link_port_path(link);
	bool none = !link->plug || link->plug_refused;

	if (port_awaits_search(link))
		link_enter(link, STAGE_NOTHING);
	else if (choice_is_gdb(link))
		gdb_begin(link, now);
	else if (link->waiting || (path && link->was_connected))
		take_port(link, now);
	else if (path)
		link_seek(link, path, -1);
	else if (choice_is_plugin(link))
		link_fail(link, link->facts.kvm ? util_format("plugin: KVM runs %s, and QEMU's plugins see TCG alone; "
			"use --source gdb, or the hook in the guest", link->facts.name ? link->facts.name : "this VM") :
			util_format("plugin: %s has not loaded it; start QEMU with -plugin ktop-plugin.so,socket=PATH, "
			"or use --source gdb", link->facts.name ? link->facts.name : "this VM"), now);
	else if (has_foreign_port(link))
		link_fail(link, util_format("port org.ktop.0: its chardev is not a listening unix "
			"socket; give QEMU -chardev socket,id=...,path=...,server=on,wait=off"), now);
	else if (none && choice_allows_stub(link, now))
		gdb_begin(link, now);
	else if (none && link->stub_why)
		link_fail(link, util_format("%s", link->stub_why), now);
	else if (!link->plug)
		link_fail(link, util_format("port org.ktop.0: %s has none; start QEMU with "
			PORT_OPTIONS, link->facts.name ? link->facts.name : "this VM"), now);
	else if (link->plug_refused)
		link_rest(link, now);
	else
		begin_plug(link, now);
}

void port_take_holder(struct link *link, const char *client, uint64_t now)
{
	if (client || (!link->port_path && !choice_is_plugin(link) && link->facts.port_taken))
		link_fail(link, util_format("port %s: taken by %s: QEMU serves one client at a "
			"time; end that one, or, if it is a ktop, name the VM by --qmp", link_port_path(link),
			client ? client : "another program"), now);
	else
		take_port(link, now);
}

/* Takes out a port that was plugged in and could not be used, if QEMU still answers. */
void port_end_plug(struct link *link, uint64_t now)
{
	struct qmp_plug *plug = &link->plugging;
	bool back = plug->talk.error && plug->given && qmp_state(link->qmp) != VM_GONE;

	if (!plug->talk.error) {
		link->plugged = plug->plugged;
		link->deletions = qmp_deletions(link->qmp);
		link->facts.port_present = link->facts.port_plugged = true;
		link->heard = false;
		link->heard_at = now;
		port_connected(link, port_socket_from_fd(plug->fd), now);
		plug->fd = -1;
	} else {
		link->plug_refused = plug->refused;
		if (plug->refused && !plug->may_add)	/* no hook is known of: the gdb stub is tried at once */
			link_rest(link, 0);
		else
			link_fail(link, util_format("%s", plug->talk.error), now);
	}
	plug_clear(plug);
	if (back) {
		unplug_begin(plug, link->qmp, now, BACK_MS);
		link_enter(link, STAGE_PLUGGING_BACK);
	}
}

void port_end_unplug(struct link *link, uint64_t now)
{
	struct qmp_plug *plug = &link->plugging;

	link->stays = plug->kept ? STAYS_CONTROLLER : plug->talk.error ? STAYS_UNKNOWN : STAYS_NOTHING;
	link->plugged = (struct qmp_plugged) { 0 };
	plug_clear(plug);
	link_rest(link, now);
}
