/* SPDX-License-Identifier: MIT */
/*
 * Checks that a section of call frame information is safe for libdw. libdw makes room for each register number
 * that a file names, up to gigabytes. So a file with a register that no CPU has is refused before.
 */
#ifndef SYM_CFI_CHECK_H
#define SYM_CFI_CHECK_H

#include <libelf.h>
#include <stdbool.h>

/* `section`: the bytes of .eh_frame, or of .debug_frame. The time is linear in their number. False: refused. */
bool sym_cfi_check(const unsigned char *e_ident, Elf_Data *section, bool eh_frame);

#endif
