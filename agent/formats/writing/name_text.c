/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
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

/* The value of the lower-case digit; 16: it is none. */
static unsigned digit(char text)
{
	return text >= '0' && text <= '9' ? (unsigned)(text - '0') : text >= 'a' && text <= 'f' ?
		(unsigned)(text - 'a') + 10 : 16;
}

/* Is this what name_text_put writes of the name? */
static bool is_text_of(const char *text, size_t size, const char *name)
{
	char piece[NAME_PIECE];

	for (size_t length; (length = name_text_next(&name, "", piece)); text += length, size -= length)
		if (length > size || memcmp(text, piece, length) != 0)
			return false;
	return !size;
}

void name_text_back(const char *text, size_t size, char *name)
{
	char *end = name;

	for (size_t i = 0; i < size; i++) {
		bool coded = size - i >= 4 && text[i] == '\\' && text[i + 1] == 'x' && digit(text[i + 2]) < 16 &&
			digit(text[i + 3]) < 16;

		*end++ = coded ? (char)(digit(text[i + 2]) << 4 | digit(text[i + 3])) : text[i];
		i += coded ? 3 : 0;
	}
	*end = 0;
	if (end == name + size || is_text_of(text, size, name))
		return;
	memcpy(name, text, size);
	name[size] = 0;
}
