/* SPDX-License-Identifier: MIT */
/*
 * Limits the work that a guest's bytes may cost ktop (tests/unit/fakes/work.h). The ingest thread's is judged step by
 * step, by the bytes of that step. Other threads mostly free earlier boots; their work is judged by all bytes of the
 * input, at its end, once they are done.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stdbool.h>
#include <stdint.h>

enum { JUDGE_LEVELS = 12 };

struct judge {
	double honest;			/* units that a byte of an honest guest costs */
	uint64_t begun, all_begun;	/* units done when this step, and the input, began */
	bool too_dear;			/* some step was too dear so far */
};

struct judge_bill {
	const char *what;
	uint64_t bytes;			/* the bytes that caused the cost */
	uint32_t boots;			/* each boot may cost a fixed amount besides */
};

/* An input begins. Waits until all other threads rest, since one of an earlier input may still work. */
void judge_begin(struct judge *judge);
void judge_step(struct judge *judge);	/* the step begins here */

/*
 * So much was done while the guest's bytes waited for another thread. Little of it is what a wait costs: it is not
 * billed, however often it comes on a busy host.
 */
void judge_idle(struct judge *judge, uint64_t cost);

/* The step of the honest guest ends: it sets what a byte may cost. */
void judge_honest(struct judge *judge, uint64_t bytes);

/* The step, or the input, ends. Returns how much dearer than honest it was, from 0 to JUDGE_LEVELS - 1. */
int judge_end_step(struct judge *judge, const struct judge_bill *bill);
int judge_end(struct judge *judge, const struct judge_bill *bill);

#endif
