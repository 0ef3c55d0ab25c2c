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
 * A question names the shortest pause between two of its answers. A person reads some frames a second, and should not
 * pay much more for them than for what they look at. So the pause is longer until a turn's answers, with half of what
 * the frames cost that show them, have taken a four hundredth of the time, or, on a busy guest, three times as much as
 * the incoming bytes have since: its screen is as lively as an idle one's. Two turns come in each second anyway.
 */
#ifndef SUBSCRIPTION_H
#define SUBSCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/answers/answer.h"
#include "agent/export/export.h"
#include "agent/source/play.h"

enum { ANSWERS_LONGEST_MS = 500 };	/* the longest pause between two turns of answers */

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
 * The wakeup is sent when an answer waits. The reader owns it, and may free it once it has left; it may be one for many
 * subscriptions of many sessions. NULL: nobody polls. `boot`: all answers are about this boot, which the subscription
 * holds. NULL: about the present one.
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

/* The time of the next answer if there were news for all; UINT64_MAX: nobody asks. */
uint64_t subscriptions_turn(struct subscriptions *all);

/* Another boot begins: frees what was kept of the last one for readers who ask about the present one. */
void subscriptions_forget(struct subscriptions *all);

/* Call it often: takes names for the earlier boots that readers ask about, as the session does for the present one. */
void subscriptions_step(struct subscriptions *all, const struct epoch *present);

/* Answers those who are due, for one turn; the rest waits for the next. The moment is that of the present boot. */
void subscriptions_answer(struct subscriptions *all, const struct moment *moment, uint64_t news);

/* ---- turns ---- */

/*
 * How long one kind of work goes on before others have their turn, and how often a guest may boot. A guest's bytes are
 * decoded for a turn; then the thread serves a reader who waits for an answer, or a user who ends the program. Each
 * boot builds much anew, so a guest that boots faster is read more slowly. Times are those of util_now.
 */

enum {
	TURN_MS = 20,			/* length of a turn; it ends with a packet, so it may be longer */
	TURN_BOOTS = 16,		/* so many boots may come at once, then one each TURN_BOOT_MS */
	TURN_BOOT_MS = 125,
};

/* ---- mailbox ---- */

/*
 * What crosses between the ingest thread and the others: orders go to the ingest thread, messages come from it. One
 * lock, held for a few assignments, guards both, and also the questions and answers of subscriptions. Nobody waits for
 * anybody.
 */

/* What a session tells its readers besides answers: how an order went, or what happened. */
struct session_message {
	bool failed;			/* an error: it stays on the screen until a key is pressed */
	bool profiler;			/* about starting or stopping the profiler; may be out of date by now */
	bool kept;			/* with `profiler`: the wish is kept; another message will tell its outcome */
	char text[512];
};

struct order {
	enum order_kind {
		ORDER_PROFILER, ORDER_SNAPSHOT, ORDER_KEEP, ORDER_DEAD, ORDER_PLAY, ORDER_MARK, ORDER_FUNCTION,
	} kind;
	bool on;			/* ORDER_PROFILER */
	char *text;			/* the path, the mark's text, or the function's name; owned */
	uint64_t address;		/* ORDER_FUNCTION: of its beginning in the kernel's file */
	struct excerpt excerpt;		/* ORDER_SNAPSHOT: the part of the profile to save */
	struct export_choice choice;	/* ORDER_SNAPSHOT: the format */
	struct play play;		/* ORDER_PLAY */
};

struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *mailbox);

/* ---- to the ingest thread ---- */

/* Any thread. Takes ownership of the text. If too many orders wait, it drops this one, and a message tells so. */
void mailbox_order(struct mailbox *mailbox, const struct order *order);

bool mailbox_take_order(struct mailbox *mailbox, struct order *order);	/* the oldest; false: there is none */
struct wakeup *mailbox_orders(const struct mailbox *mailbox);	/* sent when one waits; clear it before taking orders */

/* ---- from the ingest thread ---- */

/* Any thread. If too many messages wait, the oldest is dropped. */
void mailbox_message(struct mailbox *mailbox, const struct session_message *message);

bool mailbox_take_message(struct mailbox *mailbox, struct session_message *message);	/* false: there is none */
struct wakeup *mailbox_messages(const struct mailbox *mailbox);	/* likewise */

#endif
