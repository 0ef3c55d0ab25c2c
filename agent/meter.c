#include <string.h>

#include "meter.h"

enum { NS_PER_MS = 1000000 };

void meter_clear(struct meter *meter)
{
	meter->used = 0;
}

void meter_add(struct meter *meter, uint64_t time, uint64_t count)
{
	size_t last = meter->used - 1;

	if (meter->used && (time < meter->points[last].time || count < meter->points[last].count))
		meter->used = 0;
	if (meter->used && time - meter->points[last].time < (uint64_t)METER_STEP_MS * NS_PER_MS)
		return;
	if (meter->used == METER_POINTS)
		memmove(meter->points, meter->points + 1, --meter->used * sizeof(meter->points[0]));
	meter->points[meter->used].time = time;
	meter->points[meter->used++].count = count;
}

double meter_rate(const struct meter *meter, uint64_t window)
{
	size_t last = meter->used - 1, first = 0;

	if (meter->used < 2)
		return 0;
	while (window && first + 1 < last &&
			meter->points[last].time - meter->points[first].time > window)
		first++;
	return (double)(meter->points[last].count - meter->points[first].count) * 1e9 /
		(double)(meter->points[last].time - meter->points[first].time);
}
