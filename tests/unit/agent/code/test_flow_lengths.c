/* SPDX-License-Identifier: MIT */
/* The lengths and targets of this program's own instructions, beside those of the disassembler. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/code/disassembler.h"
#include "agent/names/bare/flow.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"

enum { CHECKED = 200000, LONGEST = 15 };	/* instructions; bytes of one */

static size_t compare(struct disassembler *disassembler, flow_reader *read, const uint8_t *bytes, size_t size,
	uint64_t address)
{
	size_t count = 0;

	for (size_t at = 0; at + LONGEST < size && count < CHECKED; count++) {
		struct instruction instruction;
		struct flow flow;

		disassembler_next(disassembler, bytes + at, size - at, address + at, &instruction);
		read(bytes + at, size - at, address + at, &flow);
		if (instruction.known && flow.size != instruction.size)
			fail_msg("%s: %u bytes, not %u", instruction.text, flow.size, instruction.size);
		if (instruction.kind == INSTRUCTION_CALL)
			assert_int_equal(flow.kind, FLOW_CALL);
		if (instruction.kind == INSTRUCTION_JUMP)
			assert_true(flow.kind == FLOW_JUMP || flow.kind == FLOW_BRANCH);
		if (instruction.kind != INSTRUCTION_PLAIN)
			assert_int_equal(flow.target, instruction.target);
		at += instruction.size;
	}
	return count;
}

static void test_own_code(void **state)
{
	struct disassembler *disassembler = disassembler_new(ARCH_X86_64);
	struct symbol_table *table = symbol_table_new(NULL);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id id;
	struct elf_code code;
	size_t count = 0;

	(void)state;
	assert_true(sym_elf_read_code(fd, "this program", table, &code, &id, NULL, NULL));
	for (size_t i = 0; i < code.count; i++) {
		size_t size = (size_t)(code.ranges[i].end - code.ranges[i].address);
		uint8_t *bytes = util_alloc(size);

		assert_int_equal(pread(fd, bytes, size, (off_t)code.ranges[i].offset), size);
		count += compare(disassembler, flow_reader_of(ARCH_X86_64), bytes, size, code.ranges[i].address);
		free(bytes);
	}
	assert_true(count > 10000);
	elf_code_clear(&code);
	close(fd);
	symbol_table_free(table);
	disassembler_free(disassembler);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_own_code) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
