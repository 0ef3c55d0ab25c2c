/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/store/stacks.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/intern.h"
#include "tests/unit/fakes/random.h"

#define SPACE 7

enum { PARTS = 7 };		/* of a sample, besides its frames */

/* A sample with its own frames; frames beyond its counts are noise. */
struct own {
	struct sample sample;
	uint64_t kernel[64], user[64];
	uint32_t space;
};

static void make(struct random *random, struct own *own, uint32_t depth)
{
	*own = (struct own) { .space = (uint32_t)random_below(random, 3), .sample = {
		.kernel_cut = random_below(random, 8) == 0,
		.user_cut = random_below(random, 8) == 0,
		.user_exact = random_below(random, 2),
		.exact = random_below(random, 4),
		.kernel_count = (uint32_t)random_below(random, depth + 1),
		.user_count = (uint32_t)random_below(random, depth + 1),
	} };
	for (uint32_t i = 0; i < 64; i++) {
		own->kernel[i] = random_below(random, 4) * 16;
		own->user[i] = random_below(random, 4) * 16;
	}
	own->sample.kernel = own->kernel;
	own->sample.user = own->user;
}

static bool agree(const struct stack_cache *cache, const struct own *a, const struct own *b)
{
	struct stack_print one, other;

	stack_cache_print(cache, &a->sample, a->space, &one);
	stack_cache_print(cache, &b->sample, b->space, &other);
	return one.low == other.low && one.high == other.high;
}

/* A copy that differs in one part, has one more frame at an end, or differs in one bit. */
static void copy_changed(struct random *random, struct own *copy, const struct own *own,
	uint32_t part)
{
	struct sample *sample = &copy->sample;

	*copy = *own;
	sample->kernel = copy->kernel;
	sample->user = copy->user;
	switch (part) {
	case 0: copy->space ^= 1u << random_below(random, 32); break;
	case 1: sample->exact ^= 1ull << random_below(random, 64); break;
	case 2: sample->kernel_cut ^= 1; break;
	case 3: sample->user_cut ^= 1; break;
	case 4: sample->user_exact ^= 1; break;
	case 5: copy->kernel[sample->kernel_count++] = 0; break;
	case 6: copy->user[sample->user_count++] = 0; break;
	}
	if (part >= PARTS && part < PARTS + sample->kernel_count)
		copy->kernel[part - PARTS] ^= 1ull << random_below(random, 64);
	else if (part >= PARTS)
		copy->user[part - PARTS - sample->kernel_count] ^= 1ull << random_below(random, 64);
}

static void a_print_stands_for_all_that_decides(void **state)
{
	struct random random = { .state = 1 };
	struct stack_cache *cache = stack_cache_new(NULL);
	struct own own, other;

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		make(&random, &own, 63);
		for (uint32_t part = 0; part < PARTS + own.sample.kernel_count +
				own.sample.user_count; part++) {
			copy_changed(&random, &other, &own, part);
			assert_false(agree(cache, &own, &other));
		}
	}
	stack_cache_free(cache);
}

static void a_print_stands_for_nothing_else(void **state)
{
	struct random random = { .state = 2 };
	struct stack_cache *cache = stack_cache_new(NULL);
	struct own own, other;

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		make(&random, &own, 63);
		copy_changed(&random, &other, &own, PARTS - 1);
		other.sample.user_count--;
		other.kernel[63] ^= 1;
		other.user[63] ^= 1;
		other.sample.thread ^= 1;
		other.sample.weight ^= 1;
		assert_true(agree(cache, &own, &other));
	}
	stack_cache_free(cache);
}

static struct stack_print print_of(const struct stack_cache *cache, uint64_t *frame)
{
	const struct sample sample = { .kernel = frame, .kernel_count = 1 };
	struct stack_print print;

	stack_cache_print(cache, &sample, SPACE, &print);
	return print;
}

/* More stacks than there is room for: each one found is right, and most of the newest are found. */
static void what_is_found_was_kept(void **state)
{
	struct stack_cache *cache = stack_cache_new(NULL);
	const uint64_t many = STACK_CACHE_BYTES / 8;
	uint64_t found = 0, newest = 0;

	(void)state;
	for (uint64_t i = 0; i < many; i++) {
		struct stack_print print = print_of(cache, &i);

		assert_int_equal(stack_cache_find(cache, &print), STACKS_NONE);
		stack_cache_keep(cache, &print, (uint32_t)i);
		assert_int_equal(stack_cache_find(cache, &print), i);
	}
	for (uint64_t i = 0; i < many; i++) {
		struct stack_print print = print_of(cache, &i);
		uint32_t node = stack_cache_find(cache, &print);

		assert_true(node == STACKS_NONE || node == i);
		found += node == i;
		newest += node == i && i >= many - many / 8;
	}
	assert_in_range(found, many / 4, many / 2);
	assert_true(newest > many / 16);
	stack_cache_free(cache);
}

/* How many of so many stacks a cache knows after all of them were kept. */
static uint64_t known_of(uint64_t some)
{
	struct stack_cache *cache = stack_cache_new(NULL);
	uint64_t found = 0;

	for (uint64_t i = 0; i < some; i++) {
		struct stack_print print = print_of(cache, &i);

		stack_cache_keep(cache, &print, (uint32_t)i);
	}
	for (uint64_t i = 0; i < some; i++) {
		struct stack_print print = print_of(cache, &i);

		found += stack_cache_find(cache, &print) == i;
	}
	stack_cache_free(cache);
	return found;
}

/*
 * Half of the places are taken: a full set uses the one beside it, and almost no stack is forgotten. How many depends
 * on the cache's random keys: mostly one or two in a hundred, and with few keys many more. So most of several caches
 * have to do well.
 */
static void few_are_forgotten_before_it_is_full(void **state)
{
	const uint64_t some = STACK_CACHE_BYTES / 64 * 3 / 2;
	unsigned caches = 16, good = 0;

	(void)state;
	for (unsigned i = 0; i < caches; i++)
		good += known_of(some) > some - some / 32;
	assert_true(good > caches / 2);
}

static void it_is_paid_for(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	struct stack_cache *cache = stack_cache_new(budget);
	uint64_t frame = 5;
	struct stack_print print;

	(void)state;
	assert_in_range(left - budget_left(budget), 1 << 19, 1 << 21);
	stack_cache_free(cache);
	assert_int_equal(budget_left(budget), left);

	assert_true(budget_take(budget, left - 1000));
	cache = stack_cache_new(budget);
	assert_int_equal(budget_left(budget), 1000);
	print = print_of(cache, &frame);
	stack_cache_keep(cache, &print, 3);
	assert_int_equal(stack_cache_find(cache, &print), STACKS_NONE);
	stack_cache_free(cache);
	stack_cache_free(NULL);
	assert_int_equal(budget_left(budget), 1000);
	budget_release(budget);
}

/* A new boot starts while the one before still holds its memory. The cache comes once that memory is back. */
static void it_comes_when_memory_is_back(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	uint64_t frame = 5;
	struct stack_cache *cache;
	struct stack_print print;

	(void)state;
	assert_true(budget_take(budget, left));
	cache = stack_cache_new(budget);
	print = print_of(cache, &frame);
	stack_cache_keep(cache, &print, 3);
	assert_int_equal(stack_cache_find(cache, &print), STACKS_NONE);
	budget_give(budget, left);
	stack_cache_keep(cache, &print, 3);
	assert_int_equal(stack_cache_find(cache, &print), 3);
	stack_cache_free(cache);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

/* ---- the tree gives the same ids with the cache and without it ---- */

enum { POOL = 50000, DRAWS = 300000 };

/* Leaves less memory than a cache takes. */
static uint32_t intern_without(struct stacks *stacks, struct budget *budget, const struct own *own)
{
	size_t left = budget_left(budget), held = left - STACK_CACHE_BYTES;
	uint32_t node;

	assert_true(left > STACK_CACHE_BYTES && budget_take(budget, held));
	node = intern(stacks, &own->sample, own->space);
	budget_give(budget, held);
	return node;
}

static struct stacks *stacks_without(struct budget *budget)
{
	size_t left = budget_left(budget);
	struct stacks *stacks;

	assert_true(budget_take(budget, left));
	stacks = stacks_new(budget);
	budget_give(budget, left);
	return stacks;
}

static void it_changes_no_result(void **state)
{
	struct random random = { .state = 3 };
	struct budget *budget = budget_new(BUDGET_MIB);
	struct budget *small = budget_new(BUDGET_LEAST_MIB);
	struct stacks *without = stacks_without(budget), *with = stacks_new(small);
	struct own *pool = calloc(POOL, sizeof(*pool));

	(void)state;
	assert_non_null(pool);
	for (size_t i = 0; i < POOL; i++)
		make(&random, &pool[i], 1 + (uint32_t)i % 12);
	for (size_t i = 0; i < DRAWS; i++) {
		const struct own *own = &pool[random_below(&random, random_below(&random, 2) ?
			POOL : POOL / 50)];

		assert_int_equal(intern(with, &own->sample, own->space),
			intern_without(without, budget, own));
	}
	assert_int_equal(stacks_nodes(with), stacks_nodes(without));
	assert_int_equal(stacks_refused(with), 0);
	assert_int_equal(stacks_refused(without), 0);
	free(pool);
	stacks_free(with);
	stacks_free(without);
	budget_release(small);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_print_stands_for_all_that_decides),
		cmocka_unit_test(a_print_stands_for_nothing_else),
		cmocka_unit_test(what_is_found_was_kept),
		cmocka_unit_test(few_are_forgotten_before_it_is_full),
		cmocka_unit_test(it_is_paid_for),
		cmocka_unit_test(it_comes_when_memory_is_back),
		cmocka_unit_test(it_changes_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
