/* SPDX-License-Identifier: MIT */
/* Which readers are answered, and how often. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/session/subscription.h"
#include "desk.h"

enum { WAIT_MS = 20000 };

/* One reader asks and takes, one asks and does not take, one asks no more, and one never asked. */
static void test_who_costs_something(void **state)
{
	struct desk *desk = desk_open(4);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		desk_ask(desk, i, 0);
	desk_serve(desk);
	desk_take(desk, 2);
	subscription_ask(desk->readers[2], NULL);
	for (int i = 0; i < 20; i++) {
		desk_take(desk, 0);
		desk_serve(desk);
	}
	assert_int_equal(desk->made[0], 21);
	assert_int_equal(desk->made[1], 1);
	assert_int_equal(desk->made[2], 1);
	assert_int_equal(desk->made[3], 0);
	desk_take(desk, 1);			/* a reader who comes back gets the old answer, and the next one soon */
	desk_take(desk, 0);
	desk_serve(desk);
	assert_int_equal(desk->made[1], 2);
	desk_close(desk);
}

static void test_nothing_new_is_not_answered(void **state)
{
	struct desk *desk = desk_open(1);

	(void)state;
	desk_ask(desk, 0, 0);
	desk_serve(desk);
	desk_take(desk, 0);
	assert_int_equal(subscriptions_due(desk->all, NULL, desk->news), UINT64_MAX);
	assert_int_not_equal(subscriptions_due(desk->all, NULL, desk->news + 1), UINT64_MAX);
	subscription_ask(desk->readers[0], NULL);
	assert_int_equal(subscriptions_due(desk->all, NULL, desk->news + 1), UINT64_MAX);
	desk_close(desk);
}

/* An answer for which files are still being read is made again, even if nothing else is new. */
static void test_partial_answers_are_made_again(void **state)
{
	struct desk *desk = desk_open(1);

	(void)state;
	desk->partial = true;
	desk_ask(desk, 0, 0);
	desk_serve(desk);
	assert_int_equal(subscriptions_due(desk->all, NULL, desk->news), UINT64_MAX);	/* it was not taken yet */
	desk_take(desk, 0);
	assert_int_not_equal(subscriptions_due(desk->all, NULL, desk->news), UINT64_MAX);
	desk->partial = false;
	desk_serve(desk);
	desk_take(desk, 0);
	assert_int_equal(subscriptions_due(desk->all, NULL, desk->news), UINT64_MAX);
	desk_close(desk);
}

static void serve_both(struct desk *desk)
{
	desk_serve(desk);
	desk_take(desk, 0);
	desk_take(desk, 1);
}

/* The boot of one reader is over. Its answers stay with that boot, and come only when there is news of it. */
static void test_pinned_to_a_boot(void **state)
{
	static const uint8_t ids[2][16] = { "first", "second" };
	struct epoch *first = epoch_new(ids[0], NULL, NULL), *second = epoch_new(ids[1], NULL, NULL);
	struct desk *desk = desk_open(1);
	uint32_t last;

	(void)state;
	desk->wakeups[1] = wakeup_new();
	desk->readers[1] = subscription_new(desk->all, desk->wakeups[1], first);
	for (uint32_t i = 0; i < 2; i++)
		desk_ask(desk, i, 0);
	desk->present = first;
	serve_both(desk);
	assert_ptr_equal(desk->about[0].epoch, first);
	assert_ptr_equal(desk->about[1].epoch, first);
	assert_false(desk->about[1].past);
	desk->present = second;
	subscriptions_forget(desk->all);
	serve_both(desk);			/* that the boot is over is news of it, too */
	assert_ptr_equal(desk->about[0].epoch, second);
	assert_ptr_equal(desk->about[1].epoch, first);
	assert_true(desk->about[1].past && !desk->about[0].past);
	last = desk->made[1];
	for (int i = 0; i < 10; i++) {
		desk_serve(desk);
		desk_take(desk, 0);
	}
	assert_int_equal(desk->made[1], last);
	symbols_set_slide(first->inputs.symbols, 0x1000);	/* its functions have other names now */
	serve_both(desk);
	assert_int_equal(desk->made[1], last + 1);
	desk_close(desk);
	epoch_release(first);
	epoch_release(second);
}

/*
 * A key changes the questions of a screen, and its views are to show the same moment: a new question is answered with
 * the first other one that is due, however short ago its reader had an answer.
 */
static void test_a_new_question_is_answered_at_once(void **state)
{
	struct desk *desk = desk_open(2);
	uint64_t now = util_now();

	(void)state;
	desk_ask(desk, 0, 0);
	desk_serve(desk);
	desk_take(desk, 0);
	desk_ask(desk, 0, 0);
	desk_ask(desk, 1, 0);
	desk_serve(desk);
	assert_int_equal(util_now(), now);
	assert_int_equal(desk->made[0], 2);
	assert_int_equal(desk->made[1], 1);
	desk_close(desk);
}

/* An answer that waits is dropped when its reader asks another question, or leaves. */
static void test_what_waits_goes(void **state)
{
	struct desk *desk = desk_open(2);

	(void)state;
	desk_ask(desk, 0, 0);
	desk_ask(desk, 1, 0);
	desk_serve(desk);
	assert_int_equal(desk->living, 2);
	desk_ask(desk, 0, 0);
	assert_int_equal(desk->living, 1);
	assert_null(subscription_take(desk->readers[0]));
	subscription_leave(desk->readers[1]);
	assert_int_equal(desk->living, 0);
	desk_serve(desk);
	assert_int_equal(desk->made[0], 2);
	assert_int_equal(desk->made[1], 1);
	desk_close(desk);
}

/* Each reader is woken by its own answers alone, whatever the other readers do. */
static void test_each_has_its_wakeup(void **state)
{
	struct desk *desk = desk_open(3);

	(void)state;
	desk_ask(desk, 0, 0);
	desk_ask(desk, 1, 0);
	desk_serve(desk);
	assert_true(desk_woken(desk, 0) && desk_woken(desk, 1));
	assert_false(desk_woken(desk, 2));
	wakeup_clear(desk->wakeups[0]);
	desk_take(desk, 0);
	assert_false(desk_woken(desk, 0));
	assert_true(desk_woken(desk, 1));
	desk_serve(desk);			/* the other reader has not taken its answer, so it gets no new one */
	assert_true(desk_woken(desk, 0));
	wakeup_clear(desk->wakeups[1]);
	desk_ask(desk, 1, 0);
	subscription_leave(desk->readers[1]);
	wakeup_free(desk->wakeups[1]);
	desk->wakeups[1] = NULL;
	wakeup_clear(desk->wakeups[0]);
	desk_take(desk, 0);
	desk_serve(desk);
	assert_true(desk_woken(desk, 0));
	desk_close(desk);
}

enum { THREADS = 4, ROUNDS = 50 };

struct thread {
	struct desk *desk;
	uint32_t reader;
	pthread_t id;
};

/* A reader's thread: waits until it is woken, and takes its answer. */
static void *read_all(void *context)
{
	struct thread *thread = context;
	struct pollfd woken = { .fd = wakeup_fd(thread->desk->wakeups[thread->reader]), .events = POLLIN };
	uint32_t taken = 0;

	while (taken < ROUNDS && poll(&woken, 1, -1) == 1) {
		struct answer *answer;

		wakeup_clear(thread->desk->wakeups[thread->reader]);
		answer = subscription_take(thread->desk->readers[thread->reader]);
		taken += answer != NULL;
		answer_free(answer);
	}
	return (void *)(uintptr_t)taken;
}

static void test_readers_in_threads_are_each_woken(void **state)
{
	struct desk *desk = desk_open(THREADS);
	struct thread threads[THREADS];
	struct moment moment = { .trouble = "" };
	bool all = false;
	void *taken;

	(void)state;
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i] = (struct thread) { .desk = desk, .reader = i };
		desk_ask(desk, i, 0);
		assert_int_equal(pthread_create(&threads[i].id, NULL, read_all, &threads[i]), 0);
	}
	while (!all) {
		if (subscriptions_due(desk->all, NULL, ++desk->news) <= util_now())
			subscriptions_answer(desk->all, &moment, desk->news);
		poll(NULL, 0, 1);
		all = true;
		for (int i = 0; i < THREADS; i++)
			all = all && desk->made[i] >= ROUNDS;
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i].id, &taken), 0);
		assert_int_equal((uintptr_t)taken, ROUNDS);
	}
	desk_close(desk);
}

/* Serves until so many answers were made for all readers. */
static void run(struct desk *desk, uint32_t readers, uint32_t answers)
{
	uint32_t all = 0;

	while (all < answers) {
		desk_serve(desk);
		all = 0;
		for (uint32_t i = 0; i < readers; i++) {
			desk_take(desk, i);
			all += desk->made[i];
		}
	}
}

/* Equal readers get equal shares, even if there is time for only one answer at once. */
static void test_each_has_its_share(void **state)
{
	static const uint32_t costs[] = { 0, (TURN_MS + 5) * 1000 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct desk *desk = desk_open(3);

		for (uint32_t k = 0; k < 3; k++)
			desk_ask(desk, k, costs[i]);
		run(desk, 3, 18);
		for (int k = 0; k < 3; k++)
			assert_in_range(desk->made[k], 6 - 1, 6 + 1);
		desk_close(desk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_costs_something),
		cmocka_unit_test(test_nothing_new_is_not_answered),
		cmocka_unit_test(test_partial_answers_are_made_again),
		cmocka_unit_test(test_pinned_to_a_boot),
		cmocka_unit_test(test_a_new_question_is_answered_at_once),
		cmocka_unit_test(test_what_waits_goes),
		cmocka_unit_test(test_each_has_its_wakeup),
		cmocka_unit_test(test_readers_in_threads_are_each_woken),
		cmocka_unit_test(test_each_has_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
