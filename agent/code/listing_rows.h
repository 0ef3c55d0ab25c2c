/* SPDX-License-Identifier: MIT */
/* A listing as rows, from top to bottom: source lines, instructions, or each line with its instructions under it. */
#ifndef LISTING_ROWS_H
#define LISTING_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listing;

enum listing_form { LISTING_SOURCE, LISTING_BOTH, LISTING_INSTRUCTIONS, LISTING_FORMS };

struct listing_row {
	bool source;			/* a source line; else an instruction */
	uint32_t line;			/* of a source line: its number in the own file; 0: it is elsewhere */
	uint32_t place;			/* what is inlined there, or where it is; LISTING_NONE: nothing */
	uint32_t first, end;		/* its instructions: indices, first <= i < end */
	bool whole;			/* all instructions of the line count, wherever they are */
};

/*
 * Makes the rows, which the caller frees. Lines need DWARF: without it, all forms have the instructions alone.
 * LISTING_BOTH is in order of address; a line stands where its code begins, and again wherever it goes on.
 */
struct listing_row *listing_rows(const struct listing *listing, enum listing_form form, size_t *count);

/* A row has the same key in each form and answer, as far as it is there. */
uint64_t listing_row_key(const struct listing *listing, const struct listing_row *row);

#endif
