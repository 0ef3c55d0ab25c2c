/* SPDX-License-Identifier: MIT */
/* What DWARF says of a stretch of code: which source lines its instructions belong to, and what was inlined there. */
#ifndef CODE_LINES_H
#define CODE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* More than these are left out. */
enum { CODE_FILES_MAX = 256, CODE_ROWS_MAX = 1 << 16, CODE_INLINES_MAX = 1 << 14 };

enum { CODE_NO_FILE = 0xffff };

struct code_row {			/* the code from this address to the next row's */
	uint64_t address;
	uint32_t line;			/* 0: the code has none */
	uint16_t file;			/* index in `files`; or CODE_NO_FILE */
};

struct code_inline {			/* a range of code that was put in from another function */
	uint64_t low, high;		/* [low, high) */
	uint32_t depth;			/* 0: it stands in the function itself; 1: in what is inlined there; ... */
	uint32_t call_line;		/* the line that calls it; 0: not known */
	uint16_t call_file;
	char *name;			/* as in the file (mangled, any bytes) */
};

/* Addresses are link addresses. All texts are the file's: any bytes. */
struct code_lines {
	char **files;			/* whole paths, if the folder is known */
	char *folder;			/* that they were compiled in; NULL: not known */
	struct code_row *rows;		/* in order of address */
	struct code_inline *inlines;	/* in no order */
	size_t file_count, row_count, inline_count;
	uint16_t file;			/* where the function is declared; CODE_NO_FILE: not known */
	uint32_t line;
	char *fetched;			/* the path of a copy of that file from a server, our own text; NULL: none */
};

/* The file that the function is declared in; if that is not known, that of its first instruction that has one. */
uint16_t code_lines_own(const struct code_lines *lines);

struct code_lines *code_lines_new(void);	/* empty */
void code_lines_free(struct code_lines *lines);		/* NULL is allowed */

#endif
