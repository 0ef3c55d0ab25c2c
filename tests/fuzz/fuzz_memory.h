/* SPDX-License-Identifier: MIT */
/*
 * A guest's memory for the targets that walk through it: the input, again and again. So a small input may be a long
 * list. No turn of a walk may take long, whatever the bytes say: it is judged by what it spends of its quota, by the
 * pages that it reads, and by its work (tests/unit/fakes/work.h), for it might do what it does not count.
 */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/walk.h"
#include "tests/unit/fakes/work.h"
#include "fuzz.h"

#define FUZZ_MEMORY UINT64_C(0xffffffffc0000000)	/* where it lies */

enum {
	FUZZ_MEMORY_SIZE = 1 << 30,
	FUZZ_PAGE = 4096,
	FUZZ_TURNS = 4,			/* of each walk */
	FUZZ_TURN_MOST = 1 << 20,	/* bytes: the quota of a turn */
	FUZZ_PIECE_MOST = 18 << 20,	/* bytes by which one piece of work, a process, may overdraw it */
	FUZZ_TURN_UNITS = 100000000,	/* the work of a turn */
};

struct fuzz_memory {
	const uint8_t *bytes;
	size_t size;
	uint64_t reads;			/* pages, in this turn */
	uint64_t begun;			/* the work done when it began */
	struct quota quota;
	bool late;			/* some turn took too much work */
};

/* The input's last page ends with zeros. */
static inline bool fuzz_memory_read(void *context, uint64_t address, void *to, size_t size)
{
	struct fuzz_memory *memory = context;
	uint64_t pages = (memory->size + FUZZ_PAGE - 1) / FUZZ_PAGE;
	size_t from, left;

	memory->reads++;
	require(address % FUZZ_PAGE == 0 && size == FUZZ_PAGE);
	if (!pages || address < FUZZ_MEMORY || address - FUZZ_MEMORY >= FUZZ_MEMORY_SIZE)
		return false;
	from = (size_t)((address - FUZZ_MEMORY) / FUZZ_PAGE % pages * FUZZ_PAGE);
	left = memory->size - from < size ? memory->size - from : size;
	memcpy(to, memory->bytes + from, left);
	memset((uint8_t *)to + left, 0, size - left);
	return true;
}

static inline void fuzz_memory_turn(struct fuzz_memory *memory)
{
	memory->quota = (struct quota) { .most = FUZZ_TURN_MOST };
	memory->reads = 0;
	memory->begun = work_done();
}

/* The turn has ended. */
static inline void fuzz_memory_judge(struct fuzz_memory *memory)
{
	require(memory->quota.spent <= FUZZ_TURN_MOST + FUZZ_PIECE_MOST);
	require(memory->reads * FUZZ_PAGE <= memory->quota.spent);
	memory->late = memory->late || work_done() - memory->begun > FUZZ_TURN_UNITS;
}

#endif
