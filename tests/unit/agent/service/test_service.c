/* SPDX-License-Identifier: MIT */
/* Control lines that other ktops give by way of a live one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/service/service.h"
#include "tests/unit/clock.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { STEPS = 200, TEXT = 512, LATE_MS = 60000 };

static struct service *serve(struct fixture *fixture)
{
	struct service *service = service_new(fixture->session, fixture->port, NULL);

	assert_non_null(service);
	return service;
}

static void step(struct fixture *fixture, struct service *service)
{
	fixture_step(fixture);
	service_step(service);
}

/* Another ktop, which gives this line. */
static int asks(const struct fixture *fixture, const char *line)
{
	char *path = control_socket_path(fixture->port, NULL);
	char *request = util_format("ctl" CONTROL_SEPARATOR "%s\n", line);
	int fd = unix_socket_connect_within(path, LATE_MS);

	assert_true(fd >= 0);
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	free(request);
	free(path);
	return fd;
}

/* What has been answered so far; "": nothing. */
static const char *answer(int fd, char text[TEXT])
{
	ssize_t got = recv(fd, text, TEXT - 1, MSG_DONTWAIT);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

static void await_answer(struct fixture *fixture, struct service *service, int fd, const char *expected)
{
	uint64_t late = util_now() + (uint64_t)LATE_MS * NS_PER_MS;
	char text[TEXT] = "";

	while (util_now() < late && !answer(fd, text)[0])
		step(fixture, service);
	if (!strstr(text, expected))
		fail_msg("not %s, but %s", expected, text);
	close(fd);
}

/* Each line waits until the guest is known: until then nobody would read it. */
static void test_before_the_guest_is_known(void **state)
{
	static const struct { const char *line, *reply; } rows[] = {
		{ "start", "started" }, { "stop", "stopped" }, { "rate 250", "rate 250" },
		{ "status", "on, sampler gdb" },
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
	struct fixture fixture = fixture_begin(NULL);
	struct service *service = serve(&fixture);
	int clients[ROWS];
	char text[TEXT];

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		clients[i] = asks(&fixture, rows[i].line);
		for (int j = 0; j < STEPS; j++)
			step(&fixture, service);
	}
	for (int i = 0; i < ROWS; i++)
		assert_string_equal(answer(clients[i], text), "");
	fixture_bring_up(&fixture);
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	for (int i = 0; i < ROWS; i++) {
		fixture_await_line(&fixture, rows[i].line);
		fake_guest_reply(fixture.guest, true, rows[i].reply);
	}
	for (int i = 0; i < ROWS; i++)
		await_answer(&fixture, service, clients[i], rows[i].reply);
	service_free(service);
	fixture_end(&fixture);
}

/* Some who asked are gone by then: their lines are not sent. */
static void test_one_who_waits_no_longer(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct service *service = serve(&fixture);
	int gone = asks(&fixture, "start"), stays;

	(void)state;
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	close(gone);
	stays = asks(&fixture, "status");
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	fixture_bring_up(&fixture);
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	fixture_await_line(&fixture, "status");
	fake_guest_reply(fixture.guest, true, "off");
	await_answer(&fixture, service, stays, "off");
	service_free(service);
	fixture_end(&fixture);
}

/* On a busy host a guest takes long; while its link gets on, its line is not given up. */
static void test_a_guest_that_is_slow(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct service *service = serve(&fixture);
	int client = asks(&fixture, "status");
	char text[TEXT];

	(void)state;
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	clock_pass(14 * NS_PER_SECOND);
	fake_guest_beat(fixture.guest, 0);
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	clock_pass(14 * NS_PER_SECOND);
	step(&fixture, service);
	assert_string_equal(answer(client, text), "");
	fixture_bring_up(&fixture);
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	fixture_await_line(&fixture, "status");
	fake_guest_reply(fixture.guest, true, "off");
	await_answer(&fixture, service, client, "off");
	service_free(service);
	fixture_end(&fixture);
}

static void test_a_guest_that_stays_away(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct service *service = serve(&fixture);
	int client = asks(&fixture, "status");

	(void)state;
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	clock_pass(15 * NS_PER_SECOND);
	await_answer(&fixture, service, client, "the guest has told nothing of itself in 15 s: ");
	service_free(service);
	fixture_end(&fixture);
}

static const struct fake_answer paused[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"paused\"}" },
	{ "query-cpus-fast", "\"return\": [{}, {}]" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

static void test_a_paused_machine(void **state)
{
	const char *path = scratch_path("paused.qmp");
	struct fake_qmp *qmp = fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = paused }, path);
	struct fixture fixture = fixture_begin_qmp(path);
	struct service *service = serve(&fixture);

	(void)state;
	fixture_bring_up(&fixture);
	for (int i = 0; i < STEPS; i++)
		step(&fixture, service);
	await_answer(&fixture, service, asks(&fixture, "start"), "not sent: the VM is paused; let it run first");
	assert_string_equal(fixture.guest->lines, "");
	service_free(service);
	fixture_end(&fixture);
	fake_qmp_free(qmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_the_guest_is_known),
		cmocka_unit_test(test_one_who_waits_no_longer),
		cmocka_unit_test(test_a_guest_that_is_slow),
		cmocka_unit_test(test_a_guest_that_stays_away),
		cmocka_unit_test(test_a_paused_machine),
	};

	mkdir(scratch_path("runtime"), 0700);
	setenv("XDG_RUNTIME_DIR", scratch_path("runtime"), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
