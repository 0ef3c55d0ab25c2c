/* SPDX-License-Identifier: MIT */
/*
 * The real sampling rate of a CPU, by the guest's own counts and clock, over the last seconds or at most the last
 * minute. It does not matter when the samples reach the host.
 */
#ifndef METER_H
#define METER_H

#include <stddef.h>
#include <stdint.h>

enum { METER_POINTS = 256, METER_STEP_MS = 250 };

struct meter_point {
	uint64_t time;			/* guest ns */
	uint64_t taken;			/* samples so far, of all CPUs */
	uint64_t span;			/* ns for which CPUs were sampled so far, all CPUs added up */
};

struct meter {
	struct meter_point points[METER_POINTS];	/* oldest first */
	size_t used;
};

/* May be called at any time; keeps one point per METER_STEP_MS. If the clock or a count goes back, it begins anew. */
void meter_add(struct meter *meter, const struct meter_point *point);
void meter_clear(struct meter *meter);	/* forgets all points */

/* Samples per second and CPU over `window` ns up to the newest point; `window` 0: all points. 0 while unknown. */
double meter_rate(const struct meter *meter, uint64_t window);

#endif
