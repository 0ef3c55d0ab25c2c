/* SPDX-License-Identifier: MIT */
#include "agent/base/change.h"
#include "agent/base/hash.h"
#include "agent/query/tree/contexts.h"
#include "cells.h"
#include "palette.h"

const char *const palette_tone_names[TONES] = {
	"kernel", "module", "irq", "softirq", "user", "idle", "unknown",
};

const char *const palette_tones[TONES][PALETTE_SHADES] = {
	[TONE_KERNEL] = { "#f6a873", "#f8bd7f", "#f9d287", "#e5bf93", "#eda58f" },
	[TONE_MODULE] = { "#aed68d", "#8fce97", "#cfd9a3" },
	[TONE_IRQ] = { "#ee7f97", "#f095a8" },
	[TONE_SOFTIRQ] = { "#cf9be6", "#bba6ea" },
	[TONE_USER] = { "#8cbbe8", "#8ccdee", "#afb4e6", "#abd3ee" },
	[TONE_IDLE] = { "#cdd3db" },
	[TONE_UNKNOWN] = { "#d9d5cc" },
};

const char *const palette_objects[PALETTE_OBJECTS + 1] = {
	"#f6a873", "#8cbbe8", "#aed68d", "#cf9be6", "#f9d287", "#7fd1c4", "#ee8f9f", "#afb4e6", "#cfd98a", "#e5bf93",
	"#8ccdee", "#e3a5cf",
	[PALETTE_NO_OBJECT] = "#cdd3db",
};

const char *const palette_changes[PALETTE_CHANGES] = {
	"#4d8fe0", "#7fb0ec", "#abcdf4", "#d0e2f7", "#dcdcd8", "#f9d9d0", "#f5b5a6", "#ee8474", "#dd5548",
};

/* The first of these differ by so many points of share at most. */
static const double change_steps[PALETTE_SAME] = { 0.0025, 0.01, 0.03, 1 };

enum palette_tone palette_tone(const struct cells *cells, const struct cell *cell)
{
	switch (cells->functions[cell->function].kind) {
	case SET_USER: return TONE_USER;
	case SET_IDLE: return TONE_IDLE;
	case SET_UNKNOWN: return TONE_UNKNOWN;
	case SET_MODULE:
		return cell->mode == MODE_IRQ ? TONE_IRQ : cell->mode == MODE_SOFTIRQ ? TONE_SOFTIRQ : TONE_MODULE;
	default:
		return cell->mode == MODE_IRQ ? TONE_IRQ : cell->mode == MODE_SOFTIRQ ? TONE_SOFTIRQ : TONE_KERNEL;
	}
}

/* No seed: the colour outlives the process. */
static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0;

	for (; *name; name++)
		hash = hash_mix(hash ^ (unsigned char)*name, UINT64_C(0x9e3779b97f4a7c15));
	return hash;
}

unsigned palette_shade(enum palette_tone tone, const char *name)
{
	unsigned count = 0;

	while (count < PALETTE_SHADES && palette_tones[tone][count])
		count++;
	return (unsigned)(hash_of(name) % count);
}

unsigned palette_object(const char *object)
{
	return (unsigned)(hash_of(object) % PALETTE_OBJECTS);
}

unsigned palette_change(struct change change)
{
	double size = change.share < 0 ? -change.share : change.share;
	unsigned step = 0;

	if (change.chance || change.share == 0)
		return PALETTE_SAME;
	while (step + 1 < PALETTE_SAME && size > change_steps[step])
		step++;
	return change.share > 0 ? PALETTE_SAME + 1 + step : PALETTE_SAME - 1 - step;
}
