/* SPDX-License-Identifier: MIT */
/* Bounded text without a C library. Any context. */
#ifndef KTOP_STR_H
#define KTOP_STR_H

#include <stdbool.h>
#include <stdint.h>

/* A text of up to KTOP_TEXT_MAX bytes. What exceeds them is dropped. There is no terminating zero. */
struct ktop_str {
	uint32_t size;			/* bytes in use */
	char bytes[1024];
};

/* Adds a string; adds a number in decimal; begins anew with a string. */
void ktop_str_add(struct ktop_str *text, const char *string);
void ktop_str_number(struct ktop_str *text, uint64_t number);
void ktop_str_set(struct ktop_str *text, const char *string);

/* Are these two strings equal? */
bool ktop_str_same(const char *a, const char *b);

/* Reads a decimal number. False: the string is empty, has other characters, or is 2^32 or more. */
bool ktop_str_parse(const char *string, uint32_t *number);

/* Likewise a hexadecimal number, without a prefix, in at most 16 digits. */
bool ktop_str_parse_hex(const char *string, uint64_t *number);

/* How many bytes of a string fit into `max`, with no UTF-8 character cut. NULL has 0. */
uint32_t ktop_str_fit(const char *string, uint32_t max);

#endif
