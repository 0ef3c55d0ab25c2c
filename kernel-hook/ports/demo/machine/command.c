/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "string.h"

static char text[512];

void command_read(const char *line)
{
	text_copy(text, line, sizeof(text));
}

/* The value of the last word key=value: it ends at the next space, or with the line. NULL: there is no such word. */
static const char *find(const char *key)
{
	size_t length = text_length(key);
	const char *found = NULL;

	for (const char *word = text; *word != '\0';) {
		if (memcmp(word, key, length) == 0 && word[length] == '=')
			found = word + length + 1;
		while (*word != '\0' && *word != ' ')
			word++;
		while (*word == ' ')
			word++;
	}
	return found;
}

bool command_is(const char *key, const char *value)
{
	const char *at = find(key);
	size_t length = text_length(value);

	return at != NULL && memcmp(at, value, length) == 0 &&
		(at[length] == ' ' || at[length] == '\0');
}

uint32_t command_number(const char *key)
{
	const char *at = find(key);
	uint32_t number = 0;

	for (; at != NULL && *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint32_t)(*at - '0');
	return number;
}

const char *command_words(const char *key, char *to, size_t size)
{
	const char *at = find(key);
	size_t used = 0;

	for (; at != NULL && *at != ' ' && *at != '\0' && used + 1 < size; at++)
		to[used++] = *at == ',' ? ' ' : *at;
	to[used] = '\0';
	return at == NULL ? NULL : to;
}
