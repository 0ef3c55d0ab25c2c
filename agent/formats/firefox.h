/* SPDX-License-Identifier: MIT */
/*
 * A profile for Firefox Profiler (profiler.firefox.com): its processed format, version 61. Each CPU is a track. A frame
 * is a function at a location of the set, with what was inlined there. The profile's tables are lists for each column,
 * so the rows are read once for each column of each CPU. A sample weighs its CPU time, in milliseconds.
 */
#ifndef FIREFOX_H
#define FIREFOX_H

#include "set_format.h"

extern const struct set_format format_firefox;

#endif
