/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "metadata_text.h"

enum { TEXT_MAX = 1 << 20 };

char *metadata_text_read(int folder)
{
	int fd = util_file_read(folder, "metadata", O_NOFOLLOW, NULL);
	char *text = fd >= 0 ? util_alloc(TEXT_MAX + 1) : NULL;
	ssize_t got = fd >= 0 ? read(fd, text, TEXT_MAX) : 0;

	if (fd >= 0)
		close(fd);
	if (got > 0)
		return text;
	free(text);
	return NULL;
}

struct line {				/* NAME = "VALUE"; of the block of facts */
	const char *name, *value;
	size_t name_size, size;
};

/* The first line of the block of facts. NULL: the text has none. */
static const char *lines_of(const char *text)
{
	static const char begin[] = "\nenv {\n";
	const char *env = strstr(text, begin);

	return env ? env + strlen(begin) : NULL;
}

/* Reads the line at `*at`, and moves `*at` behind it. False: the block ends here, or was cut. */
static bool next_line(const char **at, struct line *line)
{
	static const char middle[] = " = \"", last[] = "\";";
	const char *end = strchr(*at, '\n'), *value;

	if (**at != '\t' || !end)
		return false;
	line->name = *at + 1;
	*at = end + 1;
	value = memmem(line->name, (size_t)(end - line->name), middle, strlen(middle));
	if (!value)
		return false;
	line->name_size = (size_t)(value - line->name);
	line->value = value + strlen(middle);
	line->size = (size_t)(end - line->value);
	if (line->size < strlen(last) || memcmp(end - strlen(last), last, strlen(last)) != 0)
		return false;
	line->size -= strlen(last);
	return true;
}

char *metadata_text_fact(const char *text, const char *name)
{
	const char *at = lines_of(text);
	struct line line;

	while (at && next_line(&at, &line))
		if (line.name_size == strlen(name) && memcmp(line.name, name, line.name_size) == 0)
			return util_copy(line.value, line.size);
	return NULL;
}

static int digit_of(char digit)
{
	return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Reads so many bytes of hex. False: there is something else. */
static bool read_hex(const char *digits, size_t bytes, uint8_t *to)
{
	for (size_t i = 0; i < bytes; i++) {
		int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (uint8_t)(16 * high + low);
	}
	return true;
}

/* The value has the event's id in its first four digits, the highest first, and then the payload. */
static bool read_said(const struct line *line, struct metadata_said *said)
{
	uint8_t id[2];

	if (line->name_size < strlen(METADATA_SAID) ||
			memcmp(line->name, METADATA_SAID, strlen(METADATA_SAID)) != 0 ||
			line->size % 2 || line->size < 4 || line->size - 4 > 2 * METADATA_SAID_MAX)
		return false;
	said->size = (uint16_t)(line->size / 2 - sizeof(id));
	if (!read_hex(line->value, sizeof(id), id) || !read_hex(line->value + 4, said->size, said->payload))
		return false;
	said->id = (uint16_t)(id[0] << 8 | id[1]);
	return true;
}

bool metadata_text_said(const char *text, const char **at, struct metadata_said *said)
{
	struct line line;

	if (!*at)
		*at = lines_of(text);
	while (*at && next_line(at, &line))
		if (read_said(&line, said))
			return true;
	return false;
}
