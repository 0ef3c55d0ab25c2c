/* SPDX-License-Identifier: MIT */
/*
 * The part of port.h that each trace point calls. A port that wants it inlined there compiles trace.c with `-include`
 * and a header of its own, which has the include guard of this one, and these functions: ports/demo/kernel/port_cpu.h.
 */
#ifndef KTOP_PORT_CPU_H
#define KTOP_PORT_CPU_H

#include <stdint.h>

/* NMI. Returns this CPU's number, 0 to facts.cpus - 1, which is QEMU's cpu-index. */
uint32_t ktop_port_cpu(void);

/* NMI. Returns the value of a clock that all CPUs share and that never runs backwards on one CPU. */
uint64_t ktop_port_clock(void);

/* irq off or thread. Save masks interrupts on this CPU and returns the state before; restore sets that state again. */
unsigned long ktop_port_irq_save(void);
void ktop_port_irq_restore(unsigned long state);

#endif
