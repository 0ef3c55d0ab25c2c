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
#include "agent/query/addresses/query_addresses.h"
#include "tests/unit/agent/query/fake_symbols.h"
#include "tests/unit/agent/query/random_guest.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"

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

/* Asserts that a reader gets what a query gives that was never asked before. Returns the whole weight. */
static uint64_t assert_as_fresh(const struct world *world, const struct question *question, uint32_t function)
{
	struct query *fresh = query_new(&world->inputs);
	struct question other = *question;
	struct caller found[4], made[4];
	uint64_t whole, made_whole;
	size_t count = query_inlined(world->query, question, function, found, 4, &whole);

	other.reader = QUERY_ANYBODY;
	assert_int_equal(count, query_inlined(fresh, &other, function, made, 4, &made_whole));
	assert_int_equal(whole, made_whole);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].function, made[i].function);
		assert_int_equal(found[i].weight, made[i].weight);
	}
	query_free(fresh);
	return whole;
}

/* A reader asks again and again while samples come, some of them late; names and other questions come in between. */
static void what_is_kept_is_as_made_at_once(void **state)
{
	struct random random = { .state = 41 };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	uint64_t now = 0, looked = 0;
	struct taken taken;

	(void)state;
	random_contexts(&world);
	for (size_t i = 0; i < quick_part(1000, 4); i++) {
		uint32_t functions = (uint32_t)symbols_functions(world.inputs.symbols);

		for (uint64_t k = random_below(&random, 12); k > 0; k--) {
			uint64_t late = random_below(&random, 20) ? 0 : random_below(&random, 20 * NS_PER_SECOND);

			now += random_below(&random, 60 * NS_PER_MS);
			random_taken(&random, late < now ? now - late : 0, &taken);
			world_take(&world, &taken);
		}
		if (random_below(&random, 40) == 0)
			random_names(&random, &world);
		if (i == 300)
			fake_symbols_read(world.inputs.symbols);
		if (random_below(&random, 30) == 0)
			random_question(&random, now, &question);
		else if (question.to == UINT64_MAX)
			question.from = now > 10 * NS_PER_SECOND ? now - 10 * NS_PER_SECOND : 0;
		looked += assert_as_fresh(&world, &question, random_below(&random, 4) ? 2 :
			(uint32_t)random_below(&random, functions));
	}
	assert_true(looked > 0);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_counts),
		cmocka_unit_test(the_filter_and_the_range_hold),
		cmocka_unit_test(what_is_kept_is_as_made_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
