/* SPDX-License-Identifier: MIT */
/*
 * The memory that a walk may read: the bytes of stacks that came with a sample, and nothing else,
 * unless the source can read the guest's memory as it was at that instant.
 */
#ifndef STACK_MEMORY_H
#define STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_reader;

enum { STACK_MEMORY_PIECES = 4, STACK_MEMORY_READS = 256 };

struct stack_piece {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

struct stack_memory {
	size_t count;
	struct stack_piece pieces[STACK_MEMORY_PIECES];

	/* What lies elsewhere, by the source, at most STACK_MEMORY_READS times a walk. NULL: it cannot. */
	const struct memory_reader *elsewhere;
	unsigned reads;			/* how often it was asked */
};

/* A word of `size` bytes, 4 or 8, at any address. False: it is not known. */
bool stack_memory_word(struct stack_memory *memory, uint64_t address, size_t size, uint64_t *word);

#endif
