/* SPDX-License-Identifier: MIT */
/*
 * What each CPU and each thread did in the window, out of the guest's trace events: a row for each, a column for each
 * part of the time, and a cursor of a row and a time, of which the line below tells all. Where the window is narrow,
 * or the cursor was put on a time, the keys of the window move and widen it around that time, down to microseconds.
 */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

struct view_moment;

extern const struct view view_timeline;

/* Puts the cursor there. The window is the caller's. */
void view_timeline_go(void *self, const struct view_moment *moment);

#endif
