/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "pace.h"

enum {
	WHOLE = 10000,			/* all of the thread's time */
	ANSWERS = 25,			/* so much of it may always go to one screen's answers */
	READING_TO_ANSWERS = 4,		/* or one part in so many of what reading takes */
	MUCH = 500, MUCH_TIMES = 4,	/* or so many times what reading takes beyond this, */
	MOST = WHOLE / 2,		/* and never more */
	FRAME_US = 250,			/* half of what a round costs besides its answers: wakes and a frame */
	MEASURE_MS = 100,		/* reading is measured over this time at least */
};

void pace_begin(struct pace *pace, uint64_t now, uint64_t worked)
{
	uint64_t read = worked - pace->answered, passed = now - pace->since;

	if (passed < (uint64_t)MEASURE_MS * NS_PER_MS)
		return;
	pace->reading = (uint32_t)((read - pace->read) * WHOLE / passed);
	pace->since = now;
	pace->read = read;
}

void pace_end(struct pace *pace, uint64_t began, uint64_t worked)
{
	pace->answered += worked - began;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

uint64_t pace_pause(const struct pace *pace, uint64_t cost)
{
	uint32_t much = pace->reading > MUCH ? MUCH_TIMES * (pace->reading - MUCH) : 0;
	uint32_t most = larger(larger(ANSWERS, pace->reading / READING_TO_ANSWERS), much < MOST ? much : MOST);
	uint64_t round = cost + (uint64_t)FRAME_US * NS_PER_MS / 1000;
	uint64_t pause = round * WHOLE / most, longest = (uint64_t)PACE_LONGEST_MS * NS_PER_MS;

	return pause < longest ? pause : longest;
}
