/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions at addresses, read from DWARF. Each handle is for one thread. */
#ifndef SYM_DWARF_H
#define SYM_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct code_lines;
struct debug_folders;
struct sym_dwarf;

/*
 * Opens the DWARF of a file. The descriptor stays the caller's and must outlive the handle. `folders`:
 * where a shared file is looked for; may be NULL. NULL: there is no line information; or, if `*full` is
 * set, no memory for it. Slow.
 */
struct sym_dwarf *sym_dwarf_new(int fd, const struct debug_folders *folders,
	struct budget *budget, bool *full);
void sym_dwarf_free(struct sym_dwarf *dwarf);

/*
 * Is a part of the DWARF damaged, as far as it was looked at? Then further questions may show more of it. Whatever lies
 * elsewhere is told as if nothing were wrong.
 */
bool sym_dwarf_is_damaged(const struct sym_dwarf *dwarf);

/*
 * Returns "lib/string.c:41" for the link address of a function's start, in fresh memory: at most the last two parts of
 * the path, below the folder of the compilation if the file is in there; any bytes. NULL: not known; or, if `*full`
 * is set, no memory: a new handle has room again.
 */
char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/*
 * Returns the lines at any address, likewise: for each function that is inlined there the line of its call, in the
 * order of sym_dwarf_inlined, and then the line of the code itself. They have newlines between them; "": not known.
 */
char *sym_dwarf_lines_at(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/*
 * Returns the source file of the code at an address, in fresh memory: its path below the folder of the compilation if
 * it is in there, else its whole path; any bytes. NULL: as above.
 */
char *sym_dwarf_file(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/*
 * Returns the functions that were inlined at a link address, in fresh memory: the outermost first, as in
 * the file (mangled, any bytes), each ended by a newline. NULL: none; or no memory, as above.
 */
char *sym_dwarf_inlined(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/* Returns the lines of the code in [low, high), in fresh memory. NULL: none are known; or no memory, as above. */
struct code_lines *sym_dwarf_code(struct sym_dwarf *dwarf, uint64_t low, uint64_t high, bool *full);

/* ---- code lines ---- */

/* What DWARF says of a stretch of code: which source lines its instructions belong to, and what was inlined there. */

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
