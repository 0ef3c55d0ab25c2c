/* SPDX-License-Identifier: MIT */
/*
 * Who reads a session: any number of readers, each with a question of its own (answers/answer.h). When something
 * is new, and a reader has taken its last answer, the ingest thread makes the next: the cheapest first, and all in
 * turn, for a bounded time, after which as much is left to what comes. A reader that does not take its answer,
 * or asks nothing, costs nothing.
 */
#ifndef SUBSCRIPTION_H
#define SUBSCRIPTION_H

#include <stdint.h>

struct answer;
struct mailbox;
struct moment;
struct request;
struct subscription;
struct subscriptions;

/* The mailbox outlives them: theirs is its lock, and its descriptors are rung. */
struct subscriptions *subscriptions_new(struct mailbox *mailbox);
void subscriptions_free(struct subscriptions *all);	/* with those that are still there */

/* ---- any thread; one for each subscription ---- */

struct subscription *subscription_new(struct subscriptions *all);
void subscription_leave(struct subscription *subscription);	/* and all that was kept for it goes; NULL: nothing */

/* From now on this is asked, and what waits for the last one goes. NULL: nothing is, for now. */
void subscription_ask(struct subscription *subscription, const struct request *request);

/* The newest answer, which is the caller's; NULL: none since the last. */
struct answer *subscription_take(struct subscription *subscription);

/* ---- the ingest thread ---- */

/* When one is to be answered; UINT64_MAX: not before somebody asks. `news`: grows with what there is to tell. */
uint64_t subscriptions_due(struct subscriptions *all, uint64_t news);

/* Another boot begins: what was kept of the last one goes. */
void subscriptions_forget(struct subscriptions *all);

/* Answers who is due, for a turn; the rest comes with the next. Of the moment, all but the reader is given. */
void subscriptions_answer(struct subscriptions *all, struct moment *moment, uint64_t news);

#endif
