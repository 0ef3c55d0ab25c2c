/* SPDX-License-Identifier: MIT */
/* The guest's time. */
#ifndef PLUGIN_CLOCK_H
#define PLUGIN_CLOCK_H

#include <stdint.h>

struct qemu;

/*
 * Any thread. Nanoseconds in which the machine ran, by QEMU's virtual clock. That one goes back when an earlier state
 * of the machine is loaded; this one goes on.
 */
uint64_t clock_now(const struct qemu *qemu);

#endif
