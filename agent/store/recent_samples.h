/* SPDX-License-Identifier: MIT */
/*
 * The samples of the last 160 s in slots of 20 ms, which are finer than the slices of the store: with them, spikes of a
 * tenth of a second are found. Samples come in any order; those that are too old for the slots are left out here. They
 * may take a 64th of the budget, RECENT_BYTES at most. If there are more, the oldest slots keep only the sums of
 * their weights. Used by one thread.
 */
#ifndef RECENT_SAMPLES_H
#define RECENT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "run.h"

enum { RECENT_SLOTS = 8000, RECENT_BYTES = 4 << 20 };
#define RECENT_NS (20 * NS_PER_MS)	/* the width of a slot; slot N begins at N * RECENT_NS of guest time */

struct budget;
struct recent_samples;

struct recent_slot {
	uint64_t version;		/* grows with each sample in it; 0: there is none, or it is too long ago */
	uint64_t mode[MODES];		/* weights */
	bool bare;			/* the sums above are all that is left of it */
	struct run *const *runs;	/* the same key may be in several; valid until the next change */
	size_t run_count;
};

struct recent_samples *recent_samples_new(struct budget *budget);
void recent_samples_free(struct recent_samples *recent);	/* NULL is allowed */

/* CPU and mode are valid. `time`: guest ns. */
void recent_samples_add(struct recent_samples *recent, uint64_t time, uint32_t stack, const struct who *who,
	uint32_t weight);

void recent_samples_settle(struct recent_samples *recent);	/* to be called before runs are read */
bool recent_samples_has(const struct recent_samples *recent, uint64_t number);	/* no slot from this one on is bare */
struct recent_slot recent_samples_get(const struct recent_samples *recent, uint64_t number);

#endif
