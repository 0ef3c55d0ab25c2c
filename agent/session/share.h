/* SPDX-License-Identifier: MIT */
/*
 * How the ingest thread's time is shared: half of it at most is for answers, the rest for the bytes that come, and each
 * reader has an equal claim on the half. An answer makes its reader owe the bytes as much time as it took. While
 * nothing is answered, each debt shrinks by the time that passes. Who owes nothing may be answered again. So the debt
 * of an expensive question holds up its own reader, and a cheap question is answered meanwhile. However many ask, the
 * time spent on answers is never more than the time spent on all else plus the debts that are still open.
 *
 * An answer is made in one piece, so long ones are kept apart: after a turn of answers a reader also rests for as long
 * as that turn took, or for as long as its own last answer took, if that is shorter. A reader's first answer may be a
 * long one, so it waits for the whole rest. A cheap question then waits for one turn at most: TURN_MS, and one answer.
 *
 * Pure: the caller gives the times, in ns of util_now.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {				/* one reader's; starts as { 0 } */
	struct share *next;		/* in the list of all */
	uint64_t answered;		/* when the last answer was made; 0: none was */
	uint64_t begun;			/* where the next pause begins: see share_answered; 0: none was made */
	uint64_t took;			/* ns that it took to make it */
	uint64_t rest;			/* the last turn's: no answer before this time */
	uint64_t debt;			/* ns without answers that are still to pass */
	uint32_t passed;		/* how many turns ended while this reader was due */
};

struct shares {				/* starts as { 0 } */
	struct share left;		/* the debts of readers who have left; then all the others, by `next` */
	uint64_t paid;			/* the time up to which debts are paid */
};

/* To list all shares: `last` is the one before this, at first `left`. Returns this one; the caller ends the list. */
struct share *share_list(const struct shares *shares, struct share *last, struct share *share);
void shares_pay(struct shares *shares, uint64_t now);	/* nothing was answered since the last payment */

/* After a turn of answers, and after share_answered for each answer that was made in it. */
void shares_rest(struct shares *shares, uint64_t begin, uint64_t end);

/* When the next answer is due if nobody else is answered before: after `pause`, and when the share allows it. */
uint64_t share_due(const struct shares *shares, const struct share *share, uint64_t pause);

bool share_allows(const struct share *share, uint64_t now);	/* after shares_pay: no debt, and its rest is over */

bool share_is_short(const struct share *share);	/* its last answer took no more than a turn */

/* Both are due: does this one come first? The one that was passed over more often does, else the cheaper one. */
bool share_is_before(const struct share *share, const struct share *other);

/*
 * Its answer was made in this time, after such a pause. If it was late by up to half of the pause, it does not put off
 * the next one: the pause after it is that much shorter.
 */
void share_answered(struct share *share, uint64_t pause, uint64_t begin, uint64_t end);
void share_passed(struct share *share);		/* it was due, and the turn ended before its answer */
void share_leave(struct shares *shares, const struct share *share);	/* its reader is gone; its debt stays */

#endif
