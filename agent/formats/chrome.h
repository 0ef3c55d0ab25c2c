/* SPDX-License-Identifier: MIT */
/*
 * The JSON of Chrome's traces, for Perfetto and chrome://tracing. Both show complete events (ph X), while Perfetto
 * leaves out the format's own lists of samples; so what samples have in common becomes an event. Each CPU is a track.
 * The lowest event on it is the thread, those above are functions, from the first sample that has them to the last. An
 * event tells the samples in it, so the sums of a track are those of its lowest events.
 */
#ifndef CHROME_H
#define CHROME_H

#include "set_format.h"

extern const struct set_format format_chrome;

#endif
