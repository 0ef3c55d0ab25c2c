/* SPDX-License-Identifier: MIT */
/* The CPUs that a sample set has samples of, in order, for formats that give each CPU a part of its own. */
#ifndef CPU_LIST_H
#define CPU_LIST_H

#include <stdint.h>

struct sample_set;

struct cpu_list {
	uint32_t *cpus;			/* SET_NONE, if it is there, is the last one */
	uint32_t count;
};

void cpu_list_init(struct cpu_list *list, const struct sample_set *set);
void cpu_list_clear(struct cpu_list *list);
uint32_t cpu_list_index(const struct cpu_list *list, uint32_t cpu);	/* of one that is in the list */

#endif
