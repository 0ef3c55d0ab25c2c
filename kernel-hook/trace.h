/* SPDX-License-Identifier: MIT */
/*
 * Trace points: each is a test and a branch while its event is off, and writes an event while it is on.
 * The hook's own are made of the rows in wire.h; their names say what they take:
 *
 *   ktop_trace_sched_switch(ktop, from, to)              irq off, before the switch
 *   ktop_trace_irq_enter(ktop, irq), _irq_exit(ktop, irq)  irq off, around the interrupt's work
 *   ktop_trace_syscall_enter(ktop, thread, number)       around the call
 *   ktop_trace_syscall_exit(ktop, thread, number, result)
 *
 * A kernel makes its own of rows in a header of its own: the event's name, and one to eight fields, each a
 * type (u8 to u64, s8 to s64) and a name. Their ids count from the number that is given, KTOP_TRACE_USER or more:
 *
 *   #define DISK_EVENTS(KTOP_EVENT) \
 *   	KTOP_EVENT(disk_read, (u32, disk), (u64, block)) \
 *   	KTOP_EVENT(disk_done, (u32, disk), (u64, block), (s32, error))
 *   KTOP_EVENTS(KTOP_TRACE_USER, DISK_EVENTS)
 *
 * It tells the hook of them once, KTOP_TELL(ktop, DISK_EVENTS), and calls ktop_trace_disk_read(ktop, disk, block)
 * from any context but NMI. No trace point waits, and none takes NULL for the hook.
 */
#ifndef KTOP_TRACE_H
#define KTOP_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hints.h"
#include "wire.h"

struct ktop;

enum {
	KTOP_TRACE_IDS = 1024,		/* ids are below this; a kernel that needs more makes it larger */
	KTOP_TRACE_WORDS = KTOP_TRACE_IDS / 32,
	KTOP_TRACE_MAX = 256,		/* bytes of one event's fields */
	KTOP_TRACE_TEXT = 120,		/* bytes of an event's name and of the text of its fields, together */
};

/* ---- events that the kernel brings (serial, as names are): told to each host, kept for ever ---- */

struct ktop_event_row {
	uint16_t id;			/* KTOP_TRACE_USER up to KTOP_TRACE_IDS - 1 */
	const char *name;		/* letters, digits and '_' */
	const char *fields;		/* "u32 disk;u64 block;": types as above, also lists: "char[] path;" */
};

/*
 * False: at least one has no place, and is not sent: settings.events are too few, the id is another's, or the
 * texts are longer than KTOP_TRACE_TEXT. Counted, and shown on the host.
 */
bool ktop_events(struct ktop *ktop, const struct ktop_event_row *rows, uint32_t count);

/*
 * For one that is not known when the kernel is compiled: gives it an id, from the highest on down, and the
 * same one again to the same texts. 0: it has no place, as above.
 */
uint16_t ktop_event_new(struct ktop *ktop, const char *name, const char *fields);

/* ---- writing ---- */

/* Any context. Is the event on? The mask is what struct ktop begins with. */
KTOP_INLINE bool ktop_tracing(const struct ktop *ktop, uint32_t id)
{
	const uint32_t *mask = (const uint32_t *)ktop;

	return __atomic_load_n(&mask[id / 32], __ATOMIC_RELAXED) & 1u << id % 32;
}

/* Any context but NMI. The same as a trace point, of fields that lie one behind the other as they are described. */
void ktop_trace(struct ktop *ktop, uint32_t id, const void *fields, uint32_t size);

/* For the trace points below alone: the same, and the fields can be read up to a whole number of words. */
void ktop_trace_words(struct ktop *ktop, uint32_t id, const uint64_t *fields, uint32_t size);

/* ---- what makes trace points of rows ---- */

#define KTOP_PARAMETER(type, name) , ktop_##type name
#define KTOP_ARGUMENT(type, name) , name
#define KTOP_VALUE(type, name) .name = name,

/* A kernel may have a `ktop` of its own: the names in here are others. */
#define KTOP_TRACE_POINT(label, parameters, arguments, values) \
	static __attribute__((__noinline__, __no_instrument_function__, __unused__)) void ktop_write_##label( \
		struct ktop *ktop_hook parameters) \
	{ \
		union { \
			struct ktop_wire_##label fields; \
			uint64_t words[(sizeof(struct ktop_wire_##label) + 7) / 8]; \
		} ktop_event; \
	\
		ktop_event.fields = (struct ktop_wire_##label) { values }; \
		ktop_trace_words(ktop_hook, KTOP_EVENT_##label, ktop_event.words, \
			sizeof(ktop_event.fields)); \
	} \
	\
	static inline __attribute__((__always_inline__, __unused__)) void ktop_trace_##label( \
		struct ktop *ktop_hook parameters) \
	{ \
		if (KTOP_RARE(ktop_tracing(ktop_hook, KTOP_EVENT_##label))) \
			ktop_write_##label(ktop_hook arguments); \
	}

#define KTOP_WIRE_TRACE_POINT(id, stream, name) KTOP_TRACE_POINT(name, \
	KTOP_WIRE_##name(KTOP_PARAMETER, KTOP_WIRE_NOTHING), \
	KTOP_WIRE_##name(KTOP_ARGUMENT, KTOP_WIRE_NOTHING), \
	KTOP_WIRE_##name(KTOP_VALUE, KTOP_WIRE_NOTHING))
KTOP_WIRE_TRACE_EVENTS(KTOP_WIRE_TRACE_POINT)

/* KTOP_EACH(MAKE, (u32, disk), (u64, block)): MAKE(u32, disk) MAKE(u64, block). */
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
#define KTOP_ROW_TRACE_POINT(name, ...) KTOP_TRACE_POINT(name, \
	KTOP_EACH(KTOP_PARAMETER, __VA_ARGS__), KTOP_EACH(KTOP_ARGUMENT, __VA_ARGS__), \
	KTOP_EACH(KTOP_VALUE, __VA_ARGS__))
#define KTOP_ROW(name, ...) { KTOP_EVENT_##name, #name, KTOP_ROW_TEXT(__VA_ARGS__) },

#define KTOP_EVENTS(first, rows) \
	enum { rows##_before = (first) - 1, rows(KTOP_ROW_ID) rows##_end }; \
	_Static_assert((first) >= KTOP_TRACE_USER && (int)rows##_end <= (int)KTOP_TRACE_IDS, \
		"ids of events are KTOP_TRACE_USER up to KTOP_TRACE_IDS - 1"); \
	rows(KTOP_ROW_STRUCT) \
	rows(KTOP_ROW_TRACE_POINT)

#define KTOP_TELL(ktop, rows) \
	ktop_events(ktop, (const struct ktop_event_row []) { rows(KTOP_ROW) }, \
		sizeof((const struct ktop_event_row []) { rows(KTOP_ROW) }) / sizeof(struct ktop_event_row))

#endif
