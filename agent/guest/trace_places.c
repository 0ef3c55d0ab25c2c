/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/kernel_function.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "trace_places.h"

/* Roles and values: kernel-hook/plugin/roles.c. */
static const struct row {
	const char *role, *function, *events;
	bool states;			/* it needs the states of threads */
	uint64_t value;
} rows[] = {
	{ "switch", "__switch_to_asm", "sched_switch", .states = true },
	{ "call", "do_syscall_64", "syscall_enter", .states = false },
	{ "call_end", "syscall_exit_to_user_mode", "syscall_exit", .states = false },
	{ "wake", "try_to_wake_up", "sched_wake", .states = true },
	{ "first_wake", "wake_up_new_task", "sched_wake", .states = true },
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

_Static_assert(ROWS <= 64, "a bit for each");

/* Each kernel has this one: without it, names are still to come. */
static bool are_known(const struct symbols *symbols)
{
	struct symbol one;

	return symbols_kernel_is_placed(symbols) && symbols_kernel_named(symbols, "schedule", &one, 1);
}

bool trace_places_line(struct trace_places *places, const struct symbols *symbols, char line[COMMANDS_LINE_MAX + 1])
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);

	if (places->next == ROWS || !kernel || kernel->arch != ARCH_X86_64 || !are_known(symbols))
		return false;
	while (places->next < ROWS) {
		const struct row *row = &rows[places->next++];
		struct kernel_function found;

		kernel_function_find(symbols, row->function, &found);
		if (found.function && !found.several && (!row->states || kernel->layout.states)) {
			snprintf(line, COMMANDS_LINE_MAX + 1, "place %s %" PRIx64 " %" PRIx64 " %" PRIx64, row->role,
				found.function->address, found.function->end, row->value);
			return true;
		}
		places->missing |= UINT64_C(1) << (places->next - 1);
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
		if (places->missing >> i & 1) {
			size_t used = strlen(text);

			util_print(text + used, size - used, "%s%s: no %s", used ? "; " : "", rows[i].events,
				rows[i].function);
		}
	return text;
}
