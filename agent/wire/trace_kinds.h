/* SPDX-License-Identifier: MIT */
/*
 * The kinds of trace events in one boot of the guest: those of the table in kernel-hook/wire.h, and those
 * of the guest's own descriptors. The first descriptor of an id counts; later ones are ignored.
 */
#ifndef TRACE_KINDS_H
#define TRACE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"

struct event;

/* The most kinds, and fields of a kind. Kinds beyond that are ignored: their events count as unknown. */
enum { TRACE_KINDS = 1024, TRACE_FIELDS = 32 };

/* What an event means to those who pair events. Its name and the names of its fields decide (trace_kinds.c). */
enum trace_role {
	ROLE_NONE, ROLE_SWITCH, ROLE_WAKE, ROLE_IRQ_BEGIN, ROLE_IRQ_END, ROLE_CALL_BEGIN, ROLE_CALL_END,
	ROLE_SOFTIRQ_BEGIN, ROLE_SOFTIRQ_END,
	ROLE_LOCK_WAIT, ROLE_LOCK_WAITED, ROLE_LOCK_ACQUIRED, ROLE_LOCK_RELEASED,
	ROLES_NAMED,
	/*
	 * Of all other events. Two whose names differ in their last word alone, as disk_begin and disk_end do, are the
	 * ends of one thing; which one, the fields tell that both have. The rest are single.
	 */
	ROLE_PAIR_BEGIN = ROLES_NAMED, ROLE_PAIR_END,
	/*
	 * Likewise, where both have a field `frame` of 64 bits: the stack pointer. Of an end it may be lower than it
	 * was at the beginning, by less than FRAME_LAG. It belongs to the lowest one of its number that goes on above
	 * it: so calls of a function within itself are told apart.
	 */
	ROLE_FRAME_BEGIN, ROLE_FRAME_END,
	ROLE_SINGLE,
	ROLES,
};

/* The values of these roles: the fields `thread` and `number`; and of a pair, those that both have, or the frame. */
enum { PAIR_THREAD, PAIR_NUMBER, PAIR_KEY };
enum { FRAME_LAG = 4096 };		/* bytes: no function of a kernel has so large a frame */

enum { LEAVES_READY, LEAVES_ASLEEP, LEAVES_BLOCKED, LEAVES_DEAD };	/* how a thread leaves its CPU, in a switch */

enum {
	TRACE_VALUES = 8,		/* of an event; further ones, and lists and what follows them, are left out */
	ROLE_VALUES = 8,		/* of a role, at most */
	CALL_ARGUMENTS = 6,		/* words: the last values of ROLE_CALL_BEGIN, which a guest may not tell */
};

/* What stands among trace events in the order in which they came, and is none. */
enum trace_mark {
	TRACE_EVENT,			/* it is one */
	TRACE_LOST,			/* so many of the CPU as its one value says are missing here or later, */
	TRACE_SURE,			/* but not behind this one of the CPU */
	TRACE_CHANGED,			/* from here on, other events are traced; on all CPUs */
};

struct trace_value {
	uint8_t offset, size;		/* bytes, in the fields of an event */
	bool is_signed;
	bool is_thread;			/* it is a thread's number */
};

struct trace_kind {
	uint16_t id;
	uint16_t pair;			/* of a pair: the id of its beginning; of a single one: its own */
	enum trace_role role;
	uint8_t role_values[ROLE_VALUES];	/* which values are the role's, in its order; TRACE_VALUES: none is */
	int value_count;
	struct trace_value values[TRACE_VALUES];	/* of the first fields */
	int count;			/* of fields */
	char name[FIELD_NAME_SIZE];
	struct field fields[];
};

/* The values of an event, whose fields fit its kind. Signed ones are extended to 64 bits. */
void trace_kind_values(const struct trace_kind *kind, const void *fields, uint64_t values[TRACE_VALUES]);

/* Those of its role, in the role's order. TRACE_NO_VALUE: it has none. */
#define TRACE_NO_VALUE UINT64_MAX
void trace_kind_role_values(const uint8_t role_values[ROLE_VALUES], const uint64_t values[TRACE_VALUES],
	uint64_t role[ROLE_VALUES]);

/*
 * What a number is called that stands in events of a role; of a beginning and its end, the role is the former's. With
 * ROLE_SINGLE, the number is of one kind of other events (SPAN_NUMBER in span.h); with ROLE_PAIR_BEGIN, it is the id of
 * a kind, and the name is that of the pair.
 */
struct trace_number {
	enum trace_role role;
	uint64_t number;
	const char *name;		/* printable */
};

struct trace_kinds;
struct trace_kinds *trace_kinds_new(void);
void trace_kinds_free(struct trace_kinds *kinds);
void trace_kinds_forget(struct trace_kinds *kinds);	/* forgets the guest's own; ktop's stay */

/*
 * Takes a descriptor of a trace event from the guest. Ignores it if it is of another stream, known already,
 * or cannot be parsed.
 */
void trace_kinds_learn(struct trace_kinds *kinds, const struct event *descriptor);

/* NULL: not known. The result is valid until trace_kinds_forget. */
const struct trace_kind *trace_kinds_find(const struct trace_kinds *kinds, uint16_t id);

enum trace_role trace_role_named(const char *name);	/* the one that a kind of this name may have; ROLE_NONE: none */

/* What a beginning and its end are called: "disk_begin" as "disk". A single one has its own name. Returns `text`. */
const char *trace_pair_name(const char *name, char text[FIELD_NAME_SIZE]);

#endif
