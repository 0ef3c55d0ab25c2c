/* SPDX-License-Identifier: MIT */
/* Source lines and inlined functions at addresses, read from DWARF. Each handle is for one thread. */
#ifndef SYM_DWARF_H
#define SYM_DWARF_H

#include <stdbool.h>
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

#endif
