/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "debugger.h"
#include "instruction.h"
#include "memory.h"
#include "qemu_plugin.h"
#include "self_test.h"
#include "target.h"

enum {
	ENOUGH = 4,			/* blocks that agree: the test is passed */
	TOO_MANY = 20000,		/* blocks that do not: firmware begins at a base that no register has */
};

static bool agrees(const struct self_test *test, struct qemu_cpu *cpu, const struct qemu_plugin_tb *tb)
{
	uint8_t told[INSTRUCTION_MOST], read[INSTRUCTION_MOST];
	size_t size = instruction_bytes(test->api, qemu_plugin_tb_get_insn(tb, 0), told);
	struct target_state state;

	return debugger_read(cpu, &state) && state.pc == qemu_plugin_tb_vaddr(tb) && size &&
		memory_read(test->qemu, cpu, state.pc, read, (uint32_t)size) == size &&
		memcmp(told, read, size) == 0;
}

enum self_test_result self_test_block(struct self_test *test, const struct qemu_plugin_tb *tb)
{
	struct qemu_cpu *cpu = qemu_this_cpu();

	if (cpu && agrees(test, cpu, tb))
		test->agreed++;
	else
		test->other++;
	if (test->agreed >= ENOUGH)
		return SELF_TEST_GOOD;
	return test->other >= TOO_MANY ? SELF_TEST_BAD : SELF_TEST_GOES_ON;
}
