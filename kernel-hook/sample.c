/*
 * The two samplers: each CPU's own timer, or NMIs from one CPU that is set aside (pace.c). The
 * timer is masked where the kernel masks interrupts, so its samples of such code land where they
 * are enabled again; NMIs see it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hints.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "unwind.h"
#include "unwind_user.h"

static struct ktop_cpu *this_cpu(struct ktop *ktop)
{
	return &ktop->cpu[ktop_port_cpu()];
}

/* A record for this sampler; NULL: no room, or the sampler has been changed meanwhile. */
KTOP_INLINE struct ktop_record *reserve(struct ktop *ktop, struct ktop_ring *ring, uint32_t sampler,
	uint32_t payload, uint64_t now)
{
	if (!ktop_ring_enter(ring))
		return NULL;
	if (__atomic_load_n(&ktop->sampler, __ATOMIC_SEQ_CST) != sampler) {	/* pair 3 */
		ktop_ring_leave(ring);
		return NULL;
	}
	return ktop_ring_reserve(ring, payload, now);
}

KTOP_INLINE uint8_t *put_count(uint8_t *list, uint32_t count)
{
	uint16_t size = (uint16_t)count;

	__builtin_memcpy(list, &size, sizeof size);
	return list + sizeof size + 8 * count;
}

/* Writes a whole sample in place and returns its size. */
KTOP_INLINE uint32_t write_sample(struct ktop_record *record, const struct ktop_regs *regs,
	const struct ktop_current *current, uint32_t weight)
{
	struct ktop_wire_sample *sample = (struct ktop_wire_sample *)record->payload;
	uint8_t *list = (uint8_t *)(sample + 1);
	uint32_t process = current->process, thread = current->thread;

	sample->process = process;
	sample->thread = thread;
	sample->flags = 0;
	sample->weight = weight;
	if (KTOP_RARE(regs->user)) {
		sample->mode = KTOP_MODE_USER;
		sample->exact = 0;
		list = put_count(list, 0);
		list = put_count(list, ktop_unwind_program(regs, sample, list + 2));
	} else {
		sample->mode = current->idle ? KTOP_MODE_IDLE : KTOP_MODE_KERNEL;
		list = put_count(list, ktop_unwind_kernel(regs, current, sample, list + 2));
		list = put_count(list, ktop_unwind_caller(current, sample, list + 2));
	}
	return (uint32_t)(list - record->payload);
}

/* A gap too long for one function: kept until there is room to report it. */
static __attribute__((__noinline__)) void report_missed(struct ktop *ktop, struct ktop_cpu *cpu,
	uint32_t sampler, uint64_t now)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	struct ktop_wire_missed missed;
	struct ktop_record *record = reserve(ktop, ring, sampler, sizeof missed, now);

	if (record == NULL)
		return;
	missed.ticks = cpu->missed < UINT32_MAX ? (uint32_t)cpu->missed : UINT32_MAX;
	cpu->missed -= missed.ticks;
	__builtin_memcpy(record->payload, &missed, sizeof missed);
	ktop_ring_commit(ring, record, KTOP_EVENT_missed, sizeof missed);
}

/* A sample that is lost takes the gap before it along: while nobody listens, nothing is missed. */
KTOP_INLINE void take(struct ktop *ktop, struct ktop_cpu *cpu, const struct ktop_regs *regs,
	uint32_t sampler, uint64_t rounds, uint64_t now)
{
	const struct ktop_current *current = ktop_port_current(regs->pc);
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	struct ktop_record *record = reserve(ktop, ring, sampler, KTOP_SAMPLE_MAX, now);

	if (record == NULL)
		return;
	if (KTOP_RARE(rounds > KTOP_GAP)) {
		cpu->missed += rounds - 1;
		rounds = 1;
	}
	ktop_ring_commit(ring, record, KTOP_EVENT_sample,
		write_sample(record, regs, current, (uint32_t)rounds));
	if (cpu->missed)
		report_missed(ktop, cpu, sampler, now);
}

static void start(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t order, uint64_t now)
{
	cpu->started = order;
	ktop_grid_stop(&cpu->grid);
	if (order == 0)
		return;
	cpu->missed = 0;
	ktop_grid_start(&cpu->grid, now, __atomic_load_n(&ktop->period, __ATOMIC_RELAXED));
	ktop_port_timer(cpu->grid.fire);
}

KTOP_INLINE void tick(struct ktop *ktop, const struct ktop_regs *regs)
{
	struct ktop_cpu *cpu = this_cpu(ktop);
	uint64_t now = ktop_port_clock(), rounds;
	uint32_t order = __atomic_load_n(&cpu->order, __ATOMIC_ACQUIRE);	/* pair 4 */

	if (KTOP_RARE(order != cpu->started)) {
		start(ktop, cpu, order, now);
		return;
	}
	rounds = ktop_grid_due(&cpu->grid, now);
	if (KTOP_RARE(rounds == 0))
		return;
	ktop_port_timer(cpu->grid.fire);
	take(ktop, cpu, regs, KTOP_TIMER, rounds, now);
	ktop_count(&ktop_ring(cpu, KTOP_SAMPLES)->cost, ktop_port_clock() - now);
}

void ktop_tick(struct ktop *ktop, const struct ktop_regs *regs)
{
	if (__atomic_load_n(&ktop->sampler, __ATOMIC_ACQUIRE) == KTOP_TIMER)	/* pair 4 */
		tick(ktop, regs);
}

/* The rounds of this start that came due since the last NMI, however many NMIs that took. */
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
