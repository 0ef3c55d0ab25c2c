/* SPDX-License-Identifier: MIT */
/* What the files of sym_dwarf.h share. Used by one thread. */
#ifndef SYM_DWARF_STATE_H
#define SYM_DWARF_STATE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct elf_plain {			/* a file, once more with what was packed by zstd unpacked */
	uint8_t *image;			/* NULL: none was made */
	size_t size;
	size_t paid;			/* bytes that are charged to the budget */
};

struct unit {
	Dwarf_Off die;
	bool paid, walked;		/* the budget was charged for its lines; for its entries; libdw keeps both */
};

struct range {				/* a compilation unit's code; one may have several */
	uint64_t low, high;
	uint32_t unit;
};

/*
 * Units are found by a walk over all of them. clang leaves .debug_aranges out, so that section is
 * incomplete as soon as one object file comes from clang. libdwfl asks debuginfod servers by default, and
 * waits. So it is used for modules only, with callbacks that ask nobody.
 */
struct sym_dwarf {
	struct budget *budget;
	size_t paid;			/* bytes, for what the libraries hold */
	Elf *elf;			/* NULL: dwfl owns it */
	Dwarf *dwarf;
	Dwfl *dwfl;			/* NULL: no module; else `dwarf` belongs to it */
	Elf *relocated;			/* a module's, borrowed from dwfl */
	uint64_t *places;		/* of a module's sections: sym_elf.h */
	size_t place_count;
	int shared_fd;			/* of the file that several debug files share; -1: none */
	Elf *shared_elf;
	Dwarf *shared;
	struct elf_plain plain, shared_plain;	/* the files' images, if they were packed by zstd */
	bool damaged;			/* a part of it */
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct range *ranges;		/* sorted by low, then by high */
	uint32_t count, room;
};

/* The ELF handle of the file, whoever owns it. */
static inline Elf *sym_dwarf_elf(const struct sym_dwarf *dwarf)
{
	return dwarf->elf ? dwarf->elf : dwarf->relocated;
}

/* Charges the budget for what a library will hold, until the handle is closed. False: there is no room. */
bool sym_dwarf_pay(struct sym_dwarf *dwarf, size_t bytes);

/* The next section after `section` whose name is `wanted`, and its bytes; NULL: no more. */
Elf_Scn *sym_dwarf_section(Elf *elf, Elf_Scn *section, bool (*wanted)(const char *name),
	const Elf_Data **data);

/* How many ranges begin at or below the address. They are the first ones, since ranges are sorted. */
uint32_t sym_dwarf_ranges_from(const struct sym_dwarf *dwarf, uint64_t address);

/* Each charges once for what libdw will keep of a unit: its lines; its entries. False: there is no room. */
bool sym_dwarf_pay_lines(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die);
bool sym_dwarf_pay_unit(struct sym_dwarf *dwarf, struct unit *unit, Dwarf_Die *die);

/* The lines of a unit, for which was paid. False: it has none, or they are damaged. */
bool sym_dwarf_rows(struct sym_dwarf *dwarf, Dwarf_Die *unit, Dwarf_Lines **rows, size_t *count);

/* "lib/string.c:41", as in sym_dwarf.h, of a file of this unit. NULL: not known. */
char *sym_dwarf_place(const struct sym_dwarf *dwarf, Dwarf_Die *unit, const char *path, uint64_t line);

/* The line of the row at an address, likewise. */
char *sym_dwarf_row_line(struct sym_dwarf *dwarf, uint64_t address, bool *full);

/* The first row that starts at or after the address; rows are in order of address. */
size_t sym_dwarf_first_row(Dwarf_Lines *rows, size_t count, uint64_t address);

/* Does the entry hold functions, as a namespace does? Is it code itself: a function, or a block in one? */
bool sym_dwarf_has_functions(Dwarf_Die *die);
bool sym_dwarf_is_code(Dwarf_Die *die);

enum elf_plain_state { ELF_PLAIN_ALREADY, ELF_PLAIN_MADE, ELF_PLAIN_DAMAGED, ELF_PLAIN_FULL };

/*
 * `elf` is the file that is open as `fd`. `map`: the file is mapped, not read. ALREADY: no section is packed by zstd.
 * MADE: elf_memory may open the image, which is writable. DAMAGED: a section is not what it says. FULL: no memory.
 */
enum elf_plain_state elf_plain_make(struct elf_plain *plain, Elf *elf, int fd, bool map, struct budget *budget);
void elf_plain_clear(struct elf_plain *plain, struct budget *budget);	/* after elf_end */

/* The DWARF of a module's dwarf->elf; NULL: none. */
Dwarf *sym_dwarf_open_module(struct sym_dwarf *dwarf);
void sym_dwarf_close_module(struct sym_dwarf *dwarf);

/* Does a text from libdw begin and end inside its section? libdw does not check that. */
bool sym_dwarf_text_ends(const struct sym_dwarf *dwarf, const char *text);

#endif
