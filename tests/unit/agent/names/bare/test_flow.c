/* SPDX-License-Identifier: MIT */
/* Where single instructions lead, of each architecture. The expected targets are those of its assembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/bare/flow.h"
#include "tests/unit/fakes/random.h"

#define ADDRESS UINT64_C(0x10000)

struct expected {
	const char *bytes;
	unsigned size;
	enum flow_kind kind;
	int64_t target, names;		/* 0: none; `target` is counted from the instruction */
};

static void check(enum arch_id arch, const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct expected *want = &expected[i];
		struct flow flow;

		flow_reader_of(arch)((const uint8_t *)want->bytes, want->size, ADDRESS, &flow);
		if (flow.size != want->size || flow.kind != want->kind)
			fail_msg("row %zu: size %u, kind %d", i, flow.size, (int)flow.kind);
		if (want->target)
			assert_int_equal(flow.target, (uint64_t)((int64_t)ADDRESS + want->target));
		assert_int_equal(flow.names, want->names);
	}
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_x86_64(void **state)
{
	static const struct expected expected[] = {
		{ "\xe8\x0b\x00\x00\x00", 5, FLOW_CALL, 16, 0 },
		{ "\xe9\xfb\xff\xff\xff", 5, FLOW_JUMP, 0, 0 },
		{ "\xeb\x7e", 2, FLOW_JUMP, 128, 0 },
		{ "\x75\xf0", 2, FLOW_BRANCH, -14, 0 },
		{ "\x0f\x84\x00\x01\x00\x00", 6, FLOW_BRANCH, 262, 0 },
		{ "\xc3", 1, FLOW_RETURN, 0, 0 },
		{ "\xf3\xc3", 2, FLOW_RETURN, 0, 0 },
		{ "\x0f\x0b", 2, FLOW_END, 0, 0 },
		{ "\xff\xd0", 2, FLOW_CALL_REGISTER, 0, 0 },
		{ "\xff\x50\x08", 3, FLOW_CALL_REGISTER, 0, 0 },
		{ "\xff\xe0", 2, FLOW_JUMP_REGISTER, 0, 0 },
		{ "\x3e\xff\xe0", 3, FLOW_JUMP_REGISTER, 0, 0 },
		{ "\xff\x25\x10\x00\x00\x00", 6, FLOW_END, 0, 0 },
		{ "\xff\x60\x08", 3, FLOW_END, 0, 0 },
		{ "\xff\x24\xc5\x00\x20\x40\x00", 7, FLOW_JUMP_TABLE, 0, 0x402000 },
		{ "\x48\x8d\x05\x09\x00\x00\x00", 7, FLOW_ON, 0, 0x10010 },
		{ "\x90", 1, FLOW_PADDING, 0, 0 },
		{ "\xcc", 1, FLOW_PADDING, 0, 0 },
		{ "\xf3\x90", 2, FLOW_ON, 0, 0 },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, FLOW_PADDING, 0, 0 },
		{ "\xf3\x0f\x1e\xfa", 4, FLOW_ON, 0, 0 },
		{ "\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10, FLOW_ON, 0, 0 },
		{ "\x66\xc7\x05\x01\x00\x00\x00\x34\x12", 9, FLOW_ON, 0, 0 },
		{ "\xc7\x45\xe8\x05\x00\x00\x00", 7, FLOW_ON, 0, 0 },
		{ "\xf6\x44\x24\x08\x01", 5, FLOW_ON, 0, 0 },
		{ "\xf7\xd8", 2, FLOW_ON, 0, 0 },
		{ "\xc5\xf8\x77", 3, FLOW_ON, 0, 0 },
		{ "\xc5\xfd\x70\xc0\x1b", 5, FLOW_ON, 0, 0 },
		{ "\xc4\xe3\x7d\x39\xc1\x01", 6, FLOW_ON, 0, 0 },
		{ "\x62\xf1\x7c\x48\x28\x40\x01", 7, FLOW_ON, 0, 0 },
		{ "\x66\x0f\x3a\x0f\xc1\x08", 6, FLOW_ON, 0, 0 },
	};

	(void)state;
	check(ARCH_X86_64, expected, COUNT(expected));
}

static void test_i386(void **state)
{
	static const struct expected expected[] = {
		{ "\xe8\x0b\x00\x00\x00", 5, FLOW_CALL, 16, 0 },
		{ "\x40", 1, FLOW_ON, 0, 0 },
		{ "\x8d\x76\x00", 3, FLOW_PADDING, 0, 0 },
		{ "\x8d\xb4\x26\x00\x00\x00\x00", 7, FLOW_PADDING, 0, 0 },
		{ "\x8d\x44\x2d\x00", 4, FLOW_ON, 0, 0 },
		{ "\xff\x24\x85\x00\x20\x40\x00", 7, FLOW_JUMP_TABLE, 0, 0x402000 },
		{ "\xc4\x45\x08", 3, FLOW_ON, 0, 0 },
		{ "\xa1\x00\x20\x40\x00", 5, FLOW_ON, 0, 0 },
	};

	(void)state;
	check(ARCH_I386, expected, COUNT(expected));
}

static void test_aarch64(void **state)
{
	static const struct expected expected[] = {
		{ "\x40\x00\x00\x54", 4, FLOW_BRANCH, 8, 0 },
		{ "\x83\xff\xff\xb5", 4, FLOW_BRANCH, -16, 0 },
		{ "\xc5\x07\x18\x37", 4, FLOW_BRANCH, 0xf8, 0 },
		{ "\xa5\xf7\x47\xb6", 4, FLOW_BRANCH, -268, 0 },
		{ "\xbc\xff\xff\x97", 4, FLOW_CALL, -272, 0 },
		{ "\xfb\x03\x00\x14", 4, FLOW_JUMP, 0xfec, 0 },
		{ "\xc0\x03\x5f\xd6", 4, FLOW_RETURN, 0, 0 },
		{ "\xff\x0b\x5f\xd6", 4, FLOW_RETURN, 0, 0 },
		{ "\x20\x00\x1f\xd6", 4, FLOW_JUMP_REGISTER, 0, 0 },
		{ "\x40\x00\x3f\xd6", 4, FLOW_CALL_REGISTER, 0, 0 },
		{ "\x7f\x08\x3f\xd6", 4, FLOW_CALL_REGISTER, 0, 0 },
		{ "\x1f\x20\x03\xd5", 4, FLOW_PADDING, 0, 0 },
		{ "\x00\x04\x00\x91", 4, FLOW_ON, 0, 0 },
	};

	(void)state;
	check(ARCH_AARCH64, expected, COUNT(expected));
}

static void test_riscv64(void **state)
{
	static const struct expected expected[] = {
		{ "\x01\xc5", 2, FLOW_BRANCH, 8, 0 },
		{ "\xfd\xf5", 2, FLOW_BRANCH, -18, 0 },
		{ "\xdd\xbf", 2, FLOW_JUMP, -10, 0 },
		{ "\xdd\xae", 2, FLOW_JUMP, 0x3f6, 0 },
		{ "\x63\x0a\xb5\x7e", 4, FLOW_BRANCH, 0x7f4, 0 },
		{ "\xe3\x78\xb5\xbe", 4, FLOW_BRANCH, -0x410, 0 },
		{ "\xef\x10\xd0\x7e", 4, FLOW_CALL, 0x1fec, 0 },
		{ "\x6f\x70\x9f\xfe", 4, FLOW_JUMP, -0x8018, 0 },
		{ "\x97\x10\x00\x00\xe7\x80\xc0\xff", 8, FLOW_CALL, 0xffc, 0 },
		{ "\x17\x03\x00\x00\x67\x00\x83\x00", 8, FLOW_JUMP, 8, 0 },
		{ "\x67\x80\x00\x00", 4, FLOW_RETURN, 0, 0 },
		{ "\x82\x80", 2, FLOW_RETURN, 0, 0 },
		{ "\x82\x87", 2, FLOW_JUMP_REGISTER, 0, 0 },
		{ "\x82\x97", 2, FLOW_CALL_REGISTER, 0, 0 },
		{ "\x01\x00", 2, FLOW_PADDING, 0, 0 },
		{ "\x13\x00\x00\x00", 4, FLOW_PADDING, 0, 0 },
	};

	(void)state;
	check(ARCH_RISCV64, expected, COUNT(expected));
}

/* Any bytes, of which any number is there: something is read, and not more than an instruction can have. */
static void test_any_bytes(void **state)
{
	static const enum arch_id archs[] = { ARCH_X86_64, ARCH_I386, ARCH_AARCH64, ARCH_RISCV64 };
	struct random random = { .state = 1 };

	(void)state;
	for (int i = 0; i < 400000; i++) {
		size_t left = 1 + random_below(&random, 20);
		uint8_t *bytes = malloc(left);
		struct flow flow;

		for (size_t j = 0; j < left; j++)
			bytes[j] = (uint8_t)random_below(&random, 256);
		flow_reader_of(archs[i % 4])(bytes, left, ADDRESS, &flow);
		assert_in_range(flow.size, 1, 15);
		free(bytes);
	}
	assert_null(flow_reader_of(ARCH_OTHER));
}

/* What stands before a return address. */
static void test_calls(void **state)
{
	static const struct {
		enum arch_id arch;
		const char *bytes;
		size_t size;
		bool called;
		int64_t target;
	} rows[] = {
		{ ARCH_X86_64, "\x90\x90\xe8\x10\x00\x00\x00", 7, true, 0x10 },
		{ ARCH_X86_64, "\x90\x67\xe8\x10\x00\x00\x00", 7, true, 0x10 },
		{ ARCH_X86_64, "\x90\xff\x15\x10\x00\x00\x00", 7, true, 0 },
		{ ARCH_X86_64, "\x41\xff\x94\x24\x00\x01\x00\x00", 8, true, 0 },
		{ ARCH_X86_64, "\x3e\xff\xd0", 3, true, 0 },
		{ ARCH_X86_64, "\x90\x90\x90\x90\x0f\x05", 6, false, 0 },
		{ ARCH_X86_64, "\xe9\x10\x00\x00\x00", 5, false, 0 },
		{ ARCH_X86_64, "\xff\xe0", 2, false, 0 },
		{ ARCH_X86_64, "\xd0", 1, false, 0 },
		{ ARCH_I386, "\xff\x50\x08", 3, true, 0 },
		{ ARCH_I386, "\xe8\xf0\xff\xff\xff", 5, true, -0x10 },
		{ ARCH_I386, "\xc3\x90", 2, false, 0 },
		{ ARCH_AARCH64, "\x1f\x20\x03\xd5\x02\x00\x00\x94", 8, true, 4 },
		{ ARCH_AARCH64, "\x60\x00\x3f\xd6", 4, true, 0 },
		{ ARCH_AARCH64, "\x60\x00\x1f\xd6", 4, false, 0 },
		{ ARCH_AARCH64, "\x1f\x20\x03\xd5", 4, false, 0 },
		{ ARCH_RISCV64, "\x13\x00\x00\x00\xef\x00\x80\x00", 8, true, 4 },
		{ ARCH_RISCV64, "\x97\x00\x00\x00\xe7\x80\x00\x01", 8, true, 8 },
		{ ARCH_RISCV64, "\x82\x97", 2, true, 0 },
		{ ARCH_RISCV64, "\x82\x87", 2, false, 0 },
		{ ARCH_RISCV64, "\x67\x80\x00\x00", 4, false, 0 },
		{ ARCH_OTHER, "\x00", 1, true, 0 },
	};
	uint64_t target;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (calls_return(rows[i].arch, (const uint8_t *)rows[i].bytes, rows[i].size, rows[i].size, ADDRESS,
				&target) != rows[i].called)
			fail_msg("row %zu", i);
		assert_int_equal(target, rows[i].target ? (uint64_t)((int64_t)ADDRESS + rows[i].target) : 0);
	}
	assert_false(calls_return(ARCH_AARCH64, (const uint8_t *)"\x60\x00\x3f\xd6", 4, 4, ADDRESS + 2, &target));
	assert_false(calls_return(ARCH_RISCV64, (const uint8_t *)"\x82\x97", 2, 2, ADDRESS + 1, &target));
}

/* A signal's handler returns to what no call stands before. */
static void test_signals(void **state)
{
	static const uint8_t aarch64[] = "\x1f\x20\x03\xd5\x68\x11\x80\xd2\x01\x00\x00\xd4";
	static const uint8_t riscv64[] = "\x13\x00\x00\x00\x93\x08\xb0\x08\x73\x00\x00\x00";
	uint64_t target;

	(void)state;
	assert_true(calls_return(ARCH_AARCH64, aarch64, 4, 12, ADDRESS, &target));
	assert_true(calls_return(ARCH_RISCV64, riscv64, 4, 12, ADDRESS, &target));
	assert_false(calls_return(ARCH_RISCV64, riscv64, 4, 8, ADDRESS, &target));
}

static void check_end(enum arch_id arch, const char *bytes, size_t size, bool ends, int64_t goes_on)
{
	uint64_t next;

	assert_int_equal(calls_leave_interrupt(arch, (const uint8_t *)bytes, size, ADDRESS, &next), ends);
	assert_int_equal(next, goes_on ? (uint64_t)((int64_t)ADDRESS + goes_on) : 0);
}

static void test_frames(void **state)
{
	static const struct {
		enum arch_id arch;
		const char *bytes;
		size_t size, at;
		enum calls_frame frame;
	} rows[] = {
		{ ARCH_X86_64, "\x55\x48\x89\xe5\x5d\xc3", 6, 0, CALLS_FRAME_NONE },
		{ ARCH_X86_64, "\x55\x48\x89\xe5\x5d\xc3", 6, 1, CALLS_FRAME_NONE },
		{ ARCH_X86_64, "\x55\x48\x89\xe5\x5d\xc3", 6, 4, CALLS_FRAME_LAID },
		{ ARCH_X86_64, "\x55\x48\x89\xe5\x5d\xc3", 6, 5, CALLS_FRAME_LEFT },
		{ ARCH_X86_64, "\x55\x48\x89\xe5\x5d\xc3", 6, 6, CALLS_FRAME_UNKNOWN },
		{ ARCH_X86_64, "\xf3\x90\x87\x07\x48\xcf", 6, 4, CALLS_FRAME_UNKNOWN },
		{ ARCH_X86_64, "\xf3\x0f\x1e\xfa\x55\x48\x8d\x6c\x24\x08\x90", 11, 10, CALLS_FRAME_LAID },
		{ ARCH_X86_64, "\xb8\x48\x89\xe5\x00\x90", 6, 5, CALLS_FRAME_NONE },
		{ ARCH_I386, "\x55\x89\xe5\x90", 4, 3, CALLS_FRAME_LAID },
		{ ARCH_I386, "\xf3\x90\xeb\xfc", 4, 2, CALLS_FRAME_NONE },
		{ ARCH_AARCH64, "\xfd\x7b\xbf\xa9\xfd\x03\x00\x91\x1f\x20\x03\xd5", 12, 8, CALLS_FRAME_LAID },
		{ ARCH_AARCH64, "\xfd\x7b\xbf\xa9\xfd\x03\x00\x91\x1f\x20\x03\xd5", 12, 4, CALLS_FRAME_NONE },
		{ ARCH_AARCH64, "\xc0\x03\x5f\xd6", 4, 0, CALLS_FRAME_NONE },
		{ ARCH_RISCV64, "\x41\x11\x22\xe4\x00\x08\x01\x00", 8, 6, CALLS_FRAME_LAID },
		{ ARCH_RISCV64, "\x13\x04\x01\x01\x01\x00", 6, 4, CALLS_FRAME_LAID },
		{ ARCH_RISCV64, "\x41\x11\x22\xe4\x01\x00", 6, 4, CALLS_FRAME_NONE },
		{ ARCH_OTHER, "\x00\x00", 2, 1, CALLS_FRAME_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (calls_frame(rows[i].arch, (const uint8_t *)rows[i].bytes, rows[i].size, rows[i].at) !=
				rows[i].frame)
			fail_msg("row %zu", i);
}

static void test_ends_of_interrupts(void **state)
{
	(void)state;
	check_end(ARCH_X86_64, "\x48\xcf", 2, true, 0);
	check_end(ARCH_X86_64, "\xc3", 1, false, 0);
	check_end(ARCH_X86_64, "\x0f\x05", 2, false, 2);
	check_end(ARCH_X86_64, "\xe9\x0b\x00\x00\x00", 5, false, 16);
	check_end(ARCH_X86_64, "\xe9\x0b", 2, false, 1);
	check_end(ARCH_I386, "\xcf", 1, true, 0);
	check_end(ARCH_AARCH64, "\xe0\x03\x9f\xd6", 4, true, 0);
	check_end(ARCH_AARCH64, "\xc0\x03\x5f\xd6", 4, false, 0);
	check_end(ARCH_RISCV64, "\x73\x00\x20\x10", 4, true, 0);
	check_end(ARCH_RISCV64, "\x73\x00\x20\x30", 4, true, 0);
	check_end(ARCH_RISCV64, "\x82\x80", 2, false, 0);
	check_end(ARCH_RISCV64, "\x01\x00", 2, false, 2);
	check_end(ARCH_RISCV64, "", 0, false, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_i386),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_riscv64),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_ends_of_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
