/* SPDX-License-Identifier: MIT */
/*
 * The colours of a picture's objects, such as modules and programs. An object's name decides its colour, if no wider
 * object has that; else it has the next one that is free. So two are of one colour only where a picture has more
 * objects than there are colours, and the widest have colours of their own. What is of no object is grey.
 */
#ifndef OBJECT_COLOURS_H
#define OBJECT_COLOURS_H

#include <stdbool.h>
#include <stdint.h>

struct cells;

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
