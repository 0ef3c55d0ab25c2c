/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "csv_text.h"

static void put_byte(FILE *to, unsigned char c, const char *special)
{
	if (c < ' ' || c == 0x7f)
		fprintf(to, "\\x%02x", c);
	else if (c == '\\' || strchr(special, c))
		fprintf(to, "\\%c", c);
	else if (c == '"')
		fputs("\"\"", to);
	else
		putc(c, to);
}

void csv_text_part(FILE *to, const char *text, const char *special)
{
	if (*text && strchr("=+-@", *text))
		fprintf(to, "\\x%02x", (unsigned char)*text++);
	for (; *text; text++)
		put_byte(to, (unsigned char)*text, special);
}

void csv_text_put(FILE *to, const char *text)
{
	putc('"', to);
	csv_text_part(to, text, "");
	putc('"', to);
}
