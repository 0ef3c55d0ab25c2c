/* SPDX-License-Identifier: MIT */
/* The test is its own QEMU: it shares a file, and is at the other end of the socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/vm/ram/ram_file.h"
#include "tests/unit/agent/vm/shared_memory.h"

enum { MIB = 1 << 20, PROOFS = 16 };

#define GIB (UINT64_C(1) << 30)

static void small_memory_is_in_one_piece(void **state)
{
	struct shared_memory file = shared_memory_make(2 * MIB);
	struct ram_file *shared = ram_file_open(file.pair[0], "x86_64");
	struct ram_file *arm = ram_file_open(file.pair[0], "aarch64");
	uint64_t word = 0;

	(void)state;
	assert_true(shared && arm);
	assert_int_equal(ram_file_layouts(shared), 1);
	file.bytes[MIB] = 0x5a;
	assert_true(ram_file_read(shared, 0, MIB, &word, sizeof(word)));
	assert_int_equal(word, 0x5a);
	assert_true(ram_file_read(arm, 0, GIB + MIB, &word, 1));
	assert_int_equal(word, 0x5a);
	assert_false(ram_file_read(arm, 0, MIB, &word, 1));
	assert_false(ram_file_read(shared, 1, MIB, &word, 1));
	assert_true(ram_file_read(shared, 0, 2 * MIB - 8, &word, 8));
	assert_false(ram_file_read(shared, 0, 2 * MIB - 7, &word, 8));
	assert_false(ram_file_read(shared, 0, UINT64_MAX - 3, &word, 8));
	assert_false(ram_file_read(shared, 0, 4 * GIB, &word, 8));
	/* Somebody shortens the file: a read fails, and nothing else happens. */
	assert_int_equal(ftruncate(file.fd, MIB), 0);
	assert_false(ram_file_read(shared, 0, MIB, &word, sizeof(word)));
	ram_file_close(shared);
	ram_file_close(arm);
	shared_memory_clear(&file);
}

/* Which board it is nobody tells: the ways that are wrong go, and a proof needs many that are right. */
static void large_memory_has_a_hole(void **state)
{
	struct shared_memory file = shared_memory_make(5 * GIB);
	struct ram_file *shared = ram_file_open(file.pair[0], "x86_64");
	unsigned left = ram_file_layouts(shared);
	uint8_t byte;

	(void)state;
	assert_int_equal(left, 4);
	file.bytes[3 * GIB + 7] = 0xa5;
	while (left-- > 0) {
		assert_true(ram_file_read(shared, left, 4 * GIB + 7, &byte, 1));
		ram_file_judge(shared, left, byte == 0xa5);
	}
	assert_int_equal(ram_file_layouts(shared), 1);
	assert_false(ram_file_read(shared, 0, 3 * GIB + 7, &byte, 1));	/* the hole */
	assert_true(ram_file_read(shared, 0, 6 * GIB - 1, &byte, 1));
	assert_false(ram_file_read(shared, 0, 6 * GIB, &byte, 1));
	assert_false(ram_file_read(shared, 0, UINT64_MAX, &byte, 1));
	for (int i = 1; i < PROOFS; i++) {
		assert_false(ram_file_is_proved(shared));
		ram_file_judge(shared, 0, true);
	}
	assert_true(ram_file_is_proved(shared));
	ram_file_give_up(shared);
	assert_false(ram_file_is_proved(shared));
	ram_file_close(shared);
	shared_memory_clear(&file);
}

static void what_is_not_shared_is_not_read(void **state)
{
	int pair[2], fd = memfd_create("private", MFD_CLOEXEC);
	void *bytes;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, MIB * 4) == 0);
	bytes = mmap(NULL, MIB * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_null(ram_file_open(pair[0], "x86_64"));
	munmap(bytes, MIB * 4);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_memory_is_in_one_piece), cmocka_unit_test(large_memory_has_a_hole),
		cmocka_unit_test(what_is_not_shared_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
