/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/store/stacks.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/intern.h"
#include "tests/unit/fakes/random.h"

#define SPACE 7
#define FRAMES(...) (const uint64_t[]) { __VA_ARGS__ }
#define COUNT(...) (sizeof(FRAMES(__VA_ARGS__)) / sizeof(uint64_t))
#define KERNEL(...) .kernel = FRAMES(__VA_ARGS__), .kernel_count = COUNT(__VA_ARGS__)
#define USER(...) .user = FRAMES(__VA_ARGS__), .user_count = COUNT(__VA_ARGS__)

static void check_node(const struct stacks *stacks, uint32_t *id, uint32_t space, uint64_t address,
	uint32_t cut)
{
	struct node node = stacks_node(stacks, *id);

	assert_int_equal(node.space, space);
	assert_int_equal(node.address, address);
	assert_int_equal(node.cut, cut);
	assert_true(node.parent == STACKS_NONE || node.parent < *id);
	*id = node.parent;
}

static void calls_are_looked_up_before_their_return_address(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	const struct sample sample = { KERNEL(0x100, 0x200, 0x300), USER(0x40,
		0x50) };
	const struct sample of_event = { .called = true, KERNEL(0x100, 0x200) };
	uint32_t id = intern(stacks, &sample, SPACE);

	(void)state;
	assert_int_equal(stacks_nodes(stacks), 5);
	check_node(stacks, &id, EVENT_KERNEL, 0x100, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x1ff, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x2ff, 0);
	check_node(stacks, &id, SPACE, 0x3f, 0);
	check_node(stacks, &id, SPACE, 0x4f, 0);
	assert_int_equal(id, STACKS_NONE);
	id = intern(stacks, &of_event, SPACE);
	check_node(stacks, &id, EVENT_KERNEL, 0xff, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x1ff, 0);
	stacks_free(stacks);
}

static void interrupted_addresses_are_exact(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	const struct sample nested = {
		.exact = 1 | 1 << 2, .user_exact = true,
		KERNEL(0x100, 0x200, 0x300, 0x400), USER(0x40, 0x50),
	};
	const struct sample user = { USER(0x40, 0, 0x50) };
	uint32_t id = intern(stacks, &nested, SPACE);

	(void)state;
	check_node(stacks, &id, EVENT_KERNEL, 0x100, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x1ff, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x300, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x3ff, 0);
	check_node(stacks, &id, SPACE, 0x40, 0);
	check_node(stacks, &id, SPACE, 0x4f, 0);
	id = intern(stacks, &user, SPACE);
	check_node(stacks, &id, SPACE, 0x40, 0);
	check_node(stacks, &id, SPACE, 0, 0);
	check_node(stacks, &id, SPACE, 0x4f, 0);
	stacks_free(stacks);
}

static void a_cut_walk_is_another_stack(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	const struct sample whole = { KERNEL(0x100, 0x200), USER(0x40) };
	struct sample kernel_cut = whole, user_cut = whole;
	uint32_t id;

	(void)state;
	kernel_cut.kernel_cut = true;
	user_cut.user_cut = true;
	assert_int_not_equal(intern(stacks, &whole, SPACE),
		intern(stacks, &kernel_cut, SPACE));
	assert_int_not_equal(intern(stacks, &whole, SPACE),
		intern(stacks, &user_cut, SPACE));
	id = intern(stacks, &kernel_cut, SPACE);
	check_node(stacks, &id, EVENT_KERNEL, 0x100, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x1ff, 1);
	check_node(stacks, &id, SPACE, 0x3f, 0);
	id = intern(stacks, &user_cut, SPACE);
	check_node(stacks, &id, EVENT_KERNEL, 0x100, 0);
	check_node(stacks, &id, EVENT_KERNEL, 0x1ff, 0);
	check_node(stacks, &id, SPACE, 0x3f, 1);
	stacks_free(stacks);
}

static void no_frames_are_no_stack(void **state)
{
	struct stacks *stacks = stacks_new(NULL);
	const struct sample sample = { .thread = 3 };

	(void)state;
	assert_int_equal(intern(stacks, &sample, SPACE), STACKS_NONE);
	assert_int_equal(stacks_refused(stacks), 0);
	stacks_free(stacks);
}

/* ---- random stacks: equal ids for equal stacks, and no others ---- */

enum { STACKS = 2000 };

struct known {
	struct sample sample;
	uint64_t kernel[64], user[64];
	uint32_t id;
};

static void make_random(struct random *random, struct known *known)
{
	*known = (struct known) { .sample = {
		.process = (uint32_t)random_below(random, 3),
		.kernel_cut = random_below(random, 8) == 0,
		.user_cut = random_below(random, 8) == 0,
		.kernel_count = (uint32_t)random_below(random, 6),
		.user_count = (uint32_t)random_below(random, 4),
		.user_exact = random_below(random, 2),
		.exact = random_below(random, 4),
	} };
	for (uint32_t i = 0; i < known->sample.kernel_count; i++)
		known->kernel[i] = random_below(random, 4) * 16;
	for (uint32_t i = 0; i < known->sample.user_count; i++)
		known->user[i] = random_below(random, 3) * 16;
	known->sample.kernel = known->kernel;
	known->sample.user = known->user;
}

static uint64_t meant(uint64_t address, bool exact)
{
	return exact || !address ? address : address - 1;
}

static bool same_stack(const struct known *a, const struct known *b)
{
	const struct sample *s = &a->sample, *t = &b->sample;

	if (s->kernel_count != t->kernel_count || s->user_count != t->user_count)
		return false;
	if ((s->user_count && (s->user_cut != t->user_cut || s->process != t->process)) ||
			(s->kernel_count && s->kernel_cut != t->kernel_cut))
		return false;
	for (uint32_t i = 0; i < s->kernel_count; i++)
		if (meant(a->kernel[i], i == 0 || s->exact >> i & 1) !=
				meant(b->kernel[i], i == 0 || t->exact >> i & 1))
			return false;
	for (uint32_t i = 0; i < s->user_count; i++)
		if (meant(a->user[i], i == 0 && (s->user_exact || !s->kernel_count)) !=
				meant(b->user[i], i == 0 && (t->user_exact || !t->kernel_count)))
			return false;
	return true;
}

static void ids_stand_for_stacks(void **state)
{
	struct random random = { .state = 42 };
	struct stacks *stacks = stacks_new(NULL);
	struct known *known = calloc(STACKS, sizeof(*known));

	(void)state;
	assert_non_null(known);
	for (size_t i = 0; i < STACKS; i++) {
		make_random(&random, &known[i]);
		known[i].id = intern(stacks, &known[i].sample,
			known[i].sample.process);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(known[i].id == known[k].id, same_stack(&known[i], &known[k]));
	}
	for (size_t i = 0; i < STACKS; i++)
		assert_int_equal(known[i].id, intern(stacks, &known[i].sample,
			known[i].sample.process));
	free(known);
	stacks_free(stacks);
}

static void memory_is_bounded(void **state)
{
	struct random random = { .state = 43 };
	struct stacks *stacks = stacks_new(NULL);
	uint64_t kernel[64], first[64], refused = 0;
	struct sample sample = { .kernel = kernel, .kernel_count = 64 };
	uint32_t id = STACKS_NONE;

	(void)state;
	for (uint32_t i = 0; i < STACKS_NODES_MAX / 64 + 1000; i++) {
		for (size_t k = 0; k < 64; k++)
			kernel[k] = random_next(&random);
		if (intern(stacks, &sample, SPACE) == STACKS_NONE)
			refused++;
		if (i == 0) {
			memcpy(first, kernel, sizeof(first));
			id = intern(stacks, &sample, SPACE);
		}
	}
	assert_true(refused >= 1000);
	assert_int_equal(stacks_refused(stacks), refused);
	assert_int_equal(stacks_nodes(stacks), STACKS_NODES_MAX);
	memcpy(kernel, first, sizeof(first));
	assert_int_equal(intern(stacks, &sample, SPACE), id);
	stacks_free(stacks);
}

/* ---- the tree gives the same ids with the cache and without it ---- */

enum { POOL = 50000, DRAWS = 300000, PARTS = 8, CACHE_MOST = 4 << 20 };

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
		.called = random_below(random, 2), .exact = random_below(random, 4),
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
	case 5: sample->called ^= 1; break;
	case 6: copy->kernel[sample->kernel_count++] = 0; break;
	case 7: copy->user[sample->user_count++] = 0; break;
	}
	if (part >= PARTS && part < PARTS + sample->kernel_count)
		copy->kernel[part - PARTS] ^= 1ull << random_below(random, 64);
	else if (part >= PARTS)
		copy->user[part - PARTS - sample->kernel_count] ^= 1ull << random_below(random, 64);
}

/* Leaves less memory than a cache takes. */
static uint32_t intern_without(struct stacks *stacks, struct budget *budget, const struct own *own)
{
	size_t left = budget_left(budget), held = left - CACHE_MOST;
	uint32_t node;

	assert_true(left > CACHE_MOST && budget_take(budget, held));
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

/* A stack that was just met is not taken for another one, however little they differ. */
static void what_differs_is_another_stack(void **state)
{
	struct random random = { .state = 1 };
	struct budget *budget = budget_new(BUDGET_MIB), *small = budget_new(BUDGET_LEAST_MIB);
	struct stacks *without = stacks_without(budget), *with = stacks_new(small);
	size_t left = budget_left(small);
	struct own own, other;

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		make(&random, &own, 12);
		for (uint32_t part = 0; part < PARTS + own.sample.kernel_count + own.sample.user_count; part++) {
			copy_changed(&random, &other, &own, part);
			intern(with, &own.sample, own.space);
			intern_without(without, budget, &own);
			assert_int_equal(intern(with, &other.sample, other.space),
				intern_without(without, budget, &other));
		}
	}
	assert_int_equal(stacks_nodes(with), stacks_nodes(without));
	assert_true(budget_left(small) < left);
	stacks_free(with);
	stacks_free(without);
	assert_true(budget_left(small) > left);
	budget_release(small);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_looked_up_before_their_return_address),
		cmocka_unit_test(interrupted_addresses_are_exact),
		cmocka_unit_test(a_cut_walk_is_another_stack),
		cmocka_unit_test(no_frames_are_no_stack),
		cmocka_unit_test(ids_stand_for_stacks),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(it_changes_no_result),
		cmocka_unit_test(what_differs_is_another_stack),
	};

	stacks_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
