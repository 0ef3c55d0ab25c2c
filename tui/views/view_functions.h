/* SPDX-License-Identifier: MIT */
/* The first view: a table of functions, a line about the one under the cursor. */
#ifndef VIEW_FUNCTIONS_H
#define VIEW_FUNCTIONS_H

extern const struct view view_functions;

#endif
