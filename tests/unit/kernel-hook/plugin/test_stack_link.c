/* SPDX-License-Identifier: MIT */
/* Where a stack goes on behind the bytes that were read of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/plugin/stack_link.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/wire.h"

#define HIGH UINT64_C(0xffffc90000010000)	/* a multiple of the size of a stack */

static uint8_t bytes[KTOP_STACK_MAX];

static struct target_state at(enum ktop_arch arch, uint64_t sp)
{
	memset(bytes, 0, sizeof(bytes));
	return (struct target_state) { .arch = (uint8_t)arch, .mode = KTOP_MODE_KERNEL, .sp = sp, .flat = true };
}

static void put(const struct target_state *state, uint64_t address, uint64_t word, size_t size)
{
	memcpy(bytes + (address - state->sp), &word, size);
}

static void x86_64_goes_on_behind_what_was_read(void **state)
{
	struct target_state cpu = at(KTOP_X86_64, HIGH);

	(void)state;
	/* The last word that was read is not the last one of the stack, whatever it holds. */
	put(&cpu, HIGH + KTOP_STACK_MAX - 8, HIGH + 0x3000, 8);
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX) == HIGH + KTOP_STACK_MAX);
	/* Memory ends: it is. */
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX - 8) == 0);
	put(&cpu, HIGH + KTOP_STACK_MAX - 16, HIGH + 0x23000, 8);
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX - 8) == HIGH + 0x23000);
	/* The stack ends at a multiple of its size. */
	cpu = at(KTOP_X86_64, HIGH - 256);
	put(&cpu, HIGH - 8, HIGH + 0x23000, 8);
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX) == HIGH + 0x23000);
	put(&cpu, HIGH - 8, 0x2b, 8);
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX) == 0);
	put(&cpu, HIGH - 8, HIGH - 64, 8);	/* it has that already */
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX) == 0);
}

static void frames_lead_out_of_a_stack(void **state)
{
	struct target_state cpu = at(KTOP_AARCH64, HIGH + 64);

	(void)state;
	cpu.registers[29] = HIGH + 128;
	put(&cpu, HIGH + 128, HIGH + 256, 8);
	put(&cpu, HIGH + 256, HIGH + 0x23000, 8);
	assert_true(stack_link(&cpu, bytes, 1024) == HIGH + 0x23000);
	put(&cpu, HIGH + 256, 0, 8);		/* the root */
	assert_true(stack_link(&cpu, bytes, 1024) == 0);
	put(&cpu, HIGH + 256, 0x400010, 8);	/* a program's */
	assert_true(stack_link(&cpu, bytes, 1024) == 0);
	put(&cpu, HIGH + 256, HIGH + 128, 8);	/* a ring */
	assert_true(stack_link(&cpu, bytes, 1024) == 0);
	put(&cpu, HIGH + 256, HIGH + 0x23001, 8);
	assert_true(stack_link(&cpu, bytes, 1024) == 0);
	put(&cpu, HIGH + 256, HIGH + 0x23000, 8);
	cpu.mode = KTOP_MODE_USER;
	assert_true(stack_link(&cpu, bytes, 1024) == 0);

	cpu = at(KTOP_RISCV64, HIGH + 64);
	cpu.registers[8] = HIGH + 128;
	put(&cpu, HIGH + 112, HIGH + 0x1000, 8);
	assert_true(stack_link(&cpu, bytes, 1024) == HIGH + 0x1000 - 16);
}

static void i386_finds_what_was_interrupted(void **state)
{
	struct target_state cpu = at(KTOP_I386, 0xc1000000);

	(void)state;
	cpu.registers[5] = 0xc1000010;
	put(&cpu, 0xc1000010, 0x41000100, 4);	/* a struct pt_regs */
	put(&cpu, 0xc1000100 + 20, 0xc1008000, 4);
	assert_true(stack_link(&cpu, bytes, 1024) == 0xc1008000);
	assert_true(stack_link(&cpu, bytes, 64) == 0xc1000100 + 20);
}

static void a_stack_that_was_not_read_leads_nowhere(void **state)
{
	struct target_state cpu = at(KTOP_X86_64, HIGH);

	(void)state;
	assert_true(stack_link(&cpu, bytes, 0) == 0);
	assert_true(stack_link(&cpu, bytes, 4) == 0);
	cpu.flat = false;
	assert_true(stack_link(&cpu, bytes, KTOP_STACK_MAX) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_goes_on_behind_what_was_read),
		cmocka_unit_test(frames_lead_out_of_a_stack),
		cmocka_unit_test(i386_finds_what_was_interrupted),
		cmocka_unit_test(a_stack_that_was_not_read_leads_nowhere),
	};

	return cmocka_run_group_tests_name("stack_link", tests, NULL, NULL);
}
