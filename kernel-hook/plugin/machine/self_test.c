/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>

#include "debugger.h"
#include "memory.h"
#include "qemu_plugin.h"
#include "self_test.h"
#include "target.h"

enum {
	ENOUGH = 4,			/* blocks that agree: the test is passed */
	TOO_MANY = 20000,		/* blocks that do not: firmware begins at a base that no register has */
	LONGEST = 16,			/* bytes of an instruction */
	COPIES = 3,			/* from this version on, qemu_plugin_insn_data copies the bytes */
};

typedef const void *get_data(const struct qemu_plugin_insn *insn);
typedef size_t copy_data(const struct qemu_plugin_insn *insn, void *to, size_t size);

/* Copies the bytes of an instruction, and returns how many they are. 0: QEMU does not tell them. */
static size_t code_of(const struct self_test *test, const struct qemu_plugin_insn *insn, uint8_t to[LONGEST])
{
	qemu_function *function = qemu_function_of("qemu_plugin_insn_data");
	size_t size = qemu_plugin_insn_size(insn);
	const void *bytes;

	if (function == NULL || size > LONGEST)
		return 0;
	if (test->api >= COPIES)
		return ((copy_data *)function)(insn, to, size);
	bytes = ((get_data *)function)(insn);
	memcpy(to, bytes, size);
	return size;
}

static bool agrees(const struct self_test *test, struct qemu_cpu *cpu, const struct qemu_plugin_tb *tb)
{
	uint8_t told[LONGEST], read[LONGEST];
	size_t size = code_of(test, qemu_plugin_tb_get_insn(tb, 0), told);
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
