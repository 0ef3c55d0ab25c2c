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

/* ---- the formats ---- */

/*
 * Folded stacks: a line `root;...;leaf count` for each. Names may have spaces. The marks `_[k]` (of the kernel) and
 * `_[i]` (inlined) are taken back. What a writer replaced in a name stays so: ktop writes ';' as ':', and a space as
 * '_'. A count is taken for samples, and for their weight.
 */
extern const struct set_import import_folded;

/*
 * Profiles of pprof, ktop's and others'. A sample's weight is its value of the kind "periods", which ktop writes; if
 * there is none, that of the default kind. The number of samples is the value of the last kind up to this one that
 * counts; if there is none, it is the weight. The labels cpu, mode, thread, thread_id, process and process_id say who
 * ran it. A mapping is an object, known by the name of its file. In texts, what ktop has written as \xHH is taken
 * back.
 */
extern const struct set_import import_pprof;

/* ---- gunzip ---- */

/* Files that are packed by gzip. What they unpack to is bounded by the budget: a small file may hold a huge one. */

struct gunzip {				/* what was unpacked */
	char *bytes;			/* behind them is a zero */
	size_t size, room;		/* room: what is charged */
};

bool gunzip_fits(const char *bytes, size_t size);	/* by its first bytes */

/*
 * Unpacks all, also of several files one behind the other. False with `error` set: "why; what to do"; without it there
 * is no memory. Clear it in any case.
 */
bool gunzip_all(struct gunzip *to, const char *bytes, size_t size, struct budget *budget, char **error);
void gunzip_clear(struct gunzip *to, struct budget *budget);

#endif
