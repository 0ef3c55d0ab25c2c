/* SPDX-License-Identifier: MIT */
/* How people find a name: by a part of it. A pattern without capitals matches any case (ASCII). */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

/* Where the pattern stands in the text; NULL: nowhere. */
const char *pattern_find(const char *text, const char *pattern);
bool pattern_match(const char *text, const char *pattern);

#endif
