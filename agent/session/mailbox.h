/* SPDX-License-Identifier: MIT */
/*
 * What crosses between the ingest thread and the others, under one short lock: orders one way, messages the
 * other; and what is asked and answered, which subscription.c keeps. Nobody waits for anybody.
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
	char *text;			/* path, owned by the order */
	struct excerpt excerpt;		/* ORDER_SNAPSHOT: of what */
	struct export_choice choice;	/* ORDER_SNAPSHOT */
	struct play play;		/* ORDER_PLAY */
};

struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *mailbox);

/* ---- to the ingest thread ---- */

void mailbox_order(struct mailbox *mailbox, const struct order *order);	/* takes the text */

bool mailbox_take_order(struct mailbox *mailbox, struct order *order);
int mailbox_order_fd(const struct mailbox *mailbox);	/* readable when there is any */
void mailbox_clear_order_fd(struct mailbox *mailbox);	/* before taking */
void mailbox_ring_orders(struct mailbox *mailbox);	/* readable: the rest is taken later, or more is wanted */

/* ---- from the ingest thread ---- */

void mailbox_message(struct mailbox *mailbox, const struct session_message *message);

bool mailbox_take_message(struct mailbox *mailbox, struct session_message *message);
int mailbox_news_fd(const struct mailbox *mailbox);	/* readable when there is an answer or a message */
void mailbox_ring_news(struct mailbox *mailbox);
void mailbox_clear_news_fd(struct mailbox *mailbox);	/* before taking */

/* ---- for subscription.c: the one lock, held for a few assignments ---- */

void mailbox_lock(struct mailbox *mailbox);
void mailbox_unlock(struct mailbox *mailbox);

#endif
