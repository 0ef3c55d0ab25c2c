/* SPDX-License-Identifier: MIT */
/* Where the stack is of the program for which the kernel works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/program_stack.h"
#include "kernel-hook/wire.h"

#define END UINT64_C(0xffffc90000010000)	/* of a thread's stack: a multiple of its size */

static struct target_state at(uint64_t sp)
{
	return (struct target_state) { .arch = KTOP_X86_64, .mode = KTOP_MODE_KERNEL, .sp = sp, .flat = true };
}

static void it_is_at_the_end_of_the_threads_stack(void **state)
{
	struct target_state cpu = at(END - 0x321);

	(void)state;
	assert_true(program_stack_saved(&cpu, 0) == END - 40);
	cpu.sp = END - 16384;
	assert_true(program_stack_saved(&cpu, 0) == END - 40);
	/* On another stack, which leads to the thread's. */
	cpu.sp = END + 0x8000;
	assert_true(program_stack_saved(&cpu, END - 0x1000) == END - 40);
	/* On a stack for entries, which is one page. What is behind it is another one. */
	cpu.sp = 0xfffffe0000002f00;
	assert_true(program_stack_saved(&cpu, cpu.sp + KTOP_STACK_MAX) == 0xfffffe0000003000 - 40);
	assert_true(program_stack_saved(&cpu, 0) == 0xfffffe0000003000 - 40);
}

static void elsewhere_nobody_knows(void **state)
{
	struct target_state cpu = at(END - 64);

	(void)state;
	cpu.mode = KTOP_MODE_USER;
	assert_true(program_stack_saved(&cpu, 0) == 0);
	cpu = at(END - 64);
	cpu.flat = false;
	assert_true(program_stack_saved(&cpu, 0) == 0);
	cpu = at(END - 64);
	cpu.arch = KTOP_I386;
	assert_true(program_stack_saved(&cpu, 0) == 0);
	cpu = at(0x7ffd1000);			/* the kernel was entered just now: this is the program's still */
	assert_true(program_stack_saved(&cpu, 0) == 0);
}

static uint64_t pointer(uint64_t pc, uint64_t code, uint64_t sp, uint64_t data)
{
	const uint64_t words[] = { pc, code, 0x246, sp, data };
	uint8_t saved[PROGRAM_STACK_SAVED];

	memcpy(saved, words, sizeof(saved));
	return program_stack_pointer(saved);
}

static void only_a_programs_is_taken(void **state)
{
	(void)state;
	assert_true(pointer(0x401000, 0x33, 0x7ffd1238, 0x2b) == 0x7ffd1238);
	assert_true(pointer(0x401000, 0x23, 0xffd1238, 0x2b) == 0xffd1238);	/* a program of 32 bits */
	assert_true(pointer(0, 0, 0, 0) == 0);					/* a thread of the kernel's own */
	assert_true(pointer(0xffffffff81000000, 0x10, END - 64, 0x18) == 0);
	assert_true(pointer(0x401000, 0x10, 0x7ffd1238, 0x2b) == 0);
	assert_true(pointer(0x401000, 0x33, 0x7ffd1238, 0x18) == 0);
	assert_true(pointer(0x401000, 0x33, END - 64, 0x2b) == 0);
	assert_true(pointer(0xffffffff81000000, 0x33, 0x7ffd1238, 0x2b) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_at_the_end_of_the_threads_stack),
		cmocka_unit_test(elsewhere_nobody_knows),
		cmocka_unit_test(only_a_programs_is_taken),
	};

	return cmocka_run_group_tests_name("program_stack", tests, NULL, NULL);
}
