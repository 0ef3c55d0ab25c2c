/* Source lines of addresses, from DWARF. Only its files know libdw. One thread per handle. */
#ifndef SYM_DWARF_H
#define SYM_DWARF_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct sym_dwarf;

/*
 * The descriptor stays the caller's and outlives the handle. NULL: no line information, or, when
 * `full` is set, no memory for it. Slow.
 */
struct sym_dwarf *sym_dwarf_open(int fd, struct budget *budget, bool *full);
void sym_dwarf_close(struct sym_dwarf *dwarf);

/*
 * "lib/string.c:41" of a link address, in fresh memory: at most the last two parts of the path,
 * below the folder of the compilation when the file is in there; any bytes. NULL: none known, or,
 * when `full` is set, no memory: a handle opened anew has room again.
 */
char *sym_dwarf_line(struct sym_dwarf *dwarf, uint64_t address, bool *full);

#endif
