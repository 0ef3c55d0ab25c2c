/* SPDX-License-Identifier: MIT */
/*
 * Any context. Each function writes one field at `to`, into an event's payload (wire.h), and returns where the next
 * field goes. The caller has seen to the room.
 */
#ifndef KTOP_PUT_H
#define KTOP_PUT_H

#include <stdint.h>

#include "str.h"

/* A fixed field, or several in a row, as they lie in memory. */
static inline uint8_t *ktop_put(uint8_t *to, const void *bytes, uint32_t size)
{
	if (size)
		__builtin_memcpy(to, bytes, size);
	return to + size;
}

/* A list of `size` bytes: their count, then the bytes. */
static inline uint8_t *ktop_put_list(uint8_t *to, const void *bytes, uint32_t size)
{
	uint16_t count = (uint16_t)size;

	return ktop_put(ktop_put(to, &count, sizeof(count)), bytes, size);
}

/* A text, cut to at most `max` bytes between two characters. NULL becomes the empty text. */
static inline uint8_t *ktop_put_text(uint8_t *to, const char *text, uint32_t max)
{
	return ktop_put_list(to, text, ktop_str_fit(text, max));
}

#endif
