/* SPDX-License-Identifier: MIT */
/*
 * What the guest's trace events say took time: a row for each system call and each interrupt, and how the durations of
 * the row under the cursor are spread: beside the table where there is room, else in a line below it. What was lost is
 * told below the rows.
 */
#ifndef VIEW_EVENTS_H
#define VIEW_EVENTS_H

extern const struct view view_events;

#endif
