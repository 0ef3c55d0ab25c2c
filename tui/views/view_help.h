/* SPDX-License-Identifier: MIT */
/* The help: the keys, from their table, and how to read the screen. */
#ifndef VIEW_HELP_H
#define VIEW_HELP_H

extern const struct view view_help;

#endif
