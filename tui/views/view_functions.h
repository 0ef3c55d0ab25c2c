/* SPDX-License-Identifier: MIT */
/* The first view: the table of functions, and a line of detail about the function under the cursor. */
#ifndef VIEW_FUNCTIONS_H
#define VIEW_FUNCTIONS_H

extern const struct view view_functions;

#endif
