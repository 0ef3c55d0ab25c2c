/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/code/disassembler.h"
#include "agent/code/instruction.h"

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
}

/* capstone 4 has no RISC-V: its instructions are shown as numbers, each of its length. */
static void test_riscv_has_words(void **state)
{
	struct instruction whole = first_of(ARCH_RISCV64, "\x13\x05\x10\x00", 4),
		small = first_of(ARCH_RISCV64, "\x01\x00\x13\x05", 4);

	(void)state;
	assert_int_equal(whole.size, 4);
	assert_string_equal(whole.text, ".4byte 0x00100513");
	assert_int_equal(small.size, 2);
	assert_string_equal(small.text, ".2byte 0x0001");
}

/* Whatever the bytes are: each step goes on, stays inside, and gives a printable text. */
static void test_any_bytes(void **state)
{
	enum arch_id archs[] = { ARCH_OTHER, ARCH_X86_64, ARCH_I386, ARCH_AARCH64, ARCH_RISCV64 };
	uint8_t bytes[4096];

	(void)state;
	srandom(1);
	for (int round = 0; round < 100; round++) {
		struct disassembler *disassembler = disassembler_new(archs[round % 5]);
		size_t done = 0;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)random();
		while (done < sizeof(bytes)) {
			struct instruction instruction;

			/* a copy that ends where the bytes end, so that the sanitizer sees what reads beyond it */
			size_t left = sizeof(bytes) - done < 20 ? sizeof(bytes) - done : (size_t)random() % 20 + 1;
			uint8_t *copy = malloc(left);

			memcpy(copy, bytes + done, left);
			disassembler_next(disassembler, copy, left, UINT64_MAX - 64 + done, &instruction);
			free(copy);
			assert_in_range(instruction.size, 1, left);
			for (const char *c = instruction.text; *c; c++)
				assert_in_range((unsigned char)*c, ' ', '~');
			done += instruction.size;
		}
		disassembler_free(disassembler);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_indirect_jumps_have_no_target),
		cmocka_unit_test(test_other_architectures),
		cmocka_unit_test(test_riscv_has_words),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
