/* SPDX-License-Identifier: MIT */
/*
 * How often a screen is answered. A person reads some frames a second, and should not pay more for them than for what
 * they look at. So the answers of one screen together, with half of what the frames cost that show them, take at most a
 * four hundredth of a thread's time. If the thread spends more on the incoming bytes, they may take a quarter of that
 * instead; and where the bytes keep it busy, up to half of its time, so that a busy guest's screen is as lively as an
 * idle one's. Two rounds of answers come in each second anyway.
 *
 * Pure: the caller gives the times, in ns: `now` of util_now, `worked` of the thread's processor time.
 */
#ifndef PACE_H
#define PACE_H

#include <stdint.h>

enum { PACE_LONGEST_MS = 500 };		/* the longest pause between two rounds */

struct pace {				/* the thread's work; starts as { 0 } */
	uint64_t since;			/* from this time on its reading is measured */
	uint64_t read;			/* the processor time that it had spent on reading by then */
	uint64_t answered;		/* the processor time of all answers so far */
	uint32_t reading;		/* 1/10,000 of the time that went by, as last measured */
};

/* A turn of answers begins, and ends. */
void pace_begin(struct pace *pace, uint64_t now, uint64_t worked);
void pace_end(struct pace *pace, uint64_t began, uint64_t worked);

/* From the beginning of one round to that of the next, when a round's answers take `cost` ns. */
uint64_t pace_pause(const struct pace *pace, uint64_t cost);

#endif
