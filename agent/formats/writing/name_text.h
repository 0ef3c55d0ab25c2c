/* SPDX-License-Identifier: MIT */
/*
 * Names as text that harms no reader: printable UTF-8. Every other byte, each backslash, and each of the characters
 * that mean something in the format becomes \xHH. So different names stay different.
 */
#ifndef NAME_TEXT_H
#define NAME_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { NAME_PIECE = 4 };		/* bytes */

/* Writes the next character of *text, or its \xHH, and moves *text behind it. Returns its size; 0: the text is over. */
size_t name_text_next(const char **text, const char *special, char piece[NAME_PIECE]);

void name_text_put(FILE *to, const char *text, const char *special);

/*
 * The name of which name_text_put wrote this text, without `special`; a text that it cannot have written is its own
 * name. The text has no zero, and may be any bytes. `name`: room for `size` bytes and a zero.
 */
void name_text_back(const char *text, size_t size, char *name);

#endif
