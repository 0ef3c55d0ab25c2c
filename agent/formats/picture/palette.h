/* SPDX-License-Identifier: MIT */
/*
 * The colours of pictures. Like the screen's, a cell's colour is decided by its function's name, within the tones of
 * what it is: kernel, module, program. In a dark picture the same tones are toned down.
 */
#ifndef PALETTE_H
#define PALETTE_H

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
unsigned palette_object(const char *object);		/* the one that its name decides */
unsigned palette_change(struct change change);

#endif
