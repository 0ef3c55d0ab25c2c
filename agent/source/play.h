/* SPDX-License-Identifier: MIT */
/* How a recording is played: what its user wants, and how it stands. */
#ifndef PLAY_H
#define PLAY_H

#include <stdbool.h>
#include <stdint.h>

enum play_kind {
	PLAY_PAUSE,			/* or go on */
	PLAY_FASTER, PLAY_SLOWER,	/* twice, half */
	PLAY_STEP,			/* pause, and a tenth of a second on */
	PLAY_TO, PLAY_BY,		/* a guest time; from the present one */
	PLAY_NEXT_BOOT, PLAY_PREVIOUS_BOOT,
};

struct play {
	enum play_kind kind;
	int64_t ns;			/* of PLAY_TO and PLAY_BY */
};

enum { PLAY_SLOWEST = -6, PLAY_FASTEST = 10 };

/* "1:30", "90", "+30": a time, or how far from here. False with "why; what to do" in `error`. */
bool play_parse(const char *text, struct play *play, char **error);

struct play_state {
	bool there;			/* a recording is played; else nothing of this is so */
	bool playing, over;		/* over: the end of its last boot is reached */
	int speed;			/* 2 to this power, against the guest's */
	uint64_t at, begin, end;	/* guest ns, in the present boot */
	uint32_t boot, boots;		/* from 1; how many there are */
};

#endif
