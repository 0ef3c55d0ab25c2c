/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/tree/tree.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/walked.h"
#include "random_guest.h"
#include "time_guest.h"

static uint64_t random_function(struct random *random, const struct world *world)
{
	uint32_t function = (uint32_t)random_below(random, symbols_functions(world->inputs.symbols));

	return random_below(random, 2) ? 0 : tree_name(symbols_get(world->inputs.symbols, function), "");
}

static void take(struct random *random, struct world *world, uint64_t time)
{
	struct taken taken;

	random_taken(random, time, &taken);
	taken.missed = false;
	world_take(world, &taken);
}

void time_guest_run(uint64_t seed, uint64_t step, size_t samples, uint64_t pause, time_guest_check *check)
{
	struct random random = { .state = seed };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	uint64_t now = 0, of = 0;

	for (size_t i = 0; i < quick_part(samples, 4); i++) {
		uint64_t late = random_below(&random, 5) ? 0 : random_below(&random, 3 * NS_PER_SECOND);

		now += random_below(&random, step);
		take(&random, &world, now > late ? now - late : 0);
		if (random_below(&random, 60) == 0)
			random_names(&random, &world);
		if (random_below(&random, 40) == 0) {
			question.filter = random_filter(&random);
			of = random_function(&random, &world);
		}
		if (random_below(&random, pause) == 0)
			check(&random, &world, &question, of);
	}
	world_free(&world);
}

uint64_t time_guest_walked(uint64_t seed, uint64_t step,
	void (*ask)(struct world *world, const struct question *question, uint64_t now))
{
	struct random random = { .state = seed };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query),
		.filter = filter_of("mode:kernel") };
	uint64_t walked;

	for (uint64_t now = 0; now < 120 * NS_PER_SECOND; now += step) {
		take(&random, &world, now);
		if (now % (500 * NS_PER_MS) == 0)
			ask(&world, &question, now);
	}
	walked = walked_for_series(world.query, question.reader);
	world_free(&world);
	return walked;
}

bool time_guest_is(const struct symbols *symbols, uint32_t function, uint64_t of)
{
	const struct function *names = symbols_get(symbols, function);

	return names->known && tree_name(names, "") == of;
}
