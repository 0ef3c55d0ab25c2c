/* SPDX-License-Identifier: MIT */
/* Takes the place of the hook's header of that name in trace points: what port.c and the template have, inlined. */
#ifndef KTOP_PORT_CPU_H
#define KTOP_PORT_CPU_H

#include <stdint.h>

#include "arch.h"
#include "cpu.h"

static inline uint32_t ktop_port_cpu(void)
{
	return cpu_number();
}

static inline uint64_t ktop_port_clock(void)
{
	return ktop_cycles();
}

static inline unsigned long ktop_port_irq_save(void)
{
	return ktop_mask();
}

static inline void ktop_port_irq_restore(unsigned long state)
{
	ktop_unmask(state);
}

#endif
