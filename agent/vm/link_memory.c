/* SPDX-License-Identifier: MIT */
/* Reading the guest's memory by QMP, a page at a time, where the guest's hook is the source: a hook reads none. */
#include "link.h"
#include "link_state.h"

enum { READING_MS = 5000 };

static bool is_guest_hook(const struct link *link)
{
	return link->socket && link->heard && !choice_is_plugin(link) && !choice_is_gdb(link);
}

bool link_can_read(const struct link *link)
{
	return link->qmp && link->stage == STAGE_NOTHING && is_guest_hook(link) && !link->left && !link->page_come &&
		!link->silent;
}

void link_read(struct link *link, uint64_t address, uint64_t now)
{
	memory_begin(&link->reading, link->qmp, link->facts.cpus, address, now, READING_MS);
	link->stage = STAGE_READING;	/* no news: nobody is told of it */
}

void link_end_reading(struct link *link)
{
	memory_clear(&link->reading);
	link->stage = STAGE_NOTHING;
	link->page_come = true;
}

bool link_take_page(struct link *link, struct link_page *page)
{
	if (!link->page_come)
		return false;
	link->page_come = false;
	*page = (struct link_page) {
		.address = link->reading.address, .bytes = link->reading.there ? link->reading.bytes : NULL,
	};
	return true;
}
