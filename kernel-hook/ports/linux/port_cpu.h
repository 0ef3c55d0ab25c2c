/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Takes the place of the hook's header of that name in trace points: what port.c has, inlined. */
#ifndef KTOP_PORT_CPU_H
#define KTOP_PORT_CPU_H

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/smp.h>

#include "base/hints.h"

KTOP_INLINE uint32_t ktop_port_cpu(void)
{
	return raw_smp_processor_id();
}

KTOP_INLINE uint64_t ktop_port_clock(void)
{
	return ktime_get_mono_fast_ns();
}

KTOP_INLINE unsigned long ktop_port_irq_save(void)
{
	unsigned long flags;

	local_irq_save(flags);
	return flags;
}

KTOP_INLINE void ktop_port_irq_restore(unsigned long flags)
{
	local_irq_restore(flags);
}

#endif
