/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linux's own tracepoints, as trace events. One is attached only while its event is on: attached and off, one of a
 * system call would still cost the call some 44 instructions.
 */
#ifndef KTOP_LINUX_TRACEPOINTS_H
#define KTOP_LINUX_TRACEPOINTS_H

#include <linux/types.h>

struct ktop;
struct ktop_number;

/*
 * Thread, once, before ktop_init(). Finds the tracepoints in this kernel, and compares their arguments with its BTF.
 * Returns the events that cannot be sent, for ktop_facts.untraced; the log names each one, and says why.
 */
u32 tracepoints_start(void);

/* The drainer: ktop_facts.numbers (ktop.h): the names of system calls, softirqs and interrupts. */
bool tracepoints_number(u32 index, struct ktop_number *number);

/* Thread, the drainer. Attaches those whose event is on now, and takes away all others. */
void tracepoints_follow(struct ktop *ktop);

/* Thread, once the drainer has ended. When it returns, no event is being written. */
void tracepoints_stop(struct ktop *ktop);

#endif
