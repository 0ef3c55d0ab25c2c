/* SPDX-License-Identifier: MIT */
/* What took time, out of a guest's trace events: a thread on a CPU, an interrupt, a system call. */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind { SPAN_THREAD, SPAN_INTERRUPT, SPAN_CALL, SPAN_KINDS };

struct trace_span {
	enum span_kind kind;
	uint32_t cpu;			/* where it began */
	uint64_t thread;		/* that runs, or calls; of an interrupt: 0 */
	uint64_t number;		/* of the interrupt, or of the system call; of a thread: 0 */
	uint64_t begin, end;		/* guest ns */
	uint64_t result;		/* of a call */
	bool first;			/* of a call: its thread had none before */
	bool lost;			/* events are missing: it ends here for this reason alone */
};

#endif
