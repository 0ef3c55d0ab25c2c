/* SPDX-License-Identifier: MIT */
/* The code in an ELF file: where it is, found once, and its bytes. */
#ifndef SYM_ELF_CODE_H
#define SYM_ELF_CODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum elf_place {
	ELF_PLACE_OUTSIDE,		/* nothing is loaded there, or it is no ELF file */
	ELF_PLACE_DATA,
	ELF_PLACE_BARE,			/* code, whose bytes another file has: this is a debug file */
	ELF_PLACE_CODE,
};

struct budget;

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

#endif
