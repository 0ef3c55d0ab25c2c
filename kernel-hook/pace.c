/* SPDX-License-Identifier: MIT */
/*
 * The CPU that is set aside counts the rounds that are due on the other CPUs, and sends each of them an NMI. A round
 * is one period of the grid. A CPU that has not answered its NMI gets no second one for KTOP_GAP rounds: the second
 * would find nothing due, and the kernel would take it for an unknown NMI. After that the first counts as lost.
 *
 * Barrier pair 6, sent: ktop_pace() counts due, then releases sent. ktop_nmi() acquires sent, then reads due. An
 * answered NMI has therefore seen the rounds for which it was sent.
 *
 * Barrier pair 7, begun: a start stores what was due so far as begun, with release. ktop_nmi() acquires begun, then
 * reads due, which only grows. Therefore due is never less than begun or done, whichever side is late.
 */
#include <stdbool.h>
#include <stdint.h>

#include "hook.h"
#include "ktop.h"
#include "port.h"

bool ktop_set_aside(const struct ktop *ktop, uint32_t cpu)
{
	return __atomic_load_n(&ktop->wanted, __ATOMIC_RELAXED) == KTOP_NMI &&
		cpu == ktop_sampler_cpu(ktop);
}

/* The rounds of an earlier start are not counted in this one. */
static void start(struct ktop *ktop, uint32_t generation, uint64_t now)
{
	ktop->pacer_started = generation;
	for (uint32_t i = 0; i < ktop->cpus; i++)
		__atomic_store_n(&ktop->cpu[i].begun, ktop->cpu[i].due,
			__ATOMIC_RELEASE);					/* pair 7 */
	ktop_grid_start(&ktop->pacer, now, __atomic_load_n(&ktop->period, __ATOMIC_RELAXED));
}

/* An NMI that was not answered for KTOP_GAP rounds is taken as lost, and sent again. */
static void send(struct ktop *ktop, uint32_t number, uint64_t rounds)
{
	struct ktop_cpu *cpu = &ktop->cpu[number];
	uint64_t due = cpu->due + rounds;

	__atomic_store_n(&cpu->due, due, __ATOMIC_RELAXED);
	if (cpu->sent != __atomic_load_n(&cpu->answered, __ATOMIC_RELAXED) &&
			due - cpu->asked <= KTOP_GAP)
		return;
	cpu->asked = due;
	__atomic_store_n(&cpu->sent, cpu->sent + 1, __ATOMIC_RELEASE);		/* pair 6 */
	if (ktop_port_nmi(number))
		return;
	__atomic_store_n(&cpu->sent, cpu->sent - 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->unsent, 1, __ATOMIC_RELAXED);
}

/* While another sampler is on, one call a period is enough to see the change. */
uint64_t ktop_pace(struct ktop *ktop)
{
	uint64_t now = ktop_port_clock(), rounds;
	uint32_t generation;

	if (__atomic_load_n(&ktop->sampler, __ATOMIC_ACQUIRE) != KTOP_NMI)	/* pair 4 */
		return now + __atomic_load_n(&ktop->period, __ATOMIC_RELAXED);
	generation = __atomic_load_n(&ktop->generation, __ATOMIC_ACQUIRE);		/* pair 4 */
	if (generation != ktop->pacer_started)
		start(ktop, generation, now);
	rounds = ktop_grid_due(&ktop->pacer, now);
	for (uint32_t i = 0; rounds && i < ktop->cpus; i++)
		if (i != ktop_sampler_cpu(ktop) &&
				__atomic_load_n(&ktop->cpu[i].generation, __ATOMIC_RELAXED))
			send(ktop, i, rounds);
	return ktop->pacer.fire;
}
