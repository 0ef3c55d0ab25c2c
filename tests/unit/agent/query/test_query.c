/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/question/grouping.h"
#include "agent/query/table.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/sums.h"
#include "tests/unit/fakes/work.h"
#include "asked.h"
#include "fake_symbols.h"

static void recursion_counts_once(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 5, (const uint64_t[]) { 3, 3, 2, 3, 1 });
	const struct question question = { .to = UINT64_MAX, .filter = everything };
	struct caller callers[8];
	struct table *table;
	uint32_t three;

	(void)state;
	world_take(&world, &taken);
	table = ask(&world, 0, UINT64_MAX);
	assert_int_equal(table->count, 3);
	assert_int_equal(row_of(&world, table, "k3")->self, 5);
	assert_int_equal(row_of(&world, table, "k3")->total, 5);
	assert_int_equal(row_of(&world, table, "k1")->self, 0);
	three = row_of(&world, table, "k3")->function;
	assert_int_equal(query_callers(world.query, &question, three, callers, 8), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(callers[i].weight, 5);
	assert_int_equal(query_callers(world.query, &question, three, callers, 2), 2);
	table_free(table);
	world_free(&world);
}

static void idle_is_no_work(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 3, 1 });
	struct table *table;

	(void)state;
	taken.mode = MODE_IDLE;
	world_take(&world, &taken);
	table = ask(&world, 0, UINT64_MAX);
	assert_int_equal(table->count, 1);
	assert_int_equal(row_of(&world, table, "[idle]")->self, 5);
	assert_int_equal(table->mode[MODE_IDLE], 5);
	table_free(table);
	world_free(&world);
}

static void the_pattern_chooses_rows_and_leaves_shares(void **state)
{
	struct world world = world_new();
	struct taken one = kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 3, 1 });
	struct taken two = kernel_sample(NS_PER_SECOND, 7, 2, (const uint64_t[]) { 2, 1 });
	struct question question = { .to = UINT64_MAX, .filter = everything };
	struct table *table;

	(void)state;
	world_take(&world, &one);
	world_take(&world, &two);
	question.filter = filter_of("k2");
	table = query_table(world.query, &question);
	assert_int_equal(table->count, 1);
	assert_int_equal(table->rows[0].self, 7);
	assert_int_equal(table->weight, 12);
	table_free(table);
	world_free(&world);
}

/* The kernel's own object is also called after the kernel, as on the screen over many machines. */
static void the_kernel_object_has_two_names(void **state)
{
	static const struct {
		const char *words;
		uint64_t weight;
	} rows[] = {
		{ "object:kernel", 5 }, { "object:web-kernel", 5 }, { "object:web", 5 }, { "!object:web-kernel", 9 },
		{ "object:web/kernel", 0 }, { "object:other", 0 }, { "!object:other", 14 },
	};
	struct world world = world_new();
	struct taken one = kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 3, 1 });
	struct taken user = { .time = NS_PER_SECOND, .weight = 9, .mode = MODE_USER, .process = 2,
		.thread = 4, .user_count = 1, .user = { 0x308 } };

	(void)state;
	query_free(world.query);
	world.inputs.kernel = "web/kernel";
	world.query = query_new(&world.inputs);
	world_take(&world, &one);
	world_take(&world, &user);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct question question = { .to = UINT64_MAX, .filter = filter_of(rows[i].words) };
		struct table *table = query_table(world.query, &question);

		assert_int_equal(table->weight, rows[i].weight);
		table_free(table);
	}
	world_free(&world);
}

/* Until a worker has read the file of a function, it is of no file, and the answer says that another one follows. */
static void a_file_that_is_read_late_passes_then(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 3, 1 });
	struct question questions[2] = { { .to = UINT64_MAX }, { .to = UINT64_MAX } };
	char file[GROUPING_FILE], words[GROUPING_FILE + 16];

	(void)state;
	world_take(&world, &taken);
	fake_symbols_read_lines(world.inputs.symbols, UINT32_MAX);
	grouping_file(world.inputs.symbols, symbols_function(world.inputs.symbols, EVENT_KERNEL, 0x308), file);
	assert_string_not_equal(file, "");
	for (int negated = 0; negated < 2; negated++) {
		snprintf(words, sizeof(words), "%sfile:%s|x", negated ? "!" : "", file);
		questions[negated].filter = filter_of(words);
	}
	for (int negated = 0; negated < 2; negated++) {
		for (int read = 0; read < 2; read++) {
			struct table *table;

			fake_symbols_read_lines(world.inputs.symbols, read ? UINT32_MAX : 0);
			table = query_table(world.query, &questions[negated]);
			assert_int_equal(table->weight, read == negated ? 0 : 5);
			assert_int_equal(table->unread, !read);
			assert_int_equal(query_awaits_files(world.query, &questions[negated]), !read);
			table_free(table);
		}
	}
	world_free(&world);
}

static void adjacent_ranges_share_nothing_and_miss_nothing(void **state)
{
	struct random random = { .state = 31 };
	struct world world = world_new();
	uint64_t all = 0, edge = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		struct taken taken = kernel_sample(random_below(&random, 900 * NS_PER_SECOND), 1, 1,
			(const uint64_t[]) { 1 });

		world_take(&world, &taken);
	}
	while (edge < 1000 * NS_PER_SECOND) {
		uint64_t next = edge + random_below(&random, 30 * NS_PER_SECOND);
		struct table *table = ask(&world, edge, next);

		all += table->weight;
		table_free(table);
		edge = next;
	}
	assert_int_equal(all, 1000);
	world_free(&world);
}

static void a_name_is_followed_though_nothing_else_happens(void **state)
{
	struct world world = world_new();
	struct taken user = { .time = NS_PER_SECOND, .weight = 9, .mode = MODE_USER, .process = 2,
		.thread = 4, .user_count = 1, .user = { 0x308 } };
	struct question question = { .to = UINT64_MAX,
		.filter = filter_of("thread:boot") };

	(void)state;
	fake_symbols_know(world.inputs.symbols, 2, false);
	world_take(&world, &user);
	world_check(&world, &question, 0, false);
	threads_thread(world.inputs.threads, 4, 2, (struct text) { .bytes = "boot", .size = 4 });
	world_check(&world, &question, 0, false);
	fake_symbols_know(world.inputs.symbols, 2, true);
	world_check(&world, &question, 0, false);
	world_free(&world);
}

/* There are two slices, and the older one has changed last. Only the older one was summed up before they merge. */
static void slices_that_merge_across_the_sum_are_counted_once(void **state)
{
	struct world world = world_new();
	struct taken newer = kernel_sample(10300 * NS_PER_MS, 5, 1, (const uint64_t[]) { 3 });
	struct taken older = kernel_sample(10100 * NS_PER_MS, 7, 1, (const uint64_t[]) { 3 });
	const struct question question = { .to = UINT64_MAX, .filter = everything };

	(void)state;
	world_take(&world, &newer);
	world_take(&world, &older);
	store_advance(world.inputs.store, 71300 * NS_PER_MS);
	world_check(&world, &question, 0, true);
	store_advance(world.inputs.store, 300 * NS_PER_SECOND);
	world_check(&world, &question, 0, true);
	world_free(&world);
}

struct seen {
	size_t count, cut, deepest;
	uint64_t heaviest;
};

static void note_stack(void *context, const struct query_stack *stack)
{
	struct seen *seen = context;

	seen->count++;
	seen->cut += stack->cut;
	seen->deepest = stack->depth > seen->deepest ? stack->depth : seen->deepest;
	seen->heaviest = stack->weight > seen->heaviest ? stack->weight : seen->heaviest;
}

/* Stacks with equal functions are one. A different mode or cut makes another one; a thread, if these are wanted. */
static void equal_stacks_come_once(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .filter = everything, .threads = true };
	struct taken taken = kernel_sample(NS_PER_SECOND, 1, 2, (const uint64_t[]) { 3, 1 });
	struct seen seen = { 0 };

	(void)state;
	taken.user_count = 1;
	taken.user[0] = 0x208;
	world_take(&world, &taken);
	taken.kernel[0] += 16;
	taken.user[0] += 16;
	taken.cpu = 1;
	taken.time = 40 * NS_PER_SECOND;
	world_take(&world, &taken);
	taken.thread = 9;
	world_take(&world, &taken);
	taken.kernel_cut = true;
	world_take(&world, &taken);
	taken.mode = MODE_USER;
	world_take(&world, &taken);
	query_stacks(world.query, &question, note_stack, &seen);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.cut, 2);
	assert_int_equal(seen.deepest, 3);
	assert_int_equal(seen.heaviest, 2);
	question.threads = false;
	seen = (struct seen) { 0 };
	query_stacks(world.query, &question, note_stack, &seen);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.heaviest, 3);
	world_free(&world);
}

static uint64_t deepest(struct world *world, size_t *cut)
{
	const struct question question = { .to = UINT64_MAX, .filter = everything };
	struct seen seen = { 0 };

	query_stacks(world->query, &question, note_stack, &seen);
	*cut = seen.cut;
	return seen.deepest;
}

static uint64_t total_of(struct world *world, const char *name)
{
	struct table *table = ask(world, 0, UINT64_MAX);
	uint64_t total = 0;

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(symbols_get(world->inputs.symbols, table->rows[i].function)->name, name) == 0)
			total = table->rows[i].total;
	table_free(table);
	return total;
}

/* A frame that no code returns to ends the kernel's stack, marked as cut: whenever that comes to be known. */
static void a_caller_that_is_none_is_cut_off(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 4, (const uint64_t[]) { 3, 1, 2, 4 });
	size_t cut;

	(void)state;
	taken.user_count = 1;
	taken.user[0] = 0x608;
	world_take(&world, &taken);
	assert_int_equal(deepest(&world, &cut), 5);
	assert_int_equal(cut, 0);
	assert_int_equal(total_of(&world, "k2"), 5);
	fake_symbols_return_never(world.inputs.symbols, taken.kernel[2]);
	assert_int_equal(total_of(&world, "k2"), 0);
	assert_int_equal(total_of(&world, "k4"), 0);
	assert_int_equal(total_of(&world, "k1"), 5);
	assert_int_equal(total_of(&world, "p0_6"), 5);
	assert_int_equal(deepest(&world, &cut), 3);
	assert_int_equal(cut, 1);
	taken.time += NS_PER_SECOND;
	world_take(&world, &taken);
	assert_int_equal(total_of(&world, "k2"), 0);
	assert_int_equal(total_of(&world, "k3"), 10);
	fake_symbols_return_never(world.inputs.symbols, taken.kernel[0]);	/* it was interrupted there */
	assert_int_equal(total_of(&world, "k2"), 10);
	assert_int_equal(deepest(&world, &cut), 5);
	assert_int_equal(cut, 0);
	world_free(&world);
}

struct visits {
	uint32_t seen[8];		/* how many stacks have come, by place */
	uint32_t stacks, begun, place;	/* `begun`: how often a place came that was not the last one */
};

static void visit(void *context, const struct query_stack *stack)
{
	struct visits *visits = context;

	assert_in_range(stack->place, 0, 7);
	visits->begun += !visits->stacks || stack->place != visits->place;
	visits->place = stack->place;
	visits->seen[stack->place]++;
	visits->stacks++;
}

/* Though they were sampled in turn, in two slices. */
static void stacks_of_one_place_come_one_after_another(void **state)
{
	struct world world = world_new();
	const struct question question = { .to = UINT64_MAX, .filter = everything, .threads = true };
	struct visits visits = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 18; i++) {
		struct taken taken = kernel_sample((1 + i / 9 * 40) * NS_PER_SECOND, 1, 2,
			(const uint64_t[]) { 3 + i % 3, 1 });

		taken.thread = 10 + i / 3;
		world_take(&world, &taken);
	}
	assert_true(query_stacks(world.query, &question, visit, &visits));
	assert_int_equal(visits.stacks, 18);
	assert_int_equal(visits.begun, 3);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(visits.seen[i] == 0 || visits.seen[i] == 6);
	world_free(&world);
}

static void missed_time_is_told_and_in_no_share(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 1, (const uint64_t[]) { 3 });
	const struct taken gap = { .time = NS_PER_SECOND, .weight = 90, .missed = true };
	struct table *table;

	(void)state;
	world_take(&world, &taken);
	world_take(&world, &gap);
	table = ask(&world, 0, UINT64_MAX);
	assert_int_equal(table->weight, 5);
	assert_int_equal(table->missed, 90);
	table_free(table);
	world_free(&world);
}

/* A second of a slice that is longer gets its even share, and the shares add up. */
static void a_coarse_slice_is_even(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(1000 * NS_PER_SECOND, 37, 1, (const uint64_t[]) { 3 });
	struct question question = { .to = 1030 * NS_PER_SECOND, .filter = everything };
	uint64_t trend[TABLE_TREND];
	uint32_t function;

	(void)state;
	world_take(&world, &taken);
	store_advance(world.inputs.store, 5000 * NS_PER_SECOND);
	function = symbols_function(world.inputs.symbols, EVENT_KERNEL, 0x300);
	query_trends(world.query, &question, &(uint32_t) { function }, 1, &trend);
	assert_int_equal(world_sum(trend, TABLE_TREND), 37);
	for (int i = 0; i < TABLE_TREND; i++)
		assert_in_range(trend[i], i >= 30 && i < 40 ? 3 : 0, i >= 30 && i < 40 ? 4 : 0);
	world_free(&world);
}

static void an_empty_store_has_an_empty_answer(void **state)
{
	struct world world = world_new();
	const struct question question = { .to = UINT64_MAX, .filter = everything };
	struct table *table = ask(&world, 0, UINT64_MAX);
	struct caller callers[8];
	struct cpu_series cpus[2] = { 0 };
	uint64_t trend[TABLE_TREND];
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(table->count, 0);
	table_sort(table, world.inputs.symbols, COLUMN_SELF, false);
	table_free(table);
	query_trends(world.query, &question, &(uint32_t) { 0 }, 1, &trend);
	assert_int_equal(world_sum(trend, TABLE_TREND), 0);
	assert_int_equal(query_callers(world.query, &question, 0, callers, 8), 0);
	assert_int_equal(query_cpus(world.query, &question, cpus, 2), 0);
	query_stacks(world.query, &question, note_stack, &seen);
	assert_int_equal(seen.count, 0);
	world_free(&world);
}

/* ---- ranges ---- */

/* There is a sample each 10 ms, for 20 s. */
static struct world regular_world(void)
{
	struct world world = world_new();

	for (uint64_t ms = 0; ms < 20000; ms += 10) {
		struct taken taken = kernel_sample(ms * NS_PER_MS, 1, 1, (const uint64_t[]) { 1 });

		world_take(&world, &taken);
	}
	return world;
}

/* Whatever range is asked for, the range in the answer holds one sample for each 10 ms. */
static void a_table_tells_the_range_of_its_slices(void **state)
{
	struct world world = regular_world();

	(void)state;
	for (uint64_t from = 5000; from < 5500; from += 30) {
		const uint64_t ends[] = { UINT64_MAX, (from + 1000) * NS_PER_MS, (from + 1110) * NS_PER_MS };

		for (int i = 0; i < 3; i++) {
			struct table *table = ask(&world, from * NS_PER_MS, ends[i]);
			uint64_t ms = (table->to - table->from) / NS_PER_MS;

			assert_in_range(ms, 10 * (table->samples - 1), 10 * table->samples);
			table_free(table);
		}
	}
	world_free(&world);
}

/* Where a frozen window lies is told so that a report of that range, which is rounded, has the same samples. */
static void a_covered_range_asks_for_the_same(void **state)
{
	struct world world = regular_world();

	(void)state;
	for (uint64_t from = 5000; from < 5500; from += 30) {
		struct question frozen = { .from = from * NS_PER_MS, .to = (from + 1110) * NS_PER_MS };
		struct question place = frozen, rounded;
		struct table *shown = ask(&world, frozen.from, frozen.to), *table;

		query_cover(world.query, &place);
		rounded = place;
		query_round(world.query, &rounded);
		assert_int_equal(rounded.from, place.from);
		assert_int_equal(rounded.to, place.to);
		assert_int_equal(place.from % (10 * NS_PER_MS), 0);	/* hundredths of a second tell it */
		assert_int_equal(place.to % (10 * NS_PER_MS), 0);
		table = ask(&world, rounded.from, rounded.to);
		assert_int_equal(table->samples, shown->samples);
		table_free(table);
		table_free(shown);
	}
	world_free(&world);
}

/* ---- a window that moves ---- */

enum { MANY = 10000 };

static void take_many(struct world *world, uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < from + count; i++)
		world_take(world, &(struct taken) { .time = i * NS_PER_MS, .weight = 1, .cpu = i % 3,
			.kernel_count = 2, .kernel = { 0x100 * (1 + i % 500), 0x100 * (1 + i % 70) } });
}

static uint64_t work_of(struct world *world, uint64_t from, uint64_t count)
{
	uint64_t begin = work_done();
	struct table *table = ask(world, from * NS_PER_MS, UINT64_MAX);

	begin = work_done() - begin;
	assert_int_equal(table->samples, count);
	table_free(table);
	return begin;
}

/* What came and what left is read: not all that stays. */
static void a_window_that_moves_costs_what_moved(void **state)
{
	struct world world = world_new();
	uint64_t first, second;

	(void)state;
	take_many(&world, 0, MANY);
	first = work_of(&world, 0, MANY);
	take_many(&world, MANY, MANY / 100);
	second = work_of(&world, MANY / 100, MANY);
	print_message("%" PRIu64 " units, and %" PRIu64 " once it has moved\n", first, second);
	assert_true(second < first / 2);
	world_free(&world);
}

/* Store and query take their memory out of this budget. */
static struct world world_within(struct budget *budget)
{
	struct world world = world_new();

	store_free(world.inputs.store);
	query_free(world.query);
	world.inputs.budget = budget;
	world.inputs.store = store_new(budget, STORE_COUNTS_MAX);
	world.query = query_new(&world.inputs);
	return world;
}

/* The store forgets where memory is short: counts that are held for the next answer alone would be in its way. */
static void held_counts_are_given_back(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = world_new();
	struct run *run;
	size_t charged;

	(void)state;
	query_free(world.query);
	world.inputs.budget = budget;
	world.query = query_new(&world.inputs);
	take_many(&world, 0, 10);
	work_of(&world, 0, 10);
	run = slice_number(world.inputs.store, 0).runs[0];
	query_spare(world.query);
	assert_int_equal(run->holders, 2);
	charged = budget_left(budget) - budget_share(budget, 5);
	budget_charge(budget, charged);
	query_spare(world.query);
	assert_int_equal(run->holders, 1);
	work_of(&world, 0, 10);
	query_spare(world.query);
	assert_int_equal(run->holders, 1);
	budget_give(budget, charged);
	world_free(&world);
	budget_release(budget);
}

/* A store gives numbers of who away: the same number is somebody else's then. */
static void a_window_follows_numbers_of_who(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = world_within(budget);
	const struct question question = { .to = UINT64_MAX, .filter = filter_of("mode:user") };
	struct store_key key = { .stack = STACKS_NONE };
	uint32_t before = 0, given_away = 0;

	(void)state;
	for (uint64_t i = 1; i <= 200000; i++) {
		struct query *fresh;
		struct table *table, *made;

		key.who.thread = (uint32_t)i;
		key.who.mode = (uint8_t)(i % MODES);
		store_add(world.inputs.store, i * NS_PER_MS, &key, 1);
		if (i % 2000)
			continue;
		fresh = query_new(&world.inputs);
		table = query_table(world.query, &question);
		made = query_table(fresh, &question);
		assert_int_equal(table->weight, made->weight);
		assert_int_equal(table->weight, world_sum(made->mode, MODES));
		assert_memory_equal(table->mode, made->mode, sizeof(made->mode));
		table_free(table);
		table_free(made);
		query_free(fresh);
		given_away += who_table_count(store_whos(world.inputs.store)) < before;
		before = who_table_count(store_whos(world.inputs.store));
	}
	assert_true(given_away > 0);
	world_free(&world);
	budget_release(budget);
}

/* ---- given up ---- */

static void count_stack(void *context, const struct query_stack *stack)
{
	*(uint64_t *)context += stack->weight;
}

/* Asks each kind of question once. An answer that is given up must have no effect. Returns the work that it took. */
static uint64_t ask_all(struct world *world, const struct question *question, uint64_t *weight)
{
	uint64_t begin = work_done(), stacks = 0, trend[TABLE_TREND];
	struct table *table = query_table(world->query, question);
	struct caller callers[4];

	*weight = table->weight;
	table_free(table);
	query_trends(world->query, question, &(uint32_t) { 3 }, 1, &trend);
	query_callers(world->query, question, 3, callers, 4);
	if (query_stacks(world->query, question, count_stack, &stacks))
		assert_int_equal(stacks, *weight);
	else
		assert_int_equal(*weight, 0);
	return work_done() - begin;
}

/* The program ends: nobody waits for an answer. The next question has its whole answer. */
static void test_given_up(void **state)
{
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX };
	struct random random = { 11 };
	struct taken taken = { 0 };
	atomic_bool stop = false;
	uint64_t first, second, weight, whole = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		taken = (struct taken) { .time = i * NS_PER_MS, .weight = 1, .kernel_count = 8 };
		for (uint32_t k = 0; k < taken.kernel_count; k++)
			taken.kernel[k] = 0x100 * (1 + random_below(&random, 500)) + random_below(&random, 2) * 8;
		whole += taken.weight;
		world_take(&world, &taken);
	}
	query_heed(world.query, &stop);
	stop = true;				/* before any stack has names */
	ask_all(&world, &question, &weight);
	assert_int_equal(weight, 0);
	stop = false;
	first = ask_all(&world, &question, &weight);
	assert_int_equal(weight, whole);

	question.filter = filter_of("mode:kernel|user|idle");		/* another question */
	stop = true;
	second = ask_all(&world, &question, &weight);
	print_message("%" PRIu64 " units, and %" PRIu64 " given up\n", first, second);
	assert_int_equal(weight, 0);
	assert_true(second < first / 8);
	stop = false;
	ask_all(&world, &question, &weight);
	assert_int_equal(weight, whole);
	query_heed(world.query, NULL);
	world_free(&world);
}

/* Pairs that found no memory are made anew: taking their weight away would leave less than nothing. */
static void pairs_come_back_with_memory(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = world_new();
	struct question question = { .to = UINT64_MAX, .by = GROUP_PROCESS, .callers = true };
	struct table *table;
	size_t charged;

	(void)state;
	query_free(world.query);
	world.inputs.budget = budget;
	world.query = query_new(&world.inputs);
	for (uint64_t i = 0; i < 200; i++)
		world_take(&world, &(struct taken) { .time = i * 100 * NS_PER_MS, .weight = 1, .process = 7,
			.thread = 7, .mode = MODE_KERNEL, .kernel_count = 1, .kernel = { 0x100 } });
	charged = budget_left(budget);
	budget_charge(budget, charged);
	table = query_table(world.query, &question);
	assert_int_equal(table->weight, 200);
	assert_true(query_refused(world.query) > 0);
	table_free(table);
	budget_give(budget, charged);
	question.from = 2 * NS_PER_SECOND;
	table = query_table(world.query, &question);
	assert_int_equal(table->weight, 180);
	assert_int_equal(query_ran(world.query, &question, table->rows[0].function).weight, 180);
	assert_int_equal(query_refused(world.query), 0);
	table_free(table);
	world_free(&world);
	budget_release(budget);
}

/* What questions need to be answered is given back before the store has to forget. */
static void questions_cost_no_sample(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = world_within(budget);
	struct store_key key = { .stack = STACKS_NONE, .who = { .mode = MODE_USER } };

	(void)state;
	for (uint64_t i = 1; i <= 80000; i++) {
		key.who.thread = key.who.process = (uint32_t)i % 79000;
		store_add(world.inputs.store, i * NS_PER_MS, &key, 1);
	}
	for (int i = 0; i < 8; i++) {
		struct question question = { .from = 79 * NS_PER_SECOND, .to = UINT64_MAX, .by = GROUP_MODE,
			.reader = query_reader_new(world.query) };

		table_free(query_table(world.query, &question));
	}
	store_settle(world.inputs.store);
	assert_int_equal(store_given_up(world.inputs.store), 0);
	assert_int_equal(store_forgotten(world.inputs.store), 0);
	world_free(&world);
	budget_release(budget);
}

/* A range that is kept by no pin becomes the finest slices that it lies in. */
static void a_range_is_rounded_to_the_finest_slices(void **state)
{
	struct world world = world_new();
	struct store *waits = store_new(NULL, STORE_COUNTS_MAX);
	const struct store_key key = { .stack = STACKS_NONE };

	(void)state;
	query_free(world.query);
	world.inputs.waits = waits;
	world.query = query_new(&world.inputs);
	for (uint64_t ms = 5000; ms < 8000; ms += 10)
		store_add(waits, ms * NS_PER_MS, &key, 1);
	store_settle(waits);
	for (uint64_t ms = 6001; ms < 6050; ms += 20) {
		struct question question = { .from = ms * NS_PER_MS, .to = (ms + 8) * NS_PER_MS,
			.filter = filter_of("mode:off-cpu") };

		query_round(world.query, &question);
		assert_int_equal(question.from, (ms - 1) * NS_PER_MS);
		assert_int_equal(question.to, (ms + 19) * NS_PER_MS);
	}
	world_free(&world);
	store_free(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_come_back_with_memory),
		cmocka_unit_test(questions_cost_no_sample),
		cmocka_unit_test(a_range_is_rounded_to_the_finest_slices),
		cmocka_unit_test(test_given_up), cmocka_unit_test(a_window_that_moves_costs_what_moved),
		cmocka_unit_test(a_window_follows_numbers_of_who), cmocka_unit_test(held_counts_are_given_back),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(idle_is_no_work),
		cmocka_unit_test(the_pattern_chooses_rows_and_leaves_shares),
		cmocka_unit_test(the_kernel_object_has_two_names),
		cmocka_unit_test(a_file_that_is_read_late_passes_then),
		cmocka_unit_test(adjacent_ranges_share_nothing_and_miss_nothing),
		cmocka_unit_test(a_name_is_followed_though_nothing_else_happens),
		cmocka_unit_test(slices_that_merge_across_the_sum_are_counted_once),
		cmocka_unit_test(equal_stacks_come_once),
		cmocka_unit_test(a_caller_that_is_none_is_cut_off),
		cmocka_unit_test(stacks_of_one_place_come_one_after_another),
		cmocka_unit_test(missed_time_is_told_and_in_no_share),
		cmocka_unit_test(a_coarse_slice_is_even),
		cmocka_unit_test(an_empty_store_has_an_empty_answer),
		cmocka_unit_test(a_table_tells_the_range_of_its_slices),
		cmocka_unit_test(a_covered_range_asks_for_the_same),
	};

	query_free(NULL);
	table_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
