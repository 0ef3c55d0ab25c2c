/* SPDX-License-Identifier: MIT */
/*
 * What reports have borrowed from one guest: that its profiler is on, a rate, a sampler. Several reports share a loan.
 * When the last one returns it, the guest is set as it was before. What a person sets meanwhile ends the loan, and
 * stays. Pure: the caller sends the control lines.
 */
#ifndef LOAN_H
#define LOAN_H

#include <stdbool.h>
#include <stdint.h>

struct loan_setting {			/* starts as { 0 } */
	unsigned holders;
	uint32_t wanted;		/* the value that all holders want: a rate in Hz, or an enum sampler */
	uint32_t before;		/* the value to set again, if `changed` */
	bool changed;			/* the loan changed it, and the guest has not confirmed the old value yet */
};

struct loan {				/* starts as { 0 } */
	unsigned profiler;		/* reports for which the profiler is on, or is being turned on */
	bool kept;			/* a person turned it on, too: it stays on after the reports */
	unsigned closing;		/* reports that turned it off and still wait for its last counts */
	uint64_t closed;		/* guest ns when such a wait last ended, after all their samples; 0: never */
	struct loan_setting rate, sampler;
};

void loan_profiler_set(struct loan *loan, bool on);	/* a person turned the profiler on or off */
void loan_line_obeyed(struct loan *loan, const char *answer);	/* the guest's answer to a person's control line */
/* The guest has booted anew: its settings are no longer the reports' doing, so none is set back. */
void loan_forget(struct loan *loan);

/* A report is done with the profiler. True: nobody else wants it on, so the caller turns it off. */
bool loan_return_profiler(struct loan *loan);

/* `now`: the present value. False: the setting is lent with another value. */
bool loan_take(struct loan_setting *setting, uint32_t wanted, uint32_t now);

/* True: that was the last holder, and the caller has to set `before` again. */
bool loan_return(struct loan_setting *setting);

void loan_settled(struct loan_setting *setting);	/* the guest confirmed `before`; ignored if lent again */

#endif
