/* SPDX-License-Identifier: MIT */
/*
 * A machine whose CPUs are threads, for the hook's tests. SIGUSR1 is a CPU's timer interrupt, which
 * ktop_port_irq_save() masks; SIGUSR2 is its NMI. The sanitizer holds signals back while it runs a
 * handler, so the port's functions also take an NMI that is due.
 */
#ifndef FAKE_SMP_H
#define FAKE_SMP_H

#include <stdint.h>

enum { SMP_CPUS = 4, SMP_STEP = 10 };	/* SMP_STEP: the clock moves by this each time it is read */

struct smp {
	void (*work)(uint32_t cpu);	/* runs in each CPU's thread */
	void (*tick)(uint32_t cpu);
	void (*nmi)(uint32_t cpu);
};

/* Starts all CPUs. The calling thread is CPU number SMP_CPUS. */
void smp_start(const struct smp *smp);

/* Calls `meanwhile` again and again until all CPUs have done their work. */
void smp_join(void (*meanwhile)(void));

/* Any thread. Sends this CPU a timer interrupt. */
void smp_interrupt(uint32_t cpu);

void smp_advance(uint64_t ticks);

#endif
