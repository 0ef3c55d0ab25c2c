/* SPDX-License-Identifier: MIT */
/*
 * What each CPU did, by time: the time line and the heat map as numbers. A slot is 20 ms of the guest's clock, or the
 * grain of the samples' times where that is coarser. Each CPU has a line in each slot, also without samples.
 */
#ifndef TIMES_H
#define TIMES_H

#include "set_format.h"

extern const struct set_format format_csv_times, format_json_times;

#endif
