/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "agent/base/util.h"
#include "meter.h"

void meter_clear(struct meter *meter)
{
	meter->used = 0;
}

static bool is_behind(const struct meter_point *point, const struct meter_point *last)
{
	return point->time < last->time || point->taken < last->taken || point->span < last->span;
}

void meter_add(struct meter *meter, const struct meter_point *point)
{
	size_t last = meter->used - 1;

	if (meter->used && is_behind(point, &meter->points[last]))
		meter->used = 0;
	if (meter->used && point->time - meter->points[last].time <
			(uint64_t)METER_STEP_MS * NS_PER_MS)
		return;
	if (meter->used == METER_POINTS)
		memmove(meter->points, meter->points + 1,
			--meter->used * sizeof(meter->points[0]));
	meter->points[meter->used++] = *point;
}

double meter_rate(const struct meter *meter, uint64_t window)
{
	size_t last = meter->used - 1, first = 0;
	uint64_t span;

	if (meter->used < 2)
		return 0;
	while (window && first + 1 < last &&
			meter->points[last].time - meter->points[first].time > window)
		first++;
	span = meter->points[last].span - meter->points[first].span;
	return span ? (double)(meter->points[last].taken - meter->points[first].taken) * (double)NS_PER_SECOND /
		(double)span : 0;
}
