/* SPDX-License-Identifier: MIT */
/*
 * Holds what a guest's bytes cost ktop, in processor time, to a bound. What the ingest thread does is
 * judged step by step, by the step's own bytes. What other threads do, free earlier boots above all,
 * was paid for by all bytes of the input, and is judged at its end, when they are done.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum { JUDGE_LEVELS = 12 };

struct judge {
	double honest;			/* ns that a byte of an honest guest costs */
	uint64_t begun, all_begun;	/* of this step, of the input; ns */
	bool too_dear;			/* something was, so far */
};

struct judge_bill {
	const char *what;
	uint64_t bytes;			/* that pay it */
	uint32_t boots;			/* each may cost something, whatever its bytes */
};

/* Waits until no other thread runs: an earlier input's may still. */
void judge_begin(struct judge *judge);
void judge_step(struct judge *judge);	/* the step begins here */

/* The honest guest's step ends. */
void judge_honest(struct judge *judge, uint64_t bytes);

/* The step, or the input, ends. How much dearer than honest it was: 0 to JUDGE_LEVELS - 1. */
int judge_end_step(struct judge *judge, const struct judge_bill *bill);
int judge_end(struct judge *judge, const struct judge_bill *bill);

#endif
