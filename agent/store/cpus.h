/* SPDX-License-Identifier: MIT */
/*
 * The weights of one slice, for each CPU. Kept in blocks, so that a high CPU number costs little more: the
 * guest chooses it.
 */
#ifndef CPUS_H
#define CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;

struct cpu_sums {
	uint64_t mode[MODES];	/* weight of the samples in each mode */
	uint64_t missed;	/* periods in which the CPU was not run */
};

enum { CPUS_BLOCK = 4 };		/* CPUs */

struct cpus {
	uint32_t count;			/* CPUs beyond it have nothing */
	uint32_t block_count;
	struct cpu_sums **blocks;	/* NULL: nothing in it */
};

void cpus_clear(struct cpus *cpus, struct budget *budget);	/* frees everything */

/* The sums of a CPU, to be added to; valid until the next change. NULL: the budget has no room. */
struct cpu_sums *cpus_have(struct cpus *cpus, uint32_t cpu, struct budget *budget);

size_t cpus_bytes(const struct cpus *cpus);	/* of memory */

/* Adds `from` to `to`. What `from` holds then has no meaning, but the caller must still clear it. */
void cpus_merge(struct cpus *to, struct cpus *from);

/* NULL: nothing was sampled there. */
static inline struct cpu_sums *cpus_get(const struct cpus *cpus, uint32_t cpu)
{
	struct cpu_sums *block = cpu < cpus->count ? cpus->blocks[cpu / CPUS_BLOCK] : NULL;

	return block ? &block[cpu % CPUS_BLOCK] : NULL;
}

#endif
