/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "name_text.h"

size_t name_text_next(const char **text, const char *special, char piece[NAME_PIECE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char byte = (unsigned char)**text;
	uint32_t point;
	size_t size = util_utf8(*text, strnlen(*text, NAME_PIECE), &point);

	if (!byte)
		return 0;
	if (size && util_is_printable(point) && byte != '\\' && !strchr(special, byte)) {
		memcpy(piece, *text, size);
		*text += size;
		return size;
	}
	piece[0] = '\\';
	piece[1] = 'x';
	piece[2] = digits[byte >> 4];
	piece[3] = digits[byte & 15];
	++*text;
	return 4;
}

void name_text_put(FILE *to, const char *text, const char *special)
{
	char piece[NAME_PIECE];

	for (size_t size; (size = name_text_next(&text, special, piece));)
		fwrite(piece, 1, size, to);
}
