/* SPDX-License-Identifier: MIT */
/*
 * A report as HTML, in one file that needs nothing else and asks for nothing: books, a time line in which a range can
 * be chosen, the flame graph, the callers, and the table of functions.
 */
#ifndef HTML_H
#define HTML_H

#include <stdbool.h>
#include <stdio.h>

struct bins;
struct picture;

/* All cells together must have a weight; `bins` may be empty. False: no memory. */
bool html_write(const struct picture *picture, const struct bins *bins, FILE *to);

#endif
