/* How people find a name: by a part of it; a pattern without capitals finds any case (ASCII). */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

bool pattern_match(const char *text, const char *pattern);

#endif
