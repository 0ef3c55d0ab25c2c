/* SPDX-License-Identifier: MIT */
/* The general walk: frames outside the known text, entry stubs, and the end of a stack. unwind.h has the fast one. */
#include <stdint.h>

#include "port.h"
#include "unwind.h"
#include "wire.h"

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	__builtin_memcpy(frames + 8 * index, &address, sizeof(address));
}

uint32_t ktop_walk_any(const struct ktop_current *current, uint64_t fp,
	struct ktop_wire_sample *sample, uint8_t *frames, uint32_t count, uint32_t most)
{
	const uint64_t last = ktop_last_frame(current);
	const uint64_t user_pc = current->user_valid ? current->user_pc : 0;
	uint64_t called = 1;		/* 0: the next pc is an interrupted one */

	for (;;) {
		const struct ktop_frame *frame = ktop_frame_at(fp);
		uint64_t pc = frame->pc, next = frame->fp;
		enum ktop_text text;

		if (pc == user_pc)
			return count;
		text = ktop_text_at(current, pc - called);
		if (text == KTOP_NOT_TEXT || count == most)
			return ktop_walk_ended(sample, count, pc);
		if (!called)
			sample->exact |= 1ull << count;
		put(frames, count++, pc);
		called = text != KTOP_TEXT_ENTRY;
		if (next <= fp || ktop_record_of(next) > last || next % KTOP_WORD != 0)
			return ktop_walk_ended(sample, count, next);
		fp = next;
	}
}
