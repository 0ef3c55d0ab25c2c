/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/guest/epoch.h"
#include "agent/session/subscription.h"
#include "tests/unit/clock.h"
#include "desk.h"

static struct desk the_desk;

struct costly_request {
	struct request request;
	uint32_t reader;		/* the reader that the answer is for */
	uint32_t cost_us;
};

struct costly_answer {
	struct answer answer;
	uint32_t reader;
};

static struct answer *make(const struct request *asked, const struct moment *moment)
{
	const struct costly_request *request = (const struct costly_request *)asked;
	struct costly_answer *answer = util_alloc(sizeof(*answer));
	uint64_t cost = (uint64_t)request->cost_us * 1000;
	struct desk *desk = &the_desk;

	answer->answer = answer_begin(asked->kind, moment);
	answer->answer.begun = !desk->empty;
	answer->answer.partial = desk->partial;
	answer->reader = request->reader;
	desk->made[request->reader]++;
	desk->about[request->reader].epoch = moment->epoch;
	desk->about[request->reader].past = moment->past;
	desk->living++;
	if (desk->making)
		desk->making(desk);
	desk->answering += cost;
	clock_pass(cost);
	clock_spend(desk->spent);
	return &answer->answer;
}

static void free_it(struct answer *answer)
{
	(void)answer;
	the_desk.living--;
}

static const struct answer_kind costly = {
	.name = "costly", .request_size = sizeof(struct costly_request), .make = make, .free = free_it,
};

struct desk *desk_open(size_t readers)
{
	struct desk *desk = &the_desk;

	memset(desk, 0, sizeof(*desk));
	desk->mailbox = mailbox_new();
	desk->all = subscriptions_new(desk->mailbox);
	for (size_t i = 0; i < readers; i++)
		desk->readers[i] = subscription_new(desk->all, desk->wakeups[i] = wakeup_new(), NULL);
	return desk;
}

void desk_close(struct desk *desk)
{
	subscriptions_free(desk->all);
	for (size_t i = 0; i < READERS; i++)
		wakeup_free(desk->wakeups[i]);
	mailbox_free(desk->mailbox);
	assert_int_equal(desk->living, 0);
}

void desk_ask(struct desk *desk, uint32_t reader, uint32_t cost_us)
{
	struct costly_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &costly;
	request.reader = reader;
	request.request.pause_ms = PAUSE_MS;
	request.cost_us = cost_us;
	subscription_ask(desk->readers[reader], &request.request);
}

void desk_serve(struct desk *desk)
{
	struct moment moment = { .epoch = desk->present, .trouble = "" };
	uint64_t due;

	desk->news++;
	due = subscriptions_due(desk->all, desk->present, desk->news);
	assert_int_not_equal(due, UINT64_MAX);
	clock_pass(due > util_now() ? due - util_now() : 0);
	subscriptions_answer(desk->all, &moment, desk->news);
}

void desk_take(struct desk *desk, uint32_t reader)
{
	struct answer *answer = subscription_take(desk->readers[reader]);

	if (answer)
		assert_int_equal(((struct costly_answer *)answer)->reader, reader);
	answer_free(answer);
}

bool desk_woken(const struct desk *desk, uint32_t reader)
{
	struct pollfd ready = { .fd = wakeup_fd(desk->wakeups[reader]), .events = POLLIN };

	return poll(&ready, 1, 0) == 1;
}
