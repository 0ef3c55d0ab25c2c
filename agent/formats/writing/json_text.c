/* SPDX-License-Identifier: MIT */
#include "json_text.h"
#include "name_text.h"

/* A '<' is escaped, too: so the text is harmless inside of a page's <script>. */
void json_text_put(FILE *to, const char *name)
{
	char piece[NAME_PIECE];

	putc('"', to);
	for (size_t size; (size = name_text_next(&name, "", piece));) {
		if (*piece == '<') {
			fputs("\\u003c", to);
			continue;
		}
		if (*piece == '"' || *piece == '\\')
			putc('\\', to);
		fwrite(piece, 1, size, to);
	}
	putc('"', to);
}
