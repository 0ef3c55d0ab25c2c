/* SPDX-License-Identifier: MIT */
/*
 * Trace events as tracks of a Chrome trace, beside those of the samples: which thread a CPU ran, its interrupts, and
 * all other events; and the system calls of each thread. What ended since events were lost is marked (trace_spans.h).
 */
#ifndef CHROME_EVENTS_H
#define CHROME_EVENTS_H

#include <stdbool.h>

struct sample_set;
struct set_writing;

/* Each event is written behind a comma. Nothing is written of a set without events. False with `error` set. */
bool chrome_events_put(const struct sample_set *set, const struct set_writing *writing, char **error);

#endif
