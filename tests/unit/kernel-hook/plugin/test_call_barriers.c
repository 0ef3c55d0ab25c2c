/* SPDX-License-Identifier: MIT */
/* The barrier of the plugin, between a CPU's thread, which is sampled, and the timer's, which has it sampled again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/plugin/call.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { NEXT = 7 };

static struct {
	struct call call;
	uint64_t seen;
} shared;

static void set_up(void)
{
	shared.call = (struct call) { .due = CALL_NEVER, .under_way = true };
	shared.seen = 0;
}

static void want_next_and_end(void)
{
	call_want(&shared.call, NEXT);
	call_end(&shared.call);
}

static void wait_for_end(void)
{
	while (call_is_under_way(&shared.call))
		;
	shared.seen = call_due(&shared.call);
}

static void the_next_call_is_known(void)
{
	if (shared.seen != NEXT)
		scenario_wrong("a CPU would not be sampled any more");
}

static void pair_18_when_a_call_is_over_the_next_one_is_known(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		.set_up = set_up, .memory = &shared, .size = sizeof(shared), .look = the_next_call_is_known,
		.threads = { { .run = want_next_and_end }, { .run = wait_for_end } },
	});
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_18_when_a_call_is_over_the_next_one_is_known),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("call_barriers", tests, NULL, NULL);
}
