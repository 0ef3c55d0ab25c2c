/* SPDX-License-Identifier: MIT */
/* The barriers of the demo kernel, between CPUs that share a lock, and between CPUs that use one stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/ports/demo/machine/sync.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { TURNS = 4, WORDS = 4 };

static struct {
	bool held, used;
	uint32_t count;			/* belongs to the CPU that holds the lock */
	uint32_t stack[WORDS];		/* belongs to the CPU that may use it */
} shared;

static void set_up(void)
{
	shared.held = false;
	shared.used = true;
	shared.count = 0;
}

static void count_under_lock(void)
{
	for (int i = 0; i < TURNS; i++) {
		while (!sync_take(&shared.held))
			;
		shared.count++;
		sync_give(&shared.held);
	}
}

static void each_turn_was_counted(void)
{
	if (shared.count != 3 * TURNS)
		scenario_wrong("a holder did not see what the last one wrote");
}

static void write_stack(uint32_t value)
{
	for (int i = 0; i < WORDS; i++)
		shared.stack[i] = value;
}

static void use_and_leave(void)
{
	write_stack(1);
	sync_leave(&shared.used);
}

static void use_when_left(void)
{
	while (sync_is_used(&shared.used))
		;
	write_stack(2);
}

static void the_last_user_wrote_last(void)
{
	for (int i = 0; i < WORDS; i++)
		if (shared.stack[i] != 2)
			scenario_wrong("a stack was written to after it was left");
}

#define SHARED .set_up = set_up, .memory = &shared, .size = sizeof(shared)

static void pair_13_a_holder_sees_what_the_last_one_wrote(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { SHARED, .look = each_turn_was_counted, .threads = {
		{ .run = count_under_lock }, { .run = count_under_lock }, { .run = count_under_lock },
	} });
}

static void pair_14_a_stack_is_left_before_it_is_used_again(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { SHARED, .look = the_last_user_wrote_last, .threads = {
		{ .run = use_and_leave }, { .run = use_when_left },
	} });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_13_a_holder_sees_what_the_last_one_wrote),
		cmocka_unit_test(pair_14_a_stack_is_left_before_it_is_used_again),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("sync_barriers", tests, NULL, NULL);
}
