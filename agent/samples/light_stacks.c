/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/store/stacks.h"
#include "light_stacks.h"

bool light_stacks_init(struct light_stacks *light, uint32_t nodes, struct budget *budget)
{
	size_t size = (size_t)nodes * sizeof(*light->weights);

	*light = (struct light_stacks) { .nodes = nodes, .budget = budget };
	light->weights = budget_resize(budget, NULL, 0, size);
	if (light->weights)
		memset(light->weights, 0, size);
	return light->weights;
}

void light_stacks_clear(struct light_stacks *light)
{
	if (light->weights)
		budget_free(light->budget, light->weights, light->nodes * sizeof(*light->weights));
	*light = (struct light_stacks) { .weights = NULL };
}

static uint32_t count_from(const struct light_stacks *light, uint64_t least)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < light->nodes; i++)
		count += light->weights[i] >= least;
	return count;
}

void light_stacks_choose(struct light_stacks *light, uint32_t most)
{
	uint64_t low = 1, high = 1;

	for (uint32_t i = 0; i < light->nodes; i++)
		if (light->weights[i] >= high)
			high = light->weights[i] + 1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (count_from(light, middle) <= most)
			high = middle;
		else
			low = middle + 1;
	}
	light->least = low;
}

void light_stacks_settle(struct light_stacks *light, const struct stacks *stacks, uint32_t most)
{
	for (uint32_t i = light->nodes; i-- > 0;) {	/* a caller's number is lower than its callee's */
		uint32_t parent = stacks_node(stacks, i).parent;

		if (parent < light->nodes)
			light->weights[parent] += light->weights[i];
	}
	light_stacks_choose(light, most);
}
