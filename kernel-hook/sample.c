/* SPDX-License-Identifier: MIT */
/*
 * The two samplers. KTOP_TIMER: each CPU's own timer interrupt. KTOP_NMI: NMIs, which come from the CPU that is set
 * aside (pace.c), or from the overflows of each CPU's own counter.
 *
 * The timer cannot interrupt code that runs with interrupts off: its sample is taken where interrupts are enabled
 * again. NMIs see such code.
 *
 * A round is one period of the grid (base/grid.h). A sample's weight is the number of rounds since the sample before
 * it, up to KTOP_GAP. After a longer gap the weight is 1, and the other rounds are reported as missed. Every function
 * runs on the CPU that it samples.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hints.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "write_sample.h"

static struct ktop_cpu *this_cpu(struct ktop *ktop)
{
	return &ktop->cpu[ktop_port_cpu()];
}

/*
 * Enters the ring, which is then this sampler's until leave or commit. False: the ring is busy, or another sampler
 * was switched on meanwhile.
 */
KTOP_INLINE bool enter(struct ktop *ktop, struct ktop_ring *ring, uint32_t sampler)
{
	if (!ktop_ring_enter(ring))
		return false;
	if (__atomic_load_n(&ktop->sampler, __ATOMIC_SEQ_CST) == sampler)	/* pair 3 */
		return true;
	ktop_ring_leave(ring);
	return false;
}

/* Reports the periods of gaps that were too long for a sample's weight. They are kept until the ring has room. */
static __attribute__((__noinline__)) void report_missed(struct ktop *ktop, struct ktop_cpu *cpu,
	uint32_t sampler)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	struct ktop_wire_missed missed;
	struct ktop_record *record;

	if (!enter(ktop, ring, sampler))
		return;
	record = ktop_ring_reserve(ring, sizeof(missed), ktop_port_clock());
	if (record == NULL)
		return;
	missed.ticks = cpu->missed < UINT32_MAX ? (uint32_t)cpu->missed : UINT32_MAX;
	cpu->missed -= missed.ticks;
	__builtin_memcpy(record->payload, &missed, sizeof(missed));
	ktop_ring_commit(ring, record, KTOP_EVENT_missed, sizeof(missed));
}

/*
 * Writes a sample into the ring, which was entered, and leaves the ring. When a sample is dropped, the gap before it
 * is dropped with it: it is part of what is counted as lost.
 */
KTOP_INLINE void put_sample(struct ktop_cpu *cpu, const struct ktop_regs *regs,
	const struct ktop_current *current, uint64_t rounds, uint64_t now)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	struct ktop_record *record = ktop_ring_reserve(ring, KTOP_SAMPLE_ROOM, now);

	if (record == NULL)
		return;
	if (KTOP_RARE(rounds > KTOP_GAP)) {
		cpu->missed += rounds - 1;
		rounds = 1;
	}
	ktop_ring_commit(ring, record, KTOP_SAMPLE_EVENT,
		ktop_write_sample(record->payload, regs, current, (uint32_t)rounds));
}

/* Takes a sample of `rounds` rounds, and reports gaps. */
KTOP_INLINE void take(struct ktop *ktop, struct ktop_cpu *cpu, const struct ktop_regs *regs,
	uint32_t sampler, uint64_t rounds, uint64_t now)
{
	if (!enter(ktop, ktop_ring(cpu, KTOP_SAMPLES), sampler))
		return;
	put_sample(cpu, regs, ktop_port_current(regs->pc), rounds, now);
	if (KTOP_RARE(cpu->missed))
		report_missed(ktop, cpu, sampler);
}

KTOP_INLINE uint32_t generation_of(const struct ktop_cpu *cpu)
{
	return __atomic_load_n(&cpu->generation, __ATOMIC_ACQUIRE);			/* pair 4 */
}

/* Starts the grid for a new generation; 0: stops it. Nothing of the time before is counted. */
static void start(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t generation, uint64_t now)
{
	cpu->started = generation;
	ktop_grid_stop(&cpu->grid);
	if (generation == 0)
		return;
	cpu->missed = 0;
	cpu->owed[0] = cpu->owed[1] = 0;
	ktop_grid_start(&cpu->grid, now, __atomic_load_n(&ktop->period, __ATOMIC_RELAXED));
	ktop_port_timer(cpu->grid.fire);
}

/* ---- by timer ---- */

KTOP_INLINE void tick(struct ktop *ktop, const struct ktop_regs *regs)
{
	struct ktop_cpu *cpu = this_cpu(ktop);
	uint64_t now = ktop_port_clock(), rounds;
	uint32_t generation = generation_of(cpu);

	if (KTOP_RARE(generation != cpu->started)) {
		start(ktop, cpu, generation, now);
		return;
	}
	rounds = ktop_grid_due(&cpu->grid, now);
	if (KTOP_RARE(rounds == 0))
		return;
	ktop_port_timer(cpu->grid.fire);
	take(ktop, cpu, regs, KTOP_TIMER, rounds, now);
	ktop_count(&ktop_ring(cpu, KTOP_SAMPLES)->cost, ktop_port_clock() - now);
}

/*
 * ---- by overflow ----
 *
 * Counters overflow only while the CPU works, so the timer counts the rounds. Each round is owed a sample, which an
 * overflow takes. There are two accounts of owed rounds.
 *
 * With a thread: an overflow takes all rounds that are owed. If none is, it takes the next one in advance.
 * Without a thread: the work is in interrupts, which hold the timer up, so that it finds the CPU idle afterwards.
 * Each overflow therefore takes one round, up to KTOP_GAP in advance, and the timer gives what remains to idling.
 */

static bool is_idle(const struct ktop_regs *regs, const struct ktop_current *current)
{
	return current->idle && !regs->user;
}

/* The account for what this CPU is doing now. */
static int64_t *account(struct ktop_cpu *cpu, const struct ktop_current *current)
{
	return &cpu->owed[current->thread != KTOP_NO_THREAD];
}

/*
 * The timer counts the rounds that are due; the ring is entered, and is left here. On an idle CPU it takes their sample
 * itself. On a CPU at work it leaves that to an overflow, unless more than KTOP_GAP rounds are owed.
 */
static void count(struct ktop_cpu *cpu, const struct ktop_regs *regs, uint64_t now)
{
	uint64_t rounds = ktop_grid_due(&cpu->grid, now);
	const struct ktop_current *current = ktop_port_current(regs->pc);

	int64_t *owed = account(cpu, current);

	ktop_port_timer(cpu->grid.fire);
	*owed += (int64_t)rounds;
	rounds = *owed > (is_idle(regs, current) ? 0 : KTOP_GAP) ? (uint64_t)*owed : 0;
	*owed -= (int64_t)rounds;
	if (rounds)
		put_sample(cpu, regs, current, rounds, now);
	else
		ktop_ring_leave(ktop_ring(cpu, KTOP_SAMPLES));
}

/* ktop_tick() while the sampler is KTOP_NMI. It does nothing unless CPUs have counters of their own. */
static __attribute__((__noinline__)) void count_tick(struct ktop *ktop,
	const struct ktop_regs *regs)
{
	struct ktop_cpu *cpu = this_cpu(ktop);
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	uint32_t generation = generation_of(cpu);
	uint64_t now;

	if (!ktop->counters || !enter(ktop, ring, KTOP_NMI))
		return;
	now = ktop_port_clock();
	if (generation == cpu->started) {
		count(cpu, regs, now);
	} else {
		start(ktop, cpu, generation, now);
		ktop_ring_leave(ring);
	}
	if (cpu->missed)
		report_missed(ktop, cpu, KTOP_NMI);
	ktop_count(&ring->cost, ktop_port_clock() - now);
}

/*
 * Takes the rounds that an overflow stands for off the account. 0: the CPU idles, overflows come more often than
 * rounds, or no grid is started. An overflow counts the due rounds itself: the timer may not have done so yet.
 */
static uint64_t take_owed(struct ktop_cpu *cpu, const struct ktop_regs *regs,
	const struct ktop_current *current, uint64_t now)
{
	bool has_thread = current->thread != KTOP_NO_THREAD;
	int64_t *owed = account(cpu, current), rounds = 1;

	if (cpu->started == 0 || generation_of(cpu) != cpu->started || is_idle(regs, current))
		return 0;
	*owed += (int64_t)ktop_grid_due(&cpu->grid, now);
	if (*owed < (has_thread ? 0 : -KTOP_GAP))
		return 0;
	if (has_thread && *owed > 1)
		rounds = *owed;
	*owed -= rounds;
	return (uint64_t)rounds;
}

/* An overflow while a sample is being taken would measure only the hook: it is ignored. */
void ktop_overflow(struct ktop *ktop, const struct ktop_regs *regs)
{
	struct ktop_cpu *cpu = this_cpu(ktop);
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	const struct ktop_current *current;
	uint64_t now, rounds;

	if (ktop_ring_busy(ring) || !enter(ktop, ring, KTOP_NMI))
		return;
	now = ktop_port_clock();
	current = ktop_port_current(regs->pc);
	rounds = take_owed(cpu, regs, current, now);
	if (rounds)
		put_sample(cpu, regs, current, rounds, now);
	else
		ktop_ring_leave(ring);
	if (cpu->missed)
		report_missed(ktop, cpu, KTOP_NMI);
	ktop_count(&ring->cost, ktop_port_clock() - now);
}

void ktop_tick(struct ktop *ktop, const struct ktop_regs *regs)
{
	uint32_t sampler = __atomic_load_n(&ktop->sampler, __ATOMIC_ACQUIRE);	/* pair 4 */

	if (sampler == KTOP_NONE)
		return;
	if (sampler == KTOP_TIMER)
		tick(ktop, regs);
	else
		count_tick(ktop, regs);
}

/* ---- by NMI from the CPU set aside ---- */

/* Takes one sample for all rounds of this start that came due since the last answer, however many NMIs were sent. */
static void answer(struct ktop *ktop, struct ktop_cpu *cpu, const struct ktop_regs *regs)
{
	uint64_t begin = ktop_port_clock();
	uint64_t begun = __atomic_load_n(&cpu->begun, __ATOMIC_ACQUIRE);	/* pair 7 */
	uint64_t due = __atomic_load_n(&cpu->due, __ATOMIC_RELAXED);
	uint64_t rounds = due - (cpu->done < begun ? begun : cpu->done);

	cpu->done = due;
	if (rounds == 0 || __atomic_load_n(&ktop->sampler, __ATOMIC_RELAXED) != KTOP_NMI)
		return;
	take(ktop, cpu, regs, KTOP_NMI, rounds, begin);
	ktop_count(&ktop_ring(cpu, KTOP_SAMPLES)->cost, ktop_port_clock() - begin);
}

/* An NMI is the hook's own if one was sent to this CPU that is not yet answered. */
bool ktop_nmi(struct ktop *ktop, const struct ktop_regs *regs)
{
	struct ktop_cpu *cpu = this_cpu(ktop);
	uint32_t sent = __atomic_load_n(&cpu->sent, __ATOMIC_ACQUIRE);		/* pair 6 */

	if (sent == cpu->answered)
		return false;
	__atomic_store_n(&cpu->answered, sent, __ATOMIC_RELAXED);
	answer(ktop, cpu, regs);
	return true;
}
