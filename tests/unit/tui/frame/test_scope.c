/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/random.h"
#include "tui/frame/scope.h"

#define S NS_PER_SECOND

static const struct scope_kept kept = { .begin = 0, .end = 100 * S };

/* The range that the scope asks for, at 100 s. */
static void assert_range(const struct scope *scope, double from, double to)
{
	assert_true(scope->moved);
	assert_int_equal(scope_until(scope), (uint64_t)(to * (double)S + 0.5));
	assert_int_equal(scope_until(scope) - scope->window_ns, (uint64_t)(from * (double)S + 0.5));
}

static void a_window_moves_by_half_its_width(void **state)
{
	struct scope scope;

	(void)state;
	scope_init(&scope);
	assert_int_equal(scope_move(&scope, true, kept), SCOPE_LIVE);
	assert_int_equal(scope_move(&scope, false, kept), SCOPE_MOVED);
	assert_range(&scope, 85, 95);
	assert_int_equal(scope_move(&scope, false, kept), SCOPE_MOVED);
	assert_range(&scope, 80, 90);
	assert_int_equal(scope_move(&scope, true, kept), SCOPE_MOVED);
	assert_range(&scope, 85, 95);
	/* Meanwhile time goes on: there is something after the time at which it was first moved. */
	assert_int_equal(scope_move(&scope, true, (struct scope_kept) { 0, 200 * S }), SCOPE_MOVED);
	assert_int_equal(scope_move(&scope, true, (struct scope_kept) { 0, 200 * S }), SCOPE_MOVED);
	assert_range(&scope, 95, 105);
	assert_int_equal(scope_move(&scope, true, (struct scope_kept) { 0, 108 * S }), SCOPE_LIVE);
	assert_false(scope.moved);
	assert_int_equal(scope.until_ns, 0);
}

static void a_window_stays_within_what_is_kept(void **state)
{
	struct scope scope;
	int moves = 0;

	(void)state;
	scope_init(&scope);
	while (scope_move(&scope, false, (struct scope_kept) { 42 * S, 100 * S }) == SCOPE_MOVED && moves < 100)
		moves++;
	assert_int_equal(moves, 10);
	assert_range(&scope, 42, 52);
	scope.window_ns = 0;
	assert_int_equal(scope_move(&scope, false, kept), SCOPE_WHOLE);
}

static void a_moved_window_keeps_its_middle(void **state)
{
	struct scope scope;

	(void)state;
	scope_init(&scope);
	scope_widen(&scope, false, kept);		/* live: only its width */
	assert_int_equal(scope.window_ns, 5 * S);
	assert_false(scope.moved);
	scope_choose(&scope, 40 * S, 50 * S, kept);
	assert_range(&scope, 40, 50);
	scope_widen(&scope, false, kept);
	assert_range(&scope, 42.5, 47.5);
	scope_widen(&scope, true, kept);
	assert_range(&scope, 40, 50);
	scope_widen(&scope, true, kept);
	assert_range(&scope, 35, 55);
	scope_choose(&scope, 90 * S, 100 * S, kept);
	scope_widen(&scope, true, kept);
	assert_range(&scope, 80, 100);			/* there is nothing after it */
	scope_choose(&scope, 1 * S, 8 * S, kept);
	scope_widen(&scope, true, kept);
	assert_range(&scope, 0, 10);
}

/* A spike of a tenth of a second: what is beside it is seen without a hole. Then the live window comes back. */
static void a_chosen_range_is_looked_around_in(void **state)
{
	struct scope scope;

	(void)state;
	scope_init(&scope);
	scope_choose(&scope, 33 * S, 33 * S + S / 5, kept);
	assert_int_equal(scope_move(&scope, true, kept), SCOPE_MOVED);
	assert_range(&scope, 33.1, 33.3);
	scope_widen(&scope, false, kept);
	assert_range(&scope, 33.15, 33.25);
	scope_widen(&scope, false, kept);
	assert_range(&scope, 33.18, 33.22);
	for (int i = 0; i < 3; i++)
		scope_widen(&scope, false, kept);
	assert_range(&scope, 33.19, 33.21);		/* a slot of the heat map */
	assert_int_equal(scope_move(&scope, false, kept), SCOPE_MOVED);
	assert_range(&scope, 33.17, 33.19);
	scope_choose(&scope, 40 * S, 41 * S, kept);
	scope_live(&scope);
	assert_int_equal(scope.window_ns, SCOPE_SECONDS * S);
	scope_choose(&scope, 99 * S, 100 * S, kept);
	assert_int_equal(scope_move(&scope, true, kept), SCOPE_LIVE);
	assert_int_equal(scope.window_ns, SCOPE_SECONDS * S);
	scope_choose(&scope, 40 * S, 41 * S, kept);
	scope_next_window(&scope);			/* a width that was asked for stays */
	scope_live(&scope);
	assert_int_equal(scope.window_ns, 10 * S);
	scope_next_window(&scope);
	scope_choose(&scope, 40 * S, 41 * S, kept);
	scope_next_window(&scope);
	scope_live(&scope);
	assert_int_equal(scope.window_ns, 10 * S);
}

static void widths_go_from_a_slice_to_all(void **state)
{
	char text[SCOPE_WINDOW];
	struct scope scope;

	(void)state;
	scope_init(&scope);
	for (int i = 0; i < 10; i++)
		scope_widen(&scope, false, kept);
	assert_int_equal(scope.window_ns, 250 * NS_PER_MS);
	assert_string_equal(scope_window(&scope, text), "0.25s");
	scope_widen(&scope, true, kept);
	assert_string_equal(scope_window(&scope, text), "0.5s");
	for (int i = 0; i < 30; i++)
		scope_widen(&scope, true, kept);
	assert_string_equal(scope_window(&scope, text), "all");
	scope_widen(&scope, false, kept);		/* the widest that is less than what there is */
	assert_string_equal(scope_window(&scope, text), "60s");
	scope_widen(&scope, false, kept);
	assert_string_equal(scope_window(&scope, text), "30s");
	scope_next_window(&scope);
	assert_string_equal(scope_window(&scope, text), "60s");
	scope_next_window(&scope);
	assert_string_equal(scope_window(&scope, text), "all");
	scope_next_window(&scope);
	assert_string_equal(scope_window(&scope, text), "1s");
}

static void its_place_is_told(void **state)
{
	char text[SCOPE_PLACE];

	(void)state;
	assert_string_equal(scope_place(3661 * S, 3671 * S, text), "10s at 01:01:01");
	assert_string_equal(scope_place(61 * S + 250 * NS_PER_MS, 62 * S, text), "0.75s at 00:01:01.25");
}

/* ---- the question that it means ---- */

/* A guest of so many seconds, with a sample in each slice of them but those of the tenth second. */
static struct epoch *guest(uint64_t seconds)
{
	struct epoch *epoch = epoch_new((const uint8_t[16]) { 1 }, NULL, NULL);
	const struct store_key key = { .stack = 0 };

	epoch->known = true;
	epoch->clock_hz = S;
	for (uint64_t at = 0; at < seconds * S; at += STORE_SLICE_NS)
		if (at / S != 10)
			store_add(epoch->inputs.store, at, &key, 1);
	epoch_ticks(epoch, seconds * S);
	return epoch;
}

static struct question question(const struct epoch *epoch, const struct scope *scope)
{
	struct excerpt excerpt = { .window_ns = 0 };

	scope_excerpt(scope, &excerpt);
	return excerpt_question(epoch, &excerpt);
}

static void assert_question(const struct epoch *epoch, const struct scope *scope, double from, double to)
{
	struct question asked = question(epoch, scope);

	assert_int_equal(asked.from, (uint64_t)(from * (double)S));
	assert_int_equal(asked.to, (uint64_t)(to * (double)S));
}

static void a_question_is_of_whole_slices(void **state)
{
	struct scope_kept all = { 0, 1000 * S };
	struct epoch *epoch = guest(1000);
	struct scope scope;

	(void)state;
	scope_init(&scope);
	scope.zero_ns = 950 * S;
	assert_int_equal(question(epoch, &scope).to, UINT64_MAX);
	assert_int_equal(question(epoch, &scope).from, 990 * S);
	scope_choose(&scope, 940 * S + 1, 950 * S + 1, all);		/* the zero does not count */
	assert_question(epoch, &scope, 940, 950);
	scope_choose(&scope, 999 * S + 501 * NS_PER_MS, 999 * S + 502 * NS_PER_MS, all);
	assert_int_equal(question(epoch, &scope).from, 999 * S + 500 * NS_PER_MS);	/* a slot of 20 ms */
	assert_int_equal(question(epoch, &scope).to, 999 * S + 520 * NS_PER_MS);
	scope_choose(&scope, 830 * S + 300 * NS_PER_MS, 830 * S + 301 * NS_PER_MS, all);
	assert_question(epoch, &scope, 830, 831);		/* at least one slice */
	scope_choose(&scope, 700 * S, 700 * S + STORE_SLICE_NS, all);
	assert_question(epoch, &scope, 700, 701);		/* slices of that age are longer */
	scope_choose(&scope, 202 * S, 203 * S, all);
	assert_question(epoch, &scope, 200, 210);
	scope_choose(&scope, 0, 5 * S, all);
	scope_widen(&scope, true, all);
	assert_question(epoch, &scope, 0, 10);
	scope_live(&scope);
	assert_int_equal(question(epoch, &scope).from, 990 * S);
	epoch_release(epoch);
}

/* Where nothing was sampled, there is no slice: the question stays as it is. */
static void a_gap_is_no_slice(void **state)
{
	struct epoch *epoch = guest(30);
	struct scope scope;

	(void)state;
	scope_init(&scope);
	scope_choose(&scope, 10 * S, 10 * S + 500 * NS_PER_MS, (struct scope_kept) { 0, 30 * S });
	assert_question(epoch, &scope, 10, 10.5);
	epoch_release(epoch);
}

/* Whatever keys are pressed, the window lies within what there is. */
static void random_keys_keep_it_inside(void **state)
{
	struct random random = { .state = 7 };
	struct scope scope;
	struct scope_kept now = { 0, 20 * S };

	(void)state;
	scope_init(&scope);
	for (int i = 0; i < 20000; i++) {
		uint64_t from = random_below(&random, now.end);

		switch (random_below(&random, 8)) {
		case 0: case 1: case 2:
			scope_move(&scope, random_below(&random, 2), now);
			break;
		case 3: case 4:
			scope_widen(&scope, random_below(&random, 2), now);
			break;
		case 5:
			scope_next_window(&scope);
			break;
		case 6:
			now.end += random_below(&random, S);
			break;
		default:
			if (random_below(&random, 20) == 0)
				scope_live(&scope);
			else if (random_below(&random, 20) == 0)
				scope_choose(&scope, from, from + 1 + random_below(&random, now.end - from), now);
		}
		if (!scope.moved)
			continue;
		assert_in_range(scope_until(&scope), 1, now.end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_moves_by_half_its_width),
		cmocka_unit_test(a_window_stays_within_what_is_kept),
		cmocka_unit_test(a_moved_window_keeps_its_middle),
		cmocka_unit_test(a_chosen_range_is_looked_around_in),
		cmocka_unit_test(widths_go_from_a_slice_to_all),
		cmocka_unit_test(its_place_is_told),
		cmocka_unit_test(a_question_is_of_whole_slices),
		cmocka_unit_test(a_gap_is_no_slice),
		cmocka_unit_test(random_keys_keep_it_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
