/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "turn.h"

void turn_begin(struct turn *turn, uint64_t now)
{
	turn->end = now + TURN_MS * NS_PER_MS;
}

void turn_boot(struct turn *turn, uint64_t now)
{
	const uint64_t each = TURN_BOOT_MS * NS_PER_MS, saved = TURN_BOOTS * each;

	if (turn->boots + saved < now)
		turn->boots = now - saved;
	turn->boots += each;
}

bool turn_goes_on(const struct turn *turn, uint64_t now)
{
	return now < turn->end && !turn_pause(turn, now);
}

uint64_t turn_pause(const struct turn *turn, uint64_t now)
{
	return turn->boots > now ? turn->boots - now : 0;
}
