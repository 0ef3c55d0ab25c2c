/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "ranking.h"

uint32_t *ranking_new(struct budget *budget, void *things, uint32_t count, size_t size,
	int (*order)(const void *left, const void *right))
{
	uint32_t *ranking = budget_resize(budget, NULL, 0, count * sizeof(*ranking)), first = 0, number;
	const char *at = things;

	if (ranking && count)
		qsort(things, count, size, order);
	for (uint32_t i = 0; ranking && i < count; i++, at += size) {
		if (i && order(at - size, at) != 0)
			first = i;
		memcpy(&number, at, sizeof(number));
		ranking[number] = first;
	}
	return ranking;
}

void ranking_free(struct budget *budget, uint32_t *ranking, uint32_t count)
{
	budget_free(budget, ranking, count * sizeof(*ranking));
}
