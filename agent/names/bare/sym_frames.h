/* SPDX-License-Identifier: MIT */
/*
 * Where functions begin and end, by .eh_frame: what is left of a stripped program or kernel, since its unwinding needs
 * it. Linux Standard Base 5.0, Core, 10.6: "Exception Frames".
 */
#ifndef SYM_FRAMES_H
#define SYM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_table;

struct sym_frames {			/* a section, and how to read it */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;		/* where it is linked */
	unsigned word;			/* bytes of an address: 4 or 8 */
	bool big_endian;
};

/*
 * Calls `take` for each function, in the order of the section, until it returns false. What makes no sense ends the
 * reading. No byte is trusted.
 */
typedef bool sym_frames_take(void *context, uint64_t address, uint64_t size);
void sym_frames_read(const struct sym_frames *frames, sym_frames_take *take, void *context);

#endif
