/* SPDX-License-Identifier: MIT */
/* The time by which samples are due, and which they have. */
#ifndef PLUGIN_CLOCK_H
#define PLUGIN_CLOCK_H

#include <stdint.h>

/* The hook has no other: in the guest, it counts ticks of a clock of any speed (ktop_port_clock). */
enum { CLOCK_NS_PER_MS = 1000000, CLOCK_NS_PER_SECOND = 1000000000 };

struct qemu;

/*
 * Any thread. The nanoseconds for which the machine has run: by QEMU's virtual clock, which is the guest's, or by the
 * host's, as struct qemu says. They differ where QEMU counts instructions (-icount). QEMU's clocks go back when an
 * earlier state of the machine is loaded. This one never does.
 */
uint64_t clock_now(const struct qemu *qemu);

/* Any thread. What QEMU's own clock shows at this time. */
int64_t clock_of_qemu(uint64_t time);

#endif
