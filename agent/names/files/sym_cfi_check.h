/* SPDX-License-Identifier: MIT */
/*
 * Is a section of call frame information fit for libdw? That makes room for each register that a file
 * names, up to gigabytes; so a file with a register that no CPU has is refused before.
 */
#ifndef SYM_CFI_CHECK_H
#define SYM_CFI_CHECK_H

#include <libelf.h>
#include <stdbool.h>

/* `section`: the bytes of .eh_frame, or of .debug_frame. The time it takes is linear in them. */
bool sym_cfi_check(const unsigned char *e_ident, Elf_Data *section, bool eh_frame);

#endif
