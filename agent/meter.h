/* How fast samples really come: their number over the last seconds of guest time, a minute at most. */
#ifndef METER_H
#define METER_H

#include <stddef.h>
#include <stdint.h>

enum { METER_POINTS = 256, METER_STEP_MS = 250 };

struct meter {
	struct { uint64_t time, count; } points[METER_POINTS];	/* oldest first; ns, samples */
	size_t used;
};

/* Told at any time, kept a few times a second. A clock or count that goes back begins anew. */
void meter_add(struct meter *meter, uint64_t time, uint64_t count);
void meter_clear(struct meter *meter);

/* Per second, over so many ns before the newest; 0: over all that is kept. 0 when unknown. */
double meter_rate(const struct meter *meter, uint64_t window);

#endif
