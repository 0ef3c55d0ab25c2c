/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "qemu.h"

/*
 * If the clock seems to go back by less than this (ns), another thread has read it a moment later. If it goes back by
 * more, an earlier state of the machine was loaded.
 */
enum { JUMP = CLOCK_NS_PER_SECOND };

static uint64_t newest, offset;		/* atomic: the latest time told so far; what is added to QEMU's clock */

uint64_t clock_now(const struct qemu *qemu)
{
	bool by_host = !qemu->guest_clock && qemu->cpu_get_clock;
	uint64_t time = (uint64_t)(by_host ? qemu->cpu_get_clock() : qemu->clock_get_ns(QEMU_CLOCK_VIRTUAL));
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

int64_t clock_of_qemu(uint64_t time)
{
	return (int64_t)(time - __atomic_load_n(&offset, __ATOMIC_RELAXED));
}
