/* SPDX-License-Identifier: MIT */
/* The keys, as their table has them, and how to read the screen. */
#ifndef VIEW_HELP_H
#define VIEW_HELP_H

extern const struct view view_help;

#endif
