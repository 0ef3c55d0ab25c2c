/* SPDX-License-Identifier: MIT */
/* Bounded text without a libc. */
#ifndef KTOP_STR_H
#define KTOP_STR_H

#include <stdbool.h>
#include <stdint.h>

/* Grows up to KTOP_TEXT_MAX bytes, then drops; without a terminating zero. */
struct ktop_str {
	uint32_t size;
	char bytes[1024];
};

void ktop_str_add(struct ktop_str *text, const char *string);
void ktop_str_number(struct ktop_str *text, uint64_t number);
void ktop_str_set(struct ktop_str *text, const char *string);

bool ktop_str_same(const char *a, const char *b);

/* Decimal digits alone, below 2^32. */
bool ktop_str_parse(const char *string, uint32_t *number);

/* How many bytes of a string fit into `max` without cutting a UTF-8 character; NULL: 0. */
uint32_t ktop_str_fit(const char *string, uint32_t max);

#endif
