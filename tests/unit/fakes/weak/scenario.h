/* SPDX-License-Identifier: MIT */
/*
 * Runs parts of the hook at the same time on a weak memory, many times. For tests of barriers: each fails when one
 * side of its pair is removed, as tests/check-barriers does.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weak_memory.h"

enum { SCENARIO_RUNS = 4000 };

struct scenario {
	void (*set_up)(void);		/* before each run */
	void (*look)(void);		/* after it */
	void *memory;
	size_t size;
	struct weak_thread threads[WEAK_THREADS];
};

static const char *scenario_failure;

/* Called in a thread or in look(): the test fails, once the run is over. */
static inline void scenario_wrong(const char *why)
{
	scenario_failure = why;
}

static inline void scenario_explore(const struct scenario *scenario)
{
	for (uint32_t seed = 1; seed <= SCENARIO_RUNS; seed++) {
		const char *race;

		scenario_failure = NULL;
		scenario->set_up();
		race = weak_run(seed, scenario->memory, scenario->size, scenario->threads);
		if (race == NULL && scenario->look)
			scenario->look();
		if (race || scenario_failure)
			fail_msg("run %u: %s", seed, race ? race : scenario_failure);
	}
}

/* For main(): with an argument, only the tests whose names match that pattern run. */
static inline void scenario_filter(char **arguments)
{
	if (arguments[0] && arguments[1])
		cmocka_set_test_filter(arguments[1]);
}

#endif
