/* SPDX-License-Identifier: MIT */
/*
 * The text of `perf script`, as scripts that fold stacks read it: for each sample a line that says who ran, when and
 * where, then its frames, the leaf first, and an empty line. The samples of a row share its weight, which stands as the
 * period of the event cpu-clock, in nanoseconds. So scripts that add up periods get the time, and those that count
 * events the samples. Of names, what these scripts would cut or split is written as \xHH.
 */
#ifndef PERF_SCRIPT_H
#define PERF_SCRIPT_H

#include "set_format.h"

extern const struct set_format format_perf_script;

#endif
