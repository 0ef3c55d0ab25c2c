/* SPDX-License-Identifier: MIT */
#include "json_text.h"
#include "name_text.h"

/* A '<' is escaped, too: so the text is harmless inside of a page's <script>. */
void json_text_put_part(FILE *to, const char *name)
{
	char piece[NAME_PIECE];

	for (size_t size; (size = name_text_next(&name, "", piece));) {
		if (*piece == '<') {
			fputs("\\u003c", to);
			continue;
		}
		if (*piece == '"' || *piece == '\\')
			putc('\\', to);
		fwrite(piece, 1, size, to);
	}
}

void json_text_put(FILE *to, const char *name)
{
	putc('"', to);
	json_text_put_part(to, name);
	putc('"', to);
}
