/* SPDX-License-Identifier: MIT */
/* Playing a recording: the orders that a user gives, and the state of the player. */
#ifndef PLAY_H
#define PLAY_H

#include <stdbool.h>
#include <stdint.h>

enum play_kind {
	PLAY_PAUSE,			/* or go on, if it is paused */
	PLAY_FASTER, PLAY_SLOWER,	/* double the speed, halve it */
	PLAY_STEP,			/* pause, and advance a tenth of a second */
	PLAY_TO, PLAY_BY,		/* jump to a guest time; jump by a distance. From PLAY_TO on all are jumps */
	PLAY_NEXT_BOOT, PLAY_PREVIOUS_BOOT,
};

struct play {
	enum play_kind kind;
	int64_t ns;			/* of PLAY_TO: guest time; of PLAY_BY: distance, negative is back */
};

enum { PLAY_SLOWEST = -6, PLAY_FASTEST = 10 };	/* powers of 2, as `speed` below */

/*
 * Reads "1:30" or "90" as PLAY_TO, "+30" or "-30" as PLAY_BY. False for anything else, with the text, why, and what
 * to do in `error`.
 */
bool play_parse(const char *text, struct play *play, char **error);

struct play_state {
	bool there;			/* the source is a recording; if not, no other field counts */
	bool playing, over;		/* over: it stopped because the last boot has ended */
	int speed;			/* 2 to this power times the guest's speed */
	uint64_t at, begin, end;	/* guest ns: position in the present boot, and the boot's limits */
	bool jumping;			/* it has jumped, and packets up to there are still to be read */
	uint32_t taken;			/* orders of enum play_kind that were done */
	uint32_t boot, boots;		/* number of the present boot, from 1; number of all */
};

#endif
