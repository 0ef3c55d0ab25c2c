/* SPDX-License-Identifier: MIT */
/* Control lines that went to the guest and wait for their answers, which come in the same order. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct commands;
struct port_socket;

enum { COMMANDS_LINE_MAX = 79, COMMANDS_ANSWER_MS = 3000 };

/* Who wants to know how it went. `text` is printable, and good for the call only. */
struct command_sink {
	void *context;
	void (*answered)(void *context, bool ok, const char *text);	/* NULL: nobody does */
};

struct commands *commands_new(void);
void commands_free(struct commands *commands);

/* Sends a line. The sink is called once: with the guest's answer, or with why there is none. */
void commands_send(struct commands *commands, struct port_socket *socket, const char *line,
	struct command_sink sink, uint64_t now);

void commands_reply(struct commands *commands, bool ok, const char *bytes, size_t size);
bool commands_unanswered(const char *text);	/* that is why there is no answer: none of the guest's */
bool commands_wait(const struct commands *commands);	/* an answer is still to come */
void commands_expire(struct commands *commands, uint64_t now);
void commands_drop(struct commands *commands, const char *why);	/* the connection is gone */

/* The sinks that have this context are not called. */
void commands_forget(struct commands *commands, const void *context);

#endif
