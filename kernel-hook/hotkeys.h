/* SPDX-License-Identifier: MIT */
/*
 * The keys that start and stop profiling: Ctrl+Alt+A and Ctrl+Alt+B, or A and B alone (plain). They come as PS/2
 * set-1 codes. ktop_serio() and the drainer tell each other single values, so they need no barrier.
 */
#ifndef KTOP_HOTKEYS_H
#define KTOP_HOTKEYS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_KEY_CTRL = 0x1d,
	KTOP_KEY_ALT = 0x38,
	KTOP_KEY_ON = 0x1e,		/* A */
	KTOP_KEY_OFF = 0x30,		/* B */
};

/* What a key asks for. */
enum ktop_key_wish { KTOP_KEY_NOTHING, KTOP_KEY_START, KTOP_KEY_STOP };

struct ktop_keys {
	/* written by the drainer */
	bool plain;			/* A and B alone, without Ctrl and Alt */
	bool told;			/* the host gets the codes: the kernel passes keys on */

	/* written by ktop_keys_heard */
	bool heard;			/* the kernel passes keys on to ktop_serio */

	/* written by ktop_serio */
	uint8_t skip;			/* bytes of a Pause sequence that are still to come */
	bool extended;			/* the last byte was EXTENDED: a right-hand or added key follows */
	uint8_t held;			/* bits of the modifiers that are down */
	uint8_t owned;			/* bits (enum ktop_key_wish) of the keys that are down and were dropped */
	uint32_t wish;			/* enum ktop_key_wish; the drainer takes it and sets it to nothing */
};

/* The drainer. Returns what the last key since the last call asked for. */
enum ktop_key_wish ktop_keys_take(struct ktop_keys *keys);

/* The drainer. True once: the kernel has said since the last call that it passes keys on. */
bool ktop_keys_news(struct ktop_keys *keys);

/* The drainer. Writes the make codes of a wish's keys, in order; returns how many, at most 3. 0: no key is heard. */
uint32_t ktop_keys_codes(const struct ktop_keys *keys, enum ktop_key_wish wish, uint8_t *codes);

#endif
