/* SPDX-License-Identifier: MIT */
/*
 * Texts in CSV. Within a field, backslash and control characters are written as in C, and so is a first character that
 * spreadsheets take for the beginning of a formula. Quotation marks are doubled. So different names stay different.
 */
#ifndef CSV_TEXT_H
#define CSV_TEXT_H

#include <stdio.h>

void csv_text_put(FILE *to, const char *text);		/* a field, with its quotation marks */

/* A part of a field, without them. `special`: characters that get a backslash, too. */
void csv_text_part(FILE *to, const char *text, const char *special);

#endif
