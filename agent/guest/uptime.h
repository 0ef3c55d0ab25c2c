/* SPDX-License-Identifier: MIT */
/*
 * How long the guest has been up, by its own clock as far as that is known. Times that a person reads or types count
 * from the same moment; inside ktop they are guest ns (epoch.h).
 */
#ifndef UPTIME_H
#define UPTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/util.h"

/* Who says so: the guest's kernel; or only how long ago the machine was reset or started is known; or not even that. */
enum uptime_by { UPTIME_GUEST, UPTIME_MACHINE, UPTIME_UNKNOWN };

struct uptime {
	enum uptime_by by;
	int64_t begun;			/* guest ns: since then; not with UPTIME_UNKNOWN */
	int64_t zero;			/* guest ns: what a person reads or types counts from here; whole seconds */
	bool both;			/* that is the machine's reset, though `begun` is the guest's own: */
	int64_t reset;			/* guest ns */
};

/* At guest ns `at` the guest's kernel was up, and tells for how long. */
static inline bool uptime_is_guests(const struct uptime *up, uint64_t at)
{
	return up->by == UPTIME_GUEST && (!up->both || (int64_t)at > up->begun);
}

/* The time from `zero` on; before it there is none. */
static inline uint64_t uptime_shown(int64_t zero, uint64_t ns)
{
	return (int64_t)ns > zero ? (uint64_t)((int64_t)ns - zero) : 0;
}

enum { UPTIME_JUMP_S = 2 };		/* later by more than this: it was suspended, or another state was loaded */

/* What was read of the kernel's own clock. Starts as all 0. */
struct kernel_uptime {
	bool known;
	int64_t begun;			/* guest ns at which it was 0 */
	int64_t zero;			/* that, in whole seconds; it moves only when it is clearly wrong */
};

/*
 * At guest time `time` or some time before, the kernel was up for `ns`. Its clock may stand still while it idles, but
 * is never early: of readings that differ little, the earliest beginning is the best.
 */
static inline void kernel_uptime_saw(struct kernel_uptime *uptime, uint64_t time, uint64_t ns)
{
	const int64_t second = NS_PER_SECOND;
	int64_t begun = (int64_t)time - (int64_t)ns, off, rest;

	if (!uptime->known || begun < uptime->begun || begun > uptime->begun + UPTIME_JUMP_S * second)
		uptime->begun = begun;
	off = uptime->begun - uptime->zero;
	if (!uptime->known || off > second * 3 / 4 || off < -second * 3 / 4) {
		rest = (uptime->begun % second + second) % second;
		uptime->zero = uptime->begun - rest + (rest >= second / 2 ? second : 0);
	}
	uptime->known = true;
}

#endif
