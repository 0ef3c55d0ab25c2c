/* SPDX-License-Identifier: MIT */
/* How the durations of a system call or an interrupt are spread: a histogram whose bars are powers of two. */
#ifndef EVENT_BARS_H
#define EVENT_BARS_H

struct area;
struct canvas;
struct event_row;
struct place;

/* With a wall at its left, its axis below the bars, and where the median and the 99th percentile are. */
void event_bars_draw(struct canvas *canvas, struct area area, const struct event_row *event, const char *name);
void event_bars_line(struct canvas *canvas, struct place place, const struct event_row *event, const char *name);

#endif
