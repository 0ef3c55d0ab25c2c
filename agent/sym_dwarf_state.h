/* What the files of sym_dwarf.h share. */
#ifndef SYM_DWARF_STATE_H
#define SYM_DWARF_STATE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

struct unit {
	Dwarf_Off die;
	bool paid;			/* for its lines, which libdw keeps */
};

struct range {				/* a compilation unit's code; one may have several */
	uint64_t low, high;
	uint32_t unit;
};

/*
 * Units are found by a walk over all of them: .debug_aranges is left out by clang, and incomplete
 * as soon as one object file comes from a compiler that leaves it out. libdw is used without
 * libdwfl, whose default is to ask debuginfod servers and wait.
 */
struct sym_dwarf {
	struct budget *budget;
	size_t paid;			/* for what the libraries hold */
	Elf *elf;
	Dwarf *dwarf;
	struct unit *units;
	uint32_t unit_count, unit_room;
	struct range *ranges;		/* sorted by low, then by high */
	uint32_t count, room;
};

/* For what a library will hold, until the handle is closed. */
bool sym_dwarf_pay(struct sym_dwarf *dwarf, size_t bytes);

/* The section behind `section` for which `wanted` holds, and its bytes; NULL: no more. */
Elf_Scn *sym_dwarf_section(Elf *elf, Elf_Scn *section, bool (*wanted)(const char *name),
	const Elf_Data **data);

/* libdw does not look whether a text begins and ends inside of its section: here. */
bool sym_dwarf_text_ends(const struct sym_dwarf *dwarf, const char *text);

#endif
