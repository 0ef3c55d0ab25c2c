/* SPDX-License-Identifier: MIT */
/*
 * Lets the bytes of a port gather where few come, so that the thread wakes for many at a time: when all that was there
 * is read, and little came of late, the next read may wait for GATHER_MS. Where more comes, it is read at once: each
 * burst of a fast guest begins with little, and its socket is full soon.
 *
 * Pure: the caller gives the times, in ns of util_now.
 */
#ifndef GATHER_H
#define GATHER_H

#include <stddef.h>
#include <stdint.h>

/* Less than GATHER_LITTLE bytes in GATHER_SPAN_MS or more are few: in GATHER_MS they fill no socket. */
enum { GATHER_MS = 40, GATHER_SPAN_MS = 100, GATHER_LITTLE = 131072 };

struct gather {				/* starts as { 0 } */
	uint64_t since;			/* the present span began then; a read after GATHER_SPAN_MS ends it */
	size_t got, before;		/* bytes in this span, and in the one before it */
	size_t piece;			/* bytes since the socket was last empty */
	uint64_t until;			/* bytes need not be read before */
};

/* A read took so many bytes. 0: there is nothing more now. */
void gather_took(struct gather *gather, size_t size, uint64_t now);

#endif
