/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "string.h"

void *memcpy(void *to, const void *from, size_t size)
{
	void *at = to;
	size_t words = size / 8, bytes = size % 8;

	__asm__ volatile("rep movsq" : "+D"(at), "+S"(from), "+c"(words) :: "memory");
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) :: "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	uint8_t *last = (uint8_t *)to + size - 1;
	const uint8_t *source = (const uint8_t *)from + size - 1;

	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	__asm__ volatile("std; rep movsb; cld" : "+D"(last), "+S"(source), "+c"(size) :: "memory");
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	void *at = to;
	size_t words = size / 8, bytes = size % 8;
	uint64_t word = (uint8_t)byte * 0x0101010101010101ull;

	__asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(word) : "memory");
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(word) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const uint8_t *left = a, *right = b;

	for (size_t i = 0; i < size; i++) {
		if (left[i] != right[i])
			return left[i] - right[i];
	}
	return 0;
}

size_t text_length(const char *text)
{
	size_t length = 0;

	while (text[length] != '\0')
		length++;
	return length;
}

bool text_same(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

void text_copy(char *to, const char *from, size_t size)
{
	size_t length = text_length(from);

	if (length > size - 1)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}
