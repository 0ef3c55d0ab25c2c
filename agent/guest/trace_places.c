/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/kernel_function.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "trace_places.h"

#define VECTORS (UINT64_C(1) << 31)	/* and a vector: an interrupt that has no number of Linux's */

/* Roles and values: kernel-hook/plugin/roles.c. */
static const struct row {
	const char *role, *function, *events;
	const char *other;		/* the function's name in other versions; or NULL */
	uint64_t value;
	bool states, irqs;		/* it needs the states of threads; the place of an interrupt's number */
} rows[] = {
	{ "switch", "__switch_to_asm", "sched_switch", NULL, 0, true, false },
	{ "call", "do_syscall_64", "syscall_enter", NULL, 0, false, false },
	{ "call_end", "syscall_exit_to_user_mode", "syscall_exit", NULL, 0, false, false },
	{ "wake", "try_to_wake_up", "sched_wake", NULL, 0, true, false },
	{ "first_wake", "wake_up_new_task", "sched_wake", NULL, 0, true, false },
	{ "irq", "__handle_irq_event_percpu", "irq", NULL, 0, false, true },
	{ "vector", "__sysvec_apic_timer_interrupt", "irq", NULL, VECTORS + 0xec, false, false },
	{ "vector", "__sysvec_call_function", "irq", NULL, VECTORS + 0xfc, false, false },
	{ "vector", "__sysvec_call_function_single", "irq", NULL, VECTORS + 0xfb, false, false },
	{ "short_vector_end", "irqentry_exit", "irq", NULL, 0, false, false },
	{ "short_vector", "sysvec_reschedule_ipi", "irq", NULL, VECTORS + 0xfd, false, false },
	{ "softirqs", "handle_softirqs", "softirq", "__do_softirq", 0, false, false },
	{ "softirq", "tasklet_hi_action", "softirq", NULL, 0, false, false },
	{ "softirq", "run_timer_softirq", "softirq", NULL, 1, false, false },
	{ "softirq", "net_tx_action", "softirq", NULL, 2, false, false },
	{ "softirq", "net_rx_action", "softirq", NULL, 3, false, false },
	{ "softirq", "blk_done_softirq", "softirq", NULL, 4, false, false },
	{ "softirq", "irq_poll_softirq", "softirq", NULL, 5, false, false },
	{ "softirq", "tasklet_action", "softirq", NULL, 6, false, false },
	{ "softirq", "run_rebalance_domains", "softirq", "sched_balance_softirq", 7, false, false },
	{ "softirq", "hrtimer_run_softirq", "softirq", NULL, 8, false, false },
	{ "softirq", "rcu_core_si", "softirq", NULL, 9, false, false },
	{ "fault", "handle_mm_fault", "fault", NULL, 0, false, false },
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

_Static_assert(ROWS <= 64, "a bit for each");

/* Each kernel has this one: without it, names are still to come. */
static bool are_known(const struct symbols *symbols)
{
	struct symbol one;

	return symbols_kernel_is_placed(symbols) && symbols_kernel_named(symbols, "schedule", &one, 1);
}

static bool find(const struct row *row, const struct symbols *symbols, struct kernel_function *found)
{
	kernel_function_find(symbols, row->function, found);
	if (!found->count && row->other)
		kernel_function_find(symbols, row->other, found);
	return found->function && !found->several;
}

bool trace_places_line(struct trace_places *places, const struct symbols *symbols, char line[COMMANDS_LINE_MAX + 1])
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);

	if (places->next == ROWS || !kernel || kernel->arch != ARCH_X86_64 || !are_known(symbols))
		return false;
	while (places->next < ROWS) {
		const struct row *row = &rows[places->next];
		const uint64_t bit = UINT64_C(1) << places->next++;
		struct kernel_function found;

		if ((row->states && !places->states) || (row->irqs && !kernel->layout.irqs)) {
			places->unknown |= bit;
		} else if (!find(row, symbols, &found)) {
			places->missing |= bit;
		} else {
			snprintf(line, COMMANDS_LINE_MAX + 1, "place %s %" PRIx64 " %" PRIx64 " %" PRIx64, row->role,
				found.function->address, found.function->end,
				row->irqs ? kernel->layout.irq_number : row->value);
			return true;
		}
	}
	return false;
}

bool trace_places_are_told(const struct trace_places *places)
{
	return places->next == ROWS;
}

const char *trace_places_missing(const struct trace_places *places, char *text, size_t size)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < ROWS; i++)
		if ((places->missing | places->unknown) >> i & 1) {
			size_t used = strlen(text);

			util_print(text + used, size - used, "%s%s: %s %s", used ? "; " : "", rows[i].events,
				places->missing >> i & 1 ? "no single" : "unknown structures in", rows[i].function);
		}
	return text;
}
