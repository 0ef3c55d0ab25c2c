/* SPDX-License-Identifier: MIT */
/* Which functions begin a context, and the mode that a sample has then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/names/function.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/run.h"
#include "agent/wire/event.h"

static void functions_of_the_kernel_begin_contexts(void **state)
{
	static const struct { const char *name; enum context context; } rows[] = {
		{ "__do_softirq", CONTEXT_SOFTIRQ }, { "handle_softirqs", CONTEXT_SOFTIRQ },
		{ "common_interrupt", CONTEXT_IRQ }, { "asm_common_interrupt", CONTEXT_IRQ },
		{ "sysvec_apic_timer_interrupt", CONTEXT_IRQ }, { "asm_sysvec_reschedule_ipi", CONTEXT_IRQ },
		{ "el1h_64_irq", CONTEXT_IRQ }, { "el1h_64_irq_handler", CONTEXT_IRQ }, { "do_irq", CONTEXT_IRQ },
		{ "irqentry_exit_to_user_mode", CONTEXT_TASK }, { "schedule", CONTEXT_TASK },
		/* Others whose names are alike, or that serve both: */
		{ "common_interrupt_return", CONTEXT_UNTOLD }, { "do_softirq", CONTEXT_UNTOLD },
		{ "sysvec", CONTEXT_UNTOLD }, { "schedule_timeout", CONTEXT_UNTOLD }, { "", CONTEXT_UNTOLD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct function function = { .name = rows[i].name, .object = "kernel", .kernel = true };

		assert_int_equal(context_of_function(&function), rows[i].context);
		function.kernel = false;		/* a program may name its functions so, too */
		assert_int_equal(context_of_function(&function), CONTEXT_UNTOLD);
	}
}

static void what_the_guest_tells_comes_before_the_stack(void **state)
{
	static const unsigned modes[CONTEXTS] = { MODE_KERNEL, MODE_KERNEL, MODE_IRQ, MODE_SOFTIRQ };
	struct who who = { .mode = MODE_KERNEL };

	(void)state;
	for (int stack = 0; stack < CONTEXTS; stack++)
		assert_int_equal(context_mode(&who, (enum context)stack), modes[stack]);
	for (uint8_t told = CONTEXT_TASK; told < CONTEXTS; told++)
		for (int stack = 0; stack < CONTEXTS; stack++) {
			who.context = told;
			assert_int_equal(context_mode(&who, (enum context)stack), modes[told]);
		}
	who = (struct who) { .mode = MODE_USER };
	assert_int_equal(context_mode(&who, CONTEXT_IRQ), MODE_USER);
	who.mode = MODE_IDLE;
	assert_int_equal(context_mode(&who, CONTEXT_SOFTIRQ), MODE_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_the_kernel_begin_contexts),
		cmocka_unit_test(what_the_guest_tells_comes_before_the_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
