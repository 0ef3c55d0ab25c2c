/* SPDX-License-Identifier: MIT */
/* Why an epoch's numbers and names cannot be trusted in full: first what was lost, then which names are missing. */
#ifndef REMARKS_H
#define REMARKS_H

#include <stddef.h>
#include <stdint.h>

struct epoch;

enum { REMARKS_SIZE = 1024 };

/*
 * Writes the remarks on what is shown from guest time `from` on, with `between` between two of them; "" if all is well.
 * A loss that has not grown since `from` is left out. `outside`: symbols_outside_note. Returns `text`. Ingest thread.
 */
const char *remarks_text(struct epoch *epoch, uint64_t from, const char *outside, const char *between, char *text,
	size_t size);

/* Why code that ran between two guest times, in ns, has no name at present. Returns `text`. Ingest thread. */
enum { REMARKS_INCOMPLETE = 320 };
const char *remarks_incomplete(struct epoch *epoch, uint64_t from, uint64_t to, char text[REMARKS_INCOMPLETE]);

#endif
