/* SPDX-License-Identifier: MIT */
/* The guest's time. */
#ifndef PLUGIN_CLOCK_H
#define PLUGIN_CLOCK_H

#include <stdint.h>

enum { CLOCK_NS_PER_MS = 1000000, CLOCK_NS_PER_SECOND = 1000000000 };

struct qemu;

/*
 * Any thread. The nanoseconds for which the machine has run, by QEMU's virtual clock. QEMU's clock goes back when an
 * earlier state of the machine is loaded. This one never does.
 */
uint64_t clock_now(const struct qemu *qemu);

#endif
