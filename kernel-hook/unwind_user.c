#include <stdint.h>

#include "port.h"
#include "unwind_user.h"
#include "wire.h"

/* User addresses end here on x86-64 with four levels of page tables, and on its kin. */
#define USER_END (1ull << 47)

struct frame {
	uint64_t fp, pc;
};

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	__builtin_memcpy(frames + 8 * index, &address, sizeof address);
}

uint32_t ktop_walk_user(uint64_t pc, uint64_t fp, struct ktop_wire_sample *sample,
	uint8_t *frames)
{
	struct frame frame;
	uint64_t above = 0;
	uint32_t count = 1;

	put(frames, 0, pc);
	while (fp != 0) {
		if (fp % 8 != 0 || fp <= above || fp >= USER_END - sizeof frame ||
				!ktop_port_read_user(fp, &frame, sizeof frame))
			goto cut;
		if (frame.pc == 0)
			break;
		if (frame.pc >= USER_END || count == KTOP_FRAMES_MAX)
			goto cut;
		put(frames, count++, frame.pc);
		above = fp;
		fp = frame.fp;
	}
	return count;
cut:
	sample->flags |= KTOP_USER_CUT;
	return count;
}
