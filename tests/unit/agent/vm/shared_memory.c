/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared_memory.h"

struct shared_memory shared_memory_make(uint64_t size)
{
	struct shared_memory memory = { .fd = memfd_create("memory", MFD_CLOEXEC), .size = size };

	assert_true(memory.fd >= 0 && ftruncate(memory.fd, (off_t)size) == 0);
	memory.bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.fd, 0);
	assert_true(memory.bytes != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, memory.pair), 0);
	return memory;
}

void shared_memory_clear(struct shared_memory *memory)
{
	munmap(memory->bytes, memory->size);
	close(memory->fd);
	close(memory->pair[0]);
	close(memory->pair[1]);
}
