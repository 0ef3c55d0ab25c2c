/* SPDX-License-Identifier: MIT */
/* What the files of the query share. */
#ifndef QUERY_STATE_H
#define QUERY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window.h"

struct query {
	struct window window;
	uint32_t *places;		/* by function: where it stands in the answer being made */
	size_t place_count;
	bool placed;			/* some stand somewhere: they are to be cleared for the next answer */
	struct table *steady;		/* of all profiles but the newest; or NULL */
	uint64_t steady_mark;		/* of these */
};

#endif
