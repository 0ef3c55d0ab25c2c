/* SPDX-License-Identifier: MIT */
/*
 * The profile of an excerpt, for a report: the table of its functions, and what has to be said about it. It is partial
 * while source lines or inlined functions are still being read.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/symbols.h"
#include "agent/wire/decode.h"
#include "answer.h"

struct profile_request {
	struct request request;
	bool callers;			/* the callers of all functions are wanted (query_callers) */
	bool lines;			/* source lines are wanted at all addresses of the stacks */
	bool inlined;			/* inlined functions are wanted as frames of stacks (query_stacks) */
};

struct profile_books {
	struct books samples, trace;
};

struct profile {
	struct answer answer;
	struct question question;	/* what `table` answers. Its reader lasts as long as the subscription */
	struct table *table;		/* not sorted; NULL: no boot was seen yet */
	double missed;			/* share of the time, 0 to 1, for which the host did not run the CPUs */
	bool sampled;			/* the range has samples, whether they pass the filter or not */
	uint64_t unnamed;		/* weight of the table's samples whose code has no name */
	uint64_t unnamed_callers;	/* likewise, of those whose code has one, but a caller has none */
	char outside[SYMBOLS_OUTSIDE];	/* symbols_outside_note, of the samples of the range */
	uint32_t unread;		/* at how many addresses inlined functions are not known yet */
	struct profile_books *books;	/* by CPU, cpu_count of them; NULL: not known, since the boot is over */
	uint32_t cpu_count;
	uint64_t lost;			/* samples of all CPUs, by these books */
};

enum { PROFILE_TOLD_PERCENT = 1 };	/* so many unnamed callers, or more, are told */

extern const struct answer_kind profile_kind;

/* The share of unnamed callers, 0 to 1; 0: so few that nobody has to know. */
double profile_unnamed_callers(const struct profile *profile);

#endif
