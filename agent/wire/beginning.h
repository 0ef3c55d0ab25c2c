/* SPDX-License-Identifier: MIT */
/*
 * From when on what a guest has sampled is for whoever listens now. What it sampled for somebody before, and could not
 * send any more, lies in its rings until the next host comes: the first packets of samples bring it, hours old.
 *
 * A guest tells of itself as soon as somebody listens. If its profiler is off then, all samples from before are
 * leftovers. If it is on, the last second's are not: they are on their way all the time. And a guest that is young then
 * is sampled from its beginning on, and has kept that for the first who comes.
 */
#ifndef BEGINNING_H
#define BEGINNING_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

enum { BEGINNING_YOUNG_S = 10 };

/* Starts as all 0. */
struct beginning {
	bool known;			/* the guest has told something of itself, at */
	uint64_t at;			/* this time; guest clock ticks */
	bool told, off;			/* it has told whether its profiler is on; at first it was off */
};

static inline void beginning_saw(struct beginning *beginning, const struct event *meta)
{
	if (!beginning->known)
		beginning->at = meta->time;
	beginning->known = true;
	if (meta->kind != EVENT_STATUS || beginning->told)
		return;
	beginning->told = true;
	beginning->off = !meta->status.running;
}

/* In ticks: what was sampled before is a leftover. `hz`: of the guest's clock. */
static inline uint64_t beginning_since(const struct beginning *beginning, uint64_t hz)
{
	if (beginning->off)
		return beginning->at;
	return beginning->known && beginning->at / hz >= BEGINNING_YOUNG_S ? beginning->at - hz : 0;
}

#endif
