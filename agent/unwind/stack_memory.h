/* SPDX-License-Identifier: MIT */
/*
 * The memory that a walk may read: the bytes of stacks in the sample; and the guest's memory, if the source
 * can read it as it was at that instant.
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

	/* Reads other memory, STACK_MEMORY_READS times a walk at most. NULL: the source cannot. */
	const struct memory_reader *elsewhere;
	unsigned reads;			/* reads of `elsewhere` so far */
};

/* Reads a word of `size` bytes, 4 or 8, at any address. False: the walk cannot read it. */
bool stack_memory_word(struct stack_memory *memory, uint64_t address, size_t size, uint64_t *word);

#endif
