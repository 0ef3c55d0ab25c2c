/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions at addresses, from DWARF. One thread per handle. */
#ifndef SYM_DWARF_H
#define SYM_DWARF_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct debug_folders;
struct sym_dwarf;

/*
 * The descriptor stays the caller's and outlives the handle; `folders`, where what it shares with
 * others is looked for, may be NULL. NULL: no line information, or, when `full` is set, no memory
 * for it. Slow.
 */
struct sym_dwarf *sym_dwarf_new(int fd, const struct debug_folders *folders,
	struct budget *budget, bool *full);
void sym_dwarf_free(struct sym_dwarf *dwarf);

/*
 * "lib/string.c:41" of a link address, in fresh memory: at most the last two parts of the path,
 * below the folder of the compilation when the file is in there; any bytes. NULL: none known, or,
 * when `full` is set, no memory: a handle made anew has room again.
 */
char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/*
 * The functions that were inlined at a link address, the outermost first, as the file has them
 * (mangled, any bytes), each ended by a newline, in fresh memory. NULL: none, or as above.
 */
char *sym_dwarf_inlined(struct sym_dwarf *dwarf, uint64_t address, bool *full);

#endif
