/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "subscription.h"

/* ---- mailbox ---- */

enum { ORDERS_MAX = 1024, MESSAGES_MAX = 16 };

struct mailbox {
	pthread_mutex_t lock;		/* guards all below but the wakeups, and the fields that a subscription names */
	struct wakeup *orders_wait, *messages_wait;	/* fixed */

	struct order orders[ORDERS_MAX];
	size_t order_count, orders_refused;	/* refused: so far */

	struct session_message messages[MESSAGES_MAX];
	size_t message_count;
};

struct mailbox *mailbox_new(void)
{
	struct mailbox *mailbox = util_alloc(sizeof(*mailbox));

	pthread_mutex_init(&mailbox->lock, NULL);
	mailbox->orders_wait = wakeup_new();
	mailbox->messages_wait = wakeup_new();
	return mailbox;
}

void mailbox_free(struct mailbox *mailbox)
{
	if (!mailbox)
		return;
	for (size_t i = 0; i < mailbox->order_count; i++)
		free(mailbox->orders[i].text);
	wakeup_free(mailbox->orders_wait);
	wakeup_free(mailbox->messages_wait);
	pthread_mutex_destroy(&mailbox->lock);
	free(mailbox);
}

void mailbox_order(struct mailbox *mailbox, const struct order *order)
{
	size_t refused;
	bool taken;

	pthread_mutex_lock(&mailbox->lock);
	taken = mailbox->order_count < ORDERS_MAX;
	if (taken)
		mailbox->orders[mailbox->order_count++] = *order;
	refused = mailbox->orders_refused += !taken;
	pthread_mutex_unlock(&mailbox->lock);
	if (taken) {
		wakeup_send(mailbox->orders_wait);
	} else {
		struct session_message message = { .failed = true };

		snprintf(message.text, sizeof(message.text), "requests dropped: %zu: %d before "
			"them still wait; try again in a moment", refused, ORDERS_MAX);
		mailbox_message(mailbox, &message);
		free(order->text);
	}
}

bool mailbox_take_order(struct mailbox *mailbox, struct order *order)
{
	bool waits;

	pthread_mutex_lock(&mailbox->lock);
	waits = mailbox->order_count > 0;
	if (waits) {
		*order = mailbox->orders[0];
		mailbox->order_count--;
		memmove(mailbox->orders, mailbox->orders + 1,
			mailbox->order_count * sizeof(mailbox->orders[0]));
	}
	pthread_mutex_unlock(&mailbox->lock);
	return waits;
}

struct wakeup *mailbox_orders(const struct mailbox *mailbox)
{
	return mailbox->orders_wait;
}

void mailbox_message(struct mailbox *mailbox, const struct session_message *message)
{
	pthread_mutex_lock(&mailbox->lock);
	if (mailbox->message_count == MESSAGES_MAX)
		memmove(mailbox->messages, mailbox->messages + 1,
			--mailbox->message_count * sizeof(*message));
	mailbox->messages[mailbox->message_count++] = *message;
	pthread_mutex_unlock(&mailbox->lock);
	wakeup_send(mailbox->messages_wait);
}

bool mailbox_take_message(struct mailbox *mailbox, struct session_message *message)
{
	bool waits;

	pthread_mutex_lock(&mailbox->lock);
	waits = mailbox->message_count > 0;
	if (waits) {
		*message = mailbox->messages[0];
		mailbox->message_count--;
		memmove(mailbox->messages, mailbox->messages + 1,
			mailbox->message_count * sizeof(*message));
	}
	pthread_mutex_unlock(&mailbox->lock);
	return waits;
}

struct wakeup *mailbox_messages(const struct mailbox *mailbox)
{
	return mailbox->messages_wait;
}

/* ---- subscription ---- */

enum {
	SOON_MS = 20,			/* the pause before a new question's answer, and before the first samples */
	SOON_TRIES = 32,		/* so many answers without samples come so soon */
	FRAME_US = 250,			/* half of what a turn costs besides its answers: wakes and a frame */
	COST_TIMES = 400,		/* what a turn costs is this part of the time, */
	READING_TIMES = 3,		/* or so many times what reading takes, */
	READING_MS = 5,			/* where that is so much between two turns */
};

#define PAST (UINT64_C(1) << 63)	/* in `news`: the boot is over, which is news, too */

struct subscription {
	struct subscriptions *all;	/* fixed */
	struct wakeup *wakeup;		/* fixed; borrowed until the reader has left; NULL: nobody polls */
	struct epoch *boot;		/* fixed; held; all questions are about it; NULL: about the present one */
	struct subscription *next;	/* set before it is listed; then the ingest thread's */

	/* guarded by the mailbox's lock */
	struct request *asked;		/* with `asks`: the new question; NULL: nothing is asked from now on */
	bool asks;			/* the reader has changed its question */
	struct answer *answer;		/* not taken yet; NULL: none */
	bool starved;			/* there is news: wake the ingest thread when the answer is taken */
	bool left;			/* the reader is gone: the ingest thread frees this */

	/* the ingest thread's own */
	struct request *request;	/* the question that is answered; NULL: none */
	bool taken;			/* the last answer was taken */
	bool fresh;			/* the request was not answered yet */
	bool partial;			/* that of the last answer */
	unsigned tries;			/* answers without samples, since one with samples or a new question */
	bool wakes;			/* wake its reader at the end of the turn */
	uint64_t news, told;		/* grows with what is new for it; what it was when the last answer was made */
	uint64_t begun;			/* the next pause begins there: see `answer`; the first is over when it asks */
	bool is_long;			/* that answer took longer than a turn, or there was none yet */
	struct epoch *epoch;		/* held while `readers` are of its query; else NULL */
	uint32_t readers[QUESTIONS_MOST];	/* see query.h; QUERY_ANYBODY: none */
};

struct subscriptions {
	struct mailbox *mailbox;	/* borrowed */
	struct subscription *first;	/* guarded by the mailbox's lock */
	/* the ingest thread's own */
	uint64_t rest[2];		/* no answer before these times: no short one, no long one */
	uint64_t cost, worked;		/* the processor time of the last turn; that of the thread at its end */
};

struct subscriptions *subscriptions_new(struct mailbox *mailbox)
{
	struct subscriptions *all = util_alloc(sizeof(*all));

	all->mailbox = mailbox;
	return all;
}

/* ---- any thread ---- */

struct subscription *subscription_new(struct subscriptions *all, struct wakeup *wakeup, struct epoch *boot)
{
	struct subscription *subscription = util_alloc(sizeof(*subscription));

	subscription->all = all;
	subscription->wakeup = wakeup;
	subscription->is_long = true;
	subscription->boot = epoch_hold(boot);
	pthread_mutex_lock(&all->mailbox->lock);
	subscription->next = all->first;
	all->first = subscription;
	pthread_mutex_unlock(&all->mailbox->lock);
	return subscription;
}

static struct request *copy(const struct request *request)
{
	return request ? memcpy(util_alloc(request->kind->request_size), request,
		request->kind->request_size) : NULL;
}

/*
 * Sets the new question. A question that the ingest thread has not heard yet is put into `request` instead, and an
 * answer that was not taken is returned: the caller frees both, outside the lock.
 */
static struct answer *change(struct subscription *subscription, struct request **request, bool left)
{
	struct mailbox *mailbox = subscription->all->mailbox;
	struct request *before;
	struct answer *answer;

	pthread_mutex_lock(&mailbox->lock);
	before = subscription->asked;
	answer = subscription->answer;
	subscription->asked = *request;
	subscription->answer = NULL;
	subscription->asks = true;
	subscription->left = left;
	pthread_mutex_unlock(&mailbox->lock);
	*request = before;
	return answer;
}

void subscription_ask(struct subscription *subscription, const struct request *request)
{
	struct request *asked = copy(request);
	struct mailbox *mailbox = subscription->all->mailbox;

	answer_free(change(subscription, &asked, false));
	free(asked);
	wakeup_send(mailbox->orders_wait);
}

/* From here on the ingest thread owns it, for it may just be making its answer. */
void subscription_leave(struct subscription *subscription)
{
	struct request *asked = NULL;
	struct mailbox *mailbox;

	if (!subscription)
		return;
	mailbox = subscription->all->mailbox;
	answer_free(change(subscription, &asked, true));
	free(asked);
	wakeup_send(mailbox->orders_wait);
}

struct answer *subscription_take(struct subscription *subscription)
{
	struct mailbox *mailbox = subscription->all->mailbox;
	struct answer *answer;
	bool starved;

	pthread_mutex_lock(&mailbox->lock);
	answer = subscription->answer;
	starved = answer && subscription->starved;
	subscription->answer = NULL;
	subscription->starved = false;
	pthread_mutex_unlock(&mailbox->lock);
	if (starved)
		wakeup_send(mailbox->orders_wait);
	return answer;
}

/* ---- the ingest thread ---- */

/* Frees the readers of the questions from this one on. QUERY_ANYBODY stands for a reader that is not there. */
static void free_readers(struct subscription *subscription, unsigned first)
{
	for (unsigned i = first; i < QUESTIONS_MOST; i++) {
		query_reader_free(subscription->epoch->query, subscription->readers[i]);
		subscription->readers[i] = QUERY_ANYBODY;
	}
}

/* Each epoch has a query of its own. A reader is freed with its subscription, or when it asks about another epoch. */
static void drop_readers(struct subscription *subscription)
{
	if (!subscription->epoch)
		return;
	free_readers(subscription, 0);
	epoch_release(subscription->epoch);
	subscription->epoch = NULL;
}

/* Gives the subscription a reader in the query of this epoch for each of its questions. */
static void have_readers(struct subscription *subscription, struct epoch *epoch)
{
	unsigned questions = subscription->request->kind->questions;

	if (subscription->epoch != epoch || !questions)
		drop_readers(subscription);
	if (!epoch || !questions)
		return;
	if (!subscription->epoch)
		subscription->epoch = epoch_hold(epoch);
	free_readers(subscription, questions);
	for (unsigned i = 0; i < questions; i++)
		if (subscription->readers[i] == QUERY_ANYBODY)
			subscription->readers[i] = query_reader_new(epoch->query);
}

static void finish(struct subscription *subscription)
{
	drop_readers(subscription);
	epoch_release(subscription->boot);
	answer_free(subscription->answer);
	free(subscription->asked);
	free(subscription->request);
	free(subscription);
}

/* Called under the lock. Takes over a new question. Returns the old one, to be freed. */
static struct request *hear(struct subscription *subscription)
{
	struct request *over = NULL;

	if (subscription->asks) {
		over = subscription->request;
		subscription->request = subscription->asked;
		subscription->asked = NULL;
		subscription->asks = false;
		subscription->fresh = true;
		if (!subscription->begun)
			subscription->begun = util_now() - (uint64_t)SOON_MS * NS_PER_MS;
		subscription->tries = 0;
	}
	subscription->taken = !subscription->answer;
	return over;
}

/*
 * Frees the subscriptions whose readers have left, and takes over the new questions of the others. Returns the first
 * subscription that is left; NULL: there is none.
 */
static struct subscription *hear_all(struct subscriptions *all)
{
	struct subscription **at = &all->first, *gone = NULL, *first;

	pthread_mutex_lock(&all->mailbox->lock);
	while (*at) {
		struct subscription *subscription = *at;

		if (subscription->left) {
			*at = subscription->next;
			subscription->next = gone;
			gone = subscription;
			continue;
		}
		free(hear(subscription));
		at = &subscription->next;
	}
	first = all->first;
	pthread_mutex_unlock(&all->mailbox->lock);
	while (gone) {
		struct subscription *next = gone->next;

		finish(gone);
		gone = next;
	}
	return first;
}

void subscriptions_free(struct subscriptions *all)
{
	struct subscription *next;

	for (struct subscription *i = all ? all->first : NULL; i; i = next) {
		next = i->next;
		finish(i);
	}
	free(all);
}

void subscriptions_forget(struct subscriptions *all)
{
	for (struct subscription *i = hear_all(all); i; i = i->next)
		if (!i->boot)
			drop_readers(i);
}

/* True: its reader is pinned to a boot that is over. */
static bool is_past(const struct subscription *subscription, const struct epoch *present)
{
	return subscription->boot && subscription->boot != present;
}

void subscriptions_step(struct subscriptions *all, const struct epoch *present)
{
	for (struct subscription *i = hear_all(all); i; i = i->next)
		if (is_past(i, present))
			symbols_step(i->boot->inputs.symbols, &i->boot->starved);
}

/* Returns the first subscription. Each has heard its reader, and knows what is new for it. */
static struct subscription *hear_news(struct subscriptions *all, const struct epoch *present, uint64_t news)
{
	struct subscription *first = hear_all(all);

	for (struct subscription *i = first; i; i = i->next)
		i->news = is_past(i, present) ? PAST | symbols_generation(i->boot->inputs.symbols) : news;
	return first;
}

/* Until what the last turn has cost is little beside the time that went by, or beside what much reading took. */
static uint64_t pause_of_cost(const struct subscriptions *all)
{
	uint64_t cost = all->cost + (uint64_t)FRAME_US * 1000, longest = (uint64_t)ANSWERS_LONGEST_MS * NS_PER_MS;
	uint64_t reading = util_thread_time() - all->worked;

	if (READING_TIMES * reading >= cost && reading >= (uint64_t)READING_MS * NS_PER_MS)
		return 0;
	return cost < longest / COST_TIMES ? COST_TIMES * cost : longest;
}

/* What stays empty is seldom made. */
static uint64_t pause_of(const struct subscription *subscription)
{
	bool soon = subscription->fresh || (subscription->tries && subscription->tries <= SOON_TRIES);
	uint64_t least = (uint64_t)(soon ? SOON_MS : subscription->request->pause_ms) * NS_PER_MS;
	uint64_t pause = subscription->tries ? (uint64_t)ANSWERS_LONGEST_MS * NS_PER_MS :
		pause_of_cost(subscription->all);

	return soon || subscription->partial || pause < least ? least : pause;
}

static bool has_news(const struct subscription *subscription)
{
	return subscription->fresh || subscription->partial || subscription->news != subscription->told;
}

/* It asks something, has taken its last answer, and another one would be new. */
static bool waits(const struct subscription *subscription)
{
	return subscription->request && subscription->taken && has_news(subscription);
}

/* There is news, but the last answer was not taken yet: taking it will wake the ingest thread. */
static void await_taking(struct subscription *subscription)
{
	struct mailbox *mailbox = subscription->all->mailbox;

	if (!subscription->request || subscription->taken || !has_news(subscription))
		return;
	pthread_mutex_lock(&mailbox->lock);
	subscription->starved = true;
	pthread_mutex_unlock(&mailbox->lock);
}

uint64_t subscriptions_due(struct subscriptions *all, const struct epoch *present, uint64_t news)
{
	uint64_t first = UINT64_MAX;

	for (struct subscription *i = hear_news(all, present, news); i; i = i->next) {
		uint64_t rest = all->rest[i->is_long], own = UINT64_MAX;

		if (waits(i))
			own = i->begun + pause_of(i);
		own = own < rest ? rest : own;
		await_taking(i);
		first = own < first ? own : first;
	}
	return first;
}

uint64_t subscriptions_turn(struct subscriptions *all)
{
	uint64_t first = UINT64_MAX;

	for (struct subscription *i = hear_all(all); i; i = i->next) {
		uint64_t own = i->request ? i->begun + pause_of(i) : UINT64_MAX, rest = all->rest[i->is_long];

		own = own < rest ? rest : own;
		first = own < first ? own : first;
	}
	return first;
}

/*
 * Also true if half of its pause is over, since somebody is answered now: so header and table of one screen show the
 * same moment, and one frame shows both.
 */
static bool is_due(const struct subscription *subscription, uint64_t now)
{
	uint64_t pause, soon = (uint64_t)SOON_MS * NS_PER_MS;

	if (!waits(subscription) || subscription->all->rest[subscription->is_long] > now)
		return false;
	pause = pause_of(subscription);
	return subscription->begun + pause <= now + (pause / 2 > soon ? pause / 2 : soon);
}

/* The short ones first, then the one that has waited longest. */
static struct subscription *next_due(struct subscription *first, uint64_t now)
{
	struct subscription *next = NULL;

	for (struct subscription *i = first; i; i = i->next)
		if (is_due(i, now) && (!next || i->is_long < next->is_long ||
				(i->is_long == next->is_long && i->begun < next->begun)))
			next = i;
	return next;
}

static struct answer *make(struct subscription *subscription, const struct moment *moment)
{
	struct moment own = *moment;

	own.past = is_past(subscription, moment->epoch);
	if (own.past)
		own.epoch = subscription->boot;
	have_readers(subscription, own.epoch);
	memcpy(own.readers, subscription->readers, sizeof(own.readers));
	return answer_new(subscription->request, &own);
}

/*
 * Makes an answer, without the lock. It is dropped if its reader has asked something else, or left, meanwhile. One that
 * is late by up to half of its pause does not put off the next: the pause after it is that much shorter.
 */
static void answer(struct subscription *subscription, const struct moment *moment)
{
	struct mailbox *mailbox = subscription->all->mailbox;
	uint64_t begin = util_now();
	uint64_t pause = pause_of(subscription), due = subscription->begun + pause;
	struct answer *made = make(subscription, moment);
	bool wanted;

	subscription->tries = made->begun ? 0 : subscription->tries + 1;
	subscription->partial = made->partial;
	subscription->fresh = subscription->taken = false;
	subscription->told = subscription->news;
	pthread_mutex_lock(&mailbox->lock);
	wanted = !subscription->asks && !subscription->left;	/* the question has not changed meanwhile */
	if (wanted)
		subscription->answer = made;
	subscription->wakes = wanted;
	pthread_mutex_unlock(&mailbox->lock);
	if (!wanted)
		answer_free(made);
	subscription->begun = begin > due + pause / 2 || begin < due ? begin : due;
	subscription->is_long = util_now() - begin > (uint64_t)TURN_MS * NS_PER_MS;
}

/*
 * Wakes all who have an answer, but not those with the wakeup `later`. Holds the lock while it does, so that a reader
 * may free its wakeup as soon as it has left.
 */
static void wake_all(struct mailbox *mailbox, struct subscription *first, const struct wakeup *later)
{
	pthread_mutex_lock(&mailbox->lock);
	for (struct subscription *i = first; i; i = i->next) {
		if (!i->wakes || (later && i->wakeup == later))
			continue;
		if (i->wakeup && !i->left)
			wakeup_send(i->wakeup);
		i->wakes = false;
	}
	pthread_mutex_unlock(&mailbox->lock);
}

void subscriptions_answer(struct subscriptions *all, const struct moment *moment, uint64_t news)
{
	struct subscription *first = hear_news(all, moment->epoch, news), *next;
	uint64_t begin = util_now(), now = begin, late = begin + (uint64_t)TURN_MS * NS_PER_MS;
	uint64_t worked = util_thread_time(), short_ones = 0;

	while (now < late && (next = next_due(first, now))) {
		bool was_long = next->is_long;
		uint64_t end;

		if (was_long)				/* who has an answer does not wait for this one */
			wake_all(all->mailbox, first, next->wakeup);
		answer(next, moment);
		end = util_now();
		if (was_long || next->is_long)
			all->rest[true] = (all->rest[true] > end ? all->rest[true] : end) + (end - now);
		else
			short_ones += end - now;
		now = end;
	}
	all->rest[false] = all->rest[false] > now + short_ones ? all->rest[false] : now + short_ones;
	all->worked = util_thread_time();
	all->cost = all->worked - worked;
	wake_all(all->mailbox, first, NULL);	/* at the end, so that a screen takes its answers together */
}
