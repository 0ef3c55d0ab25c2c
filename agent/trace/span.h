/* SPDX-License-Identifier: MIT */
/*
 * What took time, out of a guest's trace events: a thread on a CPU, an interrupt, a system call, a thread's wait, the
 * hold of a lock.
 */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/trace_kinds.h"

enum span_kind {
	SPAN_THREAD, SPAN_INTERRUPT, SPAN_CALL, SPAN_SOFTIRQ,
	SPAN_LOCK,			/* a thread waits for a lock, asleep or spinning */
	SPAN_HOLD,			/* it holds a lock */
	SPAN_PAIR,			/* between two other events that belong together, as disk_begin and disk_end */
	SPAN_SLEEP,			/* it waits for something, until it is woken */
	SPAN_READY,			/* it could run, and waits for a CPU */
	SPAN_SINGLE,			/* any other event: it ends as it begins */
	SPAN_KINDS,
};
#define SPAN_OTHERS UINT64_MAX		/* the number of a lock that has no name of its own (span_rows.h) */
/*
 * The number of a pair or a single event: its kind, and the field `number`. 32 set bits there: it has none;
 * SPAN_OTHER_NUMBERS: one that has no row of its own (span_rows.h).
 */
#define SPAN_OTHER_NUMBERS 0xfffffffeu
#define SPAN_NUMBER(pair, number) ((uint64_t)(pair) << 32 | (uint32_t)(number))
#define SPAN_EVENT(number) ((uint16_t)((number) >> 32))		/* the id of its kind, a pair's beginning */
enum { SLEEP_ANY, SLEEP_BLOCKED };	/* the number of a sleep; blocked: no signal ends it */
enum { READY_WOKEN, READY_PREEMPTED };	/* of a wait for a CPU: what it came after */

struct span_name {
	enum span_kind kind;
	uint64_t number;
};

struct trace_span {
	enum span_kind kind;
	uint32_t cpu;			/* where it began */
	/* That runs, calls or waits; of an interrupt: 0; EVENT_NONE: none, or not known. */
	uint64_t thread;
	uint64_t number;		/* of interrupt, call, lock; of a sleep, of ready: see above; of a thread: 0 */
	uint64_t begin, end;		/* guest ns */
	uint64_t result;		/* of a call */
	/*
	 * Of a call: CALL_ARGUMENTS words; of a pair: the values of its beginning, and of its end, whose kind this is.
	 * Valid in the sink; NULL: not told.
	 */
	const uint64_t *arguments, *results;
	uint16_t ended_by;
	/* Of a wake to run, whose stack is the waker's: the thread; EVENT_NONE: an interrupt; or TRACE_NO_VALUE. */
	uint64_t waker;
	uint32_t stack;			/* of the kernel where it began: a node of stacks.h plus 1; 0: not told */
	uint64_t holder;		/* of a wait for a lock: who held it last meanwhile; EVENT_NONE: not known */
	uint32_t woken_on;		/* of a wake to run: the CPU of who woke it */
	uint32_t woken_at;		/* of a sleep: the stack of who ended it, as `stack` */
	uint32_t woken_in;		/* of a wake to run by an interrupt or a softirq: its number, */
	uint8_t woken_in_kind;		/* if that is known: enum span_kind; SPAN_THREAD: it is not */
	bool first;			/* of a call, a wait for a lock: its thread had none before */
	bool lost;			/* events are missing: it ends here for this reason alone */
};

/* The role by which such a span's number is named (guest_events.h); ROLE_NONE: of sleep, ready and threads. */
enum trace_role span_role(enum span_kind kind);

enum { SPAN_TEXT = 32 };

/* An interrupt or a softirq: it is of a CPU, and of no thread. */
static inline bool span_is_handler(enum span_kind kind)
{
	return kind == SPAN_INTERRUPT || kind == SPAN_SOFTIRQ;
}

/* Of events that have no meaning of their own to ktop: their name says all. */
static inline bool span_is_other(enum span_kind kind)
{
	return kind == SPAN_PAIR || kind == SPAN_SINGLE;
}

/* "syscall 39", "irq 4", "sleep", "wake to run", "lock 7", "lock ffff888003a1b2c0", "event 64". Returns `text`. */
const char *span_text(enum span_kind kind, uint64_t number, char text[SPAN_TEXT]);
extern const char *const span_words[SPAN_KINDS];	/* of kinds, for programs */

#endif
