/* SPDX-License-Identifier: MIT */
/* The jumps inside a listing as lines beside its instructions, in a few lanes; the innermost lane is the right one. */
#ifndef JUMPS_H
#define JUMPS_H

#include <stddef.h>
#include <stdint.h>

struct listing;

enum { JUMP_LANES = 4 };

/* Bits of a cell: the line comes from above, goes on below; a jump begins here, arrives here. */
enum { JUMP_ABOVE = 1, JUMP_BELOW = 2, JUMP_FROM = 4, JUMP_TO = 8 };

struct jumps {
	uint8_t (*cells)[JUMP_LANES];	/* by instruction, and by lane from the right */
	unsigned lanes;			/* in use */
};

/* Short jumps are drawn first; those for which no lane is free are left out. */
struct jumps jumps_new(const struct listing *listing);
void jumps_clear(struct jumps *jumps);

/*
 * Writes what stands before an instruction: 2 * lanes columns of ASCII, such as "|,->"; with `between`, what stands in
 * the row above that instruction. `text` has room for JUMPS_TEXT bytes.
 */
enum { JUMPS_TEXT = 2 * JUMP_LANES + 2 };
char *jumps_text(const struct jumps *jumps, size_t instruction, int between, char text[JUMPS_TEXT]);

#endif
