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

/* 0: the CPU is off. */
KTOP_INLINE uint32_t generation_of(const struct ktop_cpu *cpu)
{
	return __atomic_load_n(&cpu->generation, __ATOMIC_RELAXED);
}

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

/* Times one event of this many, which stands for all: to read the clock takes a good part of what an event does. */
enum { MEASURED = 13 };

KTOP_INLINE void measure(struct ktop_cpu *cpu, uint64_t begin)
{
	if (!KTOP_RARE(cpu->unmeasured == 0)) {
		cpu->unmeasured--;
		return;
	}
	cpu->unmeasured = MEASURED - 1;
	ktop_count(&ktop_ring(cpu, KTOP_TRACE)->cost, MEASURED * (ktop_port_clock() - begin));
}

/* ---- beginnings that are held ---- */

uint32_t ktop_trace_held(const struct ktop *ktop, uint32_t chosen, uint32_t stacks)
{
	uint32_t holds = 0;

	for (uint32_t pair = 0; pair < KTOP_LEASTS; pair++)
		if ((chosen & ktop_pair_bits(pair)) == ktop_pair_bits(pair) &&
				!(stacks & ktop_pair_bits(pair)))
			holds |= ktop_pair_bits(pair);
	if (ktop->untraced & KTOP_UNTRACED(sched_switch))
		holds &= ~ktop_pair_bits(0);		/* a thread might leave its CPU untold */
	return holds;
}

void ktop_trace_gap(struct ktop *ktop)
{
	for (uint32_t i = 0; i < ktop->cpus; i++)
		__atomic_store_n(&ktop->cpu[i].changes, ktop->cpu[i].changes + 1, __ATOMIC_RELAXED);
}

uint32_t ktop_trace_choose(struct ktop *ktop, uint32_t chosen)
{
	const uint32_t switched = 1u << KTOP_EVENT_sched_switch % 32;
	const uint32_t matter = ktop_pair_bits(0) | ktop_pair_bits(1) | ktop_pair_bits(2) | switched;
	const uint32_t holds = ktop_trace_held(ktop, chosen, ktop->stacks[KTOP_TRACE_FIRST / 32]);
	const uint32_t untold = holds & 1u << KTOP_EVENT_syscall_enter % 32 && !(chosen & switched);
	const uint32_t mask = untold ? chosen | switched : chosen;

	if ((mask ^ ktop->trace[KTOP_TRACE_FIRST / 32]) & matter)
		ktop_trace_gap(ktop);
	__atomic_store_n(&ktop->switches_untold, untold, __ATOMIC_RELAXED);
	__atomic_store_n(&ktop->holds, holds, __ATOMIC_RELAXED);
	return mask;
}

/* The largest form of what is held: a word, its fields, the result of a call. */
enum { HELD_ROOM = 8 + sizeof(struct ktop_wire_syscall_enter) + 8 };

/* The fields of what is held, or where they go. */
KTOP_INLINE uint64_t *held_fields(const struct ktop_ring *ring)
{
	return (uint64_t *)(ring->next + sizeof(struct ktop_record)) + 1;
}

/* The CPU, or the events that matter for what is held, were switched since: its end may have come untold. */
KTOP_INLINE bool is_stale(const struct ktop_cpu *cpu)
{
	return cpu->held.changes != __atomic_load_n(&cpu->changes, __ATOMIC_RELAXED);
}

/*
 * Writes what is held in this form, with the time since then in front. There is room: ktop_trace_hold() has looked.
 * False: it is stale, and is dropped. reserve() has seen the mask that was stored after `changes` (pair 3).
 */
KTOP_INLINE bool write_held(struct ktop *ktop, struct ktop_cpu *cpu, uint16_t form, const uint64_t *result,
	uint64_t now)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	const bool stale = is_stale(cpu);
	struct ktop_record *record = KTOP_RARE(stale) ? NULL : reserve(ktop, ring, cpu->held.id, HELD_ROOM, now);
	uint32_t size = 8 + cpu->held.size;

	cpu->held.id = 0;
	if (KTOP_RARE(record == NULL))
		return !stale;
	if (KTOP_RARE(is_stale(cpu))) {
		ktop_ring_leave(ring);
		return false;
	}
	((uint64_t *)record->payload)[0] = now - cpu->held.time;
	if (result) {
		((uint64_t *)record->payload)[size / 8] = *result;
		size += 8;
	}
	ktop_ring_commit(ring, record, form, size);
	return true;
}

/* Another event comes. */
static __attribute__((__noinline__)) void write_begun(struct ktop *ktop, struct ktop_cpu *cpu, uint64_t now)
{
	write_held(ktop, cpu, cpu->held.form.began, NULL, now);
}

/* The numbers by which an end tells what it ends are in its first word. */
KTOP_INLINE bool ends_held(const struct ktop_cpu *cpu, uint32_t id, uint64_t numbers)
{
	const uint64_t kept = *held_fields(&cpu->rings[KTOP_TRACE - KTOP_SAMPLES]);

	return id == cpu->held.form.end &&
		(id == KTOP_EVENT_syscall_exit ? kept == numbers : (uint32_t)kept == (uint32_t)numbers);
}

/* It has ended, and was too short to be told. */
KTOP_INLINE bool leave_out(const struct ktop *ktop, struct ktop_cpu *cpu, uint64_t now)
{
	const uint64_t *least = &ktop->least[ktop_least_of(cpu->held.id)];

	if (now - cpu->held.time >= __atomic_load_n(least, __ATOMIC_RELAXED) || is_stale(cpu))
		return false;
	cpu->held.id = 0;
	ktop_count(&cpu->left_out, 1);
	return true;
}

/* Looks for room where none is known. False: there is none, which is counted; or it was switched off. */
static __attribute__((__noinline__)) bool find_room(struct ktop *ktop, struct ktop_ring *ring, uint32_t id,
	uint64_t now)
{
	if (!reserve(ktop, ring, id, HELD_ROOM, now))
		return false;
	ktop_ring_leave(ring);
	return true;
}

bool ktop_trace_hold(struct ktop *ktop, uint32_t id, struct ktop_forms form, const uint64_t *fields, uint32_t size)
{
	unsigned long state = ktop_port_irq_save();
	struct ktop_cpu *cpu = &ktop->cpu[ktop_port_cpu()];
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	uint64_t now = ktop_port_clock();
	bool holds = generation_of(cpu) && __atomic_load_n(&ktop->holds, __ATOMIC_RELAXED) & 1u << id % 32 &&
		(id != KTOP_EVENT_syscall_enter || cpu->switches);

	if (KTOP_RARE(cpu->held.id && holds))
		write_begun(ktop, cpu, now);
	if (holds && (!KTOP_RARE(ring->free < ktop_ring_bytes(HELD_ROOM)) || find_room(ktop, ring, id, now))) {
		uint64_t *to = held_fields(ring);

		for (uint32_t words = (size + 7) / 8; words-- > 0;)
			to[words] = fields[words];
		cpu->held = (struct ktop_held) {
			.id = id, .size = size, .form = form, .time = now,
			.changes = __atomic_load_n(&cpu->changes, __ATOMIC_RELAXED),
		};
	}
	if (holds)
		measure(cpu, now);
	ktop_port_irq_restore(state);
	return holds;
}

/* ---- all others ---- */

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

	if (KTOP_RARE(generation_of(cpu) == 0))
		goto off;
	if (cpu->held.id) {
		if (!ends_held(cpu, id, fields[0]))
			write_begun(ktop, cpu, now);
		else if (leave_out(ktop, cpu, now) ||
				write_held(ktop, cpu, cpu->held.form.whole, size > 8 ? fields + 1 : NULL, now))
			goto written;
	}
	if (KTOP_RARE(__atomic_load_n(&ktop->stack_frames, __ATOMIC_RELAXED)))
		write_stack(ktop, ring, id, now, (uintptr_t)__builtin_frame_address(0));
	if (KTOP_RARE(id == KTOP_EVENT_sched_switch)) {
		cpu->switches = true;
		if (KTOP_RARE(__atomic_load_n(&ktop->switches_untold, __ATOMIC_RELAXED)))
			goto written;
	}
	record = reserve(ktop, ring, id, size, now);
	if (KTOP_RARE(record && id == KTOP_EVENT_sched_switch &&
			__atomic_load_n(&ktop->switches_untold, __ATOMIC_RELAXED))) {
		ktop_ring_leave(ring);		/* the mask is newer than what was seen above (pair 3) */
	} else if (!KTOP_RARE(record == NULL)) {
		uint64_t *to = (uint64_t *)record->payload;

		for (uint32_t words = (size + 7) / 8; words-- > 0;)
			to[words] = fields[words];
		ktop_ring_commit(ring, record, (uint16_t)id, size);
	}
written:
	measure(cpu, now);
off:
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
