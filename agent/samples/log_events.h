/* SPDX-License-Identifier: MIT */
/* Trace events of a sample set out of a sample log. */
#ifndef LOG_EVENTS_H
#define LOG_EVENTS_H

#include <stdint.h>

#include "sample_set.h"

struct filter;
struct sample_log;

/*
 * Gives the set the trace events of this log, which it holds: those in [from, to), of the CPUs that the filter lets
 * pass. What else a filter says is of samples. Nothing is given where nothing was traced.
 */
void log_events_give(struct sample_set *set, struct sample_log *log, const struct filter *filter, uint64_t from,
	uint64_t to);

#endif
