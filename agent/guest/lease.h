/* SPDX-License-Identifier: MIT */
/*
 * What reports have borrowed from one guest: that its profiler is on, a rate, a sampler. Several reports share a lease.
 * When the last one returns it, the guest is set as it was before. What a person sets meanwhile ends the lease, and
 * stays. Pure: the caller sends the control lines.
 */
#ifndef LEASE_H
#define LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct lease_setting {			/* starts as { 0 } */
	unsigned holders;
	uint32_t wanted;		/* the value that all holders want: a rate in Hz, or an enum sampler */
	uint32_t before;		/* the value to set again, if `changed` */
	bool changed;			/* the lease changed it, and the guest has not confirmed the old value yet */
};

struct lease {				/* starts as { 0 } */
	unsigned profiler;		/* reports for which the profiler is on, or is being turned on */
	bool kept;			/* a person turned it on, too: it stays on after the reports */
	unsigned closing;		/* reports that turned it off and still wait for its last counts */
	uint64_t closed;		/* guest ns when such a wait last ended, after all their samples; 0: never */
	struct lease_setting rate, sampler;
};

void lease_profiler_set(struct lease *lease, bool on);	/* a person turned the profiler on or off */
/* The guest has answered a person's control line. */
void lease_line_obeyed(struct lease *lease, const char *answer);
/* The guest has booted anew: its settings are no longer the reports' doing, so none is set back. */
void lease_forget(struct lease *lease);

/* A report is done with the profiler. True: nobody else wants it on, so the caller turns it off. */
bool lease_return_profiler(struct lease *lease);

/* `now`: the present value. False: the setting is held with another value. */
bool lease_take(struct lease_setting *setting, uint32_t wanted, uint32_t now);

/* True: that was the last holder, and the caller has to set `before` again. */
bool lease_return(struct lease_setting *setting);

void lease_settled(struct lease_setting *setting);	/* the guest confirmed `before`; ignored if it is held again */

#endif
