/* SPDX-License-Identifier: MIT */
/*
 * The formats out of which a sample set is read: one file for each, and a row of `set_imports` (set_imports.c). Every
 * byte is hostile: what a set takes is charged to its budget, and whatever is counted has a bound.
 */
#ifndef SET_IMPORT_H
#define SET_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

struct budget;
struct sample_set;

enum { IMPORT_DEPTH = 4096 };		/* frames of a stack: of a deeper one the innermost, and it is cut */

struct set_import {
	const char *name;
	bool (*fits)(const char *bytes, size_t size);	/* by its first bytes; the last row takes all */
	/*
	 * Adds to an empty set. The bytes may be changed; behind them is a zero. What is needed meanwhile is charged to
	 * the budget, too. False with `error` set: "why; what to do"; without it there is no memory.
	 */
	bool (*read)(struct sample_set *set, char *bytes, size_t size, struct budget *budget, char **error);
};

/* Unpacks what is packed by gzip. NULL with `error` set: "why; what to do". */
struct sample_set *set_import_bytes(char *bytes, size_t size, struct budget *budget, char **error);

/* Reads a whole file, or a pipe. NULL with `error` set. Waits for the disk. */
struct sample_set *set_import_file(const char *path, struct budget *budget, char **error);

#endif
