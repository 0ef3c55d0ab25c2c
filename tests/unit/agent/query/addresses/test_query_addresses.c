/* SPDX-License-Identifier: MIT */
/* Samples by address: what a reader has kept from answer to answer, against a reader that walks everything anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/query/addresses/query_addresses.h"
#include "agent/query/query.h"
#include "agent/query/query_state.h"
#include "agent/query/question/filter.h"
#include "agent/store/store.h"
#include "tests/unit/agent/query/random_guest.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/walked.h"

struct wanted {
	uint32_t functions[3];
	size_t count;
};

static void check_same(const struct address_sums *kept, const struct address_sums *anew)
{
	uint64_t weight = 0;

	assert_int_equal(kept->count, anew->count);
	for (size_t i = 0; i < kept->count; i++) {
		assert_int_equal(kept->sums[i].address, anew->sums[i].address);
		assert_int_equal(kept->sums[i].space, anew->sums[i].space);
		assert_int_equal(kept->sums[i].function, anew->sums[i].function);
		assert_int_equal(kept->sums[i].weight, anew->sums[i].weight);
		assert_int_equal(kept->sums[i].samples, anew->sums[i].samples);
		weight += kept->sums[i].weight;
	}
	assert_int_equal(weight + kept->left_out, kept->self);
	assert_int_equal(kept->self, anew->self);
	assert_int_equal(kept->self_samples, anew->self_samples);
	assert_int_equal(kept->weight, anew->weight);
	assert_int_equal(kept->samples, anew->samples);
	assert_int_equal(kept->time, anew->time);
	assert_int_equal(kept->from, anew->from);
	assert_int_equal(kept->to, anew->to);
	assert_memory_equal(kept->mode, anew->mode, sizeof(kept->mode));
}

/* The self weights of these functions, out of the table of the same question. */
static uint64_t self_of(struct world *world, struct question question, const struct wanted *wanted)
{
	struct table *table;
	uint64_t self = 0;

	question.reader = QUERY_ANYBODY;
	table = query_table(world->query, &question);
	for (size_t i = 0; i < table->count; i++)
		for (size_t k = 0; k < wanted->count; k++)
			self += table->rows[i].function == wanted->functions[k] ? table->rows[i].self : 0;
	table_free(table);
	return self;
}

static void check(struct world *world, const struct question *question, const struct wanted *wanted)
{
	struct question fresh = *question;
	struct address_sums kept, anew;

	kept = query_addresses(world->query, question, wanted->functions, wanted->count);
	fresh.reader = query_reader_new(world->query);
	anew = query_addresses(world->query, &fresh, wanted->functions, wanted->count);
	query_reader_free(world->query, fresh.reader);
	check_same(&kept, &anew);
	if (filter_lacks(&question->filter, FILTER_FUNCTION))
		assert_int_equal(kept.self, self_of(world, *question, wanted));
	address_sums_clear(&kept);
	address_sums_clear(&anew);
}

/* Functions with code: no special ones, such as [idle]. No two are the same. */
static struct wanted random_wanted(struct random *random, const struct world *world)
{
	struct wanted wanted = { .count = 1 + random_below(random, 2) };

	for (uint64_t i = 0; i < 2; i++)
		wanted.functions[i] = symbols_function(world->inputs.symbols, EVENT_KERNEL,
			0x100 * (1 + 3 * i + random_below(random, 3)));
	return wanted;
}

static void run_guest(uint64_t seed, uint64_t step, size_t samples)
{
	struct random random = { .state = seed };
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .reader = query_reader_new(world.query) };
	struct wanted wanted = random_wanted(&random, &world);
	struct taken taken;
	uint64_t now = 0;

	for (size_t i = 0; i < quick_part(samples, 4); i++) {
		uint64_t late = random_below(&random, 5) ? 0 : random_below(&random, 3 * NS_PER_SECOND);

		now += random_below(&random, step);
		random_taken(&random, now > late ? now - late : 0, &taken);
		world_take(&world, &taken);
		if (random_below(&random, 60) == 0)
			random_names(&random, &world);
		if (random_below(&random, 40) == 0)
			random_question(&random, now, &question);
		question.by = GROUP_FUNCTION;
		question.callers = false;
		if (random_below(&random, 80) == 0)
			wanted = random_wanted(&random, &world);
		if (random_below(&random, 30) == 0)
			check(&world, &question, &wanted);
	}
	world_free(&world);
}

static void what_is_kept_is_what_is_there(void **state)
{
	(void)state;
	run_guest(61, 10 * NS_PER_MS, 4000);
	run_guest(62, 200 * NS_PER_MS, 4000);
	run_guest(63, 5 * NS_PER_SECOND, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
