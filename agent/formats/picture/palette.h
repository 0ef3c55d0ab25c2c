/* SPDX-License-Identifier: MIT */
/*
 * The colours of pictures. Like the screen's, a cell's colour is decided by its function's name, within the tones of
 * what it is: kernel, module, program. In a dark picture the same tones are toned down.
 */
#ifndef PALETTE_H
#define PALETTE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cell;
struct cells;
struct change;

enum palette_tone {
	TONE_KERNEL, TONE_MODULE, TONE_IRQ, TONE_SOFTIRQ, TONE_USER, TONE_IDLE, TONE_UNKNOWN, TONES,
};
enum { PALETTE_OBJECTS = 12, PALETTE_NO_OBJECT = PALETTE_OBJECTS };
enum { PALETTE_CHANGES = 9, PALETTE_SAME = 4, PALETTE_SHADES = 5 };

extern const char *const palette_tone_names[TONES];

/* Colours as "#rrggbb". A tone has fewer shades than PALETTE_SHADES, if the rest are NULL. */
extern const char *const palette_tones[TONES][PALETTE_SHADES];
extern const char *const palette_objects[PALETTE_OBJECTS + 1];	/* PALETTE_NO_OBJECT: that of no object */
extern const char *const palette_changes[PALETTE_CHANGES];	/* much less, ..., the same, ..., much more */

enum palette_tone palette_tone(const struct cells *cells, const struct cell *cell);	/* no root */
unsigned palette_shade(enum palette_tone tone, const char *name);
unsigned palette_change(struct change change);

/* ---- colours of objects ---- */

/*
 * The colours of a picture's objects, such as modules and programs. An object's name decides its colour, if no wider
 * object has that; else it has the next one that is free. So two are of one colour only where a picture has more
 * objects than there are colours, and the widest have colours of their own. What is of no object is grey.
 */

struct object_colour {
	const char *object;		/* not "" */
	double width;			/* the weight of its outermost cells, now and before */
	uint32_t number;		/* of objects by their names */
	uint8_t colour;			/* of palette_objects */
};

struct object_colours {
	uint8_t *of;			/* by function: of palette_objects */
	struct object_colour *objects;	/* the widest first */
	uint32_t count;
};

/* The cells are settled, and outlive the colours. False: no memory. Clear it in either case. */
bool object_colours_find(struct object_colours *colours, const struct cells *cells);
void object_colours_clear(struct object_colours *colours);

#endif
