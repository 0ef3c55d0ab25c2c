/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "qemu.h"

/* Less than this back, in ns, is another thread that has looked a moment later. */
enum { JUMP = 1000000000 };

static uint64_t newest, offset;		/* atomic: what was told last; what is added to QEMU's */

uint64_t clock_now(const struct qemu *qemu)
{
	uint64_t time = (uint64_t)qemu->clock_get_ns(QEMU_CLOCK_VIRTUAL);
	uint64_t before = __atomic_load_n(&newest, __ATOMIC_RELAXED);
	uint64_t added = __atomic_load_n(&offset, __ATOMIC_RELAXED);

	if (time + added + JUMP < before && __atomic_compare_exchange_n(&offset, &added, before - time, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		added = before - time;
	time += added;
	while (time > before && !__atomic_compare_exchange_n(&newest, &before, time, true, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED))
		;
	return time > before ? time : before;
}
