/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

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

/* The one that its name decides. */
static unsigned palette_object(const char *object)
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

/* ---- colours of objects ---- */

struct named {
	const char *object;
	uint32_t function;
};

/* What is needed while colours are found. */
struct finding {
	struct named *named;		/* functions, by the names of their objects */
	uint32_t *object_of;		/* by function: objects are numbered by their names, "" is 0 */
	uint8_t *colour_of;		/* by that number */
};

static int compare_names(const void *one, const void *other)
{
	return strcmp(((const struct named *)one)->object, ((const struct named *)other)->object);
}

static int compare_widths(const void *one, const void *other)
{
	const struct object_colour *a = one, *b = other;

	if (a->width != b->width)
		return a->width < b->width ? 1 : -1;
	return strcmp(a->object, b->object);
}

static void find_objects(struct object_colours *colours, const struct cells *cells, const struct finding *finding)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < cells->function_count; i++)
		finding->named[i] = (struct named) { cells->functions[i].object, i };
	qsort(finding->named, cells->function_count, sizeof(*finding->named), compare_names);
	colours->objects[0] = (struct object_colour) { .object = "", .number = 0 };
	for (uint32_t i = 0; i < cells->function_count; i++) {
		const char *object = finding->named[i].object;

		if (strcmp(object, colours->objects[number].object) != 0) {
			number++;
			colours->objects[number] = (struct object_colour) { .object = object, .number = number };
		}
		finding->object_of[finding->named[i].function] = number;
	}
	colours->count = number + 1;
}

static void add_widths(struct object_colours *colours, const struct cells *cells, const uint32_t *object_of)
{
	for (uint32_t i = 1; i < cells->cell_count; i++) {
		const struct cell *cell = &cells->cells[i];
		uint32_t object = object_of[cell->function];

		if (cell->parent == CELLS_ROOT || object_of[cells->cells[cell->parent].function] != object)
			colours->objects[object].width += (double)cell->total.weight + (double)cell->total.before;
	}
}

/* The objects are by width now. */
static void choose(struct object_colours *colours)
{
	bool taken[PALETTE_OBJECTS] = { false };

	for (uint32_t i = 0; i < colours->count; i++) {
		unsigned wanted = palette_object(colours->objects[i].object), colour = wanted;

		for (unsigned step = 1; step < PALETTE_OBJECTS && taken[colour]; step++)
			colour = (wanted + step) % PALETTE_OBJECTS;
		if (taken[colour])
			colour = wanted;
		taken[colour] = true;
		colours->objects[i].colour = (uint8_t)colour;
	}
}

static void find(struct object_colours *colours, const struct cells *cells, const struct finding *finding)
{
	find_objects(colours, cells, finding);
	add_widths(colours, cells, finding->object_of);
	colours->count--;
	memmove(colours->objects, colours->objects + 1, colours->count * sizeof(*colours->objects));
	qsort(colours->objects, colours->count, sizeof(*colours->objects), compare_widths);
	choose(colours);
	finding->colour_of[0] = PALETTE_NO_OBJECT;
	for (uint32_t i = 0; i < colours->count; i++)
		finding->colour_of[colours->objects[i].number] = colours->objects[i].colour;
	for (uint32_t i = 0; i < cells->function_count; i++)
		colours->of[i] = finding->colour_of[finding->object_of[i]];
}

bool object_colours_find(struct object_colours *colours, const struct cells *cells)
{
	size_t count = (size_t)cells->function_count + 1;	/* "" may be of no function */
	struct finding finding = {
		.named = calloc(count, sizeof(*finding.named)),
		.object_of = calloc(count, sizeof(*finding.object_of)),
		.colour_of = calloc(count, sizeof(*finding.colour_of)),
	};
	bool ok;

	*colours = (struct object_colours) {
		.of = calloc(count, sizeof(*colours->of)), .objects = calloc(count, sizeof(*colours->objects)),
	};
	ok = finding.named && finding.object_of && finding.colour_of && colours->of && colours->objects;
	if (ok)
		find(colours, cells, &finding);
	free(finding.named);
	free(finding.object_of);
	free(finding.colour_of);
	return ok;
}

void object_colours_clear(struct object_colours *colours)
{
	free(colours->of);
	free(colours->objects);
	*colours = (struct object_colours) { 0 };
}
