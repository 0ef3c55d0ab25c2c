/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "play.h"

#define SECONDS_MOST 1e9

#define DIGITS "0123456789"

/* Reads "1:02:03.5" and returns seconds, or a negative number if the text is not a time. */
static double seconds_of(const char *text)
{
	double seconds = 0;

	for (int parts = 0; parts < 3; parts++) {
		size_t size = strspn(text, DIGITS);
		size_t fraction = text[size] == '.' ? 1 + strspn(text + size + 1, DIGITS) : 0;

		if (!size)
			return -1;
		seconds = seconds * 60 + strtod(text, NULL);
		text += size + fraction;
		if (!*text)
			return seconds < SECONDS_MOST ? seconds : -1;
		if (*text++ != ':' || fraction)
			return -1;
	}
	return -1;
}

bool play_parse(const char *text, struct play *play, char **error)
{
	bool by = text[0] == '+' || text[0] == '-';
	double seconds = seconds_of(text + by);

	if (seconds < 0)
		return util_fail(error, "%s: not a time; give 90, 1:30, 1:00:00, or +30, -30 from here", text);
	play->kind = by ? PLAY_BY : PLAY_TO;
	play->ns = (int64_t)(seconds * (double)NS_PER_SECOND) * (text[0] == '-' ? -1 : 1);
	return true;
}
