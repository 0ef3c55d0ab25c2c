/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

static void on_request(void *context, unsigned client, char *const *words, size_t count)
{
	(void)context;
	(void)client;
	(void)words;
	(void)count;
}

struct seen {
	int hurries, ends;
};

static void on_hurry(void *context, unsigned client)
{
	(void)client;
	((struct seen *)context)->hurries++;
}

static void on_gone(void *context, unsigned client)
{
	(void)client;
	((struct seen *)context)->ends++;
}

static uint64_t now = 1;

static const struct control_sink sink = { .request = on_request };

/* The path of the control socket for a VM with this name; its folder is the test's own. */
static char *path_of(const char *vm)
{
	char *error = NULL, *path = control_socket_path(scratch_text(vm, ""), &error);

	if (!path)
		fail_msg("%s", error);
	return path;
}

static int bound(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Leaves what a killed ktop leaves: a socket at which nobody listens. */
static void leave_dead(const char *path)
{
	close(bound(path));
	assert_int_equal(access(path, F_OK), 0);
}

static void test_the_dead_are_not_asked_and_go(void **state)
{
	char *mine = path_of("mine"), *other = path_of("other"), *error = NULL, *found;
	struct control_socket *control;

	(void)state;
	leave_dead(mine);
	leave_dead(other);
	assert_null(control_client_find(scratch_path("mine")));
	assert_null(control_client_find(NULL));
	control = control_socket_new(mine, &sink, &error);
	if (!control)
		fail_msg("%s", error);
	assert_int_equal(access(other, F_OK), -1);
	found = control_client_find(NULL);
	assert_string_equal(found, mine);
	free(found);
	control_socket_free(control);
	assert_int_equal(access(mine, F_OK), -1);
	free(mine);
	free(other);
}

static void test_the_living_are_left_alone(void **state)
{
	char *mine = path_of("mine"), *other = path_of("other"), *error = NULL, *found;
	struct control_socket *control = control_socket_new(mine, &sink, &error);
	struct control_socket *beside = control_socket_new(other, &sink, &error);

	(void)state;
	assert_non_null(control);
	assert_non_null(beside);
	assert_null(control_socket_new(mine, &sink, &error));
	assert_non_null(strstr(error, "another ktop serves this VM"));
	free(error);
	found = control_client_find(scratch_path("mine"));
	assert_string_equal(found, mine);
	free(found);
	assert_null(control_client_find(NULL));		/* there are two: which is meant is not known */
	control_socket_free(control);
	control_socket_free(beside);
	free(mine);
	free(other);
}

/* The answer that a client gets from a live ktop that sends these bytes and ends. NULL: an error, which is checked. */
static char *hear(const char *sent, bool *ok)
{
	const char *path = scratch_path("speaker");
	char *words[] = { (char[]) { "ctl" } }, *error = NULL, *text, request[8];
	int listener = bound(path), fd, status;
	size_t size;
	pid_t speaker;

	assert_int_equal(listen(listener, 1), 0);
	speaker = fork();
	if (speaker == 0) {
		fd = accept(listener, NULL, NULL);
		_exit(recv(fd, request, sizeof(request), 0) != 4 || write(fd, sent, strlen(sent)) < 0);
	}
	text = control_client_ask(path, &(struct control_question) { .words = words, .count = 1,
		.deadline = UINT64_MAX }, ok, &size, &error);
	assert_int_equal(waitpid(speaker, &status, 0), speaker);
	assert_int_equal(status, 0);
	assert_int_equal(text ? strlen(text) : 0, text ? size : 0);
	assert_true(text || strstr(error, "gave no answer, or only a part"));
	free(error);
	close(listener);
	unlink(path);
	return text;
}

static void test_half_an_answer_is_none(void **state)
{
	bool ok = false;
	char *text = hear("ok 5\nwhole", &ok);

	(void)state;
	assert_string_equal(text, "whole");
	assert_true(ok);
	free(text);
	text = hear("failed 4\nwhy\n", &ok);
	assert_string_equal(text, "why\n");
	assert_false(ok);
	free(text);
	assert_null(hear("ok 5\nwhol", &ok));
	assert_null(hear("ok 5\n", &ok));
	assert_null(hear("ok 5", &ok));
	assert_null(hear("ok\nwhole", &ok));
	assert_null(hear("", &ok));
}

static int asks(struct control_socket *control)
{
	int fd = unix_socket_connect(control_socket_at(control));

	assert_int_equal(send(fd, "ctl\n", 4, 0), 4);
	for (int i = 0; i < 3; i++)
		control_socket_step(control, now);
	return fd;
}

/* A client that closes its side for writing gets its answer now. A client that closes altogether gets none. */
static void test_a_hurry_is_no_end(void **state)
{
	char *mine = path_of("mine"), *error = NULL, text[16] = "";
	struct seen seen = { 0 };
	const struct control_sink counts = {
		.context = &seen, .request = on_request, .hurried = on_hurry, .gone = on_gone,
	};
	struct control_socket *control = control_socket_new(mine, &counts, &error);
	int fd;

	(void)state;
	assert_non_null(control);
	fd = asks(control);
	assert_int_equal(seen.hurries, 0);
	shutdown(fd, SHUT_WR);
	control_socket_step(control, now);
	control_socket_step(control, now);
	assert_int_equal(seen.hurries, 1);
	control_socket_answer(control, 0, true, "so far", 6);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, MSG_WAITALL), 11);
	assert_string_equal(text, "ok 6\nso far");
	close(fd);
	assert_int_equal(seen.ends, 0);
	close(asks(control));
	control_socket_step(control, now);
	assert_int_equal(seen.ends, 1);
	assert_int_equal(seen.hurries, 1);
	assert_true(control_socket_idle(control));
	control_socket_free(control);
	free(mine);
}

static void answer_one(void *context, unsigned client, char *const *words, size_t count)
{
	(void)count;
	control_socket_answer(*(struct control_socket **)context, client, true, words[0],
		strlen(words[0]));
}

/* Many clients come while the live ktop is busy. None is refused, and each gets its answer. */
static void test_many_at_once(void **state)
{
	enum { MANY = 200 };
	char *mine = path_of("mine"), *error = NULL;
	struct control_socket *control;
	const struct control_sink answers = { .context = &control, .request = answer_one };
	int fds[MANY], left = MANY;

	(void)state;
	control = control_socket_new(mine, &answers, &error);
	assert_non_null(control);
	for (int i = 0; i < MANY; i++) {
		fds[i] = unix_socket_connect_within(mine, 10000);
		assert_true(fds[i] >= 0);
		assert_int_equal(send(fds[i], "word\n", 5, 0), 5);
	}
	for (int step = 0; step < MANY && left; step++) {
		control_socket_step(control, now);
		for (int i = 0; i < MANY; i++) {
			char text[16] = "";

			if (fds[i] < 0 || recv(fds[i], text, sizeof(text) - 1, MSG_DONTWAIT) <= 0)
				continue;
			assert_string_equal(text, "ok 4\nword");
			close(fds[i]);
			fds[i] = -1;
			left--;
		}
	}
	assert_int_equal(left, 0);
	control_socket_free(control);
	free(mine);
}

/* Silent clients take all places. After a while they are told, and lose them, and the next client is answered. */
static void test_the_silent_lose_their_places(void **state)
{
	char *mine = path_of("mine"), *error = NULL, text[256] = "";
	struct control_socket *control;
	const struct control_sink answers = { .context = &control, .request = answer_one };
	int silent[CONTROL_CLIENTS], fd;

	(void)state;
	control = control_socket_new(mine, &answers, &error);
	assert_non_null(control);
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		silent[i] = unix_socket_connect_within(mine, 10000);
		assert_true(silent[i] >= 0);
		control_socket_step(control, now);
	}
	assert_int_equal(send(silent[0], "wor", 3, 0), 3);
	fd = unix_socket_connect_within(mine, 10000);
	assert_int_equal(send(fd, "word\n", 5, 0), 5);
	now += CONTROL_PATIENCE_MS * NS_PER_MS - 1;
	control_socket_step(control, now);
	assert_int_equal(recv(silent[1], text, sizeof(text) - 1, MSG_DONTWAIT), -1);
	for (int i = 0; i < 3; i++)
		control_socket_step(control, ++now);
	assert_true(recv(silent[1], text, sizeof(text) - 1, MSG_DONTWAIT) > 0);
	assert_non_null(strstr(text, "no whole request came"));
	assert_int_equal(recv(silent[1], text, sizeof(text) - 1, MSG_DONTWAIT), 0);
	assert_int_equal(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 9);
	assert_memory_equal(text, "ok 4\nword", 9);
	assert_int_equal(send(silent[0], "d\n", 2, 0), 2);	/* this client completes its request in time */
	control_socket_step(control, now);
	assert_int_equal(recv(silent[0], text, sizeof(text) - 1, MSG_DONTWAIT), 9);
	assert_true(control_socket_idle(control));
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		close(silent[i]);
	close(fd);
	control_socket_free(control);
	free(mine);
}

static char much[4 << 20];

static void answer_much(void *context, unsigned client, char *const *words, size_t count)
{
	(void)words, (void)count;
	control_socket_answer(*(struct control_socket **)context, client, true, much, sizeof(much));
}

/* The same with a client that does not take its answer. While its answer is being made, a client keeps its place. */
static void test_who_does_not_listen_loses_its_place(void **state)
{
	char *mine = path_of("mine"), *error = NULL;
	struct control_socket *control;
	const struct control_sink answers = { .context = &control, .request = answer_much };
	struct seen seen = { 0 };
	const struct control_sink counts = { .context = &seen, .request = on_request, .gone = on_gone };
	int fd;

	(void)state;
	control = control_socket_new(mine, &answers, &error);
	fd = asks(control);
	assert_false(control_socket_idle(control));
	now += CONTROL_PATIENCE_MS * NS_PER_MS;
	control_socket_step(control, now);
	assert_true(control_socket_idle(control));
	close(fd);
	control_socket_free(control);
	control = control_socket_new(mine, &counts, &error);
	fd = asks(control);
	now += 10 * CONTROL_PATIENCE_MS * NS_PER_MS;
	control_socket_step(control, now);
	control_socket_answer(control, 0, true, much, sizeof(much));
	control_socket_step(control, now);
	assert_false(control_socket_idle(control));
	now += CONTROL_PATIENCE_MS * NS_PER_MS;
	control_socket_step(control, now);
	assert_true(control_socket_idle(control));
	assert_int_equal(seen.ends, 0);
	close(fd);
	control_socket_free(control);
	free(mine);
}

static void answer_as_asked(void *context, unsigned client, char *const *words, size_t count)
{
	(strcmp(words[0], "much") == 0 ? answer_much : answer_one)(context, client, words, count);
}

/* Clients who take nothing of long answers hold up nobody: each other client has its answer after one step. */
static void test_who_does_not_listen_slows_nobody(void **state)
{
	enum { STUCK = 20 };
	char *mine = path_of("mine"), *error = NULL, text[16];
	struct control_socket *control;
	const struct control_sink answers = { .context = &control, .request = answer_as_asked };
	int stuck[STUCK], fd;

	(void)state;
	control = control_socket_new(mine, &answers, &error);
	for (int i = 0; i < STUCK; i++) {
		stuck[i] = unix_socket_connect_within(mine, 10000);
		assert_int_equal(send(stuck[i], "much\n", 5, 0), 5);
		fd = unix_socket_connect_within(mine, 10000);
		assert_int_equal(send(fd, "word\n", 5, 0), 5);
		control_socket_step(control, now);
		assert_int_equal(recv(fd, text, sizeof(text), MSG_DONTWAIT), 9);
		assert_memory_equal(text, "ok 4\nword", 9);
		close(fd);
	}
	for (int i = 0; i < STUCK; i++)
		close(stuck[i]);
	control_socket_free(control);
	free(mine);
}

/* A VM that was started anew has another socket at the same path. The service is found by the new one. */
static void test_service_follows_its_vm(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	char *vm = util_format("%s", scratch_text("vm", "")), *error = NULL, *before, *after, *found;
	struct service *service = service_new(fixture.session, vm, &error);

	(void)state;
	if (!service)
		fail_msg("%s", error);
	before = path_of("vm");
	scratch_text("held", "");		/* takes the old inode, so that the next file has another */
	assert_int_equal(rename(scratch_text("next", ""), vm), 0);
	after = control_socket_path(vm, &error);
	assert_string_not_equal(before, after);
	for (int i = 0; i < FIXTURE_STEPS && access(after, F_OK) != 0; i++) {
		fixture_step(&fixture);
		service_step(service);
	}
	found = control_client_find(vm);
	assert_string_equal(found, after);
	assert_int_equal(access(before, F_OK), -1);
	service_free(service);
	assert_int_equal(access(after, F_OK), -1);
	fixture_end(&fixture);
	free(found);
	free(before);
	free(after);
	free(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_dead_are_not_asked_and_go),
		cmocka_unit_test(test_the_living_are_left_alone),
		cmocka_unit_test(test_half_an_answer_is_none),
		cmocka_unit_test(test_a_hurry_is_no_end),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_the_silent_lose_their_places),
		cmocka_unit_test(test_who_does_not_listen_loses_its_place),
		cmocka_unit_test(test_who_does_not_listen_slows_nobody),
		cmocka_unit_test(test_service_follows_its_vm),
	};

	setenv("XDG_RUNTIME_DIR", (scratch_path("."), scratch_folder), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
