/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../wire.h"
#include "str.h"

_Static_assert(sizeof((struct ktop_str) { 0 }.bytes) == KTOP_TEXT_MAX, "one text of the wire");

void ktop_str_add(struct ktop_str *text, const char *string)
{
	while (*string && text->size < sizeof(text->bytes))
		text->bytes[text->size++] = *string++;
}

void ktop_str_number(struct ktop_str *text, uint64_t number)
{
	char digits[21] = "";		/* 2^64 has 20, and a zero ends them */
	uint32_t at = sizeof(digits) - 1;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	ktop_str_add(text, digits + at);
}

void ktop_str_set(struct ktop_str *text, const char *string)
{
	text->size = 0;
	ktop_str_add(text, string);
}

bool ktop_str_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool ktop_str_parse(const char *string, uint32_t *number)
{
	uint64_t value = 0;
	const char *at;

	for (at = string; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
		value = 10 * value + (uint64_t)(*at - '0');
	*number = (uint32_t)value;
	return at != string && *at == 0 && value <= UINT32_MAX;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ktop_str_parse_hex(const char *string, uint64_t *number)
{
	const char *at;

	*number = 0;
	for (at = string; digit_of(*at) >= 0 && at - string < 16; at++)
		*number = 16 * *number + (uint64_t)digit_of(*at);
	return at != string && *at == 0;
}

uint32_t ktop_str_fit(const char *string, uint32_t max)
{
	uint32_t size = 0;

	if (string == NULL)
		return 0;
	while (size < max && string[size])
		size++;
	if (string[size])
		while (size && (string[size] & 0xc0) == 0x80)	/* a byte inside a character */
			size--;
	return size;
}
