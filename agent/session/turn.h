/* SPDX-License-Identifier: MIT */
/*
 * How much of what a guest sends is decoded before others have their turn: whoever wants to end the
 * program, or a picture. And how often it may boot: each boot makes much anew, and a guest that
 * boots faster is read no faster. Times are those of util_now.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TURN_MS = 20,			/* or a packet, when that takes longer */
	TURN_BOOTS = 16,		/* at once; then one in TURN_BOOT_MS */
	TURN_BOOT_MS = 125,
};

struct turn {
	uint64_t end;
	uint64_t boots;			/* the time at which so many boots would have been due */
};

void turn_begin(struct turn *turn, uint64_t now);
void turn_boot(struct turn *turn, uint64_t now);

/* Before the next packet. */
bool turn_goes_on(const struct turn *turn, uint64_t now);

/* How long nothing is to be decoded, ns: 0, unless it boots too fast. */
uint64_t turn_pause(const struct turn *turn, uint64_t now);

#endif
