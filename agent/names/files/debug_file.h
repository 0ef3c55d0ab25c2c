/* SPDX-License-Identifier: MIT */
/*
 * Finds the debug file of an object, the one with its DWARF, by build-id. What the guest says is a hint
 * only: a file is looked for in the folders below and beside the object's own file, nowhere else, and used only
 * if it is of exactly that build. Slow, since it reads files. Any thread.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sym_elf.h"

struct budget;

struct debug_folders {			/* each may be NULL; searched in the order own, system, sysroot */
	const char *own;		/* the user's; laid out as the system's, or just files */
	const char *sysroot;		/* see below; the guest's DEBUG_SYSTEM in it is searched */
	const char *system;		/* DEBUG_SYSTEM */
};

#define DEBUG_SYSTEM "/usr/lib/debug"

enum debug_kind { DEBUG_PROGRAM, DEBUG_KERNEL, DEBUG_MODULE };

struct debug_object {			/* an object whose DWARF is wanted */
	enum debug_kind kind;
	int fd;				/* its own file, which may have DWARF; -1: not at hand */
	const char *path;		/* of that file; NULL: not known */
	const char *name;		/* of the file in the guest; a module's without ".ko"; NULL: not known */
	const char *version;		/* of the kernel; NULL: not known */
	struct build_id build_id;	/* if unknown, only its own file can be used */
};

/*
 * Returns the descriptor of the debug file, which the caller closes; -1: there is none. If a file in the
 * right place is of another build, `remark` (size bytes) says so; otherwise it is unchanged.
 */
int debug_file_open(const struct debug_folders *folders, const struct debug_object *object,
	struct budget *budget, char *remark, size_t size);

/* The file that several debug files share, as .gnu_debugaltlink names it. The caller closes it; -1: there is none. */
int debug_file_open_shared(const struct debug_folders *folders, const char *name,
	const struct build_id *build_id, struct budget *budget);

/* The descriptor of the file at this path, if it has the DWARF of that build; else -1, with a remark. */
int debug_file_try(const char *path, const struct build_id *build_id, struct budget *budget,
	char *remark, size_t size);

/* ---- debuginfod ---- */

/*
 * Debug files and source files from the servers in $DEBUGINFOD_URLS, fetched by debuginfod-find(1). That is a process
 * of its own, so that it does not disturb ours, and can be killed at any time. Never waits: the caller asks again and
 * again. One fetch at a time. One thread.
 */

struct build_id;
struct debuginfod;

enum debuginfod_state {
	DEBUGINFOD_ASKING,		/* under way, or waiting for its turn */
	DEBUGINFOD_FOUND,
	DEBUGINFOD_NONE,		/* no server has it, or none could be asked */
};

/* Is there a server to ask? False with `error` set. */
bool debuginfod_possible(char **error);

struct debuginfod *debuginfod_new(void);
void debuginfod_free(struct debuginfod *debuginfod);	/* kills the fetch that is under way */

/* With DEBUGINFOD_FOUND, *path is the fetched file, valid until debuginfod_free. */
enum debuginfod_state debuginfod_find(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char **path);

/*
 * The same for a source file of that build, by its whole path in DWARF. This may be any bytes: what is no plain path is
 * not asked for.
 */
enum debuginfod_state debuginfod_find_source(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char *source, const char **path);

/* ---- the sysroot ---- */

/* A folder with a copy of the guest's files, at their paths. Symbolic links in it are the guest's. */

/*
 * Opens the regular file that a path of the guest leads to, through its symbolic links, but never out of
 * the folder. -1: there is none. The path may be any bytes. `*found`: the file's real path, in fresh
 * memory. Another file may be there by now, so only the descriptor may be read.
 */
int sysroot_open(const char *folder, const char *path, size_t size, char **found);

#endif
