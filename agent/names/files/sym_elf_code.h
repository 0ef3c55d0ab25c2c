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

enum arch_id sym_elf_arch(int fd);	/* ARCH_OTHER: it is no ELF file, or of another one than ktop knows */

#endif
