/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "agent/code/disassembler.h"

static struct instruction first_of(enum arch_id arch, const char *bytes, size_t size)
{
	struct disassembler *disassembler = disassembler_new(arch);
	struct instruction instruction;

	assert_non_null(disassembler);
	disassembler_next(disassembler, (const uint8_t *)bytes, size, 0x1000, &instruction);
	disassembler_free(disassembler);
	return instruction;
}

static void test_x86_64(void **state)
{
	struct instruction jump = first_of(ARCH_X86_64, "\x75\xfa", 2), call =
		first_of(ARCH_X86_64, "\xe8\x0b\x00\x00\x00", 5), move = first_of(ARCH_X86_64, "\x48\x89\xe5", 3);

	(void)state;
	assert_int_equal(jump.size, 2);
	assert_int_equal(jump.kind, INSTRUCTION_JUMP);
	assert_int_equal(jump.target, 0xffc);
	assert_string_equal(jump.text, "jne    ffc");
	assert_int_equal(call.kind, INSTRUCTION_CALL);
	assert_int_equal(call.target, 0x1010);
	assert_int_equal(move.kind, INSTRUCTION_PLAIN);
	assert_string_equal(move.text, "movq   %rsp,%rbp");
}

/* A jump through a register leads nowhere that is known. */
static void test_indirect_jumps_have_no_target(void **state)
{
	struct instruction jump = first_of(ARCH_X86_64, "\xff\xe0", 2);

	(void)state;
	assert_true(jump.known);
	assert_int_equal(jump.kind, INSTRUCTION_PLAIN);
}

static void test_other_architectures(void **state)
{
	struct instruction i386 = first_of(ARCH_I386, "\xeb\xfe", 2),
		arm = first_of(ARCH_AARCH64, "\x00\x00\x00\x94", 4),
		branch = first_of(ARCH_AARCH64, "\x40\x00\x00\xb4", 4);

	(void)state;
	assert_int_equal(i386.target, 0x1000);
	assert_int_equal(arm.kind, INSTRUCTION_CALL);
	assert_int_equal(arm.target, 0x1000);
	assert_int_equal(branch.kind, INSTRUCTION_JUMP);
	assert_int_equal(branch.target, 0x1008);
	assert_string_equal(branch.text, "cbz    x0,1008");
}

static void put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

/* There is text for each architecture that ktop knows. */
static void test_what_lacks(void **state)
{
	static const enum arch_id archs[] = { ARCH_X86_64, ARCH_I386, ARCH_AARCH64, ARCH_RISCV64 };
	struct disassembler *disassembler = disassembler_new(ARCH_OTHER);

	(void)state;
	assert_non_null(disassembler_lacks(disassembler));
	disassembler_free(disassembler);
	for (int i = 0; i < 4; i++) {
		disassembler = disassembler_new(archs[i]);
		assert_null(disassembler_lacks(disassembler));
		disassembler_free(disassembler);
	}
}

/* A page behind which nothing can be read: neither by our code nor by the libraries, which have no sanitizer. */
static uint8_t *new_page(size_t size)
{
	uint8_t *page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(mprotect(page + size, size, PROT_NONE), 0);
	return page;
}

/* Whatever the bytes are: each step goes on, stays inside, and gives a printable text. */
static void test_any_bytes(void **state)
{
	enum arch_id archs[] = { ARCH_OTHER, ARCH_X86_64, ARCH_I386, ARCH_AARCH64, ARCH_RISCV64 };
	enum { PAGE = 4096, ROUNDS = 100 };
	uint8_t bytes[PAGE], *page = new_page(PAGE);

	(void)state;
	srandom(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct disassembler *disassembler = disassembler_new(archs[round % 5]);
		size_t done = 0;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)random();
		while (done < sizeof(bytes)) {
			struct instruction instruction;
			size_t left = sizeof(bytes) - done < 20 ? sizeof(bytes) - done : (size_t)random() % 20 + 1;

			memcpy(page + PAGE - left, bytes + done, left);
			disassembler_next(disassembler, page + PAGE - left, left, UINT64_MAX - 64 + done, &instruction);
			assert_in_range(instruction.size, 1, left);
			for (const char *c = instruction.text; *c; c++)
				assert_in_range((unsigned char)*c, ' ', '~');
			done += instruction.size;
		}
		disassembler_free(disassembler);
	}
	munmap(page, 2 * PAGE);
}

/* riscv64: each half word, and many words. */
static void test_any_riscv64(void **state)
{
	enum { WORDS = 200000 };
	struct disassembler *disassembler = disassembler_new(ARCH_RISCV64);
	uint8_t *page = new_page(4096), *word = page + 4096 - 4;
	struct instruction instruction;

	(void)state;
	srandom(2);
	for (uint32_t value = 0; value < 1 << 16; value++) {
		put16(word + 2, value);
		disassembler_next(disassembler, word + 2, 2, value, &instruction);
		assert_int_equal(instruction.size, (value & 3) == 3 ? 1 : 2);
	}
	for (int i = 0; i < WORDS; i++) {
		put16(word, (uint32_t)random() | 3);
		put16(word + 2, (uint32_t)random());
		disassembler_next(disassembler, word, 4, (uint64_t)i << 40, &instruction);
		assert_int_equal(instruction.size, 4);
		for (const char *c = instruction.text; *c; c++)
			assert_in_range((unsigned char)*c, ' ', '~');
	}
	disassembler_free(disassembler);
	munmap(page, 2 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_indirect_jumps_have_no_target),
		cmocka_unit_test(test_other_architectures),
		cmocka_unit_test(test_what_lacks),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_any_riscv64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
