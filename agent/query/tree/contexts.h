/* SPDX-License-Identifier: MIT */
/*
 * Where in the kernel a stack was, by its functions: for samples whose guest does not tell (enum context). Linux's
 * functions are known by their names; any other kernel's time counts as its threads' own.
 */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include "agent/wire/event.h"

struct function;
struct who;

/*
 * The modes that people name: those of samples, and within the kernel's the time in handlers of interrupts and in
 * softirqs. MODE_KERNEL is the rest then.
 */
enum { MODE_IRQ = MODES, MODE_SOFTIRQ, MODE_NAMES };
extern const char *const mode_names[MODE_NAMES];
/* Of no sample: a filter that names one asks about waits, by the stacks of those who waited, or of who woke them. */
enum { MODE_OFF_CPU = MODE_NAMES, MODE_OFF_WAKER };

/* The context that a function begins, for itself and for all that it calls; CONTEXT_UNTOLD: that of its caller. */
enum context context_of_function(const struct function *function);

/* One of MODE_NAMES. `context`: that of the stack; it counts where the guest does not tell. */
unsigned context_mode(const struct who *who, enum context context);

#endif
