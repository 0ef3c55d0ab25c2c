/* SPDX-License-Identifier: MIT */
/*
 * What crosses between the ingest thread and the others: orders go to the ingest thread, messages come from it. One
 * lock, held for a few assignments, guards both, and also the questions and answers that subscription.c keeps. Nobody
 * waits for anybody.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <stdbool.h>

#include "agent/answers/answer.h"
#include "agent/export/export.h"
#include "agent/source/play.h"
#include "message.h"

struct mailbox;

struct order {
	enum order_kind { ORDER_PROFILER, ORDER_SNAPSHOT, ORDER_PLAY } kind;
	bool on;			/* ORDER_PROFILER */
	char *text;			/* ORDER_SNAPSHOT: the file's path, owned by the order; else NULL */
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
int mailbox_order_fd(const struct mailbox *mailbox);	/* readable when an order waits */
void mailbox_clear_order_fd(struct mailbox *mailbox);	/* call it before taking orders */
void mailbox_wake_orders(struct mailbox *mailbox);	/* any thread; wakes the ingest thread by mailbox_order_fd */

/* ---- from the ingest thread ---- */

/* Any thread. If too many messages wait, the oldest is dropped. */
void mailbox_message(struct mailbox *mailbox, const struct session_message *message);

bool mailbox_take_message(struct mailbox *mailbox, struct session_message *message);	/* false: there is none */
int mailbox_message_fd(const struct mailbox *mailbox);	/* readable when a message waits */
void mailbox_clear_message_fd(struct mailbox *mailbox);	/* call it before taking messages */

/* ---- for subscription.c: the one lock, held for a few assignments ---- */

void mailbox_lock(struct mailbox *mailbox);
void mailbox_unlock(struct mailbox *mailbox);

#endif
