/* SPDX-License-Identifier: MIT */
/* What took time, out of a guest's trace events: a thread on a CPU, an interrupt, a system call, a thread's wait. */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind {
	SPAN_THREAD, SPAN_INTERRUPT, SPAN_CALL,
	SPAN_SLEEP,			/* a thread waits for something, until it is woken */
	SPAN_READY,			/* it could run, and waits for a CPU */
	SPAN_KINDS,
};
enum { SLEEP_ANY, SLEEP_BLOCKED };	/* the number of a sleep; blocked: no signal ends it */
enum { READY_WOKEN, READY_PREEMPTED };	/* of a wait for a CPU: what it came after */

struct trace_span {
	enum span_kind kind;
	uint32_t cpu;			/* where it began */
	uint64_t thread;		/* that runs, calls or waits; of an interrupt: 0 */
	uint64_t number;		/* of the interrupt, the system call; of a wait: see above; of a thread: 0 */
	uint64_t begin, end;		/* guest ns */
	uint64_t result;		/* of a call */
	const uint64_t *arguments;	/* of a call: CALL_ARGUMENTS words, valid in the sink; NULL: not told */
	uint64_t waker;			/* of a wake to run: the thread; EVENT_NONE: an interrupt; or TRACE_NO_VALUE */
	uint32_t woken_on;		/* of a wake to run: the CPU of who woke it */
	bool first;			/* of a call: its thread had none before */
	bool lost;			/* events are missing: it ends here for this reason alone */
};

enum { SPAN_TEXT = 32 };

/* "syscall 39", "irq 4", "sleep", "wake to run". Returns `text`. */
const char *span_text(enum span_kind kind, uint64_t number, char text[SPAN_TEXT]);
extern const char *const span_words[SPAN_KINDS];	/* of kinds, for programs */

#endif
