/* SPDX-License-Identifier: MIT */
/* Bytes and texts. Any context. Compilers call the first four by themselves. */
#ifndef STRING_H
#define STRING_H

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

size_t text_length(const char *text);
bool text_same(const char *a, const char *b);

/* Copies what fits into `size` bytes, with a terminating zero. */
void text_copy(char *to, const char *from, size_t size);

#endif
