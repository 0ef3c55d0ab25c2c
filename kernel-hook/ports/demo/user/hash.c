/* SPDX-License-Identifier: MIT */
/* Reads a part of a file and hashes it, here and in the kernel. */
#include <stdint.h>

#include "program.h"

enum { PIECE = 256 };

/* The hash FNV-1a (Fowler, Noll and Vo). */
static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static uint64_t hash_file(uint32_t file, uint32_t pieces)
{
	uint64_t hash = 0xcbf29ce484222325;
	uint8_t bytes[PIECE];

	for (uint32_t i = 0; i < pieces; i++) {
		program_read(file, (uint64_t)i * PIECE, bytes, sizeof(bytes));
		for (uint32_t again = 0; again < 8; again++)
			hash = hash_bytes(hash, bytes, sizeof(bytes));
		hash ^= (uint64_t)program_digest(bytes, sizeof(bytes));
	}
	return hash;
}

int64_t main(uint64_t argument)
{
	return hash_file(program_process(), (uint32_t)argument) == 0;
}
