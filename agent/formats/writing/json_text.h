/* SPDX-License-Identifier: MIT */
/* Texts in JSON that is written straight to a stream. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stdio.h>

/* Writes a string with its quotation marks. What it says is the name's harmless text (name_text.h). */
void json_text_put(FILE *to, const char *name);

void json_text_put_part(FILE *to, const char *name);	/* without them: a part of a string */

#endif
