/* SPDX-License-Identifier: MIT */
/* Call frame information of an ELF file: .eh_frame, which stripped files have, too, and .debug_frame. One owner. */
#ifndef SYM_CFI_H
#define SYM_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "frame_rules.h"

struct budget;
struct sym_cfi;

/* Takes over the descriptor, even on failure. NULL: the file has no such information, or cannot be read. */
struct sym_cfi *sym_cfi_open(int fd);
void sym_cfi_close(struct sym_cfi *cfi);	/* NULL is allowed */

/* The same, charged to the budget until it is closed. NULL: also if the budget has no room. It borrows the budget. */
struct sym_cfi *sym_cfi_open_paid(int fd, struct budget *budget);

/* The rules for a link address. False: there are none. */
bool sym_cfi_find(struct sym_cfi *cfi, uint64_t address, struct frame_rules *rules);

#endif
