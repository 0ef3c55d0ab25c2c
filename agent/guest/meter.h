/* SPDX-License-Identifier: MIT */
/*
 * How fast samples really come on a CPU, by the guest's own counts: over the last seconds of its
 * time, a minute at most. When they arrive here does not matter.
 */
#ifndef METER_H
#define METER_H

#include <stddef.h>
#include <stdint.h>

enum { METER_POINTS = 256, METER_STEP_MS = 250 };

struct meter_point {
	uint64_t time;			/* guest ns */
	uint64_t taken;			/* samples so far, of all CPUs */
	uint64_t span;			/* ns in which they were taken, of all CPUs */
};

struct meter {
	struct meter_point points[METER_POINTS];	/* oldest first */
	size_t used;
};

/* Told at any time, kept a few times a second. A clock or count that goes back begins anew. */
void meter_add(struct meter *meter, const struct meter_point *point);
void meter_clear(struct meter *meter);

/* Per second and CPU, over so many ns before the newest; 0: all that is kept. 0 when unknown. */
double meter_rate(const struct meter *meter, uint64_t window);

#endif
