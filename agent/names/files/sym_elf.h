/* SPDX-License-Identifier: MIT */
/* Function symbols and build-ids of ELF files. */
#ifndef SYM_ELF_H
#define SYM_ELF_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct symbol_table;

struct build_id {
	size_t size;			/* 0: unknown */
	uint8_t bytes[64];
};

/* False: too long or empty; then the id is unknown. */
bool build_id_set(struct build_id *id, const void *bytes, size_t size);
bool build_id_known(const struct build_id *id);

/* True if both are known, and differ. */
bool build_id_contradicts(const struct build_id *a, const struct build_id *b);

/* Does the file start like an ELF file? */
bool sym_elf_is(int fd);

/* NULL: the name is damaged. An unused section has the name "". */
const char *sym_elf_section_name(Elf *elf, Elf_Scn *section);

/* What tells an ELF file and its debug file from others. */
struct elf_identity {
	struct build_id build_id;
	char link[256];			/* the name in .gnu_debuglink, "" if none; any bytes */
	bool lines;			/* it has DWARF of its own */
	bool shared;			/* of which a part is in a file that several share: .gnu_debugaltlink */
	const char *damage;		/* why one of these may be missed: "its NOUN is damaged"; NULL: none is */
	const char *frames;		/* why its .eh_frame cannot be read; NULL: it can, or there is none */
};

/* Why no line of such a file can be read, without what to do. NULL: it has none. */
const char *sym_elf_lost_lines(const struct elf_identity *identity);

/* False: it is no ELF file, or there is no memory for its sections. */
bool sym_elf_identify(int fd, struct elf_identity *identity, struct budget *budget);

/*
 * Reads the functions of .symtab, else of .dynsym, from an executable or a shared object: FUNC, GNU_IFUNC
 * and NOTYPE symbols in executable sections (ELF gABI 4.1, chapter 4). A file may have none: the table
 * stays empty. False with `error` set: it cannot be read. `path` is for the error.
 */
bool sym_elf_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct budget *budget, char **error);

struct elf_code_range {
	uint64_t address, end;
	uint64_t offset;		/* of its first byte in the file */
};

/* All code of a file: its executable sections that have bytes in it, in the order of the file. */
struct elf_code {
	struct elf_code_range *ranges;	/* two may overlap only in a damaged file */
	size_t count;
};

/*
 * Reads the functions as sym_elf_read does, and where the code is; also those of an object file or a kernel module,
 * whose sections are where sym_elf_places.h puts them. False with `error` set. The caller clears `code`.
 */
bool sym_elf_read_code(int fd, const char *path, struct symbol_table *table, struct elf_code *code,
	struct build_id *id, struct budget *budget, char **error);
void elf_code_clear(struct elf_code *code);

/*
 * Adds the functions of a stripped file (without .symtab), by their .eh_frame, as "NAME+0xOFFSET" from where the file
 * begins. `between`: the table has the symbols of .dynsym, and is sorted; adds the code between all these functions,
 * too: the functions that its own jumps and calls tell of (function_starts.h), and what is left in pieces
 * (sym_elf_bare.c). Adds nothing if the file cannot be read, or tells of no function. The table is sorted afterwards.
 */
void sym_elf_add_bare(int fd, const char *path, bool between, struct symbol_table *table, struct budget *budget);

/*
 * Adds one row for the stubs by which a program calls functions that are chosen while it runs, by the name of their
 * section, ".plt": few files have symbols for them. Does nothing if the table has no symbols. It is sorted afterwards.
 */
void sym_elf_add_stubs(int fd, struct symbol_table *table, struct budget *budget);

#endif
