/* SPDX-License-Identifier: MIT */
/* Which instructions leave a function, on each architecture; the bytes are those that assemblers make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/instruction.h"
#include "kernel-hook/plugin/machine/qemu.h"
#include "kernel-hook/plugin/machine/qemu_plugin.h"

#define AT UINT64_C(0xffffffff81000100)

static const struct way {
	const char *arch;
	const char *bytes;
	size_t size;
	enum instruction_way way;
	int64_t offset;			/* of a jump's target from AT */
} ways[] = {
	{ "x86_64", "\xc3", 1, WAY_RETURN, 0 },
	{ "x86_64", "\xf3\xc3", 2, WAY_RETURN, 0 },			/* rep ret */
	{ "x86_64", "\xf2\xc3", 2, WAY_RETURN, 0 },			/* bnd ret */
	{ "i386", "\xc2\x08\x00", 3, WAY_RETURN, 0 },			/* ret $8 */
	{ "x86_64", "\xe9\xfb\x0f\x00\x00", 5, WAY_JUMP, 0x1000 },
	{ "x86_64", "\xe9\xfb\xef\xff\xff", 5, WAY_JUMP, -0x1000 },
	{ "x86_64", "\xf2\xe9\xfa\x0f\x00\x00", 6, WAY_JUMP, 0x1000 },
	{ "i386", "\xeb\xfe", 2, WAY_JUMP, 0 },
	{ "x86_64", "\xeb\x7f", 2, WAY_JUMP, 0x81 },
	{ "x86_64", "\x0f\x84\x00\x10\x00\x00", 6, WAY_NONE, 0 },	/* je */
	{ "x86_64", "\x74\x10", 2, WAY_NONE, 0 },
	{ "x86_64", "\xe8\xfb\x0f\x00\x00", 5, WAY_NONE, 0 },		/* call */
	{ "x86_64", "\xff\xe0", 2, WAY_NONE, 0 },			/* jmp *%rax: perhaps a switch */
	{ "x86_64", "\xf3\xf3", 2, WAY_NONE, 0 },
	{ "x86_64", "\x48\xc3", 2, WAY_NONE, 0 },
	{ "x86_64", "\xb8\xc3\x00\x00\x00", 5, WAY_NONE, 0 },		/* mov $0xc3, %eax */
	{ "x86_64", "\x48\xcf", 2, WAY_NONE, 0 },			/* iretq */
	{ "x86_64", "\xe9", 1, WAY_NONE, 0 },
	{ "aarch64", "\xc0\x03\x5f\xd6", 4, WAY_RETURN, 0 },
	{ "aarch64", "\x20\x01\x5f\xd6", 4, WAY_RETURN, 0 },		/* ret x9 */
	{ "aarch64", "\xff\x0b\x5f\xd6", 4, WAY_RETURN, 0 },		/* retaa */
	{ "aarch64", "\xff\x0f\x5f\xd6", 4, WAY_RETURN, 0 },		/* retab */
	{ "aarch64", "\x00\x04\x00\x14", 4, WAY_JUMP, 0x1000 },
	{ "aarch64", "\x00\xfc\xff\x17", 4, WAY_JUMP, -0x1000 },
	{ "aarch64", "\x00\x04\x00\x94", 4, WAY_NONE, 0 },		/* bl */
	{ "aarch64", "\x00\x01\x1f\xd6", 4, WAY_NONE, 0 },		/* br x8 */
	{ "aarch64", "\xe0\x03\x9f\xd6", 4, WAY_NONE, 0 },		/* eret */
	{ "riscv64", "\x82\x80", 2, WAY_RETURN, 0 },
	{ "riscv64", "\x67\x80\x00\x00", 4, WAY_RETURN, 0 },
	{ "riscv64", "\x67\x00\x83\x12", 4, WAY_RETURN, 0 },		/* jr 296(t1) */
	{ "riscv64", "\x6f\x10\x00\x00", 4, WAY_JUMP, 0x1000 },
	{ "riscv64", "\x6f\xf0\x1f\x80", 4, WAY_JUMP, -0x800 },
	{ "riscv64", "\x01\xa0", 2, WAY_JUMP, 0 },
	{ "riscv64", "\xfd\xbf", 2, WAY_JUMP, -2 },
	{ "riscv64", "\x11\xa0", 2, WAY_JUMP, 4 },
	{ "riscv64", "\xef\x10\x00\x00", 4, WAY_NONE, 0 },		/* jal ra */
	{ "riscv64", "\x02\x97", 2, WAY_NONE, 0 },			/* c.jalr a4 */
	{ "riscv64", "\x02\x87", 2, WAY_NONE, 0 },			/* c.jr a4 */
	{ "riscv64", "\xe7\x80\x00\x00", 4, WAY_NONE, 0 },		/* jalr ra */
};

static void each_way_out_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		uint64_t target = 1;
		enum instruction_way way = instruction_way(ways[i].arch, AT, (const uint8_t *)ways[i].bytes,
			ways[i].size, &target);

		if (way != ways[i].way || (way == WAY_JUMP && target != AT + (uint64_t)ways[i].offset))
			fail_msg("row %zu: way %d, target %llx", i, way, (unsigned long long)target);
	}
}

/* Whatever the bytes are, none behind them is read; the sanitizers watch. */
static void any_bytes_are_survived(void **state)
{
	static const char *const archs[] = { "x86_64", "i386", "aarch64", "riscv64" };
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 40000; round++) {
		size_t size = (size_t)round % (INSTRUCTION_MOST + 2);
		uint8_t *bytes = test_malloc(size ? size : 1);
		uint64_t target = 0;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		instruction_way(archs[round % 4], AT, bytes, size, &target);
		test_free(bytes);
	}
}

/* ---- the bytes, as QEMU tells them ---- */

static const uint8_t code[] = { 1, 2, 3 };

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn ? sizeof(code) : INSTRUCTION_MOST + 1;
}

qemu_function *qemu_function_of(const char *name)
{
	(void)name;
	return NULL;
}

static void a_qemu_that_tells_no_bytes(void **state)
{
	uint8_t bytes[INSTRUCTION_MOST];

	(void)state;
	assert_int_equal(instruction_bytes(1, (const struct qemu_plugin_insn *)code, bytes), 0);
	assert_int_equal(instruction_bytes(4, NULL, bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_out_is_known),
		cmocka_unit_test(any_bytes_are_survived),
		cmocka_unit_test(a_qemu_that_tells_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
