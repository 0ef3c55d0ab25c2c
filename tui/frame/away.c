/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "away.h"

/* The hash FNV-1a, of 64 bits, of all bytes but the digits. */
static uint64_t mark_of(const char *text)
{
	uint64_t mark = 0xcbf29ce484222325;

	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			mark = (mark ^ (unsigned char)*text) * 0x100000001b3;
	return mark;
}

bool away_has(const struct away *away, const char *remark)
{
	uint64_t mark = mark_of(remark);

	for (size_t i = 0; i < away->count; i++)
		if (away->marks[i] == mark)
			return true;
	return false;
}

void away_put(struct away *away, const char *remark)
{
	if (away->count < AWAY_MOST)
		away->marks[away->count++] = mark_of(remark);
}
