/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/names/function.h"
#include "agent/store/run.h"
#include "contexts.h"

const char *const mode_names[MODE_NAMES] = {
	[MODE_KERNEL] = "kernel", [MODE_USER] = "user", [MODE_IDLE] = "idle",
	[MODE_IRQ] = "irq", [MODE_SOFTIRQ] = "softirq",
};

/*
 * A name that ends in `*` stands for all that begin so. On its way out of an interrupt, Linux may switch to another
 * thread, or do what a program is owed: that is a thread's own work, though the interrupt's entry is in the stack.
 */
static const struct {
	const char *name;
	enum context context;
} names[] = {
	{ "__do_softirq", CONTEXT_SOFTIRQ },
	{ "__softirqentry_text_start", CONTEXT_SOFTIRQ },	/* another name of the same place */
	{ "handle_softirqs", CONTEXT_SOFTIRQ },

	{ "asm_common_interrupt", CONTEXT_IRQ },		/* x86 */
	{ "common_interrupt", CONTEXT_IRQ },
	{ "asm_sysvec_*", CONTEXT_IRQ },
	{ "sysvec_*", CONTEXT_IRQ },
	{ "el0t_64_irq*", CONTEXT_IRQ },			/* arm64 */
	{ "el0t_32_irq*", CONTEXT_IRQ },
	{ "el1h_64_irq*", CONTEXT_IRQ },
	{ "do_irq", CONTEXT_IRQ },				/* RISC-V */
	{ "generic_handle_arch_irq", CONTEXT_IRQ },

	{ "irqentry_exit*", CONTEXT_TASK },
	{ "preempt_schedule_irq", CONTEXT_TASK },
	{ "do_notify_resume", CONTEXT_TASK },
	{ "schedule", CONTEXT_TASK },
	{ "__schedule", CONTEXT_TASK },
};

static bool fits(const char *name, const char *pattern)
{
	size_t size = strcspn(pattern, "*");

	return strncmp(name, pattern, size) == 0 && (pattern[size] || !name[size]);
}

enum context context_of_function(const struct function *function)
{
	if (!function->kernel)
		return CONTEXT_UNTOLD;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (fits(function->name, names[i].name))
			return names[i].context;
	return CONTEXT_UNTOLD;
}

unsigned context_mode(const struct who *who, enum context context)
{
	if (who->context != CONTEXT_UNTOLD)
		context = who->context;
	if (who->mode != MODE_KERNEL)
		return who->mode;
	return context == CONTEXT_IRQ ? MODE_IRQ : context == CONTEXT_SOFTIRQ ? MODE_SOFTIRQ : MODE_KERNEL;
}
