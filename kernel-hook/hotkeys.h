/* SPDX-License-Identifier: MIT */
/* The keys that start and stop profiling, as PS/2 set-1 codes. */
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

enum ktop_key_wish { KTOP_KEY_NOTHING, KTOP_KEY_START, KTOP_KEY_STOP };

struct ktop_keys {
	/* written by the drainer */
	bool plain;			/* A and B alone, instead of with Ctrl and Alt */
	bool told;			/* the host knows that they are heard */

	/* written by ktop_keys_heard */
	bool heard;			/* ktop_serio gets them */

	/* written by ktop_serio */
	uint8_t skip;			/* bytes left of a Pause sequence */
	bool extended;			/* the last byte was the prefix of a right-hand key */
	uint8_t held;			/* modifiers that are down */
	uint8_t owned;			/* keys that are down and were swallowed */
	uint32_t wish;			/* enum ktop_key_wish, taken by the drainer */
};

/* The drainer. What the keys asked for since the last call. */
enum ktop_key_wish ktop_keys_take(struct ktop_keys *keys);

/* The drainer. True once, when the kernel has said that it hears keys. */
bool ktop_keys_news(struct ktop_keys *keys);

/* The make codes to hold for each wish, in order; returns how many, at most 3; 0: none is heard. */
uint32_t ktop_keys_codes(const struct ktop_keys *keys, enum ktop_key_wish wish, uint8_t *codes);

#endif
