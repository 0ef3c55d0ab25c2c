/* SPDX-License-Identifier: MIT */
/*
 * A heat map of the last 160 s: a column is a second, a row is a part of each second, and a cell is as bright as its
 * share of the CPU time. It is about all that is busy, or about the function that was chosen in another view. A range,
 * chosen by keys or the mouse, becomes the window of every view.
 */
#ifndef VIEW_HEAT_H
#define VIEW_HEAT_H

extern const struct view view_heat;

#endif
