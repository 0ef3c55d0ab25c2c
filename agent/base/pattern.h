/* SPDX-License-Identifier: MIT */
/* How people find a name: by a part of it; a pattern without capitals finds any case (ASCII). */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

/* Where it stands in the text; NULL: nowhere. */
const char *pattern_find(const char *text, const char *pattern);
bool pattern_match(const char *text, const char *pattern);

#endif
