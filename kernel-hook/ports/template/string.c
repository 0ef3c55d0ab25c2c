/* SPDX-License-Identifier: MIT */
/* memcpy and memset, which compilers call, for a kernel that has none of its own. */
#include <stddef.h>
#include <stdint.h>

#include "template.h"

/*
 * Hides from the compiler how far the pointer moves. Else it may recognize such a loop, and replace it by a call of the
 * function itself.
 */
#define OPAQUE(pointer) __asm__ volatile("" : "+r"(pointer))

__attribute__((weak)) void *memcpy(void *to, const void *from, size_t size)
{
	uint8_t *at = to;
	const uint8_t *next = from;

	for (; size >= 8; size -= 8, at += 8, next += 8) {
		__builtin_memcpy(at, next, 8);
		OPAQUE(at);
	}
	while (size--) {
		*at++ = *next++;
		OPAQUE(at);
	}
	return to;
}

__attribute__((weak)) void *memset(void *to, int byte, size_t size)
{
	uint8_t *at = to;

	while (size--) {
		*at++ = (uint8_t)byte;
		OPAQUE(at);
	}
	return to;
}
