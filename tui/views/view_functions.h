/* SPDX-License-Identifier: MIT */
/*
 * The first view: the table of functions, or of what the scope groups them by, and a line of detail about the row under
 * the cursor. The view of threads is the same for threads or processes, with their use of CPUs.
 */
#ifndef VIEW_FUNCTIONS_H
#define VIEW_FUNCTIONS_H

extern const struct view view_functions, view_threads;

#endif
