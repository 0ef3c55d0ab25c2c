/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/wakeup.h"
#include "agent/base/util.h"
#include "mailbox.h"

enum { ORDERS_MAX = 1024, MESSAGES_MAX = 16 };

struct mailbox {
	pthread_mutex_t lock;		/* guards all below but the wakeups, and the fields that subscription.c names */
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

int mailbox_order_fd(const struct mailbox *mailbox)
{
	return wakeup_fd(mailbox->orders_wait);
}

void mailbox_wake_orders(struct mailbox *mailbox)
{
	wakeup_send(mailbox->orders_wait);
}

void mailbox_clear_order_fd(struct mailbox *mailbox)
{
	wakeup_clear(mailbox->orders_wait);
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

int mailbox_message_fd(const struct mailbox *mailbox)
{
	return wakeup_fd(mailbox->messages_wait);
}

void mailbox_clear_message_fd(struct mailbox *mailbox)
{
	wakeup_clear(mailbox->messages_wait);
}

void mailbox_lock(struct mailbox *mailbox)
{
	pthread_mutex_lock(&mailbox->lock);
}

void mailbox_unlock(struct mailbox *mailbox)
{
	pthread_mutex_unlock(&mailbox->lock);
}
