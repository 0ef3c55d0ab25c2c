/* SPDX-License-Identifier: MIT */
/*
 * Unpacks gzip, xz, zstd and lz4, as boot images contain them, and zstd as ELF files do. The only file that uses their
 * libraries.
 */
#ifndef UNPACK_H
#define UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

enum { UNPACK_MOST = 256 << 20 };	/* bytes; no kernel is larger */

struct unpacked {			/* unpack_free frees it */
	uint8_t *bytes;
	size_t size;			/* bytes in use; the budget is charged for `room` */
	size_t room;
};

/* Does it begin like a format that unpack knows? */
bool unpack_knows(const uint8_t *packed, size_t size);

/* What a file is that is packed, also in ways that unpack does not know, and what to do; `otherwise` if it is not. */
const char *unpack_told(int fd, const char *otherwise);

/*
 * The frames of a whole file of zstd or lz4 tell how large it is at most. Else the last four bytes tell the size once
 * unpacked: Linux puts them behind each payload, and gzip does, too. This takes that much memory and no more, and ends
 * where the input ends. False with `*why`.
 */
bool unpack(const uint8_t *packed, size_t size, struct budget *budget, struct unpacked *unpacked,
	const char **why);
void unpack_free(struct unpacked *unpacked, struct budget *budget);

/* Unpacks frames of zstd that are `room` bytes in all. False: they are not, or are damaged. */
bool unpack_zstd_all(const uint8_t *packed, size_t size, uint8_t *to, size_t room);

#endif
