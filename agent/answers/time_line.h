/* SPDX-License-Identifier: MIT */
/*
 * What ran over all that is kept, or its last hour: kernel, user, idle, and how much of it had one function on the
 * stack. The row at the foot of each view asks for it. Of its excerpt only the filter counts.
 */
#ifndef TIME_LINE_H
#define TIME_LINE_H

#include <stdint.h>

#include "agent/query/series.h"
#include "answer.h"

/* Compared as bytes: it has no padding. */
struct time_line_request {
	struct request request;
	uint64_t of;			/* the tree_name of a function; 0: none */
	uint64_t slots;			/* the most that are wanted: 1 to SERIES_SLOTS */
};

struct time_line {
	struct answer answer;
	uint64_t of;			/* the request's */
	uint64_t now;			/* guest ns */
	struct series series;		/* no slot until the guest has told of itself */
};

extern const struct answer_kind time_line_kind;

#endif
