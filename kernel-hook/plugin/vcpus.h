/* SPDX-License-Identifier: MIT */
/*
 * The CPUs of the machine, and a timer for each. The timers are one thread. When the time of a CPU has come, it asks
 * QEMU, or public.c, to call us on that CPU's own thread. Each CPU has at most one such call under way. By the guest's
 * clock, whose time may pass faster or slower than the host's, each CPU has a timer of QEMU's as well.
 *
 * A CPU that QEMU is still building must not be touched, and QEMU's list of CPUs must not be walked while QEMU changes
 * it. QEMU holds its lock while it builds a CPU or takes one away, and while it calls us. So only such a call looks for
 * CPUs that are new: those that it finds are complete. From then on a CPU stays until vcpus_remove().
 */
#ifndef PLUGIN_VCPUS_H
#define PLUGIN_VCPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/qemu.h"

struct vcpus;

/*
 * Runs on the CPU's thread when the time that vcpus_call_at() was given has come: with QEMU's lock held, but where
 * public.c stands in. There it may run on the timer's thread, if the CPU sleeps.
 */
typedef void vcpus_call(struct qemu_cpu *cpu, uint32_t index);

/* For CPUs with an index below `count`. Makes no calls yet. NULL: no memory. */
struct vcpus *vcpus_prepare(const struct qemu *qemu, uint32_t count, vcpus_call *call);

/* Any thread. QEMU builds this CPU. It gets calls once it is complete. */
void vcpus_add(struct vcpus *vcpus, uint32_t index);

/* Any thread, before QEMU frees this CPU. After the return nothing here touches it. */
void vcpus_remove(struct vcpus *vcpus, uint32_t index);

/*
 * On the thread of the CPU `first`. Calls begin once a call on this CPU has found those that are complete. NULL:
 * public.c stands in for QEMU, whose CPUs are then not touched. False: the thread could not be started.
 */
bool vcpus_begin(struct vcpus *vcpus, struct qemu_cpu *first);

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
