/* SPDX-License-Identifier: MIT */
/* The code in an ELF file. */
#ifndef SYM_ELF_CODE_H
#define SYM_ELF_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

/*
 * Reads the bytes from a link address on, as far as the section or segment of code there goes. Returns how many of
 * `size` it has read; 0: there is no code, or it cannot be read. `*arch`: the file's. May wait for a disk.
 */
size_t sym_elf_code(int fd, uint64_t address, void *bytes, size_t size, enum arch_id *arch);

/* What an ELF file has at a link address. May wait for a disk. */
enum elf_place {
	ELF_PLACE_OUTSIDE,		/* nothing is loaded there, or it is no ELF file */
	ELF_PLACE_DATA,
	ELF_PLACE_BARE,			/* code, whose bytes another file has: this is a debug file */
	ELF_PLACE_CODE,
};
enum elf_place sym_elf_place(int fd, uint64_t address);

enum arch_id sym_elf_arch(int fd);	/* ARCH_OTHER: it is no ELF file, or of another one than ktop knows */

#endif
