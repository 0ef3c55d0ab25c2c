/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format: https://www.speedscope.app/file-format-schema.json. The first profile has the sums of all
 * CPUs. Behind it each CPU has one, with its samples in order of time. A frame is a function of the set.
 */
#ifndef SPEEDSCOPE_H
#define SPEEDSCOPE_H

#include "set_format.h"

extern const struct set_format format_speedscope;

#endif
