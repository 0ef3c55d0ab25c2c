/* SPDX-License-Identifier: MIT */
/*
 * A function's code as people read it: its instructions, its source lines, and which belongs to which. Made once, then
 * only read, by any thread. All texts are printable. Addresses are link addresses.
 */
#ifndef LISTING_H
#define LISTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/base/arch_id.h"

struct code_bytes;
struct code_lines;

#define LISTING_NONE 0xffffffffu

enum { LISTING_LINES_MAX = 8192 };	/* source lines that are shown: a function that spans more has no text */

struct listing_place {			/* source code elsewhere that belongs to the function */
	char *function;			/* the innermost function that is inlined; "": none, it is just another file */
	char *file;			/* the last part of its path */
	uint32_t line;
};

struct listing_instruction {
	uint64_t address;
	const char *text;
	const char *callee;		/* the function that it calls or jumps to; NULL: it does not, or not known */
	uint32_t called;		/* with `callee`: the id of that function in the boot's symbols */
	uint64_t goes;			/* the address that it jumps to or calls; 0: it does not */
	uint32_t target;		/* the index of the instruction that it jumps to; LISTING_NONE: none in here */
	uint32_t line;			/* of the own file: where it stands, or calls what is inlined; 0: none */
	uint32_t place;			/* index in `places`; LISTING_NONE: it stands in that line itself */
	uint8_t size;			/* bytes */
};

struct listing {
	atomic_uint holders;
	uint64_t low, high;
	char *file;			/* the function's own source file: its whole path; "": not known */
	char *name;			/* the last two parts of that path */
	uint32_t first;			/* the number of the first source line; 0: there is none */
	uint32_t line_count;
	char **lines;			/* their text; NULL: the file was not found, or has no such line */
	bool sourced;			/* the source file was found */
	const char *worded;		/* why instructions are words or bytes, and what to do; NULL: they have text */
	struct listing_instruction *instructions;	/* in order of address */
	size_t count;
	struct listing_place *places;
	size_t place_count;
	char *texts;			/* of all instructions */
	char *callees;			/* likewise */
};

/*
 * Makes it of bytes, which begin at `low`, and of lines; either may be missing (size 0, NULL). `map`: see
 * listing.h. May wait for a disk. The caller holds the result.
 */
struct listing *listing_new(const struct code_bytes *code, uint64_t low, uint64_t high, const struct code_lines *lines,
	const char *map);
struct listing *listing_hold(struct listing *listing);	/* NULL is allowed */
void listing_release(struct listing *listing);		/* the last holder frees it; NULL is allowed */

/* The instruction that covers an address. LISTING_NONE: none. */
uint32_t listing_find(const struct listing *listing, uint64_t address);

/*
 * Does the instruction stand in this line? "mm/page.c:120"; of a file that is not the function's own, only the last
 * part of the path counts.
 */
bool listing_stands_in(const struct listing *listing, const struct listing_instruction *instruction, const char *line);

/* The text of a line of the own file. NULL: not known. */
const char *listing_line(const struct listing *listing, uint32_t line);

/* ---- its rows ---- */

/* A listing as rows, from top to bottom: source lines, instructions, or each line with its instructions under it. */

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

/* ---- jumps ---- */

/* The jumps inside a listing as lines beside its instructions, in a few lanes; the innermost lane is the right one. */

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

/* ---- source file ---- */

/* The text of source files, at the paths that DWARF tells, or where the user has them. */

/*
 * `map`: "FROM=TO": a path that begins with FROM begins with TO here; NULL: paths are as they are. Reads the lines
 * first, first + 1, ... of the file, `count` of them. Each of `lines` is set to its text, in fresh memory: printable,
 * tabs as blanks; NULL: the file has no such line. Returns how many it has read; 0: the file is not there. May wait
 * for a disk.
 */
size_t source_file_read(const char *path, const char *map, uint32_t first, size_t count, char **lines);

/* ---- code bytes ---- */

/* The bytes of a function's code, from wherever they can be had. */

struct budget;
struct linux_kernel;

enum { CODE_BYTES_MAX = 1 << 16 };	/* of a longer function, only so many are shown */

struct code_bytes {
	enum arch_id arch;
	size_t size;			/* 0: there are none */
	uint8_t bytes[CODE_BYTES_MAX];
};

struct code_file {			/* where they are */
	int fd;				/* of an ELF file; -1: none */
	const char *path;		/* of a Linux boot image; NULL: it is none */
	struct stat then;		/* as it was when its symbols were read */
	uint64_t start;			/* the link address of an Image's first byte */
};

/* Reads the code in [low, high), link addresses. It may wait for a disk, and unpack an image. Any thread. */
void code_bytes_read(struct code_bytes *code, const struct code_file *file, uint64_t low, uint64_t high,
	struct budget *budget);

/* ---- functions by name ---- */

/*
 * The functions that have a tree_name (agent/query/tree/tree.h). There may be several, such as those of a program that
 * is mapped at several places. Functions are only added, so each is looked at once. One owner.
 */

struct symbols;

enum { NAMED_FUNCTIONS_MAX = 16, NAMED_KERNEL = 64 };

struct named_functions {
	uint64_t name;			/* 0: of none */
	char kernel[NAMED_KERNEL];	/* see tree_name */
	size_t looked_at, count;
	uint32_t functions[NAMED_FUNCTIONS_MAX];
};

/* Goes on with the functions that are new; begins anew if the name is another one. */
void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel);

#endif
