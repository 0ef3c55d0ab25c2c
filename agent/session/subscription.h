/* SPDX-License-Identifier: MIT */
/*
 * The readers of a session: any number, each with a question of its own (answers/answer.h). When something is new, and
 * a reader has taken its last answer, the ingest thread makes the next one. It serves short questions first, and
 * all in turn, for a bounded time. A reader that does not take its answer, or asks nothing, costs nothing. A reader
 * asks about the present boot, or is pinned to one.
 *
 * After a turn of short answers no short one is made for as long as they took, after one that takes longer than a turn
 * no long one for as long as that took: three quarters of the thread's time at most are for answers. A reader's first
 * answer counts as a long one, for nobody knows yet. An answer is made in one piece, since the store must not change
 * under it. So no reader is served while a long answer is made, and who asks a short question waits for one such answer
 * at most.
 *
 * A question names the shortest pause between two of its answers. The pause is longer when the answers of its reader's
 * screen would cost too much of the thread's time (pace.h).
 */
#ifndef SUBSCRIPTION_H
#define SUBSCRIPTION_H

#include <stdint.h>

struct answer;
struct wakeup;
struct epoch;
struct mailbox;
struct moment;
struct request;
struct subscription;
struct subscriptions;

/* Uses the mailbox's lock, and wakes for orders. The mailbox must outlive the subscriptions. */
struct subscriptions *subscriptions_new(struct mailbox *mailbox);
void subscriptions_free(struct subscriptions *all);	/* frees each subscription, too */

/* ---- any thread, but always the same one for a subscription ---- */

/*
 * The wakeup is sent when an answer waits. The reader owns it, and may free it once it has left. NULL: nobody polls.
 * `boot`: all answers are about this boot, which the subscription holds. NULL: about the present one.
 */
struct subscription *subscription_new(struct subscriptions *all, struct wakeup *wakeup, struct epoch *boot);
void subscription_leave(struct subscription *subscription);	/* frees it with its answer; NULL is allowed */

/* Asks this from now on. An answer to the last question that was not taken is dropped. NULL: asks nothing. */
void subscription_ask(struct subscription *subscription, const struct request *request);

/* The newest answer, owned by the caller. NULL: there is none since the last call. */
struct answer *subscription_take(struct subscription *subscription);

/* ---- the ingest thread ---- */

/*
 * The time of the next answer, by util_now; UINT64_MAX: none is due before somebody asks or there is news. `news` grows
 * when there is any of the present boot. An earlier boot has news when names of its functions come.
 */
uint64_t subscriptions_due(struct subscriptions *all, const struct epoch *present, uint64_t news);

/* Another boot begins: frees what was kept of the last one for readers who ask about the present one. */
void subscriptions_forget(struct subscriptions *all);

/* Call it often: takes names for the earlier boots that readers ask about, as the session does for the present one. */
void subscriptions_step(struct subscriptions *all, const struct epoch *present);

/* Answers those who are due, for one turn; the rest waits for the next. The moment is that of the present boot. */
void subscriptions_answer(struct subscriptions *all, const struct moment *moment, uint64_t news);

#endif
