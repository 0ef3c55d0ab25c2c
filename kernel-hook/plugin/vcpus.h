/* SPDX-License-Identifier: MIT */
/*
 * The CPUs of the machine, and the timer of each: a thread of ours that has QEMU call us on a CPU's own thread when
 * its time has come. A CPU has at most one such call under way.
 *
 * A CPU that QEMU is still building must not be touched. Those there are when the first block of guest code is
 * translated are whole; one that is plugged in later is whole as soon as another CPU's call finds it, since QEMU
 * builds under its lock, and calls us under it.
 */
#ifndef PLUGIN_VCPUS_H
#define PLUGIN_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu.h"

struct vcpus;

/* On the CPU's thread, under QEMU's lock: the time has come. */
typedef void vcpus_call(struct qemu_cpu *cpu, uint32_t index);

/* What follows are `count` CPUs at most. NULL: no memory. */
struct vcpus *vcpus_prepare(const struct qemu *qemu, uint32_t count, vcpus_call *call);

/* Any thread. One is being built; is taken out: when this returns, it is not touched any more. */
void vcpus_add(struct vcpus *vcpus, uint32_t index);
void vcpus_remove(struct vcpus *vcpus, uint32_t index);

/* All that were added are whole: calls begin. False: there is no thread. */
bool vcpus_begin(struct vcpus *vcpus);

/* Any thread. No call begins any more; one that is under way does nothing. Waits for the thread, not for QEMU. */
void vcpus_end(struct vcpus *vcpus);

/* Any thread. Have it called at that time of QEMU's virtual clock, or soon after; takes the place of the last wish. */
void vcpus_wish(struct vcpus *vcpus, uint32_t index, uint64_t at);
void vcpus_wake(struct vcpus *vcpus);	/* a wish is earlier than it may expect */

#endif
