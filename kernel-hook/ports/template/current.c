/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../port.h"
#include "../../wire.h"
#include "template.h"

/*
 * The thread that each CPU runs. NULL: no thread yet. Each CPU writes its own entry, with interrupts off, by one store:
 * an NMI sees either the old thread or the new one.
 */
static struct ktop_current *running[KTOP_TEMPLATE_CPUS];

/* What a CPU without a thread does: no stack bounds, so samples have one frame. */
static const struct ktop_current nobody = { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };

static struct ktop_current **here(void)
{
	uint32_t cpu = ktop_port_cpu();

	return &running[cpu < KTOP_TEMPLATE_CPUS ? cpu : 0];
}

/* The known text is the longer part of the code beside the stubs. */
static void set_text(struct ktop_current *current)
{
	uint64_t low = (uintptr_t)ktop_text_begin, high = (uintptr_t)ktop_text_end;
	uint64_t from = (uintptr_t)ktop_stubs_begin, to = (uintptr_t)ktop_stubs_end;

	if (from < high && to > low) {
		if (high - to > from - low)
			low = to;
		else
			high = from;
	}
	current->text_low = low;
	current->text_high = high;
}

void ktop_current_init(struct ktop_current *current, uint32_t thread, const void *stack, size_t size)
{
	*current = (struct ktop_current) {
		.process = KTOP_KERNEL,
		.thread = thread,
		.stack_low = (uintptr_t)stack,
		.stack_high = (uintptr_t)stack + size,
	};
	set_text(current);
}

void ktop_current_set(struct ktop_current *current)
{
	__atomic_store_n(here(), current, __ATOMIC_RELAXED);
}

void ktop_current_idle(bool idle)
{
	struct ktop_current *current = *here();

	if (current)
		current->idle = idle;
}

__attribute__((weak)) const struct ktop_current *ktop_port_current(uint64_t pc)
{
	const struct ktop_current *current = __atomic_load_n(here(), __ATOMIC_RELAXED);

	(void)pc;
	return current ? current : &nobody;
}
