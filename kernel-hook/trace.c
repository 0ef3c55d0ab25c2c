/* SPDX-License-Identifier: MIT */
/* Writes trace events into the ring KTOP_TRACE of the CPU. Its writers mask interrupts, and NMIs do not write there. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
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

/* Enters the ring. False: it is busy, which is counted, or the event was switched off meanwhile. */
KTOP_INLINE bool enter(struct ktop *ktop, struct ktop_ring *ring, uint32_t id)
{
	if (!ktop_ring_enter(ring))
		return false;
	if (__atomic_load_n(&ktop->trace[id / 32], __ATOMIC_SEQ_CST) & 1u << id % 32)		/* pair 3 */
		return true;
	ktop_ring_leave(ring);
	return false;
}

/* Enters the ring and reserves a record. NULL: there is no room, or as above. */
KTOP_INLINE struct ktop_record *reserve(struct ktop *ktop, struct ktop_ring *ring, uint32_t id,
	uint32_t size, uint64_t now)
{
	return enter(ktop, ring, id) ? ktop_ring_reserve(ring, size, now) : NULL;
}

/* Writes the stack, if the event at this time carries one. `fp`: as in ktop_walk_here(). */
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
	if (!KTOP_RARE(--cpu->unmeasured < 0))
		return;
	cpu->unmeasured = MEASURED - 1;
	ktop_count(&ktop_ring(cpu, KTOP_TRACE)->cost, MEASURED * (ktop_port_clock() - begin));
}

/* ---- beginnings that are held ---- */

uint32_t ktop_trace_held(const struct ktop *ktop, uint32_t chosen, uint32_t stacks)
{
	uint32_t holds = 0;

	for (uint32_t pair = 0; pair < KTOP_PAIRS; pair++) {
		const uint32_t events = ktop_filter_events(pair);

		if ((chosen & events) == events && !(stacks & events))
			holds |= events;
	}
	if (ktop->untraced & KTOP_UNTRACED(sched_switch))
		holds &= ~ktop_filter_events(0);		/* a thread might leave its CPU untold */
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
	const uint32_t matter = ktop_filter_events(0) | ktop_filter_events(1) | ktop_filter_events(2) | switched;
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
 * Writes what is held in this form, with the time since then in front. There is room: hold() has looked. False: it is
 * stale, and is dropped. enter() has seen the mask that was stored after `changes` (pair 3).
 */
KTOP_INLINE bool write_held(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t begin, uint32_t form,
	const uint64_t *result, uint64_t now)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	uint32_t size = 8 + ktop_forms_of(begin).size;
	struct ktop_record *record;

	cpu->held.id = 0;
	if (KTOP_RARE(is_stale(cpu)))
		return false;
	if (KTOP_RARE(!enter(ktop, ring, begin)))
		return true;
	if (KTOP_RARE(is_stale(cpu))) {
		ktop_ring_leave(ring);
		return false;
	}
	record = ktop_ring_next(ring, now);
	((uint64_t *)record->payload)[0] = now - cpu->held.time;
	if (result) {
		((uint64_t *)record->payload)[size / 8] = *result;
		size += 8;
	}
	ktop_ring_commit(ring, record, (uint16_t)form, size);
	return true;
}

/* Is this the end of what is held? The numbers by which an end tells what it ends are in its first word. */
KTOP_INLINE bool ends_held(const struct ktop_cpu *cpu, uint32_t id, const uint64_t *fields, uint32_t size)
{
	const uint64_t kept = *held_fields(&cpu->rings[KTOP_TRACE - KTOP_SAMPLES]);

	return ktop_begin_of(id) && ktop_begin_of(id) == cpu->held.id &&
		(size > 8 ? kept == fields[0] : (uint32_t)kept == (uint32_t)fields[0]);
}

/* It has ended: it is told whole, or was too short to be told. False: it was stale. */
KTOP_INLINE bool end_held(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t id, const uint64_t *fields, uint32_t size,
	uint64_t now)
{
	const uint32_t begin = ktop_begin_of(id);
	const uint64_t *least = &ktop->filters[ktop_pair_of(begin)].least;

	if (!KTOP_RARE(now - cpu->held.time < __atomic_load_n(least, __ATOMIC_RELAXED)) || is_stale(cpu))
		return write_held(ktop, cpu, begin, ktop_forms_of(begin).whole, size > 8 ? fields + 1 : NULL, now);
	cpu->held.id = 0;
	ktop_count(&cpu->left_out, 1);
	return true;
}

/* Are such beginnings held, now and here? */
KTOP_INLINE bool is_held(const struct ktop *ktop, const struct ktop_cpu *cpu, uint32_t id)
{
	return ktop_forms_of(id).whole && __atomic_load_n(&ktop->holds, __ATOMIC_RELAXED) & 1u << id % 32 &&
		(id != KTOP_EVENT_syscall_enter || cpu->switches);
}

KTOP_INLINE void copy_words(uint64_t *to, const uint64_t *fields, uint32_t size)
{
	for (uint32_t words = (size + 7) / 8; words-- > 0;)
		to[words] = fields[words];
}

/* The ring has room for HELD_ROOM. */
KTOP_INLINE void hold(struct ktop_cpu *cpu, uint32_t id, const uint64_t *fields, uint32_t size, uint64_t now)
{
	copy_words(held_fields(ktop_ring(cpu, KTOP_TRACE)), fields, size);
	cpu->held = (struct ktop_held) {
		.id = id, .time = now,
		.changes = __atomic_load_n(&cpu->changes, __ATOMIC_RELAXED),
	};
}

/* ---- all events ---- */

KTOP_INLINE void write_fields(struct ktop *ktop, struct ktop_ring *ring, struct ktop_record *record, uint32_t id,
	const uint64_t *fields, uint32_t size)
{
	if (id == KTOP_EVENT_sched_switch && KTOP_RARE(__atomic_load_n(&ktop->switches_untold, __ATOMIC_RELAXED))) {
		ktop_ring_leave(ring);		/* the mask is newer than what was seen before it (pair 3) */
		return;
	}
	copy_words((uint64_t *)record->payload, fields, size);
	ktop_ring_commit(ring, record, (uint16_t)id, size);
}

KTOP_INLINE bool is_careful(const struct ktop *ktop, uint32_t id)
{
	return __atomic_load_n(&ktop->careful[id / 32], __ATOMIC_RELAXED) & 1u << id % 32;
}

/* What most events need, without a call, so that few registers are saved. False: this one needs more. */
KTOP_INLINE bool trace_quickly(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t id, const uint64_t *fields,
	uint32_t size, uint64_t now)
{
	const uint32_t room = ktop_forms_of(id).whole ? HELD_ROOM : size;
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);

	if (KTOP_RARE(generation_of(cpu) == 0 || is_careful(ktop, id)))
		return false;
	if (ktop_begin_of(id) && !KTOP_RARE(cpu->held.id == 0))
		return ends_held(cpu, id, fields, size) && end_held(ktop, cpu, id, fields, size, now);
	if (KTOP_RARE(cpu->held.id || !ktop_ring_has(ring, room) ||
			(id == KTOP_EVENT_sched_switch && !cpu->switches)))
		return false;
	if (is_held(ktop, cpu, id))
		hold(cpu, id, fields, size, now);
	else if (!KTOP_RARE(!enter(ktop, ring, id)))
		write_fields(ktop, ring, ktop_ring_next(ring, now), id, fields, size);
	return true;
}

/* All that an event may need. `state`: of interrupts, before. */
static __attribute__((__noinline__)) void trace_slowly(struct ktop *ktop, struct ktop_cpu *cpu, uint32_t id,
	const uint64_t *fields, uint32_t size, uint64_t now, uint64_t fp, unsigned long state)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_TRACE);
	const uint32_t begin = id == KTOP_EVENT_block_end ? KTOP_EVENT_block_begin : ktop_begin_of(id);
	const bool filtered = id / 32 == KTOP_TRACE_FIRST / 32 &&
		__atomic_load_n(&ktop->filtered, __ATOMIC_RELAXED) & 1u << id % 32;
	const bool left_out = filtered && !ktop_filter_passes(ktop, id, fields);
	uint64_t told_switch[KTOP_FILTER_SWITCH] = { 0 };
	struct ktop_record *record;

	if (generation_of(cpu) == 0)
		goto off;
	if (left_out && id != KTOP_EVENT_sched_switch) {
		ktop_count(&cpu->left_out, !(begin && __atomic_load_n(&ktop->trace[id / 32], __ATOMIC_RELAXED) &
			1u << begin % 32));		/* a pair once */
		goto told;
	}
	if (cpu->held.id && ends_held(cpu, id, fields, size) && end_held(ktop, cpu, id, fields, size, now))
		goto told;
	if (cpu->held.id)
		write_held(ktop, cpu, cpu->held.id, ktop_forms_of(cpu->held.id).began, NULL, now);
	if (is_held(ktop, cpu, id)) {
		record = reserve(ktop, ring, id, HELD_ROOM, now);
		if (record) {
			ktop_ring_leave(ring);
			hold(cpu, id, fields, size, now);
		}
		goto told;
	}
	if (id == KTOP_EVENT_sched_switch) {
		cpu->switches = true;
		if (__atomic_load_n(&ktop->switches_untold, __ATOMIC_RELAXED))
			goto told;
		ktop_count(&cpu->left_out, left_out);
		if (left_out)
			goto told;
		if (filtered) {
			ktop_filter_switch(ktop, fields, told_switch);
			fields = told_switch;
		}
	}
	if (is_careful(ktop, id))
		write_stack(ktop, ring, id, now, fp);
	record = reserve(ktop, ring, id, size, now);
	if (record)
		write_fields(ktop, ring, record, id, fields, size);
told:
	measure(cpu, now);
off:
	ktop_port_irq_restore(state);
}

/*
 * What a trace point does, in a function for each event, from which the compiler leaves out what the event does not
 * need. Interrupts are masked, so this CPU's ring has one writer. Whole words are copied: a record's room is a multiple
 * of a word. While the CPU is off, its generation is 0. `deep`: the trace point has called a function between.
 */
KTOP_INLINE void trace_event(struct ktop *ktop, uint32_t id, const uint64_t *fields, uint32_t size, bool deep)
{
	unsigned long state = ktop_port_irq_save();
	struct ktop_cpu *cpu = &ktop->cpu[ktop_port_cpu()];
	uint64_t now = ktop_port_clock(), fp;

	if (trace_quickly(ktop, cpu, id, fields, size, now)) {
		measure(cpu, now);
		ktop_port_irq_restore(state);
		return;
	}
	fp = (uintptr_t)__builtin_frame_address(0);
	if (deep) {
		fp = ((const struct ktop_frame *)(uintptr_t)(fp + (uint64_t)KTOP_FRAME_OFFSET))->fp;
		trace_slowly(ktop, cpu, id, fields, size, now, fp, state);
	} else {
		uint64_t copy[HELD_ROOM / 8];		/* so that the fields need no address where all is quick */

		copy_words(copy, fields, size);
		trace_slowly(ktop, cpu, id, copy, size, now, fp, state);
	}
}

/* They are not inlined: the frame above theirs is the trace point's. */
#define WRITE_EVENT(number, stream, name) \
	__attribute__((__noinline__)) void ktop_write_##name(struct ktop *ktop \
		KTOP_WIRE_##name(KTOP_PARAMETER, KTOP_WIRE_NOTHING)) \
	{ \
		const union { \
			struct ktop_wire_##name fields; \
			uint64_t words[(sizeof(struct ktop_wire_##name) + 7) / 8]; \
		} event = { { KTOP_WIRE_##name(KTOP_VALUE, KTOP_WIRE_NOTHING) } }; \
	\
		_Static_assert(sizeof(event) <= HELD_ROOM, "its copy has room"); \
		trace_event(ktop, KTOP_EVENT_##name, event.words, sizeof(event.fields), false); \
	}
KTOP_WIRE_TRACE_EVENTS(WRITE_EVENT)

/* One of the kernel's own. Its trace point has called a function of its own, which has called this one. */
__attribute__((__noinline__)) void ktop_trace_words(struct ktop *ktop, uint32_t id, const uint64_t *fields,
	uint32_t size)
{
	trace_event(ktop, id, fields, size, true);
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
