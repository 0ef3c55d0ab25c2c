/* SPDX-License-Identifier: MIT */
/*
 * What crosses between the ingest thread and the others, under one short lock: wishes and orders
 * one way, pictures and messages the other. Nobody waits for anybody.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <stdbool.h>

#include "agent/export/export.h"
#include "agent/source/play.h"
#include "wish.h"

struct mailbox;
struct picture;

struct order {
	enum order_kind { ORDER_PROFILER, ORDER_SNAPSHOT, ORDER_PLAY } kind;
	bool on;			/* ORDER_PROFILER */
	char *text;			/* path, owned by the order */
	struct export_choice choice;	/* ORDER_SNAPSHOT */
	struct play play;		/* ORDER_PLAY */
};

struct mailbox *mailbox_new(void);
void mailbox_free(struct mailbox *mailbox);

/* ---- to the ingest thread ---- */

void mailbox_wish(struct mailbox *mailbox, const struct session_wish *wish);
void mailbox_order(struct mailbox *mailbox, const struct order *order);	/* takes the text */

bool mailbox_take_wish(struct mailbox *mailbox, struct session_wish *wish);	/* or false */
bool mailbox_take_order(struct mailbox *mailbox, struct order *order);
int mailbox_order_fd(const struct mailbox *mailbox);	/* readable when there is any */
void mailbox_clear_order_fd(struct mailbox *mailbox);	/* before taking */
void mailbox_ring_orders(struct mailbox *mailbox);	/* readable: the rest is taken later */

/* ---- from the ingest thread ---- */

void mailbox_picture(struct mailbox *mailbox, struct picture *picture);	/* takes it */
void mailbox_message(struct mailbox *mailbox, const struct session_message *message);

struct picture *mailbox_take_picture(struct mailbox *mailbox);
bool mailbox_take_message(struct mailbox *mailbox, struct session_message *message);
int mailbox_picture_fd(const struct mailbox *mailbox);

#endif
