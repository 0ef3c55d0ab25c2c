/* SPDX-License-Identifier: MIT */
/*
 * What was sampled on each CPU in one slice of time: weights. Kept in blocks, so that a CPU costs
 * no more for its number, which is the guest's to choose.
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;

struct cpu_sums {
	uint64_t mode[MODES];
	uint64_t missed;
};

enum { CPUS_BLOCK = 16 };		/* CPUs */

struct cpus {
	uint32_t count;			/* those beyond it are zero */
	uint32_t block_count;
	struct cpu_sums **blocks;	/* each NULL: all of it is zero */
};

void cpus_clear(struct cpus *cpus, struct budget *budget);

/* To be added to; NULL: there is no room for it. */
struct cpu_sums *cpus_have(struct cpus *cpus, uint32_t cpu, struct budget *budget);

/* Adds what is in `from`, which may then have something else in it, and is still to be cleared. */
void cpus_merge(struct cpus *to, struct cpus *from);

/* NULL: zero. */
static inline struct cpu_sums *cpus_get(const struct cpus *cpus, uint32_t cpu)
{
	struct cpu_sums *block = cpu < cpus->count ? cpus->blocks[cpu / CPUS_BLOCK] : NULL;

	return block ? &block[cpu % CPUS_BLOCK] : NULL;
}

#endif
