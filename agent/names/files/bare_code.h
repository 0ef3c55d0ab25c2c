/* SPDX-License-Identifier: MIT */
/*
 * Names for the code of a file without symbols: by where its functions begin, as far as that is known, counted from
 * where the file begins.
 */
#ifndef BARE_CODE_H
#define BARE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct code_range;
struct symbol_table;

struct bare_code {			/* the first four are set by the caller */
	const char *name;		/* of the file, without its folder */
	uint64_t base;			/* where the file begins */
	struct symbol_table *table;	/* gets the names */
	struct budget *budget;
	struct code_range *functions;	/* that are known */
	size_t count, pieces;
	uint32_t room;
};

/* Names a function "NAME+0xOFFSET". `limit`: as in symbol_table.h. False: the table has no more room. */
bool bare_code_add(struct bare_code *code, uint64_t address, uint64_t end, uint64_t limit);

/* A function that has a name already. */
bool bare_code_know(struct bare_code *code, uint64_t address, uint64_t end);
void bare_code_sort(struct bare_code *code);	/* the functions, by their addresses */

/*
 * After the functions, which are sorted: names the code between them, from `address` to `end`, in pieces of a page at
 * most. Which functions it has is not known, so a piece is "NAME+0xOFFSET-0xEND". Does nothing if no function is known.
 */
void bare_code_fill(struct bare_code *code, uint64_t address, uint64_t end);
void bare_code_clear(struct bare_code *code);

#endif
