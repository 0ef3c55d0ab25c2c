/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/scan.h"
#include "agent/query/tree/contexts.h"
#include "agent/samples/sample_collect.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/intern.h"
#include "tests/unit/fakes/query_world.h"

enum { SAMPLES = 5000 };

/* Samples of all modes over 20 s, in the world and in the log. */
static void take_samples(struct world *world, struct sample_log *log)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const struct taken taken = {
			.time = (uint64_t)(i * 7919 % SAMPLES) * 4 * NS_PER_MS, .cpu = i % 3, .thread = i % 11,
			.process = i % 5, .weight = 1 + i % 2, .mode = (enum mode)(i % 3),
			.context = i % 3 == MODE_KERNEL ? (enum context)(i % 4) : CONTEXT_UNTOLD,
			.kernel_count = i % 3 == MODE_KERNEL ? 1 + i % 4 : 0,
			.user_count = i % 3 == MODE_USER ? i % 3 : 0,
			.kernel = { 0x1000 + i % 50 * 16, 0x2000, 0x3000, 0x4000 }, .user = { 0x40, 0x50, 0x60 },
		};
		const struct sample sample = {
			.kernel = taken.kernel, .kernel_count = taken.kernel_count,
			.user = taken.user, .user_count = taken.user_count,
		};
		const struct who who = { .process = taken.process, .thread = taken.thread, .cpu = (uint16_t)taken.cpu,
			.mode = (uint8_t)taken.mode, .context = (uint8_t)taken.context };

		world_take(world, &taken);
		sample_log_add(log, taken.time, intern(world->inputs.stacks, &sample, taken.process), &who,
			taken.weight, 1, NS_PER_MS);
	}
	store_settle(world->inputs.store);
}

/* The set of a question, which has the weight of its table, to the unit. */
static struct sample_set *collect(struct world *world, const struct question *question, struct sample_log *log)
{
	static const struct set_facts facts = { .machine = "", .kernel = "demo", .version = "", .arch = "", .lost = 3,
		.cpus = 4 };
	struct table *table = query_table(world->query, question);
	char *error = NULL;
	struct sample_set *set = sample_collect(&(struct sample_collect) {
		.query = world->query, .inputs = &world->inputs, .question = question, .facts = &facts, .log = log,
		.lines = true, .rows = true,
	}, &error);

	assert_non_null(set);
	assert_true(set->weight > 0);
	assert_int_equal(set->weight, table->weight);
	assert_int_equal(set->samples, table->samples);
	assert_int_equal(set->facts.lost, 3);
	assert_int_equal(set->facts.missed, table->missed);
	table_free(table);
	return set;
}

/* The rows have the sums, to the unit, in order of time. Returns how many there are. */
static uint32_t check_rows(const struct sample_set *set)
{
	uint64_t *weights = util_alloc(set->sum_count * sizeof(*weights)), before = 0, ns = 0;
	struct set_rows *rows = set->rows->open(set->rows_context);
	struct set_row row;
	uint32_t count = 0;

	for (; set->rows->next(rows, &row); count++) {
		assert_true(row.time >= before);
		before = row.time;
		assert_true(row.sum < set->sum_count);
		weights[row.sum] += row.weight;
		ns += row.ns;
	}
	assert_false(set->rows->failed(rows));
	for (uint32_t i = 0; i < set->sum_count; i++)
		assert_int_equal(weights[i], set->sums[i].weight);
	assert_int_equal(ns, set->ns);
	set->rows->close(rows);
	free(weights);
	return count;
}

/* Two sets of the same samples have the same sums. */
static void check_same(const struct sample_set *a, const struct sample_set *b)
{
	assert_int_equal(a->sum_count, b->sum_count);
	assert_int_equal(a->ns, b->ns);
	assert_int_equal(a->stack_count, b->stack_count);
	assert_int_equal(a->thread_count, b->thread_count);
	for (uint32_t mode = 0; mode < MODE_NAMES; mode++) {
		uint64_t one = 0, other = 0;

		for (uint32_t i = 0; i < a->sum_count; i++) {
			one += a->sums[i].who.mode == mode ? a->sums[i].weight : 0;
			other += b->sums[i].who.mode == mode ? b->sums[i].weight : 0;
		}
		assert_int_equal(one, other);
	}
}

static void a_set_has_the_weight_of_the_table_to_the_unit(void **state)
{
	static const char *const filters[] = { "", "cpu:1", "mode:irq", "!mode:idle", "thread:7", "mode:user cpu:0|1",
		"under:unknown" };
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);

	(void)state;
	store_period(world.inputs.store, NS_PER_MS);
	take_samples(&world, log);
	store_missed(world.inputs.store, 6 * NS_PER_SECOND, 0, 11);
	store_missed(world.inputs.store, 14 * NS_PER_SECOND, 1, 5);
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		struct question question = { .to = UINT64_MAX, .filter = filter_of(filters[i]) };
		struct sample_set *slices, *exact;
		uint32_t rows;

		for (int k = 0; k < 2; k++) {
			slices = collect(&world, &question, NULL);
			exact = collect(&world, &question, log);
			assert_true(slices->facts.grain >= STORE_SLICE_NS);
			assert_int_equal(exact->facts.grain, 0);
			check_rows(slices);
			rows = check_rows(exact);
			assert_int_equal(rows, exact->samples);
			check_same(slices, exact);
			sample_set_free(slices);
			sample_set_free(exact);
			question.from = 5 * NS_PER_SECOND;
			question.to = 12 * NS_PER_SECOND + 1;
		}
	}
	sample_log_release(log);
	world_free(&world);
}

/* The set of a question about a window that its asker knows to the nanosecond. */
static struct sample_set *collect_window(struct world *world, struct range told, struct sample_log *log)
{
	const struct set_facts facts = { .machine = "", .kernel = "", .version = "", .arch = "",
		.from = told.from, .to = told.to };
	const struct question question = { .to = UINT64_MAX };
	struct sample_set *set = sample_collect(&(struct sample_collect) {
		.query = world->query, .inputs = &world->inputs, .question = &question, .facts = &facts, .log = log,
		.rows = true,
	}, NULL);
	struct set_rows *rows = set->rows->open(set->rows_context);
	struct set_row row;

	assert_int_equal(set->samples, SAMPLES);
	while (set->rows->next(rows, &row)) {
		assert_true(row.time >= set->facts.from);
		assert_true(row.time <= set->facts.to);
	}
	set->rows->close(rows);
	return set;
}

static void a_window_is_as_long_as_its_asker_says(void **state)
{
	const struct range told = { 10 * NS_PER_MS, 19 * (uint64_t)NS_PER_SECOND + 990 * NS_PER_MS };
	const struct range early = { 100 * NS_PER_MS, 200 * NS_PER_MS }, none = { 0, 0 };
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	struct sample_set *set;

	(void)state;
	take_samples(&world, log);
	set = collect_window(&world, told, NULL);
	assert_int_equal(set->facts.from, told.from);
	assert_int_equal(set->facts.to, told.to);
	sample_set_free(set);
	set = collect_window(&world, none, NULL);
	assert_int_equal(set->facts.from, 0);
	assert_true(set->facts.to > told.to);
	sample_set_free(set);
	set = collect_window(&world, early, log);	/* but it has all samples */
	assert_int_equal(set->facts.from, 0);
	assert_int_equal(set->facts.to, (SAMPLES - 1) * 4 * NS_PER_MS);
	sample_set_free(set);
	sample_log_release(log);
	world_free(&world);
}

static void a_set_is_free_of_its_boot(void **state)
{
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	const struct question question = { .to = UINT64_MAX };
	struct sample_set *set;

	(void)state;
	take_samples(&world, log);
	set = collect(&world, &question, log);
	sample_log_release(log);
	world_free(&world);
	assert_int_equal(check_rows(set), SAMPLES);
	for (uint32_t i = 0; i < set->sum_count; i++)
		assert_true(strlen(sample_set_leaf(set, set->sums[i].stack)->name) > 0);
	sample_set_free(set);
}

/* A picture of very many stacks: the sums stay, and so do as many frames as may stand alone, the heaviest. */
static void light_stacks_are_merged(void **state)
{
	static const struct set_facts facts = { .machine = "", .kernel = "demo", .version = "", .arch = "" };
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	const struct question question = { .to = UINT64_MAX };
	struct sample_set *all, *merged;

	(void)state;
	store_period(world.inputs.store, NS_PER_MS);
	take_samples(&world, log);
	assert_true(stacks_nodes(world.inputs.stacks) > 16 * 5);
	all = collect(&world, &question, log);
	assert_int_equal(all->facts.merged, 0);
	for (int logged = 0; logged < 2; logged++) {
		uint32_t alone = 0;

		merged = sample_collect(&(struct sample_collect) {
			.query = world.query, .inputs = &world.inputs, .question = &question, .facts = &facts,
			.log = logged ? log : NULL, .rows = true, .most = 4,
		}, NULL);
		assert_non_null(merged);
		assert_int_equal(merged->weight, all->weight);
		assert_int_equal(merged->samples, all->samples);
		assert_int_equal(merged->ns, all->ns);
		check_rows(merged);
		for (uint32_t i = 0; i < merged->stack_count; i++) {
			const struct set_function *leaf = sample_set_leaf(merged, i);

			alone += strcmp(leaf->name, "[merged]") != 0 && leaf->kind != SET_IDLE &&
				leaf->kind != SET_UNKNOWN;
		}
		assert_true(alone <= 4);
		assert_true(merged->facts.merged >= all->stack_count - 2 - 4);
		sample_set_free(merged);
	}
	sample_set_free(all);
	sample_log_release(log);
	world_free(&world);
}

/* What there is no memory to draw is merged: the format would refuse all of it. */
static void what_cannot_be_drawn_is_merged(void **state)
{
	static const struct set_facts facts = { .machine = "", .kernel = "demo", .version = "", .arch = "" };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	const struct question question = { .to = UINT64_MAX };
	size_t merged = 0, whole = 0;

	(void)state;
	store_period(world.inputs.store, NS_PER_MS);
	take_samples(&world, log);
	world.inputs.budget = budget;
	for (size_t left = 64 << 10; left <= 4 << 20; left += 64 << 10) {
		char *error = NULL;
		size_t taken = budget_left(budget) - left;
		struct sample_set *set;

		assert_true(budget_take(budget, taken));
		set = sample_collect(&(struct sample_collect) {
			.query = world.query, .inputs = &world.inputs, .question = &question, .facts = &facts,
			.most = 60,
		}, &error);
		merged += set && set->facts.merged;
		if (set && !set->facts.merged) {
			assert_true(budget_left(budget) >= 400 * (size_t)set->stack_count);
			whole++;
		}
		sample_set_free(set);
		free(error);
		budget_give(budget, taken);
	}
	assert_true(whole > 0);
	assert_true(merged > 0);
	sample_log_release(log);
	world.inputs.budget = NULL;
	world_free(&world);
	budget_release(budget);
}

/* As soon as nobody wants it: of slices, and of a log. Nothing of it is taken for the whole. */
static void a_collection_can_be_given_up(void **state)
{
	static const struct set_facts facts = { .machine = "", .kernel = "demo", .version = "", .arch = "" };
	static const atomic_bool stop = true;
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	const struct question question = { .to = UINT64_MAX };

	(void)state;
	take_samples(&world, log);
	query_heed(world.query, &stop);
	for (int logged = 0; logged < 2; logged++) {
		char *error = NULL;

		assert_null(sample_collect(&(struct sample_collect) {
			.query = world.query, .inputs = &world.inputs, .question = &question, .facts = &facts,
			.log = logged ? log : NULL, .rows = true,
		}, &error));
		assert_string_equal(error, "interrupted; take it again");
		free(error);
	}
	query_heed(world.query, NULL);
	sample_set_free(collect(&world, &question, log));
	sample_log_release(log);
	world_free(&world);
}

/* Also one that no sample has; and the set has none of them, unless its events are wanted. */
static void events_have_their_stacks(void **state)
{
	static const struct set_facts facts = { .machine = "", .kernel = "demo", .version = "", .arch = "" };
	static const struct trace_kind kind = { .id = 100, .name = "mail" };
	const uint64_t sampled[] = { 0x1000, 0x2000 }, alone[] = { 0x7770, 0x2000, 0x3000 };
	struct world world = world_new();
	struct sample_log *log = sample_log_new(NULL, NULL);
	const struct question question = { .to = UINT64_MAX };
	const uint32_t nodes[] = {
		STACKS_NONE,
		intern(world.inputs.stacks, &(struct sample) { .kernel = sampled, .kernel_count = 2 }, EVENT_NONE),
		intern(world.inputs.stacks, &(struct sample) { .kernel = alone, .kernel_count = 3 }, EVENT_NONE),
	};

	(void)state;
	take_samples(&world, log);
	for (uint32_t i = 0; i < 3; i++)
		trace_log_add(sample_log_traces(log), NS_PER_SECOND + i, &(struct event) {
			.kind = EVENT_TRACE, .id = kind.id, .trace = { .kind = &kind } }, nodes[i] + 1);
	for (int wanted = 0; wanted < 2; wanted++) {
		struct sample_set *set = sample_collect(&(struct sample_collect) {
			.query = world.query, .inputs = &world.inputs, .question = &question, .facts = &facts,
			.log = log, .rows = true, .events = wanted,
		}, NULL);
		struct set_events *events;
		struct set_event event;
		uint32_t path[4];

		assert_int_equal(set->events != NULL, wanted);
		events = wanted ? set->events->open(set->events_context) : NULL;
		for (uint32_t i = 0; wanted && i < 3; i++) {
			const uint64_t *list = i == 2 ? alone : sampled;

			assert_true(set->events->next(events, &event));
			assert_int_equal(event.stack != 0, i != 0);
			if (!event.stack)
				continue;
			assert_int_equal(sample_set_path(set, event.stack - 1, path, 4), i + 1);
			for (uint32_t k = 0; k <= i; k++)	/* a caller's is inside of the call */
				assert_int_equal(set->locations[path[i - k]].address, list[k] - (k > 0));
		}
		if (wanted)
			set->events->close(events);
		sample_set_free(set);
	}
	sample_log_release(log);
	world_free(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_the_weight_of_the_table_to_the_unit),
		cmocka_unit_test(a_window_is_as_long_as_its_asker_says),
		cmocka_unit_test(a_set_is_free_of_its_boot),
		cmocka_unit_test(light_stacks_are_merged),
		cmocka_unit_test(what_cannot_be_drawn_is_merged),
		cmocka_unit_test(a_collection_can_be_given_up),
		cmocka_unit_test(events_have_their_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
