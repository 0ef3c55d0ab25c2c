/* SPDX-License-Identifier: MIT */
/* Call frame information of an ELF file: .eh_frame, which even stripped files have, and .debug_frame. */
#ifndef SYM_CFI_H
#define SYM_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "frame_rules.h"

struct sym_cfi;

/* Takes the descriptor, also when it fails. NULL: there is no such information, or the file cannot be read. */
struct sym_cfi *sym_cfi_open(int fd);
void sym_cfi_close(struct sym_cfi *cfi);

/* The rules for an address as the file was linked. False: there are none. */
bool sym_cfi_find(struct sym_cfi *cfi, uint64_t address, struct frame_rules *rules);

#endif
