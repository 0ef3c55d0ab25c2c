/* SPDX-License-Identifier: MIT */
/*
 * How to get from one frame to its caller, as call frame information tells for one address (DWARF 5,
 * section 6.4). What cannot be said in these few shapes is unknown.
 */
#ifndef FRAME_RULES_H
#define FRAME_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum { FRAME_RULES_REGISTERS = 33 };

enum frame_rule {
	FRAME_UNKNOWN,		/* the caller's value is lost */
	FRAME_SAME,		/* it was not changed */
	FRAME_SAVED,		/* it lies in memory, `offset` bytes from the frame's address */
	FRAME_VALUE,		/* it is the frame's address plus `offset` */
	FRAME_REGISTER,		/* it is in another register, number `offset` */
};

struct frame_rules {
	/* The frame's address (CFA) is this register plus this, or, `indirect`, the word that lies there. */
	uint8_t base;
	bool indirect;
	int64_t base_offset;
	uint8_t return_address;		/* the register whose rule gives the caller's pc */
	bool signal;			/* the caller was interrupted here: its pc is exact */
	struct {
		enum frame_rule rule;
		int64_t offset;
	} registers[FRAME_RULES_REGISTERS];
};

#endif
