/* SPDX-License-Identifier: MIT */
/*
 * Where the debug file of an object lies: the one with its DWARF, by build-id. What the guest says
 * is a hint: a file is only looked for in folders that the user has, and taken only when it is of
 * that very build. Slow: files are read. Any thread.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sym_elf.h"

struct budget;

struct debug_folders {			/* in the order in which they are looked at; NULL: none */
	const char *own;		/* the user's, laid out as the system's, or with files alone */
	const char *sysroot;
	const char *system;		/* DEBUG_SYSTEM */
};

#define DEBUG_SYSTEM "/usr/lib/debug"

enum debug_kind { DEBUG_PROGRAM, DEBUG_KERNEL, DEBUG_MODULE };

struct debug_object {			/* whose DWARF may be wanted */
	enum debug_kind kind;
	int fd;				/* its own file, which may have it; -1: not at hand */
	const char *path;		/* of that file; NULL */
	const char *name;		/* of the file in the guest, a module's without ".ko"; NULL */
	const char *version;		/* of the kernel; NULL */
	struct build_id build_id;	/* unknown: its own file or none */
};

/*
 * The descriptor of the file, which the caller closes; -1: there is none. A file in its place that
 * is of another build is told in `remark` (size bytes, else left as it is).
 */
int debug_file_open(const struct debug_folders *folders, const struct debug_object *object,
	struct budget *budget, char *remark, size_t size);

/* The file that has what several debug files share, as .gnu_debugaltlink names it. */
int debug_file_open_shared(const struct debug_folders *folders, const char *name,
	const struct build_id *build_id, struct budget *budget);

/* A regular file, for reading; -1: there is none. Who opens a pipe or a device may wait for ever. */
int debug_file_regular(const char *path);

/* A file at this path: its descriptor when it has DWARF of that build, else -1, with a remark. */
int debug_file_try(const char *path, const struct build_id *build_id, struct budget *budget,
	char *remark, size_t size);

#endif
