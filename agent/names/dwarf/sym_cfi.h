/* SPDX-License-Identifier: MIT */
/* Call frame information of an ELF file: .eh_frame, which stripped files have, too, and .debug_frame. One owner. */
#ifndef SYM_CFI_H
#define SYM_CFI_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct sym_cfi;

/* Takes over the descriptor, even on failure. NULL: the file has no such information, or cannot be read. */
struct sym_cfi *sym_cfi_open(int fd);
void sym_cfi_close(struct sym_cfi *cfi);	/* NULL is allowed */

/* The same, charged to the budget until it is closed. NULL: also if the budget has no room. It borrows the budget. */
struct sym_cfi *sym_cfi_open_paid(int fd, struct budget *budget);

/*
 * How to get from one frame to its caller, as call frame information tells it for one address (DWARF 5,
 * section 6.4). A rule that does not fit these few forms is unknown.
 */
enum { FRAME_RULES_REGISTERS = 33 };

enum frame_rule {
	FRAME_UNKNOWN,		/* the caller's value is not known */
	FRAME_SAME,		/* the register was not changed */
	FRAME_SAVED,		/* the value was saved `offset` bytes from the frame's address */
	FRAME_VALUE,		/* the value is the frame's address plus `offset` */
	FRAME_REGISTER,		/* the value is in register number `offset` */
};

struct frame_rules {
	/*
	 * The frame's address (CFA) is the register `base` plus `base_offset`; or, if `indirect`, the word
	 * stored there.
	 */
	uint8_t base;
	bool indirect;
	int64_t base_offset;
	uint8_t return_address;		/* the register whose rule gives the caller's pc */
	bool signal;			/* the caller was interrupted: its pc is exact */
	struct {
		enum frame_rule rule;
		int64_t offset;
	} registers[FRAME_RULES_REGISTERS];
};

/* The rules for a link address. False: there are none. */
bool sym_cfi_find(struct sym_cfi *cfi, uint64_t address, struct frame_rules *rules);

#endif
