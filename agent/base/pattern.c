/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "pattern.h"

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

const char *pattern_find(const char *text, const char *pattern)
{
	return has_capital(pattern) ? strstr(text, pattern) : strcasestr(text, pattern);
}

bool pattern_match(const char *text, const char *pattern)
{
	return pattern_find(text, pattern);
}
