/* SPDX-License-Identifier: MIT */
/* A guest's memory as a file that QEMU shares with whoever asks on a socket. */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include <stdint.h>

struct shared_memory {
	int fd, pair[2];
	uint64_t base;			/* the physical address of its first byte */
	uint64_t size;
	uint8_t *bytes;
};

struct shared_memory shared_memory_make(uint64_t size);
void shared_memory_clear(struct shared_memory *memory);

#endif
