/* SPDX-License-Identifier: MIT */
/* The decoder of PS/2 set-1 codes. It follows only what it must know: modifiers, the letters A and B, and prefixes. */
#include <stdbool.h>
#include <stdint.h>

#include "hook.h"
#include "hotkeys.h"
#include "ktop.h"

enum {
	BREAK = 0x80,			/* set in the code of a key that is released */
	EXTENDED = 0xe0,		/* comes before the code of a right-hand or added key */
	PAUSE = 0xe1,			/* two bytes follow, which look like Ctrl */
};

/* Bits of `held`. */
enum { LEFT_CTRL = 1, RIGHT_CTRL = 2, LEFT_ALT = 4, RIGHT_ALT = 8 };
#define CTRL (LEFT_CTRL | RIGHT_CTRL)
#define ALT (LEFT_ALT | RIGHT_ALT)

static bool is_plain(const struct ktop_keys *keys)
{
	return __atomic_load_n(&keys->plain, __ATOMIC_RELAXED);
}

/* Notes a modifier that goes down or up. False: the key is no modifier. */
static bool modifier(struct ktop_keys *keys, uint8_t key, bool down)
{
	uint8_t bit = key == KTOP_KEY_CTRL ? LEFT_CTRL : key == KTOP_KEY_ALT ? LEFT_ALT : 0;

	if (keys->extended)
		bit = (uint8_t)(bit << 1);
	keys->held = (uint8_t)(down ? keys->held | bit : keys->held & ~bit);
	return bit != 0;
}

/* True: the letter belongs to ktop; its repeats and its release then do, too. */
static bool letter(struct ktop_keys *keys, uint8_t key, bool down)
{
	uint8_t bit = key == KTOP_KEY_ON ? KTOP_KEY_START : key == KTOP_KEY_OFF ? KTOP_KEY_STOP : 0;
	bool owned = keys->owned & bit;

	if (bit == 0 || keys->extended)
		return false;
	if (!down) {
		keys->owned = (uint8_t)(keys->owned & ~bit);
		return owned;
	}
	/* A press of a key that is down already asks again: its release may have been lost. */
	if (!is_plain(keys) && (!(keys->held & CTRL) || !(keys->held & ALT)))
		return owned;
	keys->owned |= bit;
	__atomic_store_n(&keys->wish, bit, __ATOMIC_RELAXED);
	return true;
}

bool ktop_serio(struct ktop *ktop, uint32_t index, uint8_t byte)
{
	struct ktop_keys *keys = &ktop->keys;
	uint8_t key = byte & ~BREAK;
	bool ours = false;

	if (index != 0)
		return false;
	if (keys->skip) {
		keys->skip--;
	} else if (byte == PAUSE) {
		keys->skip = 2;
	} else if (byte == EXTENDED) {
		keys->extended = true;
		return false;
	} else {
		ours = !modifier(keys, key, !(byte & BREAK)) && letter(keys, key, !(byte & BREAK));
	}
	keys->extended = false;
	return ours;
}

void ktop_keys_heard(struct ktop *ktop)
{
	__atomic_store_n(&ktop->keys.heard, true, __ATOMIC_RELAXED);
}

bool ktop_keys_news(struct ktop_keys *keys)
{
	if (keys->told || !__atomic_load_n(&keys->heard, __ATOMIC_RELAXED))
		return false;
	keys->told = true;
	return true;
}

enum ktop_key_wish ktop_keys_take(struct ktop_keys *keys)
{
	return __atomic_exchange_n(&keys->wish, KTOP_KEY_NOTHING, __ATOMIC_RELAXED);
}

uint32_t ktop_keys_codes(const struct ktop_keys *keys, enum ktop_key_wish wish, uint8_t *codes)
{
	uint32_t count = 0;

	if (!keys->told)
		return 0;
	if (!is_plain(keys)) {
		codes[count++] = KTOP_KEY_CTRL;
		codes[count++] = KTOP_KEY_ALT;
	}
	codes[count++] = wish == KTOP_KEY_START ? KTOP_KEY_ON : KTOP_KEY_OFF;
	return count;
}
