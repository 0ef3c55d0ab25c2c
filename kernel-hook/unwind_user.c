/* SPDX-License-Identifier: MIT */
/* Nothing in a program is trusted: each address is checked, and read by ktop_port_read_user(), which cannot fault. */
#include <stdint.h>

#include "arch.h"
#include "port.h"
#include "unwind_user.h"
#include "wire.h"

enum { NEAR = 1 << 16 };		/* bytes of a stack */

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	__builtin_memcpy(frames + 8 * index, &address, sizeof(address));
}

/* As ktop_saves_fp_alone(); where a program's code is, nobody knows, but its next frame is near. */
static bool saves_fp_alone(uint64_t fp, uint64_t saved)
{
	return saved > fp && saved - fp < NEAR && saved % KTOP_WORD == 0;
}

uint32_t ktop_walk_user(uint64_t pc, uint64_t fp, uint64_t link, struct ktop_wire_sample *sample,
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
		if (count == 1 && link != 0 && saves_fp_alone(fp, next)) {
			frame = (struct ktop_frame) { .fp = next };
			next = link;
		}
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
