/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/base/util.h"
#include "agent/vm/port_socket.h"
#include "commands.h"

enum { WAITING_MAX = 256 };

struct waiting {
	struct command_sink sink;
	uint64_t since;			/* when it was sent, or when the guest last answered; ns of util_now */
	bool hello;			/* the line is hello, and was sent behind an echo: see is_foreign */
	uint32_t number;		/* the number in that echo */
	bool ours;			/* the echo has come back, or the hook is too old to know it */
	bool passed;			/* a foreign answer was passed over: the guest does answer */
};

struct commands {
	struct waiting waiting[WAITING_MAX];	/* oldest first */
	size_t count;
	uint32_t number;		/* of the last hello; starts at random, so that two ktops differ */
};

struct commands *commands_new(void)
{
	struct commands *commands = util_alloc(sizeof(*commands));

	if (getrandom(&commands->number, sizeof(commands->number), GRND_NONBLOCK) < 0)
		commands->number = (uint32_t)util_now();
	return commands;
}

void commands_free(struct commands *commands)
{
	free(commands);
}

static void answer(struct command_sink sink, bool ok, const char *text)
{
	if (sink.answered)
		sink.answered(sink.context, ok, text);
}

static bool is_line(const char *line)
{
	size_t size = strlen(line);

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			return false;
	return size > strspn(line, " ") && size <= COMMANDS_LINE_MAX;
}

void commands_send(struct commands *commands, struct port_socket *socket, const char *line,
	struct command_sink sink, uint64_t now)
{
	bool hello = strcmp(line, "hello") == 0;
	char *bytes = hello ? util_format("echo %" PRIu32 "\nhello\n", ++commands->number) :
		util_format("%s\n", line);

	if (!is_line(line))
		answer(sink, false, "not sent: not a control line; `ktop ctl help` lists them");
	else if (!socket)
		answer(sink, false, "not sent: ktop is not connected to the guest's port; try again when "
			"it is");
	else if (commands->count == WAITING_MAX)
		answer(sink, false, "not sent: too many lines wait for the guest; try again when it has "
			"answered");
	else if (!port_socket_send(socket, bytes, strlen(bytes)) && !port_socket_is_gone(socket))
		answer(sink, false, "not sent: the guest's port takes no more lines; try again when the "
			"guest reads them");
	else
		commands->waiting[commands->count++] = (struct waiting) {
			.sink = sink,
			.since = now,
			.hello = hello,
			.number = commands->number,
		};
	free(bytes);
}

/* A sink may send the next line from inside its call, so the queue is put in order first. */
static void finish_first(struct commands *commands, bool ok, const char *text)
{
	struct command_sink sink = commands->waiting[0].sink;

	commands->count--;
	memmove(commands->waiting, commands->waiting + 1,
		commands->count * sizeof(commands->waiting[0]));
	answer(sink, ok, text);
}

/* The answer to the echo before this hello. A hook that does not know echo answers with its usage. */
static bool is_echo(const struct waiting *waiting, bool ok, const char *text)
{
	char *echo = util_format("echo %" PRIu32, waiting->number);
	bool same = ok && strcmp(text, echo) == 0;

	free(echo);
	return same || (!ok && strncmp(text, "usage: ", 7) == 0);
}

/*
 * True: the answer is to be passed over. An earlier ktop may have left lines in the port that the guest reads only now,
 * and nobody waits for their answers. The answer to our echo shows where they end; it is passed over, too.
 */
static bool is_foreign(struct commands *commands, bool ok, const char *text)
{
	struct waiting *first = commands->waiting;
	bool before;

	if (!commands->count || !first->hello)
		return false;
	before = !first->ours;
	first->ours = first->ours || is_echo(first, ok, text);
	return before || strcmp(text, "hello") != 0;
}

void commands_reply(struct commands *commands, bool ok, const char *bytes, size_t size)
{
	char *text = util_printable_lines(bytes, size);

	for (size_t i = 0; i < commands->count; i++)
		commands->waiting[i].since = util_now();
	if (is_foreign(commands, ok, text))
		commands->waiting[0].passed = true;
	else if (commands->count)
		finish_first(commands, ok, text);
	free(text);
}

bool commands_unanswered(const char *text)
{
	return strncmp(text, "not sent: ", 10) == 0 || strncmp(text, "no answer: ", 11) == 0;
}

bool commands_wait(const struct commands *commands)
{
	return commands->count > 0;
}

static bool is_late(const struct commands *commands, size_t line, uint64_t now)
{
	return commands->waiting[line].since + (uint64_t)COMMANDS_ANSWER_MS * NS_PER_MS <= now;
}

bool commands_hope(const struct commands *commands, uint64_t now)
{
	return commands->count > 0 && !is_late(commands, commands->count - 1, now);
}

/*
 * A line that has expired keeps its place in the queue: its answer may still come, and must not be taken for that of
 * the next line. An expired hello goes on passing over foreign answers if the guest has answered nothing at all, for
 * it may only have stood still. If the guest did answer other lines, the hello is lost and passes over nothing more.
 */
void commands_expire(struct commands *commands, uint64_t now)
{
	for (size_t i = 0; i < commands->count; i++) {
		struct command_sink sink = commands->waiting[i].sink;

		if (!is_late(commands, i, now))
			continue;
		commands->waiting[i].sink = (struct command_sink) { 0 };
		commands->waiting[i].hello = commands->waiting[i].hello && !commands->waiting[i].passed;
		answer(sink, false, "no answer: the guest is silent; does it run, and does its "
			"kernel call ktop_drain?");
	}
}

void commands_drop(struct commands *commands, const char *why)
{
	for (size_t left = commands->count; left > 0; left--)
		finish_first(commands, false, why);
}

void commands_forget(struct commands *commands, const void *context)
{
	for (size_t i = 0; i < commands->count; i++)
		if (commands->waiting[i].sink.context == context)
			commands->waiting[i].sink = (struct command_sink) { 0 };
}
