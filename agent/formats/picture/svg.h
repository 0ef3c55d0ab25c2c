/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as SVG, in one file that needs nothing else. Without its script it is a still picture. It stays under
 * SVG_BYTES: where it would not, or a cell would be narrower than a third of a pixel, cells are merged with their
 * siblings, and the picture says how many.
 */
#ifndef SVG_H
#define SVG_H

#include <stdbool.h>
#include <stdio.h>

struct picture;

enum { SVG_BYTES = 900 << 10 };

/* All cells together must have a weight. False: no memory. */
bool svg_write(const struct picture *picture, FILE *to);

#endif
