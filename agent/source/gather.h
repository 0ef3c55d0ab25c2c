/* SPDX-License-Identifier: MIT */
/*
 * Lets the bytes of a port gather where they come in small pieces, so that the thread wakes for many at a time: when
 * all that was there is read, and was little, the next read may wait for GATHER_MS. Where more comes, it is read at
 * once.
 *
 * Pure: the caller gives the times, in ns of util_now.
 */
#ifndef GATHER_H
#define GATHER_H

#include <stddef.h>
#include <stdint.h>

/* What is less than GATHER_LITTLE bytes is little: in GATHER_MS no more than a part of the socket's room. */
enum { GATHER_MS = 40, GATHER_LITTLE = 65536 };

struct gather {				/* starts as { 0 } */
	size_t got;			/* bytes since the socket was last empty */
	uint64_t until;			/* bytes need not be read before */
};

/* A read took so many bytes. 0: there is nothing more now. */
void gather_took(struct gather *gather, size_t size, uint64_t now);

#endif
