/* SPDX-License-Identifier: MIT */
/* Function symbols and build-ids of ELF files. */
#ifndef SYM_ELF_H
#define SYM_ELF_H

#include <libelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

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
 * whose sections are where they are put (below). False with `error` set. The caller clears `code`.
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

/* ---- its code ---- */

/* The code in an ELF file: where it is, found once, and its bytes. */

enum elf_place {
	ELF_PLACE_OUTSIDE,		/* nothing is loaded there, or it is no ELF file */
	ELF_PLACE_DATA,
	ELF_PLACE_BARE,			/* code, whose bytes another file has: this is a debug file */
	ELF_PLACE_CODE,
};

struct elf_stretch {			/* link addresses, and where their bytes are in the file */
	uint64_t address, size, offset;
	enum elf_place place;
};

struct sym_elf_code {			/* it never changes; any thread */
	struct budget *budget;
	atomic_uint holders;
	enum arch_id arch;
	struct elf_stretch *list;	/* the sections of code first; then the segments */
	uint32_t count, room;
};

/* NULL: it is no ELF file, or there is no memory. May wait for a disk. The budget must outlive it. */
struct sym_elf_code *sym_elf_code_read(int fd, struct budget *budget);
struct sym_elf_code *sym_elf_code_hold(struct sym_elf_code *code);
void sym_elf_code_free(struct sym_elf_code *code);	/* these two take NULL, too, as all below */

/* What the file has at a link address. */
enum elf_place sym_elf_code_place(const struct sym_elf_code *code, uint64_t address);

/*
 * Reads the bytes from a link address on, as far as the section or segment of code there goes. Returns how many of
 * `size` it has read; 0: there is no code, or it cannot be read. May wait for a disk.
 */
size_t sym_elf_code_bytes(const struct sym_elf_code *code, int fd, uint64_t address, void *bytes, size_t size);

/* ---- places ---- */

/*
 * Where the sections of a relocatable file (a kernel module, an object file) are put, since it does not say: those with
 * code as Linux puts a module's, one after another in the order of the file, except for `.init`
 * (kernel/module/main.c, layout_sections). All others get addresses far away, each its own.
 */

struct Elf;

#define ELF_PLACES_ELSEWHERE (UINT64_C(1) << 48)	/* what is far away is from here on */

/*
 * The addresses of sections, by their index, in fresh memory; *count: how many there are. NULL: the file has none, or
 * there is no memory.
 */
uint64_t *elf_places(struct Elf *elf, size_t *count);

/* ---- segments ---- */

/* Where the parts of an ELF file are linked, by its program headers. */

enum { ELF_SEGMENTS = 8 };		/* of code; a file has one, mostly */

struct elf_segments {			/* the parts of a file that hold code */
	uint64_t low;			/* the lowest address at which any part is linked */
	uint32_t count;
	struct elf_segment {
		uint64_t offset, size, address;	/* bytes of the file; where the first of them is linked */
	} list[ELF_SEGMENTS];
};

/* No segments if it is no ELF file. */
void sym_elf_segments(int fd, struct elf_segments *segments);

/* The addresses at which the file is linked to be loaded: [*low, *high). False: it is no ELF file, or is not loaded. */
bool sym_elf_extent(int fd, uint64_t *low, uint64_t *high);

/* Where the byte at an offset of the file is linked. What is in no segment is taken to be linked at its offset. */
uint64_t elf_segments_address(const struct elf_segments *segments, uint64_t offset);

#endif
