/* SPDX-License-Identifier: MIT */
/*
 * The CPUs of the machine, and a timer for each. The timers are one thread. When the time of a CPU has come, it asks
 * QEMU to call us on that CPU's own thread. Each CPU has at most one such call under way.
 *
 * A CPU that QEMU is still building must not be touched. The CPUs that exist when QEMU translates the first block of
 * guest code are complete. A CPU that is plugged in later is complete as soon as a call on another CPU finds it: QEMU
 * holds its lock while it builds a CPU, and while it calls us.
 */
#ifndef PLUGIN_VCPUS_H
#define PLUGIN_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/qemu.h"

struct vcpus;

/* Runs on the CPU's thread, with QEMU's lock held, when the time that vcpus_call_at() was given has come. */
typedef void vcpus_call(struct qemu_cpu *cpu, uint32_t index);

/* For CPUs with an index below `count`. Makes no calls yet. NULL: no memory. */
struct vcpus *vcpus_prepare(const struct qemu *qemu, uint32_t count, vcpus_call *call);

/* Any thread. QEMU builds this CPU. It gets calls once it is complete. */
void vcpus_add(struct vcpus *vcpus, uint32_t index);

/* Any thread. QEMU takes this CPU away. After the return nothing here touches it. */
void vcpus_remove(struct vcpus *vcpus, uint32_t index);

/* All CPUs that were added are complete: calls begin. False: the thread could not be started. */
bool vcpus_begin(struct vcpus *vcpus);

/*
 * Any thread. No call begins any more, and a call that is under way does nothing. Waits for the timer's thread alone.
 */
void vcpus_end(struct vcpus *vcpus);

/* Any thread. The CPU's next call comes at this time of clock_now(), or soon after. Replaces the time set before. */
void vcpus_call_at(struct vcpus *vcpus, uint32_t index, uint64_t at);

/*
 * Any thread. The timer looks at all CPUs now. Needed where vcpus_call_at() was given a time that is earlier than
 * before.
 */
void vcpus_wake(struct vcpus *vcpus);

#endif
