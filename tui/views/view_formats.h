/* SPDX-License-Identifier: MIT */
/* The formats in which a snapshot can be saved, as a list to choose from. It covers a view, as the help does. */
#ifndef VIEW_FORMATS_H
#define VIEW_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

extern const struct view view_formats;

/* Marks the last format, and puts the cursor on it. A format is its number in the list of save_format.h. */
void view_formats_begin(void *self, size_t last);

/* Hands out the format that was chosen, and forgets it. False: none was. */
bool view_formats_taken(void *self, size_t *format);

#endif
