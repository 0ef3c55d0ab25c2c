/* SPDX-License-Identifier: MIT */
/* The remarks that the user has put away. Remarks that differ only in their numbers are the same remark. */
#ifndef AWAY_H
#define AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AWAY_MOST = 32 };

struct away {				/* starts as { 0 } */
	uint64_t marks[AWAY_MOST];	/* hashes of the remarks, without their digits */
	size_t count;
};

bool away_has(const struct away *away, const char *remark);
void away_put(struct away *away, const char *remark);	/* ignored if there are AWAY_MOST already */

#endif
