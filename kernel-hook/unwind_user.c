/* SPDX-License-Identifier: MIT */
/* Nothing in a program is trusted: each address is checked, and read by ktop_port_read_user(), which cannot fault. */
#include <stdint.h>

#include "arch.h"
#include "port.h"
#include "unwind_user.h"
#include "wire.h"

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	__builtin_memcpy(frames + 8 * index, &address, sizeof(address));
}

uint32_t ktop_walk_user(uint64_t pc, uint64_t fp, struct ktop_wire_sample *sample,
	uint8_t *frames)
{
	struct ktop_frame frame;
	uint64_t above = 0, next;
	uint32_t count = 1;

	put(frames, 0, pc);
	while (fp != 0) {
		if (fp % KTOP_WORD != 0 || fp <= above || fp >= KTOP_USER_END - sizeof(frame) ||
				!ktop_port_read_user(fp + (uint64_t)KTOP_FRAME_OFFSET, &frame,
					sizeof(frame)))
			goto cut;
		next = frame.pc;
		if (next == 0)
			break;
		if (next >= KTOP_USER_END || count == KTOP_FRAMES_MAX)
			goto cut;
		put(frames, count++, next);
		above = fp;
		fp = frame.fp;
	}
	return count;
cut:
	sample->flags |= KTOP_USER_CUT;
	return count;
}
