/* SPDX-License-Identifier: MIT */
/*
 * A machine that is mostly idle, with spikes of a tenth of a second: what a heat map is for. On the first CPU the
 * thread "calm" works for 2 ms of every 20. On the last CPU the thread "spike" works for SPIKE_NS of every
 * SPIKE_EVERY_NS; for each of its spikes the console shows its ends, in nanoseconds since the machine started:
 *
 *   spike: from=N to=N
 *
 * SPIKE_EVERY_NS is no whole number of seconds, so that spikes come in all parts of a second. Meanwhile "spike" holds
 * the lock `table`, for which the thread "client" waits: that takes it for a moment, 50 times a second.
 */
#ifndef SPIKE_H
#define SPIKE_H

#include <stdint.h>

#include "ports/demo/machine/time.h"

#define SPIKE_NS (100 * (uint64_t)NS_PER_MS)
#define SPIKE_EVERY_NS (2740 * (uint64_t)NS_PER_MS)

/* thread. Starts the threads. */
void spike_start(void);

#endif
