/* SPDX-License-Identifier: MIT */
/*
 * How long one kind of work goes on before others have their turn, and how often a guest may boot. A guest's bytes are
 * decoded for a turn; then the thread serves a reader who waits for an answer, or a user who ends the program. Each
 * boot builds much anew, so a guest that boots faster is read more slowly. Times are those of util_now.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TURN_MS = 20,			/* length of a turn; it ends with a packet, so it may be longer */
	TURN_BOOTS = 16,		/* so many boots may come at once, then one each TURN_BOOT_MS */
	TURN_BOOT_MS = 125,
};

struct turn {
	uint64_t end;			/* of the present turn */
	uint64_t boots;			/* when the next boot would be due if they came one each TURN_BOOT_MS */
};

void turn_begin(struct turn *turn, uint64_t now);
void turn_boot(struct turn *turn, uint64_t now);	/* the guest has booted */

/* Ask this before each packet. False: others have their turn. */
bool turn_goes_on(const struct turn *turn, uint64_t now);

/* For how many ns nothing may be decoded: 0, unless the guest boots too fast. */
uint64_t turn_pause(const struct turn *turn, uint64_t now);

#endif
