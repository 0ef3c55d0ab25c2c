/* SPDX-License-Identifier: MIT */
/*
 * The control lines that were sent to the guest and wait for their answers. The guest answers in the order in which
 * the lines were sent. Times are ns of util_now. Ingest thread.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commands;
struct port_socket;

enum { COMMANDS_LINE_MAX = 255, COMMANDS_ANSWER_MS = 3000 };

/* Who is told of an answer. `text` is printable, and lives for the call only. */
struct command_sink {
	void *context;
	void (*answered)(void *context, bool ok, const char *text);	/* NULL: nobody is told */
};

struct commands *commands_new(void);
void commands_free(struct commands *commands);	/* calls no sink */

/*
 * Sends a line of at most COMMANDS_LINE_MAX bytes. `socket` NULL: there is no connection, and the line fails. If it
 * turns out to be lost, the line waits for commands_drop. The sink is called once, perhaps from inside this call: with
 * the guest's answer, or with why there is none. In front of "hello" goes an "echo" with a number of our own, so that
 * answers to an earlier ktop's lines are not taken for ours.
 */
void commands_send(struct commands *commands, struct port_socket *socket, const char *line,
	struct command_sink sink, uint64_t now);

void commands_reply(struct commands *commands, bool ok, const char *bytes, size_t size);	/* one answer came */
bool commands_unanswered(const char *text);	/* the sink got this text because the guest did not answer */
bool commands_wait(const struct commands *commands);	/* an answer is still to come */
bool commands_hope(const struct commands *commands, uint64_t now);	/* and it is not late yet */
void commands_expire(struct commands *commands, uint64_t now);	/* fails lines after COMMANDS_ANSWER_MS of silence */
void commands_drop(struct commands *commands, const char *why);	/* fails all: the connection is gone */

/* Sinks with this context are not called any more. */
void commands_forget(struct commands *commands, const void *context);

#endif
