/* SPDX-License-Identifier: MIT */
/* The barriers of a call that the timer asks for, and that a CPU's thread makes, or the timer's thread in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/asked.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { WORK = 7 };

static struct {
	struct asked asked;
	uint64_t work;			/* what the call is about */
	uint64_t left;			/* what the CPU's calls have left */
	uint64_t calls[2];		/* how many each thread has made */
	uint64_t seen;
} shared;

static void set_up(void)
{
	shared.asked = (struct asked) { .wanted = false };
	shared.work = shared.left = shared.seen = 0;
	shared.calls[0] = shared.calls[1] = 0;
}

static void ask(void)
{
	shared.work = WORK;
	asked_want(&shared.asked);
}

static void make_the_call(void)
{
	while (!asked_take_back(&shared.asked))
		;
	shared.seen = shared.work;
}

static void the_work_is_seen(void)
{
	if (shared.seen != WORK)
		scenario_wrong("a call would work on something else");
}

static void pair_19_a_call_sees_what_it_is_about(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		.set_up = set_up, .memory = &shared, .size = sizeof(shared), .look = the_work_is_seen,
		.threads = { { .run = ask }, { .run = make_the_call } },
	});
}

/* The CPU samples, goes to sleep and wakes up; it may find a call then. */
static void sample_and_sleep(void)
{
	shared.left = WORK;
	asked_sleep(&shared.asked, true);
	asked_sleep(&shared.asked, false);
	if (asked_take_back(&shared.asked))
		shared.calls[0] = 1;
}

static void ask_a_sleeper(void)
{
	asked_want(&shared.asked);
	if (!asked_take_back_asleep(&shared.asked))
		return;
	shared.calls[1] = 1;
	shared.seen = shared.left;
}

static void one_makes_the_call(void)
{
	if (shared.calls[0] + shared.calls[1] > 1)
		scenario_wrong("two threads would make one call");
	if (shared.calls[1] && shared.seen != WORK)
		scenario_wrong("the sample would overwrite what the CPU left");
}

static void pair_20_the_timer_sees_what_a_sleeping_cpu_left(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		.set_up = set_up, .memory = &shared, .size = sizeof(shared), .look = one_makes_the_call,
		.threads = { { .run = sample_and_sleep }, { .run = ask_a_sleeper } },
	});
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_19_a_call_sees_what_it_is_about),
		cmocka_unit_test(pair_20_the_timer_sees_what_a_sleeping_cpu_left),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("asked_barriers", tests, NULL, NULL);
}
