/* SPDX-License-Identifier: MIT */
/* What must be so of a set that was read out of any bytes. */
#ifndef FUZZED_IMPORT_H
#define FUZZED_IMPORT_H

#include <string.h>

#include "agent/base/budget.h"
#include "agent/import/set_import.h"
#include "agent/samples/sample_set.h"
#include "fuzz.h"

static inline void fuzzed_stack(const struct sample_set *set, uint32_t stack)
{
	uint32_t depth = 0;

	for (; stack != SET_NONE; stack = set->stacks[stack].parent) {
		const struct set_location *location = &set->locations[set->stacks[stack].location];

		require(set->stacks[stack].parent == SET_NONE || set->stacks[stack].parent < stack);
		require(location->count >= 1 && location->first + location->count <= set->line_count);
		for (uint32_t i = 0; i < location->count; i++)
			require(set->lines[location->first + i].function < set->function_count);
		require(++depth <= IMPORT_DEPTH);
	}
}

static inline void fuzzed_set(const struct sample_set *set)
{
	uint64_t samples = 0, weight = 0;

	require(set->sum_count);
	for (uint32_t i = 0; i < set->sum_count; i++) {
		const struct set_sum *sum = &set->sums[i];

		require(sum->stack < set->stack_count && sum->who.mode < SET_MODES);
		require(sum->who.thread == SET_NONE || sum->who.thread < set->thread_count);
		fuzzed_stack(set, sum->stack);
		samples += sum->samples;
		weight += sum->weight;
	}
	require(samples == set->samples && weight == set->weight && weight <= INT64_MAX && weight);
}

static inline void fuzzed_import(const struct set_import *import, const uint8_t *bytes, size_t size)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget);
	struct sample_set *set = sample_set_new(budget);
	char *copy = util_copy((const char *)bytes, size), *error = NULL;

	if (import->read(set, copy, size, budget, &error))
		fuzzed_set(set);
	else
		require_memory(error || sample_set_is_full(set) || budget_refused(budget));
	free(copy);
	free(error);
	sample_set_free(set);
	require(budget_left(budget) == before);
	budget_release(budget);
}

#endif
