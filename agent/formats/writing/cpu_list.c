/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "cpu_list.h"

uint32_t cpu_list_index(const struct cpu_list *list, uint32_t cpu)
{
	uint32_t low = 0, high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->cpus[middle] < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void cpu_list_init(struct cpu_list *list, const struct sample_set *set)
{
	*list = (struct cpu_list) { 0 };
	for (uint32_t i = 0; i < set->sum_count; i++) {
		uint32_t cpu = set->sums[i].who.cpu, at = cpu_list_index(list, cpu);

		if (at < list->count && list->cpus[at] == cpu)
			continue;
		list->cpus = util_grow(list->cpus, list->count + 1, sizeof(*list->cpus));
		memmove(&list->cpus[at + 1], &list->cpus[at], (list->count++ - at) * sizeof(*list->cpus));
		list->cpus[at] = cpu;
	}
}

void cpu_list_clear(struct cpu_list *list)
{
	free(list->cpus);
	*list = (struct cpu_list) { 0 };
}
