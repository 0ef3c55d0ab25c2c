/* SPDX-License-Identifier: MIT */
/* What stands in the way of trusting an epoch's numbers and names: losses first, then names. */
#ifndef REMARKS_H
#define REMARKS_H

#include <stddef.h>
#include <stdint.h>

struct epoch;

enum { REMARKS_SIZE = 1024 };

/*
 * Of what is shown from `from` on (guest ns), one after the other, `between` two of them; "" when all
 * is well. A loss that was seen to grow only before that is told no more. Returns `text`.
 */
const char *remarks_text(struct epoch *epoch, uint64_t from, const char *between, char *text,
	size_t size);

#endif
