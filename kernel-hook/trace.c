/* SPDX-License-Identifier: MIT */
/* Writes trace events into the ring KTOP_TRACE of the CPU. Its writers mask interrupts, and NMIs do not write there. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hints.h"
#include "base/put.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "trace.h"
#include "wire.h"
#include "write_sample.h"

_Static_assert(offsetof(struct ktop, trace) == 0, "where ktop_tracing() looks for it");

/* Enters the ring and reserves a record. NULL: the ring is full or busy, or the event was switched off meanwhile. */
KTOP_INLINE struct ktop_record *reserve(struct ktop *ktop, struct ktop_ring *ring, uint32_t id,
	uint32_t size, uint64_t now)
{
	if (!ktop_ring_enter(ring))
		return NULL;
	if (!(__atomic_load_n(&ktop->trace[id / 32], __ATOMIC_SEQ_CST) & 1u << id % 32)) {	/* pair 3 */
		ktop_ring_leave(ring);
		return NULL;
	}
	return ktop_ring_reserve(ring, size, now);
}

/* Writes the stack, if the event at this time carries one. `fp`: that of ktop_trace_words(). */
static __attribute__((__noinline__)) void write_stack(struct ktop *ktop, struct ktop_ring *ring, uint32_t id,
	uint64_t now, uint64_t fp)
{
	const uint32_t most = __atomic_load_n(&ktop->stack_frames, __ATOMIC_RELAXED);
	struct ktop_wire_stack stack = { .event = (uint16_t)id };
	const uint32_t head = sizeof(stack) + sizeof(uint16_t);
	struct ktop_wire_sample walked = { .flags = 0 };
	struct ktop_record *record;
	uint16_t count;

	if (!(__atomic_load_n(&ktop->stacks[id / 32], __ATOMIC_RELAXED) & 1u << id % 32))
		return;
	record = reserve(ktop, ring, id, head + 8 * most, now);
	if (record == NULL)
		return;
	count = (uint16_t)ktop_walk_here(fp, &walked, record->payload + head, most);
	stack.cut = walked.flags & KTOP_KERNEL_CUT;
	stack.exact = walked.exact;
	ktop_put(ktop_put(record->payload, &stack, sizeof(stack)), &count, sizeof(count));
	ktop_ring_commit(ring, record, KTOP_EVENT_stack, head + 8u * count);
}

/*
 * Interrupts are masked, so this CPU's ring has one writer. Whole words are copied: a record's room is a multiple of
 * a word. While the CPU is off, its generation is 0. It is not inlined: the frame above it is its caller's.
 */
__attribute__((__noinline__)) void ktop_trace_words(struct ktop *ktop, uint32_t id, const uint64_t *fields,
	uint32_t size)
{
	unsigned long state = ktop_port_irq_save();
	struct ktop_cpu *cpu = &ktop->cpu[ktop_port_cpu()];
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	struct ktop_record *record = NULL;
	uint64_t now = ktop_port_clock();

	if (!KTOP_RARE(__atomic_load_n(&cpu->generation, __ATOMIC_RELAXED) == 0)) {
		if (KTOP_RARE(__atomic_load_n(&ktop->stack_frames, __ATOMIC_RELAXED)))
			write_stack(ktop, ring, id, now, (uintptr_t)__builtin_frame_address(0));
		record = reserve(ktop, ring, id, size, now);
	}
	if (!KTOP_RARE(record == NULL)) {
		uint64_t *to = (uint64_t *)record->payload;

		for (uint32_t words = (size + 7) / 8; words-- > 0;)
			to[words] = fields[words];
		ktop_ring_commit(ring, record, (uint16_t)id, size);
		ktop_count(&ring->cost, ktop_port_clock() - now);
	}
	ktop_port_irq_restore(state);
}

/* What is out of range is not written, and not counted: it is the kernel's mistake. */
void ktop_trace(struct ktop *ktop, uint32_t id, const void *fields, uint32_t size)
{
	uint64_t words[KTOP_TRACE_MAX / 8];

	if (id >= KTOP_TRACE_IDS || size > sizeof(words) || !ktop_tracing(ktop, id))
		return;
	__builtin_memcpy(words, fields, size);
	ktop_trace_words(ktop, id, words, size);
}
