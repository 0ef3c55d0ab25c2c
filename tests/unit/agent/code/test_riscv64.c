/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/job.h"
#include "agent/code/disassembler.h"
#include "hidden_llvm.h"

static void put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

/* The instruction behind `before`, at 0x1004; 0: nothing is before it. */
static struct instruction after(uint32_t before, uint32_t word)
{
	struct disassembler *disassembler = disassembler_new(ARCH_RISCV64);
	struct instruction instruction;
	uint8_t bytes[8];

	put16(bytes, before);
	put16(bytes + 2, before >> 16);
	put16(bytes + 4, word);
	put16(bytes + 6, word >> 16);
	if (before)
		disassembler_next(disassembler, bytes, 4, 0x1000, &instruction);
	disassembler_next(disassembler, bytes + 4, (word & 3) == 3 ? 4 : 2, 0x1004, &instruction);
	disassembler_free(disassembler);
	return instruction;
}

/* What GNU as makes of these texts. */
static void test_instructions(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t size;
		const char *text;
	} all[] = {
		{ 0x00100513, 4, "li     a0,1" }, { 0x0005b503, 4, "ld     a0,0(a1)" },
		{ 0x1101, 2, "addi   sp,sp,-32" }, { 0x0001, 2, "nop" }, { 0x8082, 2, "ret" },
		{ 0x00000073, 4, "ecall" }, { 0x0ff0000f, 4, "fence" },
		{ 0x02b50533, 4, "mul    a0,a0,a1" }, { 0x1005272f, 4, "lr.w   a4,(a0)" },
		{ 0x02b57553, 4, "fadd.d fa0,fa0,fa1" }, { 0x60051513, 4, "clz    a0,a0" },
		{ 0x0d057057, 4, "vsetvli zero,a0,e32,m1,ta,ma" }, { 0x14011173, 4, "csrrw  sp,sscratch,sp" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct instruction instruction = after(0, all[i].word);

		assert_true(instruction.known);
		assert_int_equal(instruction.kind, INSTRUCTION_PLAIN);
		assert_int_equal(instruction.size, all[i].size);
		assert_string_equal(instruction.text, all[i].text);
	}
}

/* Near and far, to and fro: each bit of each offset comes to its place. */
static void test_jumps(void **state)
{
	static const struct {
		uint32_t word;
		enum instruction_kind kind;
		uint64_t target;
		const char *text;
	} all[] = {
		{ 0x0040006f, INSTRUCTION_JUMP, 0x1008, "j      1008" },
		{ 0xff5ff0ef, INSTRUCTION_CALL, 0xff8, "jal    ff8" },
		{ 0x5562a0ef, INSTRUCTION_CALL, 0x2b55a, "jal    2b55a" },
		{ 0xaa9d50ef, INSTRUCTION_CALL, 0xfffffffffffd6aac, "jal    fffffffffffd6aac" },
		{ 0x00b50463, INSTRUCTION_JUMP, 0x100c, "beq    a0,a1,100c" },
		{ 0x80b50063, INSTRUCTION_JUMP, 0x4, "beq    a0,a1,4" },
		{ 0x7e051fe3, INSTRUCTION_JUMP, 0x2002, "bnez   a0,2002" },
		{ 0xb001, INSTRUCTION_JUMP, 0x804, "j      804" },
		{ 0xaffd, INSTRUCTION_JUMP, 0x1802, "j      1802" },
		{ 0xdd01, INSTRUCTION_JUMP, 0xf1c, "beqz   a0,f1c" },
		{ 0xed7d, INSTRUCTION_JUMP, 0x1102, "bnez   a0,1102" },
		{ 0x8502, INSTRUCTION_PLAIN, 0, "jr     a0" }, { 0x9502, INSTRUCTION_PLAIN, 0, "jalr   a0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct instruction instruction = after(0, all[i].word);

		assert_true(instruction.known);
		assert_int_equal(instruction.kind, all[i].kind);
		assert_int_equal(instruction.target, all[i].target);
		assert_string_equal(instruction.text, all[i].text);
	}
}

/* A call far away: auipc ra,0x10; jalr -4(ra). */
static void test_pairs(void **state)
{
	struct instruction call = after(0x00010097, 0xffc080e7), tail = after(0xfffff317, 0x00830067),
		alone = after(0, 0xffc080e7), other = after(0x00010317, 0xffc080e7);

	(void)state;
	assert_int_equal(call.kind, INSTRUCTION_CALL);
	assert_int_equal(call.target, 0x10ffc);
	assert_string_equal(call.text, "jalr   -4(ra) # 10ffc");
	assert_int_equal(tail.kind, INSTRUCTION_JUMP);
	assert_int_equal(tail.target, 0x8);
	assert_string_equal(tail.text, "jr     8(t1) # 8");
	assert_int_equal(alone.kind, INSTRUCTION_PLAIN);
	assert_string_equal(alone.text, "jalr   -4(ra)");
	assert_int_equal(other.kind, INSTRUCTION_PLAIN);
}

/* The first bytes of `li a0,1`. */
static struct instruction cut_after(size_t size)
{
	static const uint8_t bytes[] = { 0x13, 0x05, 0x10, 0x00 };
	struct disassembler *disassembler = disassembler_new(ARCH_RISCV64);
	struct instruction instruction;

	disassembler_next(disassembler, bytes, size, 0x1000, &instruction);
	disassembler_free(disassembler);
	return instruction;
}

static void test_bad(void **state)
{
	struct instruction word = after(0, 0xffffffff), half = after(0, 0),
		cut = cut_after(1), cut_word = cut_after(3);

	(void)state;
	assert_false(word.known);
	assert_string_equal(word.text, ".4byte 0xffffffff");
	assert_string_equal(half.text, "unimp");
	assert_string_equal(cut.text, "(bad)  13");
	assert_int_equal(cut_word.size, 1);
	assert_int_equal(cut_word.kind, INSTRUCTION_PLAIN);
}

/* Without LLVM there are numbers, each of the length of an instruction; and it is said why. */
static void test_without_llvm(void **state)
{
	struct disassembler *disassembler;
	struct instruction whole, small, call;

	(void)state;
	hidden_llvm(true);
	whole = after(0, 0x00100513);
	small = after(0, 0x0001);
	call = after(0, 0xff5ff0ef);
	disassembler = disassembler_new(ARCH_RISCV64);
	hidden_llvm(false);
	assert_string_equal(disassembler_lacks(disassembler),
		"its instructions are numbers: LLVM is not here; install libllvm14");
	disassembler_free(disassembler);
	assert_int_equal(whole.size, 4);
	assert_string_equal(whole.text, ".4byte 0x00100513");
	assert_int_equal(small.size, 2);
	assert_string_equal(small.text, ".2byte 0x0001");
	assert_string_equal(call.text, ".4byte 0xff5ff0ef");
	assert_int_equal(call.kind, INSTRUCTION_CALL);
	assert_int_equal(call.target, 0xff8);
}

enum { NOPS = 256, ROUNDS = 10, THREADS = 8 };

static void disassemble(void *context)
{
	unsigned *count = context;
	uint8_t bytes[2 * NOPS];
	struct instruction instruction;

	for (size_t i = 0; i < sizeof(bytes); i += 2)
		put16(bytes + i, 0x0001);
	for (int round = 0; round < ROUNDS; round++) {
		struct disassembler *disassembler = disassembler_new(ARCH_RISCV64);

		for (size_t i = 0; i < sizeof(bytes); i += 2) {
			disassembler_next(disassembler, bytes + i, sizeof(bytes) - i, i, &instruction);
			*count += strcmp(instruction.text, "nop") == 0;
		}
		disassembler_free(disassembler);
	}
}

static void leave_it(void *context)
{
	(void)context;
}

/* Several listings are made at once, each by a thread. */
static void test_threads(void **state)
{
	static const struct job_work work = { .run = disassemble, .free = leave_it };
	struct job *jobs[THREADS];
	unsigned counts[THREADS] = { 0 };

	(void)state;
	for (int i = 0; i < THREADS; i++)
		jobs[i] = job_new(&work, &counts[i]);
	for (int i = 0; i < THREADS; i++) {
		job_wait(jobs[i]);
		job_leave(jobs[i]);
		assert_int_equal(counts[i], NOPS * ROUNDS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_without_llvm),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
