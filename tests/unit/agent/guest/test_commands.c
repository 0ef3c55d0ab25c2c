/* SPDX-License-Identifier: MIT */
/* Which answer belongs to which line, if the guest stood still or another ktop has asked before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/vm/port_socket.h"

enum { ANSWERS_MAX = 8 };

struct world {
	struct commands *commands;
	struct port_socket *socket;
	int guest;
	char *answers[ANSWERS_MAX];
	int count;
};

static struct world begin(void)
{
	struct world world = { .commands = commands_new() };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	world.socket = port_socket_from_fd(ends[0]);
	world.guest = ends[1];
	return world;
}

static void end(struct world *world)
{
	for (int i = 0; i < world->count; i++)
		free(world->answers[i]);
	commands_free(world->commands);
	port_socket_free(world->socket);
	close(world->guest);
}

static void keep(void *context, bool ok, const char *text)
{
	struct world *world = context;

	(void)ok;
	assert_in_range(world->count, 0, ANSWERS_MAX - 1);
	world->answers[world->count++] = util_copy(text, strlen(text));
}

static void send_line(struct world *world, const char *line)
{
	const struct command_sink sink = { .context = world, .answered = keep };

	commands_send(world->commands, world->socket, line, sink, util_now());
}

static void reply(struct world *world, const char *text)
{
	commands_reply(world->commands, true, text, strlen(text));
}

static void refuse(struct world *world, const char *text)
{
	commands_reply(world->commands, false, text, strlen(text));
}

/* Reads what the guest got so far, and takes the echo line from it, without its newline. */
static void read_echo(struct world *world, char echo[64])
{
	char lines[256] = "";
	char *end;

	assert_true(recv(world->guest, lines, sizeof(lines) - 1, MSG_DONTWAIT) > 0);
	end = strchr(lines, '\n');
	assert_non_null(end);
	assert_string_equal(end, "\nhello\n");
	assert_memory_equal(lines, "echo ", 5);
	*end = '\0';
	assert_in_range(strlen(lines), 6, 15);
	strcpy(echo, lines);
}

static void wait_in_vain(struct world *world)
{
	uint64_t late = util_now() + (COMMANDS_ANSWER_MS + 1000) * NS_PER_MS;

	assert_true(commands_hope(world->commands, util_now()));
	assert_false(commands_hope(world->commands, late));
	commands_expire(world->commands, late);
	assert_true(commands_wait(world->commands));
}

static void check_last(const struct world *world, const char *part)
{
	assert_true(world->count > 0);
	assert_non_null(strstr(world->answers[world->count - 1], part));
}

/* The guest reads the lines of an earlier ktop and then ours, long after all of them have expired. */
static void test_guest_that_stood_still(void **state)
{
	struct world world = begin();
	char echo[64];

	(void)state;
	send_line(&world, "hello");
	read_echo(&world, echo);
	wait_in_vain(&world);
	check_last(&world, "no answer");
	send_line(&world, "status");
	reply(&world, "rate 997");
	reply(&world, "stopped");
	reply(&world, "echo 1");
	reply(&world, "hello");			/* to the earlier ktop's hello */
	reply(&world, "on, sampler timer");
	assert_int_equal(world.count, 1);
	reply(&world, echo);
	assert_int_equal(world.count, 1);
	reply(&world, "hello");
	reply(&world, "off, sampler timer");
	assert_int_equal(world.count, 2);
	check_last(&world, "off, sampler timer");
	end(&world);
}

/* The hook is too old to know the echo, and refuses it. */
static void test_hook_that_knows_no_echo(void **state)
{
	struct world world = begin();

	(void)state;
	send_line(&world, "hello");
	send_line(&world, "status");
	reply(&world, "stopped");
	refuse(&world, "usage: start | stop | hello | help");
	assert_int_equal(world.count, 0);
	reply(&world, "hello");
	reply(&world, "off, sampler timer");
	assert_int_equal(world.count, 2);
	check_last(&world, "off, sampler timer");
	end(&world);
}

/* Two ktops begin with different echoes: nothing else tells their answers apart. */
static void test_no_two_begin_alike(void **state)
{
	struct world one = begin(), other = begin();
	char first[64], second[64], third[64];

	(void)state;
	send_line(&one, "hello");
	send_line(&other, "hello");
	read_echo(&one, first);
	read_echo(&other, second);
	send_line(&one, "hello");
	read_echo(&one, third);
	assert_string_not_equal(first, second);
	assert_string_not_equal(first, third);
	end(&one);
	end(&other);
}

/* The guest answers every line but the hello. After a while its answers count all the same. */
static void test_hello_that_was_lost(void **state)
{
	struct world world = begin();

	(void)state;
	send_line(&world, "hello");
	reply(&world, "rate 997");
	wait_in_vain(&world);
	reply(&world, "late, or never meant");
	send_line(&world, "status");
	reply(&world, "off, sampler timer");
	check_last(&world, "off, sampler timer");
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guest_that_stood_still),
		cmocka_unit_test(test_hook_that_knows_no_echo),
		cmocka_unit_test(test_no_two_begin_alike),
		cmocka_unit_test(test_hello_that_was_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
