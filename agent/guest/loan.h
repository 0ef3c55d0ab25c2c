/* SPDX-License-Identifier: MIT */
/*
 * What reports have borrowed of one guest: its profiler on, a rate, a sampler. Several share it; the
 * last one that has it gives it back. What a person sets meanwhile is nobody's loan any more: it stays.
 * Pure: the caller sends what is to be sent.
 */
#ifndef LOAN_H
#define LOAN_H

#include <stdbool.h>
#include <stdint.h>

struct loan_setting {			/* starts as { 0 } */
	unsigned holders;
	uint32_t wanted;		/* by all of them */
	uint32_t before;		/* to be set again, if changed */
	bool changed;			/* and it is not confirmed yet that it is as before */
};

struct loan {				/* starts as { 0 } */
	unsigned profiler;		/* reports for which it is on, or is being turned on */
	bool kept;			/* a person turned it on as well: it stays on */
	unsigned closing;		/* reports that turned it off and wait for its last count */
	uint64_t closed;		/* guest ns: nothing of theirs comes after that */
	struct loan_setting rate, sampler;
};

/* A person turned the profiler on, or off. Or had this answer of the guest to a control line. */
void loan_profiler_set(struct loan *loan, bool on);
void loan_line_obeyed(struct loan *loan, const char *answer);

/* The guest has booted anew: what it does now is its own. */
void loan_forget(struct loan *loan);

/* A report wants it on no more. True: nobody else does. */
bool loan_return_profiler(struct loan *loan);

/* `now`: what is set. False: it is lent as another value. */
bool loan_take(struct loan_setting *setting, uint32_t wanted, uint32_t now);

/* True: that was the last holder, and `before` is to be set again. */
bool loan_return(struct loan_setting *setting);

void loan_settled(struct loan_setting *setting);	/* it is as before, if nobody holds it */

#endif
