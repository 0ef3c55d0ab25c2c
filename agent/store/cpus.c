/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "cpus.h"

void cpus_clear(struct cpus *cpus, struct budget *budget)
{
	for (uint32_t i = 0; i < cpus->block_count; i++)
		budget_free(budget, cpus->blocks[i],
			cpus->blocks[i] ? CPUS_BLOCK * sizeof(struct cpu_sums) : 0);
	budget_free(budget, cpus->blocks, cpus->block_count * sizeof(*cpus->blocks));
	*cpus = (struct cpus) { 0 };
}

static bool have_place(struct cpus *cpus, uint32_t block, struct budget *budget)
{
	struct cpu_sums **blocks;

	if (block < cpus->block_count)
		return true;
	blocks = budget_resize(budget, cpus->blocks, cpus->block_count * sizeof(*blocks),
		(block + 1) * sizeof(*blocks));
	if (!blocks)
		return false;
	memset(blocks + cpus->block_count, 0, (block + 1 - cpus->block_count) * sizeof(*blocks));
	cpus->blocks = blocks;
	cpus->block_count = block + 1;
	return true;
}

struct cpu_sums *cpus_have(struct cpus *cpus, uint32_t cpu, struct budget *budget)
{
	const size_t size = CPUS_BLOCK * sizeof(struct cpu_sums);
	struct cpu_sums **block;

	if (!have_place(cpus, cpu / CPUS_BLOCK, budget))
		return NULL;
	block = &cpus->blocks[cpu / CPUS_BLOCK];
	if (!*block) {
		*block = budget_resize(budget, NULL, 0, size);
		if (!*block)
			return NULL;
		memset(*block, 0, size);
	}
	if (cpu >= cpus->count)
		cpus->count = cpu + 1;
	return &(*block)[cpu % CPUS_BLOCK];
}

size_t cpus_bytes(const struct cpus *cpus)
{
	size_t bytes = cpus->block_count * sizeof(*cpus->blocks);

	for (uint32_t i = 0; i < cpus->block_count; i++)
		bytes += cpus->blocks[i] ? CPUS_BLOCK * sizeof(struct cpu_sums) : 0;
	return bytes;
}

static void add_block(struct cpu_sums *to, const struct cpu_sums *from)
{
	for (int i = 0; i < CPUS_BLOCK; i++) {
		for (int mode = 0; mode < MODES; mode++)
			to[i].mode[mode] += from[i].mode[mode];
		to[i].missed += from[i].missed;
	}
}

/* Moves blocks instead of copying them, so it needs no memory. */
void cpus_merge(struct cpus *to, struct cpus *from)
{
	struct cpus more = *to;

	if (from->block_count > to->block_count) {
		*to = *from;
		*from = more;
	}
	for (uint32_t i = 0; i < from->block_count; i++) {
		if (from->blocks[i] && to->blocks[i]) {
			add_block(to->blocks[i], from->blocks[i]);
		} else if (from->blocks[i]) {
			to->blocks[i] = from->blocks[i];
			from->blocks[i] = NULL;
		}
	}
	if (from->count > to->count)
		to->count = from->count;
}
