/* SPDX-License-Identifier: MIT */
/*
 * The rows of Memory: what lived at the end of any range, its peak, and what was given and taken in it, against a model
 * that keeps what lived at the end of each second; places by their functions; names, and what is in doubt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/answers/memory_table.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/trace/trace.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/trace_give.h"

enum { SLAB, PAGES, ALLOCATORS, ADDRESSES = 64, SECONDS = 80, STEPS = 8000 };

struct world {
	struct trace_kinds *kinds;
	struct budget *budget;
	struct epoch *epoch;
};

#define GIVE(world, time, name, ...) trace_give((world)->epoch, (world)->kinds, 0, time, KTOP_EVENT_##name, \
	&(const struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

static struct text text_of(const char *text)
{
	return (struct text) { text, strlen(text) };
}

/* Functions of 256 bytes each, from 0x1000 on: traced, slab_alloc, page_alloc, and those that ask. */
static const char *const functions[] = { "traced", "slab_alloc", "page_alloc", "tree", "mail", "boot" };
enum { TRACED = 0x1010, SLAB_ALLOC = 0x1110, PAGE_ALLOC = 0x1210, TREE = 0x1310, MAIL = 0x1410, BOOT = 0x1510 };

static struct world begin(void)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .budget = budget_new(64) };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = 1, .clock_hz = NS_PER_SECOND, .kernel = text_of("demo"), .arch = text_of("x86_64") } };
	static const char *const names[] = { "slab", "pages" };

	world.epoch = epoch_new(id, NULL, world.budget);
	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		epoch_events(world.epoch, &(struct event) { .kind = EVENT_SYMBOL, .time = 1, .symbol = {
			.address = 0x1000 + 256 * i, .size = 256, .name = text_of(functions[i]) } }, 1);
	epoch_events(world.epoch, &(struct event) { .kind = EVENT_SYMBOL, .time = 1 }, 1);
	for (uint32_t i = 0; i < ALLOCATORS; i++)
		epoch_events(world.epoch, &(struct event) { .kind = EVENT_NUMBER, .time = 1, .number = {
			.event = KTOP_EVENT_memory_alloc, .number = i, .name = text_of(names[i]) } }, 1);
	return world;
}

static void end(const struct world *world)
{
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
	budget_release(world->budget);
}

static void stack(const struct world *world, uint64_t time, uint32_t count, const uint64_t *frames)
{
	epoch_events(world->epoch, &(struct event) { .kind = EVENT_STACK, .time = time, .stack = {
		.event = KTOP_EVENT_memory_alloc, .sample = { .mode = MODE_KERNEL, .kernel_count = count,
			.kernel = frames, .process = EVENT_KERNEL } } }, 1);
}

/* Until `to`, or, of 0, until now. */
static struct memory_table *ask(const struct world *world, uint64_t from, uint64_t to, uint64_t base,
	const char *filter, const struct memory_row *stacks)
{
	const struct moment moment = { .epoch = world->epoch };
	struct memory_request request;
	char *error = NULL;

	memset(&request, 0, sizeof(request));
	request.request.kind = &memory_table_kind;
	request.request.excerpt.until_ns = to;
	request.request.excerpt.window_ns = to ? to - from : 0;
	request.request.excerpt.zero_ns = to ? 0 : from;
	request.request.excerpt.base = (struct baseline) { .until_ns = base, .window_ns = base ? NS_PER_SECOND : 0 };
	assert_true(filter_parse(filter, &request.request.excerpt.filter, &error));
	request.stacks = stacks != NULL;
	request.allocator = stacks ? stacks->allocator : 0;
	request.site = stacks ? stacks->site : 0;
	epoch_ticks(world->epoch, SECONDS * NS_PER_SECOND);
	epoch_over(world->epoch);
	return (struct memory_table *)answer_new(&request.request, &moment);
}

static const struct memory_row *row_named(const struct memory_table *table, const char *name)
{
	char text[MEMORY_TEXT];

	for (uint32_t i = 0; i < table->count; i++)
		if (strcmp(memory_row_text(&table->rows[i], text), name) == 0)
			return &table->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* ---- against the model ---- */

struct levels {				/* by allocator and second: at its end, and within it */
	struct memory_live live[ALLOCATORS][SECONDS];
	uint64_t given[ALLOCATORS][SECONDS], taken[ALLOCATORS][SECONDS];
};

static void play(const struct world *world, struct levels *levels)
{
	struct random random = { 99 };
	uint64_t lives[ALLOCATORS][ADDRESSES] = { { 0 } }, time = NS_PER_SECOND;
	struct memory_live now[ALLOCATORS] = { { 0 } };
	uint64_t before = 1;

	for (int i = 0; i < STEPS; i++) {
		uint32_t allocator = (uint32_t)random_below(&random, ALLOCATORS);
		uint32_t at = (uint32_t)random_below(&random, ADDRESSES);
		uint64_t bytes = 1 + random_below(&random, 9000), second;

		time += 1 + random_below(&random, 2 * (SECONDS - 4) * NS_PER_SECOND / STEPS);
		second = time / NS_PER_SECOND;
		for (; before < second; before++)
			for (int k = 0; k < ALLOCATORS; k++)
				levels->live[k][before] = now[k];
		if (lives[allocator][at]) {
			GIVE(world, time, memory_free, .number = allocator, .address = 8 * at);
			now[allocator].objects--;
			now[allocator].bytes -= lives[allocator][at];
			lives[allocator][at] = 0;
			levels->taken[allocator][second]++;
			continue;
		}
		GIVE(world, time, memory_alloc, .number = allocator, .address = 8 * at, .bytes = bytes);
		now[allocator].objects++;
		now[allocator].bytes += bytes;
		lives[allocator][at] = bytes;
		levels->given[allocator][second]++;
	}
	for (; before < SECONDS; before++)
		for (int k = 0; k < ALLOCATORS; k++)
			levels->live[k][before] = now[k];
}

static void compare(const struct world *world, const struct levels *levels, uint64_t from, uint64_t to, uint64_t base)
{
	static const char *const names[] = { "slab: no stack was told", "pages: no stack was told" };
	struct memory_table *table = ask(world, from * NS_PER_SECOND, to * NS_PER_SECOND, base * NS_PER_SECOND, "",
		NULL);

	for (int k = 0; k < ALLOCATORS; k++) {
		const struct memory_row *row = row_named(table, names[k]);
		uint64_t peak = 0, given = 0, taken = 0;

		for (uint64_t i = from; i < to; i++) {
			peak = levels->live[k][i].bytes > peak ? levels->live[k][i].bytes : peak;
			given += levels->given[k][i];
			taken += levels->taken[k][i];
		}
		assert_int_equal(row->is.bytes, levels->live[k][to - 1].bytes);
		assert_int_equal(row->is.objects, levels->live[k][to - 1].objects);
		assert_int_equal(row->was.bytes, levels->live[k][base - 1].bytes);
		assert_int_equal(row->peak, peak);
		assert_int_equal(row->given, given);
		assert_int_equal(row->taken, taken);
		for (uint64_t i = 0; i < MEMORY_TREND && i < to; i++)
			assert_int_equal(row->trend[MEMORY_TREND - 1 - i], levels->live[k][to - 1 - i].bytes);
	}
	assert_int_equal(table->from, from * NS_PER_SECOND);
	answer_free(&table->answer);
}

static void test_any_range(void **state)
{
	struct world world = begin();
	struct levels *levels = util_alloc(sizeof(*levels));
	struct random random = { 5 };

	(void)state;
	play(&world, levels);
	for (int i = 0; i < 200; i++) {
		uint64_t from = 1 + random_below(&random, SECONDS - 12), to = from + 1 + random_below(&random, 6);

		compare(&world, levels, from, to, 1 + random_below(&random, SECONDS - 12));
	}
	end(&world);
	free(levels);
}

/* ---- places ---- */

static const uint64_t tree[] = { TRACED, SLAB_ALLOC, TREE, BOOT }, mail[] = { TRACED, SLAB_ALLOC, MAIL, TREE, BOOT },
	deeper[] = { TRACED, SLAB_ALLOC, TREE, BOOT, MAIL }, page[] = { TRACED, PAGE_ALLOC, SLAB_ALLOC, TREE },
	other_page[] = { TRACED, PAGE_ALLOC, MAIL };

static void play_places(const struct world *world)
{
	const struct { uint32_t allocator, count; const uint64_t *frames; uint64_t bytes; } given[] = {
		{ SLAB, 4, tree, 100 }, { SLAB, 5, mail, 50 }, { SLAB, 5, deeper, 10 }, { SLAB, 4, tree, 1 },
		{ PAGES, 4, page, 4096 }, { PAGES, 3, other_page, 8192 },
	};

	for (uint32_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		uint64_t time = (i + 2) * NS_PER_SECOND;

		stack(world, time, given[i].count, given[i].frames);
		GIVE(world, time, memory_alloc, .number = given[i].allocator, .address = 64 * i,
			.bytes = given[i].bytes);
	}
}

static void test_places(void **state)
{
	struct world world = begin();
	struct memory_table *table;
	const struct memory_row *row;
	struct memory_row asked;

	(void)state;
	play_places(&world);
	table = ask(&world, 1, 0, 0, "", NULL);
	assert_int_equal(table->count, 5);
	row = row_named(table, "slab: tree < boot");
	assert_int_equal(row->is.bytes, 101);
	assert_int_equal(row->oldest / NS_PER_SECOND, 1);		/* 2 s, rounded down to 2^20 ns */
	assert_int_equal(row_named(table, "slab: mail < tree < boot")->is.bytes, 50);
	assert_int_equal(row_named(table, "slab: tree < boot < mail")->is.bytes, 10);
	assert_int_equal(row_named(table, "pages: slab_alloc < tree")->is.objects, 1);
	assert_int_equal(row_named(table, "pages: mail")->is.bytes, 8192);
	assert_int_equal(table->total_count, 2);
	assert_int_equal(table->totals[0].is.bytes + table->totals[1].is.bytes, 161 + 12288);
	assert_true(table->ages && table->located);
	asked = *row;
	answer_free(&table->answer);
	table = ask(&world, 1, 0, 0, "tree", &asked);
	assert_int_equal(table->count, 4);
	assert_int_equal(table->hidden, 1);
	assert_int_equal(table->total_count, 2);
	assert_true(table->stacks_told);
	assert_int_equal(table->stack_count, 1);
	assert_string_equal(table->stacks[0].text, "traced < slab_alloc < tree < boot");
	assert_int_equal(table->stacks[0].is.objects, 2);
	answer_free(&table->answer);
	end(&world);
}

/* ---- doubt ---- */

/* What lived when events were lost may be free; what was given out since lives for sure. */
static void test_doubt(void **state)
{
	struct world world = begin();
	struct memory_table *table;

	(void)state;
	GIVE(&world, 2 * NS_PER_SECOND, memory_alloc, .number = SLAB, .address = 8, .bytes = 100);
	GIVE(&world, 2 * NS_PER_SECOND, memory_alloc, .number = SLAB, .address = 40, .bytes = 7);
	epoch_packet(world.epoch, &(struct packet) { .stream = STREAM_TRACE, .begin = 3 * NS_PER_SECOND,
		.end = 3 * NS_PER_SECOND, .lost = 4 });
	epoch_packet(world.epoch, &(struct packet) { .stream = STREAM_TRACE, .begin = 4 * NS_PER_SECOND,
		.end = 4 * NS_PER_SECOND });
	GIVE(&world, 5 * NS_PER_SECOND, memory_alloc, .number = SLAB, .address = 16, .bytes = 30);
	GIVE(&world, 6 * NS_PER_SECOND, memory_free, .number = SLAB, .address = 24);
	GIVE(&world, 7 * NS_PER_SECOND, memory_alloc, .number = SLAB, .address = 8, .bytes = 1);
	table = ask(&world, 1, 0, 0, "", NULL);
	assert_int_equal(table->rows[0].is.bytes, 38);
	assert_int_equal(table->lost, 4);
	assert_int_equal(table->counts.reused, 1);
	assert_int_equal(table->counts.unmatched, 1);
	assert_int_equal(table->rows[0].unsure, 7);
	answer_free(&table->answer);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_range),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
