/* SPDX-License-Identifier: MIT */
/*
 * Who samples. The guest's own hook sees more; the plugin sees any guest. Where there are both, it is the hook while
 * the guest has its port open, else the plugin.
 */
#include "agent/base/util.h"
#include "link.h"
#include "link_state.h"

enum { WATCH_MS = 500 };		/* between two questions whether the guest has its port open */

bool choice_is_gdb(const struct link *link)
{
	return link->choice == LINK_GDB && !link->port_path;
}

bool choice_is_plugin(const struct link *link)
{
	if (link->port_path || link->choice == LINK_HOOK || link->choice == LINK_GDB)
		return false;
	return link->choice == LINK_PLUGIN || (link->facts.plugin && !link->facts.port_open);
}

bool choice_is_open(const struct link *link)
{
	return link->choice == LINK_AUTO && !link->port_path && link->facts.plugin && link->facts.label &&
		!link->facts.port_plugged && link->qmp && link->socket;
}

void choice_watch(struct link *link, uint64_t now)
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

bool link_by_gdb(const struct link *link)
{
	return choice_is_gdb(link);
}

bool link_by_plugin(const struct link *link)
{
	return choice_is_plugin(link);
}

bool link_wants_change(const struct link *link)
{
	return link->change;
}

void link_change(struct link *link)
{
	link->facts.port_open = !link->facts.port_open;
	link->change = link->heard = false;
	link->retry_at = 0;
	link->news++;
	silence_clear(link);
	link_lost_port(link);
}
