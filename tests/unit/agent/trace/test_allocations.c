/* SPDX-License-Identifier: MIT */
/*
 * Objects that are given out and taken back, in any order, with ends that are missing and addresses that come again,
 * against a model that keeps a list of all; the seconds that are told; and little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/trace/allocations.h"
#include "agent/trace/trace_order.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/random.h"

enum { ALLOCATORS = 3, ADDRESSES = 200, STACKS = 5, STEPS = 60000, SECONDS = 64 };

struct model {				/* by allocator and address */
	struct { bool lives; uint64_t bytes, born; uint32_t stack; } objects[ALLOCATORS][ADDRESSES];
	struct allocation_change changes[ALLOCATORS][STACKS][SECONDS];
	struct allocation_counts counts;
	uint64_t gap;
};

static void give(struct allocations *allocations, uint64_t time, uint32_t allocator, uint64_t address, uint64_t bytes,
	uint32_t stack)
{
	allocations_add(allocations, &(struct trace_event) { .time = time, .id = KTOP_EVENT_memory_alloc,
		.stack = stack, .values = { 7, allocator, address, bytes } });
}

static void take(struct allocations *allocations, uint64_t time, uint32_t allocator, uint64_t address)
{
	allocations_add(allocations, &(struct trace_event) { .time = time, .id = KTOP_EVENT_memory_free,
		.values = { 7, allocator, address } });
}

static void model_take(struct model *model, uint64_t time, uint32_t allocator, uint32_t at)
{
	struct allocation_change *change;

	change = &model->changes[allocator][model->objects[allocator][at].stack][time / NS_PER_SECOND];
	change->taken++;
	change->taken_bytes += model->objects[allocator][at].bytes;
	model->objects[allocator][at].lives = false;
	model->counts.taken++;
}

static void model_give(struct model *model, uint64_t time, uint32_t allocator, uint32_t at, uint64_t bytes,
	uint32_t stack)
{
	struct allocation_change *change = &model->changes[allocator][stack][time / NS_PER_SECOND];

	if (model->objects[allocator][at].lives) {
		model->counts.reused++;
		model_take(model, time, allocator, at);
	}
	model->objects[allocator][at].lives = true;
	model->objects[allocator][at].bytes = bytes;
	model->objects[allocator][at].born = time;
	model->objects[allocator][at].stack = stack;
	change->given++;
	change->given_bytes += bytes;
	model->counts.given++;
}

/* ---- comparing ---- */

struct met {
	const struct model *model;
	const struct origin *origins;
	uint64_t objects, bytes, unsure, second;
	uint32_t changes;
};

static void meet_object(void *context, uint32_t origin, uint64_t bytes, uint64_t born, bool sure)
{
	struct met *met = context;

	met->objects++;
	met->bytes += bytes;
	met->unsure += !sure;
	assert_true(born <= UINT64_C(1) * SECONDS * NS_PER_SECOND);
	assert_true(met->origins[origin].objects);
}

static void meet_change(void *context, const struct allocation_change *change)
{
	struct met *met = context;
	const struct origin *origin = &met->origins[change->origin];
	const struct allocation_change *own = &met->model->changes[origin->allocator][origin->stack][change->second];

	assert_true(change->second <= met->second);
	met->second = change->second;
	met->changes++;
	assert_int_equal(change->given, own->given);
	assert_int_equal(change->taken, own->taken);
	assert_int_equal(change->given_bytes, own->given_bytes);
	assert_int_equal(change->taken_bytes, own->taken_bytes);
}

static void compare_lives(const struct model *model, const struct allocations *allocations)
{
	struct met met = { .model = model };
	uint32_t count = allocations_origins(allocations, &met.origins), stacks = 0;
	uint64_t objects = 0, bytes = 0, unsure = 0;

	allocations_live(allocations, meet_object, &met);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t lives = 0, live_bytes = 0;

		for (uint32_t at = 0; at < ADDRESSES; at++)
			if (model->objects[met.origins[i].allocator][at].lives &&
					model->objects[met.origins[i].allocator][at].stack == met.origins[i].stack) {
				lives++;
				live_bytes += model->objects[met.origins[i].allocator][at].bytes;
				unsure += model->objects[met.origins[i].allocator][at].born >> 20 < model->gap >> 20;
			}
		assert_int_equal(met.origins[i].objects, lives);
		assert_int_equal(met.origins[i].bytes, live_bytes);
		objects += lives;
		bytes += live_bytes;
		stacks += met.origins[i].stack < STACKS;
	}
	assert_int_equal(stacks, count);
	assert_int_equal(met.objects, objects);
	assert_int_equal(met.bytes, bytes);
	assert_int_equal(met.unsure, unsure);
	assert_int_equal(allocations_sure_from(allocations), model->gap);
}

static void compare_changes(const struct model *model, const struct allocations *allocations)
{
	struct met met = { .model = model, .second = SECONDS };
	struct allocation_counts counts = allocations_counts(allocations);
	uint32_t changes = 0;

	allocations_origins(allocations, &met.origins);
	allocations_changes(allocations, meet_change, &met);
	for (int i = 0; i < ALLOCATORS * STACKS * SECONDS; i++)
		changes += (&model->changes[0][0][0])[i].given || (&model->changes[0][0][0])[i].taken;
	assert_int_equal(met.changes, changes);
	assert_int_equal(counts.given, model->counts.given);
	assert_int_equal(counts.taken, model->counts.taken);
	assert_int_equal(counts.unmatched, model->counts.unmatched);
	assert_int_equal(counts.reused, model->counts.reused);
	assert_int_equal(counts.unkept + counts.merged, 0);
}

/* A step in seven is lost: the model, too, sees what is left alone. Reallocating is a free and an allocation. */
static void test_any_events(void **state)
{
	struct model *model = util_alloc(sizeof(*model));
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct allocations *allocations = allocations_new(budget);
	struct random random = { 4711 };
	uint64_t time = 0;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		uint32_t allocator = (uint32_t)random_below(&random, ALLOCATORS);
		uint32_t at = (uint32_t)random_below(&random, ADDRESSES);
		uint64_t address = UINT64_C(0xffff888000000000) + at * 4096ull, bytes = random_below(&random, 5000);
		uint32_t stack = (uint32_t)random_below(&random, STACKS), what = (uint32_t)random_below(&random, 7);

		time += random_below(&random, 2 * (SECONDS - 1) * NS_PER_SECOND / STEPS);
		if (what < 3) {
			model_give(model, time, allocator, at, bytes, stack);
			give(allocations, time, allocator, address, bytes, stack);
		} else if (what < 6) {
			model->counts.unmatched += !model->objects[allocator][at].lives;
			if (model->objects[allocator][at].lives)
				model_take(model, time, allocator, at);
			take(allocations, time, allocator, address);
		} else if (i % 1000 == 0) {
			model->gap = time;
			allocations_gap(allocations, time);
		}
		if (i % 6000 == 5999)
			compare_lives(model, allocations);
	}
	compare_changes(model, allocations);
	assert_int_equal(allocations_from(allocations), 0);
	assert_int_equal(allocations_last(allocations) / NS_PER_SECOND, time / NS_PER_SECOND);
	allocations_free(allocations);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
	free(model);
}

/* The address of an allocator's object may be that of another's, which has given it the page. */
static void test_allocators_are_apart(void **state)
{
	struct allocations *allocations = allocations_new(NULL);
	const struct origin *origins;

	(void)state;
	give(allocations, 10, 1, 0x1000, 4096, 0);
	give(allocations, 20, 0, 0x1000, 48, 0);
	take(allocations, 30, 0, 0x1000);
	assert_int_equal(allocations_origins(allocations, &origins), 2);
	assert_int_equal(origins[0].bytes, 4096);
	assert_int_equal(origins[1].bytes, 0);
	assert_int_equal(allocations_counts(allocations).unmatched, 0);
	take(allocations, 40, 2, 0x1000);
	assert_int_equal(allocations_counts(allocations).unmatched, 1);
	allocations_free(allocations);
}

static void count_change(void *context, const struct allocation_change *change)
{
	uint64_t *least = context;

	*least = change->second < *least ? change->second : *least;
}

/* What finds no room is counted, and all stays within its part; the oldest seconds go. */
static void test_little_memory(void **state)
{
	enum { MIB = BUDGET_LEAST_MIB, OBJECTS = 1 << 20, SITES = 1 << 17 };
	struct budget *budget = budget_new(MIB);
	size_t left = budget_left(budget), most = 3 * (budget_share(budget, 8) + 2 * budget_share(budget, 32));
	struct allocations *allocations = allocations_new(budget);
	struct allocation_counts counts;
	uint64_t least = UINT64_MAX, kept = 0;
	const struct origin *origins;
	uint32_t count;

	(void)state;
	for (uint64_t i = 0; i < OBJECTS; i++)
		give(allocations, i * NS_PER_MS, 1, 64 * i, 64, 1 + (uint32_t)(i % SITES));
	counts = allocations_counts(allocations);
	assert_int_equal(counts.given + counts.unkept, OBJECTS);
	assert_true(counts.unkept > 0 && counts.merged > 0 && counts.given > 100000);
	assert_int_equal(counts.unkept_bytes, 64 * counts.unkept);
	assert_true(left - budget_left(budget) <= most);
	count = allocations_origins(allocations, &origins);
	for (uint32_t i = 0; i < count; i++)
		kept += origins[i].objects;
	assert_int_equal(kept, counts.given);
	for (uint64_t i = 0; i < OBJECTS; i++)
		take(allocations, (OBJECTS + i) * NS_PER_MS, 1, 64 * i);
	counts = allocations_counts(allocations);
	assert_int_equal(counts.taken, counts.given);
	assert_int_equal(counts.unmatched, counts.unkept);
	assert_true(allocations_from(allocations) > 0);
	allocations_changes(allocations, count_change, &least);
	assert_true(least >= allocations_from(allocations));
	give(allocations, 3ull * OBJECTS * NS_PER_MS, 1, 1, 64, 1);
	assert_int_equal(allocations_counts(allocations).unkept, counts.unkept);
	allocations_free(allocations);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_events),
		cmocka_unit_test(test_allocators_are_apart),
		cmocka_unit_test(test_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
