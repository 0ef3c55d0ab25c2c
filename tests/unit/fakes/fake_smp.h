/* SPDX-License-Identifier: MIT */
/*
 * A machine whose CPUs are threads, for the hook's tests: SIGUSR1 is a CPU's timer interrupt, which
 * ktop_port_irq_save() masks; SIGUSR2 is its NMI. The sanitizer holds signals back while it runs a
 * handler, so that an NMI which is due is taken at the port's functions too.
 */
#ifndef FAKE_SMP_H
#define FAKE_SMP_H

#include <stdint.h>

enum { SMP_CPUS = 4, SMP_STEP = 10 };	/* the clock moves by this at each look */

struct smp {
	void (*work)(uint32_t cpu);	/* a CPU's thread */
	void (*tick)(uint32_t cpu);
	void (*nmi)(uint32_t cpu);
};

/* Starts all CPUs; the CPU of the thread that calls is SMP_CPUS. */
void smp_start(const struct smp *smp);

/* Waits until all CPUs have done their work, and calls `meanwhile` again and again. */
void smp_join(void (*meanwhile)(void));

/* Any thread. A timer interrupt for this CPU. */
void smp_interrupt(uint32_t cpu);

void smp_advance(uint64_t ticks);

#endif
