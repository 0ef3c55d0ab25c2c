/* SPDX-License-Identifier: MIT */
/* The code in an ELF file: where it is, found once, and its bytes. */
#ifndef SYM_ELF_PARTS_H
#define SYM_ELF_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum elf_place {
	ELF_PLACE_OUTSIDE,		/* nothing is loaded there, or it is no ELF file */
	ELF_PLACE_DATA,
	ELF_PLACE_BARE,			/* code, whose bytes another file has: this is a debug file */
	ELF_PLACE_CODE,
};

struct sym_elf_parts {
	enum arch_id arch;
	size_t count;
	struct sym_elf_part {		/* link addresses, and where their bytes are in the file */
		uint64_t address, size, offset;
		enum elf_place place;
	} list[];			/* the sections of code first; then the segments */
};

/* NULL: it is no ELF file. The caller frees it. May wait for a disk. Of very many parts the first are known. */
struct sym_elf_parts *sym_elf_parts_read(int fd);
struct sym_elf_parts *sym_elf_parts_copy(const struct sym_elf_parts *parts);	/* NULL gives NULL */

/* What the file has at a link address. These take NULL, too. */
enum elf_place sym_elf_parts_place(const struct sym_elf_parts *parts, uint64_t address);

/*
 * Reads the bytes from a link address on, as far as the section or segment of code there goes. Returns how many of
 * `size` it has read; 0: there is no code, or it cannot be read. May wait for a disk.
 */
size_t sym_elf_parts_bytes(const struct sym_elf_parts *parts, int fd, uint64_t address, void *bytes, size_t size);

#endif
