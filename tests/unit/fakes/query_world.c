/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/digest.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "intern.h"
#include "query_world.h"

#define SECOND 1000000000ull

enum { FUNCTIONS = 4096 };

struct world world_new(void)
{
	struct world world = { .inputs = {
		.store = store_new(NULL, STORE_COUNTS_MAX), .stacks = stacks_new(NULL),
		.symbols = symbols_new(NULL), .threads = threads_new(NULL),
	} };

	world.query = query_new(&world.inputs);
	return world;
}

void world_free(struct world *world)
{
	query_free(world->query);
	store_free(world->inputs.store);
	stacks_free(world->inputs.stacks);
	symbols_free(world->inputs.symbols);
	threads_free(world->inputs.threads);
	free(world->list);
}

void world_take(struct world *world, const struct taken *taken)
{
	const struct sample sample = {
		.process = taken->process, .kernel_cut = taken->kernel_cut,
		.kernel = taken->kernel, .kernel_count = taken->kernel_count,
		.user = taken->user, .user_count = taken->user_count,
	};
	const struct store_key key = {
		.stack = taken->missed ? STACKS_NONE :
			intern(world->inputs.stacks, &sample, taken->process),
		.who = {
			.thread = taken->thread, .process = taken->process,
			.cpu = (uint16_t)taken->cpu, .mode = (uint8_t)taken->mode,
		},
	};

	if (taken->missed)
		store_missed(world->inputs.store, taken->time, taken->cpu, taken->weight);
	else
		store_add(world->inputs.store, taken->time, &key, taken->weight);
	if (world->count == world->room) {
		world->room = 2 * world->room + 64;
		world->list = realloc(world->list, world->room * sizeof(*world->list));
		assert_non_null(world->list);
	}
	world->list[world->count++] = *taken;
}

/* ---- the oracle ---- */

static bool in_range(const struct world *world, const struct question *question, uint64_t time)
{
	const struct store *store = world->inputs.store;

	for (size_t i = 0; i < store_slices(store); i++) {
		struct slice slice = store_slice(store, i);
		uint64_t middle = slice.begin + (slice.end - slice.begin) / 2;

		if (time >= slice.begin && time < slice.end)
			return middle >= question->from &&
				(question->to == UINT64_MAX || middle < question->to);
	}
	fail_msg("no slice holds %llu", (unsigned long long)time);
	return false;
}

static bool passes(const struct world *world, const struct filter *filter,
	const struct taken *taken)
{
	return (filter->cpu == EVENT_NONE || filter->cpu == taken->cpu) &&
		(!filter->modes || filter->modes & 1u << taken->mode) &&
		threads_match(world->inputs.threads, taken->thread, taken->process,
			filter->thread);
}

/* The functions of a sample, leaf first; `cuts` tells behind which one the caller is unknown. */
static size_t frames_of(const struct world *world, const struct taken *taken,
	uint32_t functions[2 * WORLD_FRAMES], bool cuts[2 * WORLD_FRAMES])
{
	struct symbols *symbols = world->inputs.symbols;
	size_t depth = 0;

	memset(cuts, 0, 2 * WORLD_FRAMES * sizeof(*cuts));
	if (taken->mode == MODE_IDLE || taken->kernel_count + taken->user_count == 0) {
		const char *name = taken->mode == MODE_IDLE ? "[idle]" : "[unknown]";

		functions[0] = symbols_special(symbols, name);
		return 1;
	}
	for (uint32_t i = 0; i < taken->kernel_count; i++, depth++)
		functions[depth] = symbols_function(symbols, EVENT_KERNEL,
			taken->kernel[i] - (depth > 0));
	if (depth)
		cuts[depth - 1] = taken->kernel_cut;
	for (uint32_t i = 0; i < taken->user_count; i++, depth++)
		functions[depth] = symbols_function(symbols, taken->process,
			taken->user[i] - (depth > 0));
	return depth;
}

struct expected {
	struct table table;
	struct row rows[FUNCTIONS];
	uint64_t cpus[FUNCTIONS][DIGEST_WORDS_MAX];	/* of the rows */
	uint64_t callers[FUNCTIONS];	/* of one function */
	uint64_t trend[TABLE_TREND];
};

static void expect_sample(struct expected *expected, const struct world *world,
	const struct taken *taken, uint32_t function)
{
	uint32_t functions[2 * WORLD_FRAMES];
	bool cuts[2 * WORLD_FRAMES], counted[FUNCTIONS] = { false }, called[FUNCTIONS] = { false };
	size_t depth = frames_of(world, taken, functions, cuts);

	expected->rows[functions[0]].self += taken->weight;
	expected->rows[functions[0]].samples++;
	for (size_t i = 0; i < depth; i++) {
		struct row *row = &expected->rows[functions[i]];

		if (!counted[functions[i]])
			row->total += taken->weight;
		counted[functions[i]] = true;
		expected->cpus[functions[i]][taken->cpu / 64] |= 1ull << taken->cpu % 64;
		if (i + 1 < depth && functions[i] == function && !cuts[i]) {
			if (!called[functions[i + 1]])
				expected->callers[functions[i + 1]] += taken->weight;
			called[functions[i + 1]] = true;
		}
	}
	expected->table.weight += taken->weight;
	expected->table.samples++;
	expected->table.mode[taken->mode] += taken->weight;
}

static void expect_trend(struct expected *expected, const struct world *world,
	const struct taken *taken, uint32_t function, uint64_t to)
{
	uint32_t functions[2 * WORLD_FRAMES];
	bool cuts[2 * WORLD_FRAMES];
	uint64_t end = to / SECOND, second = taken->time / SECOND;

	frames_of(world, taken, functions, cuts);
	if (functions[0] == function && second < end && second + TABLE_TREND >= end)
		expected->trend[second + TABLE_TREND - end] += taken->weight;
}

static void expect(struct expected *expected, const struct world *world,
	const struct question *question, uint32_t function)
{
	uint64_t now = store_now(world->inputs.store), to = question->to < now ? question->to : now;

	memset(expected, 0, sizeof(*expected));
	for (size_t i = 0; i < world->count; i++) {
		const struct taken *taken = &world->list[i];
		const struct filter *filter = &question->filter;
		bool inside = in_range(world, question, taken->time);

		if (taken->missed) {
			if (inside && (filter->cpu == EVENT_NONE || filter->cpu == taken->cpu))
				expected->table.missed += taken->weight;
			continue;
		}
		if (!passes(world, filter, taken))
			continue;
		if (inside)
			expect_sample(expected, world, taken, function);
		expect_trend(expected, world, taken, function, to);
	}
}

/* ---- the answers against it ---- */

static void check_table(const struct table *table, const struct expected *expected,
	const struct symbols *symbols, const char *pattern)
{
	size_t rows = 0;

	assert_int_equal(table->weight, expected->table.weight);
	assert_int_equal(table->samples, expected->table.samples);
	assert_int_equal(table->missed, expected->table.missed);
	for (int mode = 0; mode < MODES; mode++)
		assert_int_equal(table->mode[mode], expected->table.mode[mode]);
	for (uint32_t i = 0; i < symbols_functions(symbols); i++)
		rows += expected->cpus[i][0] && strstr(symbols_get(symbols, i)->name, pattern);
	assert_int_equal(table->count, rows);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i], *other = &expected->rows[row->function];

		assert_non_null(strstr(symbols_get(symbols, row->function)->name, pattern));
		assert_int_equal(row->self, other->self);
		assert_int_equal(row->total, other->total);
		assert_int_equal(row->samples, other->samples);
		assert_memory_equal(row->cpus, expected->cpus[row->function],
			table->words * sizeof(*row->cpus));
	}
}

static void check_callers(struct world *world, const struct question *question, uint32_t function,
	const struct expected *expected)
{
	struct caller callers[64];
	size_t count = query_callers(world->query, question, function, callers, 64), all = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		all += expected->callers[i] > 0;
	assert_true(all < 64);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(callers[i].weight, expected->callers[callers[i].function]);
		assert_true(i == 0 || callers[i - 1].weight >= callers[i].weight);
		all -= callers[i].weight > 0;
	}
	assert_int_equal(all, 0);
}

static uint64_t mark(uint64_t weight, uint32_t leaf, uint32_t root)
{
	return weight * (leaf + 1) * (root + 7);
}

static void add_stack(void *context, const struct query_stack *stack)
{
	uint64_t *sums = context;

	assert_true(stack->depth > 0);
	sums[0] += stack->weight;
	sums[1] += mark(stack->weight, stack->functions[stack->depth - 1], stack->functions[0]);
}

/* The sum over stacks of a number made of leaf and root agrees with that over the list. */
static void check_stacks(struct world *world, const struct question *question,
	const struct expected *expected)
{
	uint64_t sums[2] = { 0 }, wanted = 0;

	query_stacks(world->query, question, add_stack, sums);
	assert_int_equal(sums[0], expected->table.weight);
	for (size_t i = 0; i < world->count; i++) {
		const struct taken *taken = &world->list[i];
		uint32_t functions[2 * WORLD_FRAMES];
		bool cuts[2 * WORLD_FRAMES];
		size_t depth = frames_of(world, taken, functions, cuts);

		if (!taken->missed && passes(world, &question->filter, taken) &&
				in_range(world, question, taken->time))
			wanted += mark(taken->weight, functions[0], functions[depth - 1]);
	}
	assert_int_equal(sums[1], wanted);
}

uint64_t world_sum(const uint64_t *numbers, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

void world_check(struct world *world, const struct question *question, uint32_t function,
	bool fine)
{
	static struct expected expected;
	uint64_t trend[TABLE_TREND];
	struct table *table = query_table(world->query, question);

	expect(&expected, world, question, function);
	check_table(table, &expected, world->inputs.symbols, question->filter.pattern);
	table_free(table);
	check_callers(world, question, function, &expected);
	query_trend(world->query, question, function, trend);
	if (fine)
		assert_memory_equal(trend, expected.trend, sizeof(trend));
	else
		assert_true(world_sum(trend, TABLE_TREND) <= world->count * 100);
	check_stacks(world, question, &expected);
}
