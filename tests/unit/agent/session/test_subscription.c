/* SPDX-License-Identifier: MIT */
/* Which readers are answered, how often, and what that costs the others. The kinds of questions are made up here. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/base/bell.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/session/mailbox.h"
#include "agent/session/share.h"
#include "agent/session/subscription.h"
#include "agent/session/turn.h"

enum { READERS = 4, WAIT_MS = 20000 };

struct costly_request {
	struct request request;
	uint32_t reader;		/* the reader that the answer is for */
	uint32_t cost_ms;
};

struct costly_answer {
	struct answer answer;
	uint32_t reader;
};

static uint32_t made[READERS];
static struct {
	const struct epoch *epoch;
	bool past;
} about[READERS];			/* the boot that each reader's last answer is about */
static bool partial;			/* all answers are */
static atomic_int living;		/* answers that exist; atomic: readers free theirs in threads of their own */

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct costly_request *request = (const struct costly_request *)asked;
	struct costly_answer *answer = util_alloc(sizeof(*answer));
	uint64_t end = util_now() + request->cost_ms * NS_PER_MS;

	answer->answer = answer_begin(asked->kind, moment);
	answer->answer.begun = true;
	answer->answer.partial = partial;
	answer->reader = request->reader;
	made[request->reader]++;
	about[request->reader].epoch = moment->epoch;
	about[request->reader].past = moment->past;
	living++;
	while (util_now() < end)
		;
	return &answer->answer;
}

static void free_it(struct answer *answer)
{
	living--;
	answer_end(answer);
	free(answer);
}

static const struct answer_kind costly = {
	.name = "costly", .request_size = sizeof(struct costly_request), .make = make, .free = free_it,
};

struct desk {
	struct mailbox *mailbox;
	struct subscriptions *all;
	struct subscription *readers[READERS];
	struct bell *bells[READERS];
	uint64_t news;
	struct epoch *present;		/* the present boot; NULL: none was seen yet */
};

static void ask(struct desk *desk, uint32_t reader, uint32_t cost_ms)
{
	struct costly_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &costly;
	request.reader = reader;
	request.cost_ms = cost_ms;
	subscription_ask(desk->readers[reader], &request.request);
}

static struct desk open_desk(size_t readers)
{
	struct desk desk = { .mailbox = mailbox_new() };

	desk.all = subscriptions_new(desk.mailbox);
	for (size_t i = 0; i < readers; i++)
		desk.readers[i] = subscription_new(desk.all, desk.bells[i] = bell_new(), NULL);
	memset(made, 0, sizeof(made));
	return desk;
}

static void close_desk(struct desk *desk)
{
	subscriptions_free(desk->all);
	for (size_t i = 0; i < READERS; i++)
		bell_free(desk->bells[i]);
	mailbox_free(desk->mailbox);
	assert_int_equal(living, 0);
}

/* Acts as the ingest thread: answers once if a reader is due. There is always something new. */
static void serve(struct desk *desk)
{
	struct moment moment = { .epoch = desk->present, .trouble = "" };
	uint64_t due;

	desk->news++;
	due = subscriptions_due(desk->all, desk->present, desk->news);
	assert_int_not_equal(due, UINT64_MAX);
	while (util_now() < due)
		;
	subscriptions_answer(desk->all, &moment, desk->news);
}

/* Takes an answer, and checks that it is this reader's. */
static void take(struct desk *desk, uint32_t reader)
{
	struct answer *answer = subscription_take(desk->readers[reader]);

	if (answer)
		assert_int_equal(((struct costly_answer *)answer)->reader, reader);
	answer_free(answer);
}

/* One reader asks and takes, one asks and does not take, one asks no more, and one never asked. */
static void test_who_costs_something(void **state)
{
	struct desk desk = open_desk(4);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		ask(&desk, i, 0);
	serve(&desk);
	take(&desk, 2);
	subscription_ask(desk.readers[2], NULL);
	for (int i = 0; i < 20; i++) {
		take(&desk, 0);
		serve(&desk);
	}
	assert_int_equal(made[0], 21);
	assert_int_equal(made[1], 1);
	assert_int_equal(made[2], 1);
	assert_int_equal(made[3], 0);
	take(&desk, 1);				/* a reader who comes back gets the old answer, and the next one soon */
	take(&desk, 0);
	serve(&desk);
	assert_int_equal(made[1], 2);
	close_desk(&desk);
}

static void test_nothing_new_is_not_answered(void **state)
{
	struct desk desk = open_desk(1);

	(void)state;
	ask(&desk, 0, 0);
	serve(&desk);
	take(&desk, 0);
	assert_int_equal(subscriptions_due(desk.all, NULL, desk.news), UINT64_MAX);
	assert_int_not_equal(subscriptions_due(desk.all, NULL, desk.news + 1), UINT64_MAX);
	subscription_ask(desk.readers[0], NULL);
	assert_int_equal(subscriptions_due(desk.all, NULL, desk.news + 1), UINT64_MAX);
	close_desk(&desk);
}

/* An answer for which files are still being read is made again, even if nothing else is new. */
static void test_partial_answers_are_made_again(void **state)
{
	struct desk desk = open_desk(1);

	(void)state;
	partial = true;
	ask(&desk, 0, 0);
	serve(&desk);
	assert_int_equal(subscriptions_due(desk.all, NULL, desk.news), UINT64_MAX);	/* it was not taken yet */
	take(&desk, 0);
	assert_int_not_equal(subscriptions_due(desk.all, NULL, desk.news), UINT64_MAX);
	partial = false;
	serve(&desk);
	take(&desk, 0);
	assert_int_equal(subscriptions_due(desk.all, NULL, desk.news), UINT64_MAX);
	close_desk(&desk);
}

/* Serves until the first two readers have got an answer. On a loaded host there may be time for only one at once. */
static void serve_both(struct desk *desk)
{
	const uint32_t before[] = { made[0], made[1] };

	while (made[0] == before[0] || made[1] == before[1]) {
		serve(desk);
		take(desk, 0);
		take(desk, 1);
	}
}

/* The boot of one reader is over. Its answers stay with that boot, and come only when there is news of it. */
static void test_pinned_to_a_boot(void **state)
{
	static const uint8_t ids[2][16] = { "first", "second" };
	struct epoch *first = epoch_new(ids[0], NULL, NULL), *second = epoch_new(ids[1], NULL, NULL);
	struct desk desk = open_desk(1);
	uint32_t last;

	(void)state;
	desk.bells[1] = bell_new();
	desk.readers[1] = subscription_new(desk.all, desk.bells[1], first);
	for (uint32_t i = 0; i < 2; i++)
		ask(&desk, i, 0);
	desk.present = first;
	serve_both(&desk);
	assert_ptr_equal(about[0].epoch, first);
	assert_ptr_equal(about[1].epoch, first);
	assert_false(about[1].past);
	desk.present = second;
	subscriptions_forget(desk.all);
	serve_both(&desk);			/* that the boot is over is news of it, too */
	assert_ptr_equal(about[0].epoch, second);
	assert_ptr_equal(about[1].epoch, first);
	assert_true(about[1].past && !about[0].past);
	last = made[1];
	for (int i = 0; i < 10; i++) {
		serve(&desk);
		take(&desk, 0);
	}
	assert_int_equal(made[1], last);
	symbols_set_slide(first->inputs.symbols, 0x1000);	/* its functions have other names now */
	serve_both(&desk);
	assert_int_equal(made[1], last + 1);
	close_desk(&desk);
	epoch_release(first);
	epoch_release(second);
}

/* An answer that waits is dropped when its reader asks another question, or leaves. */
static void test_what_waits_goes(void **state)
{
	struct desk desk = open_desk(2);

	(void)state;
	ask(&desk, 0, 0);
	ask(&desk, 1, 0);
	serve(&desk);
	assert_int_equal(living, 2);
	ask(&desk, 0, 0);
	assert_int_equal(living, 1);
	assert_null(subscription_take(desk.readers[0]));
	subscription_leave(desk.readers[1]);
	assert_int_equal(living, 0);
	serve(&desk);
	assert_int_equal(made[0], 2);
	assert_int_equal(made[1], 1);
	close_desk(&desk);
}

static bool is_rung(const struct desk *desk, uint32_t reader)
{
	struct pollfd ready = { .fd = bell_fd(desk->bells[reader]), .events = POLLIN };

	return poll(&ready, 1, 0) == 1;
}

/* Each reader is woken by its own answers alone, whatever the other readers do. */
static void test_each_has_its_bell(void **state)
{
	struct desk desk = open_desk(3);

	(void)state;
	ask(&desk, 0, 0);
	ask(&desk, 1, 0);
	serve(&desk);
	assert_true(is_rung(&desk, 0) && is_rung(&desk, 1));
	assert_false(is_rung(&desk, 2));
	bell_quiet(desk.bells[0]);
	take(&desk, 0);
	assert_false(is_rung(&desk, 0));
	assert_true(is_rung(&desk, 1));
	serve(&desk);				/* the other reader has not taken its answer, so it gets no new one */
	assert_true(is_rung(&desk, 0));
	bell_quiet(desk.bells[1]);
	ask(&desk, 1, 0);
	subscription_leave(desk.readers[1]);
	bell_free(desk.bells[1]);
	desk.bells[1] = NULL;
	bell_quiet(desk.bells[0]);
	take(&desk, 0);
	serve(&desk);
	assert_true(is_rung(&desk, 0));
	close_desk(&desk);
}

enum { ROUNDS = 50 };

struct thread {
	struct desk *desk;
	uint32_t reader;
	pthread_t id;
};

/* A reader's thread: waits until it is woken, and takes its answer. */
static void *read_all(void *context)
{
	struct thread *thread = context;
	struct pollfd woken = { .fd = bell_fd(thread->desk->bells[thread->reader]), .events = POLLIN };
	uint32_t taken = 0;

	while (taken < ROUNDS && poll(&woken, 1, WAIT_MS) == 1) {
		struct answer *answer;

		bell_quiet(thread->desk->bells[thread->reader]);
		answer = subscription_take(thread->desk->readers[thread->reader]);
		taken += answer != NULL;
		answer_free(answer);
	}
	return (void *)(uintptr_t)taken;
}

static void test_readers_in_threads_are_each_woken(void **state)
{
	struct desk desk = open_desk(READERS);
	struct thread threads[READERS];
	struct moment moment = { .trouble = "" };
	uint64_t end = util_now() + READERS * WAIT_MS * NS_PER_MS;
	bool all = false;
	void *taken;

	(void)state;
	for (uint32_t i = 0; i < READERS; i++) {
		threads[i] = (struct thread) { .desk = &desk, .reader = i };
		ask(&desk, i, 0);
		assert_int_equal(pthread_create(&threads[i].id, NULL, read_all, &threads[i]), 0);
	}
	while (!all && util_now() < end) {
		if (subscriptions_due(desk.all, NULL, ++desk.news) <= util_now())
			subscriptions_answer(desk.all, &moment, desk.news);
		all = true;
		for (int i = 0; i < READERS; i++)
			all = all && made[i] >= ROUNDS;
	}
	for (int i = 0; i < READERS; i++) {
		assert_int_equal(pthread_join(threads[i].id, &taken), 0);
		assert_int_equal((uintptr_t)taken, ROUNDS);
	}
	close_desk(&desk);
}

/* Serves until so many answers were made for all readers. Returns how many the first one got. */
static uint32_t run(struct desk *desk, uint32_t readers, uint32_t answers)
{
	uint32_t all = 0;

	while (all < answers) {
		serve(desk);
		all = 0;
		for (uint32_t i = 0; i < readers; i++) {
			take(desk, i);
			all += made[i];
		}
	}
	return made[0];
}

/* Equal readers get equal shares, even if there is time for only one answer at once. */
static void test_each_has_its_share(void **state)
{
	static const uint32_t costs[] = { 0, TURN_MS + 5 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct desk desk = open_desk(3);

		for (uint32_t k = 0; k < 3; k++)
			ask(&desk, k, costs[i]);
		assert_in_range(run(&desk, 3, 18), 6 - 1, 6 + 1);
		for (int k = 0; k < 3; k++)
			assert_in_range(made[k], 6 - 1, 6 + 1);
		close_desk(&desk);
	}
}

/* A cheap question does not wait for expensive ones, and these do not starve behind it. */
static void test_the_cheap_beside_the_dear(void **state)
{
	struct desk desk = open_desk(3);

	(void)state;
	ask(&desk, 0, 0);
	ask(&desk, 1, TURN_MS + 5);
	ask(&desk, 2, TURN_MS + 5);
	run(&desk, 3, 20);
	assert_true(made[0] + 1 >= made[1] && made[0] + 1 >= made[2]);
	assert_in_range(made[1], made[2] > 0 ? made[2] - 1 : 0, made[2] + 1);
	close_desk(&desk);
}

static void test_order(void **state)
{
	struct share cheap = { .took = 1 }, dear = { .took = 100 };

	(void)state;
	assert_true(share_is_before(&cheap, &dear));
	assert_int_equal(share_due(&dear, 20), 100);
	assert_int_equal(share_due(&cheap, 20), 20);
	share_passed(&dear);
	assert_true(share_is_before(&dear, &cheap));
	share_answered(&dear, 1000, 1100);
	assert_true(share_is_before(&cheap, &dear));
	assert_int_equal(share_due(&dear, 20), 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_costs_something),
		cmocka_unit_test(test_nothing_new_is_not_answered),
		cmocka_unit_test(test_partial_answers_are_made_again),
		cmocka_unit_test(test_pinned_to_a_boot),
		cmocka_unit_test(test_what_waits_goes),
		cmocka_unit_test(test_each_has_its_bell),
		cmocka_unit_test(test_readers_in_threads_are_each_woken),
		cmocka_unit_test(test_each_has_its_share),
		cmocka_unit_test(test_the_cheap_beside_the_dear),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
