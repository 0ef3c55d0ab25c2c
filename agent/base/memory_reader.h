/* SPDX-License-Identifier: MIT */
/* Reads memory that is not ktop's own, by address: a guest's, or a copy of it. */
#ifndef MEMORY_READER_H
#define MEMORY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads all of the bytes or none; false: one of them cannot be read. Never waits for long. Each call may cost
 * the guest time, so the caller bounds how many it makes.
 */
struct memory_reader {
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
	/* How many reads have failed so far because their bytes are still on their way. NULL: none fails so. */
	uint64_t (*awaited)(void *context);
};

static inline uint64_t memory_reader_awaited(const struct memory_reader *reader)
{
	return reader->awaited ? reader->awaited(reader->context) : 0;
}

#endif
