/* SPDX-License-Identifier: MIT */
/* What was inlined in a function, by the weight of the samples that were taken there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/addresses/query_inlined.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/agent/query/fake_symbols.h"

static const struct question everything = { .to = UINT64_MAX };

/* A sample in k2, called by k1. */
static void take(struct world *world, uint64_t address, uint32_t weight, uint32_t cpu)
{
	world_take(world, &(struct taken) {
		.time = NS_PER_SECOND, .weight = weight, .cpu = cpu, .kernel_count = 2,
		.kernel = { address, 0x1f1 } });
}

static void check(struct world *world, const struct question *question, const char *wanted,
	uint64_t weight)
{
	uint32_t function = symbols_function(world->inputs.symbols, EVENT_KERNEL, 0x200);
	struct caller found[4];
	char got[64] = "";
	uint64_t whole;
	size_t count = query_inlined(world->query, question, function, found, 4, &whole);

	for (size_t i = 0; i < count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %d ",
			symbols_get(world->inputs.symbols, found[i].function)->name,
			(int)found[i].weight);
	assert_string_equal(got, wanted);
	assert_int_equal(whole, weight);
}

static void the_innermost_counts(void **state)
{
	struct world world = world_new();

	(void)state;
	take(&world, 0x208, 4, 0);
	take(&world, 0x288, 2, 0);
	take(&world, 0x2c8, 3, 0);
	take(&world, 0x2d0, 5, 0);
	take(&world, 0x388, 9, 0);
	check(&world, &everything, "", 14);
	fake_symbols_read(world.inputs.symbols);
	check(&world, &everything, "j2 8 i2 2 ", 14);
	world_free(&world);
}

static void the_filter_and_the_range_hold(void **state)
{
	struct world world = world_new();
	struct question question = everything;

	(void)state;
	fake_symbols_read(world.inputs.symbols);
	take(&world, 0x288, 2, 0);
	take(&world, 0x288, 5, 1);
	question.filter = filter_of("cpu:1");
	check(&world, &question, "i2 5 ", 5);
	question.filter = filter_of("cpu:7");
	check(&world, &question, "", 0);
	question = everything;
	question.from = 10 * NS_PER_SECOND;
	check(&world, &question, "", 0);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_counts),
		cmocka_unit_test(the_filter_and_the_range_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
