/* SPDX-License-Identifier: MIT */
/* The template's defaults, as far as they do not need a real machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/port.h"
#include "kernel-hook/ports/template/template.h"
#include "kernel-hook/wire.h"

/* A ktop_port_cpu() of its own. */
static uint32_t cpu;

uint32_t ktop_port_cpu(void)
{
	return cpu;
}

static uint64_t at(const char *place)
{
	return (uintptr_t)place;
}

static int set_up(void **state)
{
	(void)state;
	for (cpu = KTOP_TEMPLATE_CPUS; cpu-- > 0;)
		ktop_current_set(NULL);
	cpu = 0;
	return 0;
}

static void text_is_what_the_linker_says(void **state)
{
	(void)state;
	assert_int_equal(ktop_port_text(at(ktop_text_begin) - 1), KTOP_NOT_TEXT);
	assert_int_equal(ktop_port_text(at(ktop_text_begin)), KTOP_TEXT);
	assert_int_equal(ktop_port_text(at(ktop_stubs_begin)), KTOP_TEXT_ENTRY);
	assert_int_equal(ktop_port_text(at(ktop_stubs_end) - 1), KTOP_TEXT_ENTRY);
	assert_int_equal(ktop_port_text(at(ktop_stubs_end)), KTOP_TEXT);
	assert_int_equal(ktop_port_text(at(ktop_text_end)), KTOP_NOT_TEXT);
}

static void before_the_first_thread_there_is_nobody(void **state)
{
	const struct ktop_current *current;

	(void)state;
	ktop_current_idle(true);
	current = ktop_port_current(0);
	assert_int_equal(current->process, KTOP_KERNEL);
	assert_int_equal(current->thread, KTOP_NO_THREAD);
	assert_true(current->stack_low == 0 && current->stack_high == 0);
	assert_false(current->idle || current->user_valid);
}

static void a_thread_is_what_it_was_made(void **state)
{
	static uint8_t stack[4096];
	struct ktop_current thread;

	(void)state;
	memset(&thread, 0xff, sizeof(thread));
	ktop_current_init(&thread, 7, stack, sizeof(stack));
	assert_int_equal(thread.thread, 7);
	assert_int_equal(thread.process, KTOP_KERNEL);
	assert_true(thread.stack_low == (uintptr_t)stack);
	assert_true(thread.stack_high == (uintptr_t)stack + sizeof(stack));
	assert_false(thread.idle || thread.user_valid);
	/* The known text is the longer part beside the stubs, without any of the stubs. */
	assert_true(thread.text_low == at(ktop_stubs_end) && thread.text_high == at(ktop_text_end));
}

static void each_cpu_has_its_own(void **state)
{
	struct ktop_current threads[KTOP_TEMPLATE_CPUS];

	(void)state;
	for (cpu = 0; cpu < KTOP_TEMPLATE_CPUS; cpu++) {
		ktop_current_init(&threads[cpu], cpu, NULL, 0);
		ktop_current_set(&threads[cpu]);
	}
	cpu = 3;
	ktop_current_idle(true);
	for (cpu = 0; cpu < KTOP_TEMPLATE_CPUS; cpu++) {
		assert_ptr_equal(ktop_port_current(0), &threads[cpu]);
		assert_int_equal(threads[cpu].idle, cpu == 3);
	}
	cpu = 3;
	ktop_current_idle(false);
	assert_false(threads[3].idle);
}

static void pages_are_apart_and_come_to_an_end(void **state)
{
	uint8_t *first = ktop_pages(1), *second = ktop_pages(4097), *third = ktop_pages(1);

	(void)state;
	assert_true(first && second == first + 4096 && third == second + 8192);
	assert_int_equal((uintptr_t)first % 4096, 0);
	assert_null(ktop_pages(KTOP_TEMPLATE_MEMORY));
	assert_null(ktop_pages(SIZE_MAX));
	assert_non_null(ktop_pages(KTOP_TEMPLATE_MEMORY - 4 * 4096));
	assert_null(ktop_pages(1));
}

static void memory_is_where_the_kernel_was_loaded(void **state)
{
	(void)state;
	assert_int_equal(ktop_physical((void *)0x201000), 0x201000);
	assert_int_equal(ktop_physical((void *)0xffffffff80201000), 0x201000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(text_is_what_the_linker_says, set_up),
		cmocka_unit_test_setup(before_the_first_thread_there_is_nobody, set_up),
		cmocka_unit_test_setup(a_thread_is_what_it_was_made, set_up),
		cmocka_unit_test_setup(each_cpu_has_its_own, set_up),
		cmocka_unit_test(pages_are_apart_and_come_to_an_end),
		cmocka_unit_test(memory_is_where_the_kernel_was_loaded),
	};

	return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
