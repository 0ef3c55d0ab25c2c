/* SPDX-License-Identifier: MIT */
/*
 * Trace points. While its event is off, a trace point is a load, a test and a branch. While it is on, it writes the
 * event. The hook's own trace points are made from the rows in wire.h:
 *
 *   ktop_trace_sched_switch(ktop, from, to, leaves)      irq off, before the switch
 *   ktop_trace_sched_wake(ktop, thread, waker)           before another CPU may run the thread
 *   ktop_trace_irq_enter(ktop, irq), _irq_exit(ktop, irq)  irq off, around the interrupt's work
 *   ktop_trace_syscall_enter(ktop, thread, number, arg0, ... arg5)  around the call, with the words of its arguments
 *   ktop_trace_syscall_exit(ktop, thread, number, result)
 *   ktop_trace_softirq_enter(ktop, softirq), _softirq_exit(ktop, softirq)  around its work, which no thread does
 *   ktop_trace_lock_wait(ktop, lock, thread, holder)     a thread begins to wait, asleep or spinning
 *   ktop_trace_lock_acquired(ktop, lock, thread)         it holds the lock; while nobody else can take or give it
 *   ktop_trace_lock_released(ktop, lock, thread)         before anybody else can take it
 *   ktop_trace_lock_waited(ktop, lock, thread, got)      in place of lock_acquired, where no release will be told
 *   ktop_trace_fault(ktop, thread, address, pc, write)   in the exception, before the page is looked for
 *   ktop_trace_memory_alloc(ktop, thread, number, address, bytes)  before anybody else can give the memory back
 *   ktop_trace_memory_free(ktop, thread, number, address)  before anybody else can have it
 *   ktop_trace_block_begin(ktop, request, thread, number, device, sector, bytes)  before the device can be done
 *   ktop_trace_block_end(ktop, request, error)           before `request` can be another one's
 *   ktop_trace_net_send(ktop, number, bytes), _net_receive(ktop, number, bytes)  once for each packet
 *   ktop_trace_sched_migrate(ktop, thread, to)           before the thread runs there
 *   ktop_trace_task_begin(ktop, thread, process, parent)  before the thread can run
 *   ktop_trace_task_end(ktop, thread)                    by the thread itself, before its last switch
 *   ktop_trace_task_exec(ktop, thread, process)          by the thread itself, when it has the other program
 *   ktop_trace_signal_send(ktop, thread, number, sender)  before the thread can get it
 *   ktop_trace_mark(ktop, thread, number)                at a moment that is worth finding; below KTOP_MARKS_ASKED
 *   ktop_trace_task_name(ktop, thread)                   once ktop_thread() or ktop_process() was told the new name
 *   ktop_trace_sched_priority(ktop, thread, priority)    before it counts
 *   ktop_trace_irqsoff_begin(ktop, cpu, thread)          irq off, where the kernel's own code has masked them
 *   ktop_trace_irqsoff_end(ktop, cpu)                    irq off still, before that code lets them come again
 *
 * A call or an interrupt whose end is the next event of its CPU is sent as one event. Calls need switches for that: a
 * kernel that does not tell of all switches names sched_switch in facts.untraced.
 *
 * Where nothing else is said, the context is a thread or an interrupt; it is never an NMI.
 *
 * Who gives a lock to a waiting thread tells lock_released of itself, and then lock_acquired of that thread.
 *
 * A kernel makes its own trace points from rows in a header of its own. A row has the event's name and one to eight
 * fields, each with a type (u8 to u64, s8 to s64) and a name. KTOP_EVENTS takes the id of the first row,
 * KTOP_TRACE_USER or more; each further row has the next id:
 *
 *   #define DISK_EVENTS(KTOP_EVENT) \
 *   	KTOP_EVENT(disk_begin, (u32, disk), (u64, block)) \
 *   	KTOP_EVENT(disk_end, (u32, disk), (u64, block), (s32, error))
 *   KTOP_EVENTS(KTOP_TRACE_USER, DISK_EVENTS)
 *
 * The kernel describes them to the hook once, by KTOP_TELL(ktop, DISK_EVENTS). Then it calls
 * ktop_trace_disk_begin(ktop, disk, block) from any context but NMI. No trace point waits. `ktop` is not NULL. The two
 * are a pair for ktop, by their names and by the fields that both have (docs/porting.md, section 6).
 *
 * `events +disk:stack` has each event carry the kernel's stack where its trace point stands, by frame pointers, which
 * the kernel's own file and this folder are compiled with.
 *
 * This header is long, since the macros that make a trace point from its row are here: the kernel's own file expands
 * them.
 */
#ifndef KTOP_TRACE_H
#define KTOP_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hints.h"
#include "wire.h"

struct ktop;

enum {
	KTOP_TRACE_IDS = 1024,		/* all ids are below this; a kernel that needs more changes it */
	KTOP_TRACE_WORDS = KTOP_TRACE_IDS / 32,
	KTOP_TRACE_MAX = 256,		/* bytes of one event's fields */
	KTOP_TRACE_TEXT = 120,		/* bytes of an event's name and its text of fields together */
};

/* ---- the kernel's own events (serial, as names): described to each host, never forgotten ---- */

struct ktop_event_row {
	uint16_t id;			/* KTOP_TRACE_USER up to KTOP_TRACE_IDS - 1 */
	const char *name;		/* letters, digits and '_' */
	const char *fields;		/* "u32 disk;u64 block;": types as above; also lists: "char[] path;" */
};

/*
 * Describes events to the hook. False: at least one was refused: there are more than settings.events, another event
 * has its id, or its texts are longer than KTOP_TRACE_TEXT. The host counts and shows refusals.
 */
bool ktop_events(struct ktop *ktop, const struct ktop_event_row *rows, uint32_t count);

/*
 * For an event that is not known when the kernel is compiled. Returns an id, from the highest one down; the same
 * texts get the same id again. 0: the event was refused, as above.
 */
uint16_t ktop_event_new(struct ktop *ktop, const char *name, const char *fields);

/* thread, the one that calls ktop_drain(). Trace points were not called for a while: what had begun may have ended. */
void ktop_trace_gap(struct ktop *ktop);

/* ---- writing ---- */

/* Any context. Is the event on? struct ktop begins with the mask of events (trace.c asserts that). */
KTOP_INLINE bool ktop_tracing(const struct ktop *ktop, uint32_t id)
{
	const uint32_t *mask = (const uint32_t *)ktop;

	return __atomic_load_n(&mask[id / 32], __ATOMIC_RELAXED) & 1u << id % 32;
}

/*
 * Any context but NMI. Writes the event if it is on. `fields` has `size` bytes: the fields one after the other, without
 * gaps, as the event's description says.
 */
void ktop_trace(struct ktop *ktop, uint32_t id, const void *fields, uint32_t size);

/* For the trace points below alone: writes the event. `fields` can be read up to a whole number of words. */
void ktop_trace_words(struct ktop *ktop, uint32_t id, const uint64_t *fields, uint32_t size);

/* ---- how rows become trace points ---- */

#define KTOP_PARAMETER(type, name) , ktop_##type name
#define KTOP_ARGUMENT(type, name) , name
#define KTOP_VALUE(type, name) .name = name,

/*
 * A kernel may have a variable `ktop`, so no name in here is that. The test is inlined where the trace point stands;
 * the rest is a function of its own, so that the code around it stays small. Those of the hook's events are in trace.c.
 */
#define KTOP_TRACE_POINT(label, parameters, arguments) \
	static inline __attribute__((__always_inline__, __unused__)) void ktop_trace_##label( \
		struct ktop *ktop_hook parameters) \
	{ \
		if (KTOP_RARE(ktop_tracing(ktop_hook, KTOP_EVENT_##label))) \
			ktop_write_##label(ktop_hook arguments); \
	}

#define KTOP_WIRE_TRACE_POINT(id, stream, name) \
	void ktop_write_##name(struct ktop *ktop_hook KTOP_WIRE_##name(KTOP_PARAMETER, KTOP_WIRE_NOTHING)); \
	KTOP_TRACE_POINT(name, KTOP_WIRE_##name(KTOP_PARAMETER, KTOP_WIRE_NOTHING), \
		KTOP_WIRE_##name(KTOP_ARGUMENT, KTOP_WIRE_NOTHING))
KTOP_WIRE_TRACE_EVENTS(KTOP_WIRE_TRACE_POINT)

/* KTOP_EACH(MAKE, (u32, disk), (u64, block)) is MAKE(u32, disk) MAKE(u64, block), for up to eight fields. */
#define KTOP_EACH(make, ...) KTOP_EACH_COUNTED(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, none)(make, __VA_ARGS__)
#define KTOP_EACH_COUNTED(a, b, c, d, e, f, g, h, count, ...) KTOP_EACH_##count
#define KTOP_EACH_1(make, field) make field
#define KTOP_EACH_2(make, field, ...) make field KTOP_EACH_1(make, __VA_ARGS__)
#define KTOP_EACH_3(make, field, ...) make field KTOP_EACH_2(make, __VA_ARGS__)
#define KTOP_EACH_4(make, field, ...) make field KTOP_EACH_3(make, __VA_ARGS__)
#define KTOP_EACH_5(make, field, ...) make field KTOP_EACH_4(make, __VA_ARGS__)
#define KTOP_EACH_6(make, field, ...) make field KTOP_EACH_5(make, __VA_ARGS__)
#define KTOP_EACH_7(make, field, ...) make field KTOP_EACH_6(make, __VA_ARGS__)
#define KTOP_EACH_8(make, field, ...) make field KTOP_EACH_7(make, __VA_ARGS__)

#define KTOP_ROW_TEXT(...) KTOP_EACH(KTOP_WIRE_FIXED_TEXT, __VA_ARGS__)
#define KTOP_ROW_ID(name, ...) KTOP_EVENT_##name,
#define KTOP_ROW_STRUCT(name, ...) \
	struct ktop_wire_##name { \
		KTOP_EACH(KTOP_WIRE_MEMBER, __VA_ARGS__) \
	} __attribute__((packed)); \
	_Static_assert(sizeof(#name) + sizeof(KTOP_ROW_TEXT(__VA_ARGS__)) - 2 <= KTOP_TRACE_TEXT, \
		"shorter names, or fewer fields");
#define KTOP_ROW_TRACE_POINT(name, ...) \
	static __attribute__((__noinline__, __no_instrument_function__, __unused__)) void ktop_write_##name( \
		struct ktop *ktop_hook KTOP_EACH(KTOP_PARAMETER, __VA_ARGS__)) \
	{ \
		const union { \
			struct ktop_wire_##name fields; \
			uint64_t words[(sizeof(struct ktop_wire_##name) + 7) / 8]; \
		} ktop_event = { { KTOP_EACH(KTOP_VALUE, __VA_ARGS__) } }; \
	\
		ktop_trace_words(ktop_hook, KTOP_EVENT_##name, ktop_event.words, sizeof(ktop_event.fields)); \
	} \
	\
	KTOP_TRACE_POINT(name, KTOP_EACH(KTOP_PARAMETER, __VA_ARGS__), KTOP_EACH(KTOP_ARGUMENT, __VA_ARGS__))
#define KTOP_ROW(name, ...) { KTOP_EVENT_##name, #name, KTOP_ROW_TEXT(__VA_ARGS__) },

/* From a kernel's rows: the ids, the structures, the trace points. */
#define KTOP_EVENTS(first, rows) \
	enum { rows##_before = -1 + (first), rows(KTOP_ROW_ID) rows##_end }; \
	_Static_assert((first) >= KTOP_TRACE_USER && (int)rows##_end <= (int)KTOP_TRACE_IDS, \
		"ids of events are KTOP_TRACE_USER up to KTOP_TRACE_IDS - 1"); \
	rows(KTOP_ROW_STRUCT) \
	rows(KTOP_ROW_TRACE_POINT)

/* ktop_events() with these rows. */
#define KTOP_TELL(ktop, rows) \
	ktop_events(ktop, (const struct ktop_event_row[]) { rows(KTOP_ROW) }, \
		sizeof((const struct ktop_event_row[]) { rows(KTOP_ROW) }) / sizeof(struct ktop_event_row))

#endif
