/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "hook.h"
#include "ktop.h"
#include "port.h"

static inline bool off(const struct ktop *ktop, enum ktop_event event, int order)
{
	uint32_t mask = __atomic_load_n(&ktop->trace, order);

	return (mask & 1u << (event - KTOP_EVENT_sched_switch)) == 0;
}

/* A record; NULL: no room, or the event has been switched off meanwhile. */
static struct ktop_record *reserve(struct ktop *ktop, struct ktop_ring *ring,
	enum ktop_event event, uint32_t size, uint64_t now)
{
	if (!ktop_ring_enter(ring))
		return NULL;
	if (off(ktop, event, __ATOMIC_SEQ_CST)) {				/* pair 3 */
		ktop_ring_leave(ring);
		return NULL;
	}
	return ktop_ring_reserve(ring, size, now);
}

/* Any context but NMI: with interrupts masked, this CPU's ring has one writer. */
static __attribute__((__noinline__)) void write(struct ktop *ktop, enum ktop_event event,
	const void *payload, uint32_t size)
{
	unsigned long state = ktop_port_irq_save();
	struct ktop_cpu *cpu = &ktop->cpu[ktop_port_cpu()];
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	struct ktop_record *record = NULL;
	uint64_t now = ktop_port_clock();

	if (__atomic_load_n(&cpu->order, __ATOMIC_RELAXED))
		record = reserve(ktop, ring, event, size, now);
	if (record) {
		__builtin_memcpy(record->payload, payload, size);
		ktop_ring_commit(ring, record, (uint16_t)event, size);
		ktop_count(&ring->cost, ktop_port_clock() - now);
	}
	ktop_port_irq_restore(state);
}

void ktop_trace_switch(struct ktop *ktop, uint32_t from_thread, uint32_t to_thread)
{
	struct ktop_wire_sched_switch event = { .from = from_thread, .to = to_thread };

	if (!off(ktop, KTOP_EVENT_sched_switch, __ATOMIC_RELAXED))
		write(ktop, KTOP_EVENT_sched_switch, &event, sizeof event);
}

void ktop_trace_irq_enter(struct ktop *ktop, uint32_t irq)
{
	struct ktop_wire_irq_enter event = { .irq = irq };

	if (!off(ktop, KTOP_EVENT_irq_enter, __ATOMIC_RELAXED))
		write(ktop, KTOP_EVENT_irq_enter, &event, sizeof event);
}

void ktop_trace_irq_exit(struct ktop *ktop, uint32_t irq)
{
	struct ktop_wire_irq_exit event = { .irq = irq };

	if (!off(ktop, KTOP_EVENT_irq_exit, __ATOMIC_RELAXED))
		write(ktop, KTOP_EVENT_irq_exit, &event, sizeof event);
}

void ktop_trace_syscall_enter(struct ktop *ktop, uint32_t thread, uint32_t number)
{
	struct ktop_wire_syscall_enter event = { .thread = thread, .number = number };

	if (!off(ktop, KTOP_EVENT_syscall_enter, __ATOMIC_RELAXED))
		write(ktop, KTOP_EVENT_syscall_enter, &event, sizeof event);
}

void ktop_trace_syscall_exit(struct ktop *ktop, uint32_t thread, uint32_t number, uint64_t result)
{
	struct ktop_wire_syscall_exit event = {
		.thread = thread,
		.number = number,
		.result = result,
	};

	if (!off(ktop, KTOP_EVENT_syscall_exit, __ATOMIC_RELAXED))
		write(ktop, KTOP_EVENT_syscall_exit, &event, sizeof event);
}
