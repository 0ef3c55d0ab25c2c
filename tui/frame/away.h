/* SPDX-License-Identifier: MIT */
/* Remarks that were put away: the same for one whose numbers alone have changed. */
#ifndef AWAY_H
#define AWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AWAY_MOST = 32 };

struct away {				/* starts as { 0 } */
	uint64_t marks[AWAY_MOST];
	size_t count;
};

bool away_has(const struct away *away, const char *remark);
void away_put(struct away *away, const char *remark);	/* one more than AWAY_MOST is left out */

#endif
