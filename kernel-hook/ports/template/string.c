/* SPDX-License-Identifier: MIT */
/* memcpy and memset, which compilers call, for a kernel that has none of its own. */
#include <stddef.h>
#include <stdint.h>

#include "template.h"

/* Keeps the compiler from recognizing such a loop, and replacing it by a call of the function itself. */
#define OPAQUE() __asm__ volatile("" ::: "memory")

__attribute__((weak)) void *memcpy(void *to, const void *from, size_t size)
{
	uint8_t *at = to;
	const uint8_t *next = from;

	for (; size >= 8; size -= 8, at += 8, next += 8) {
		__builtin_memcpy(at, next, 8);
		OPAQUE();
	}
	while (size--) {
		*at++ = *next++;
		OPAQUE();
	}
	return to;
}

__attribute__((weak)) void *memset(void *to, int byte, size_t size)
{
	uint8_t *at = to;

	while (size--) {
		*at++ = (uint8_t)byte;
		OPAQUE();
	}
	return to;
}
