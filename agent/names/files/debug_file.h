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
	const char *sysroot;		/* see sysroot.h; the guest's DEBUG_SYSTEM in it is searched */
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

#endif
