/* SPDX-License-Identifier: MIT */
/* How fields are laid into an event's payload; each returns where the next byte goes. */
#ifndef KTOP_PUT_H
#define KTOP_PUT_H

#include <stdint.h>

#include "str.h"

static inline uint8_t *ktop_put(uint8_t *to, const void *bytes, uint32_t size)
{
	if (size)
		__builtin_memcpy(to, bytes, size);
	return to + size;
}

/* Of bytes. */
static inline uint8_t *ktop_put_list(uint8_t *to, const void *bytes, uint32_t size)
{
	uint16_t count = (uint16_t)size;

	return ktop_put(ktop_put(to, &count, sizeof(count)), bytes, size);
}

/* At most so many bytes of it; NULL: none. */
static inline uint8_t *ktop_put_text(uint8_t *to, const char *text, uint32_t max)
{
	return ktop_put_list(to, text, ktop_str_fit(text, max));
}

#endif
