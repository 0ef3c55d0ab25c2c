/* SPDX-License-Identifier: MIT */
/* What gzip, xz, zstd or lz4 has packed, as boot images hold it. The only file that knows their libraries. */
#ifndef UNPACK_H
#define UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

enum { UNPACK_MOST = 256 << 20 };	/* bytes: no kernel is larger */

struct unpacked {			/* as free as its budget_free */
	uint8_t *bytes;
	size_t size;			/* how many there are; `room` is paid for */
	size_t room;
};

/* Begins like something that unpack knows? */
bool unpack_knows(const uint8_t *packed, size_t size);

/*
 * The last four bytes say how large it is unpacked: Linux puts them behind every payload, and gzip has
 * them itself. It takes that much memory and no more, and ends with the input. False: *why says why.
 */
bool unpack(const uint8_t *packed, size_t size, struct budget *budget, struct unpacked *unpacked,
	const char **why);
void unpack_free(struct unpacked *unpacked, struct budget *budget);

#endif
