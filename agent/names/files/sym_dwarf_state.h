/* SPDX-License-Identifier: MIT */
/* What the files of sym_dwarf.h share. */
#ifndef SYM_DWARF_STATE_H
#define SYM_DWARF_STATE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct unit {
	Dwarf_Off die;
	bool paid, walked;		/* for its lines, for its entries, which libdw keeps */
};

struct range {				/* a compilation unit's code; one may have several */
	uint64_t low, high;
	uint32_t unit;
};

/*
 * Units are found by a walk over all of them: .debug_aranges is left out by clang, and incomplete
 * as soon as one object file comes from a compiler that leaves it out. libdwfl, whose default is to
 * ask debuginfod servers and wait, is used for modules alone, without that.
 */
struct sym_dwarf {
	struct budget *budget;
	size_t paid;			/* for what the libraries hold */
	Elf *elf;			/* NULL: dwfl has it */
	Dwarf *dwarf;
	Dwfl *dwfl;			/* of a module, else NULL; then `dwarf` is a part of it */
	Elf *relocated;			/* the module's, borrowed from dwfl */
	int shared_fd;			/* of what several debug files share; -1: none */
	Elf *shared_elf;
	Dwarf *shared;
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct range *ranges;		/* sorted by low, then by high */
	uint32_t count, room;
};

/* The file's, whoever holds it. */
static inline Elf *sym_dwarf_elf(const struct sym_dwarf *dwarf)
{
	return dwarf->elf ? dwarf->elf : dwarf->relocated;
}

/* For what a library will hold, until the handle is closed. */
bool sym_dwarf_pay(struct sym_dwarf *dwarf, size_t bytes);

/* The section behind `section` for which `wanted` holds, and its bytes; NULL: no more. */
Elf_Scn *sym_dwarf_section(Elf *elf, Elf_Scn *section, bool (*wanted)(const char *name),
	const Elf_Data **data);

/* The ranges before this one begin at the address or below. */
uint32_t sym_dwarf_ranges_from(const struct sym_dwarf *dwarf, uint64_t address);

/* The DWARF of dwarf->elf, a module's; NULL: none. */
Dwarf *sym_dwarf_open_module(struct sym_dwarf *dwarf);
void sym_dwarf_close_module(struct sym_dwarf *dwarf);

/* libdw does not look whether a text begins and ends inside of its section: here. */
bool sym_dwarf_text_ends(const struct sym_dwarf *dwarf, const char *text);

#endif
