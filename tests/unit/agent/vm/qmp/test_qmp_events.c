/* SPDX-License-Identifier: MIT */
/* What QEMU says by itself: events, many values, lines without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "tests/unit/fakes/scratch.h"
#include "fake_connection.h"

enum { STEPS = 60000 };			/* of a millisecond: the longest wait for anything */

/* Steps until the awaited state comes, or too many steps were made. */
static enum vm_state await_state(struct qmp *qmp, enum vm_state wanted)
{
	for (int i = 0; i < STEPS && qmp_state(qmp) != wanted; i++) {
		struct pollfd ready = { .fd = qmp_fd(qmp), .events = POLLIN };

		poll(&ready, 1, 10);
		qmp_step(qmp, util_now());
	}
	return qmp_state(qmp);
}

static void test_events_tell_the_state(void **state)
{
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine });
	struct qmp *qmp = connect_fake(fake);

	(void)state;
	fake_qmp_say(fake, "{\"event\": \"STOP\"}\r\n");
	assert_int_equal(await_state(qmp, VM_PAUSED), VM_PAUSED);
	fake_qmp_say(fake, "{\"event\": \"RESET\"}\r\n{\"event\": \"RESUME\"}\r\n");
	assert_int_equal(await_state(qmp, VM_RUNNING), VM_RUNNING);
	assert_int_equal(qmp_resets(qmp), 1);
	fake_qmp_say(fake, "{\"event\": \"SHUTDOWN\"}\r\n");
	assert_int_equal(await_state(qmp, VM_SHUTDOWN), VM_SHUTDOWN);
	fake_qmp_say(fake, "{\"event\": \"STOP\"}\r\n{\"event\": \"X\"}\r\n");
	fake_qmp_say(fake, "{\"event\": \"GUEST_PANICKED\"}\r\n");
	assert_int_equal(await_state(qmp, VM_PANICKED), VM_PANICKED);
	fake_qmp_say(fake, "{\"event\": \"STOP\"}\r\n{\"event\": \"SHUTDOWN\"}\r\n"
		"{\"event\": \"RESET\"}\r\n");
	/* After a reset, the machine is asked whether it runs: no event has said so. The answer may come at once. */
	assert_int_equal(await_state(qmp, VM_RUNNING), VM_RUNNING);
	assert_int_equal(qmp_resets(qmp), 2);
	fake_qmp_hang_up(fake);
	assert_int_equal(await_state(qmp, VM_GONE), VM_GONE);
	assert_false(qmp_step(qmp, util_now()));
	qmp_free(qmp);
	fake_qmp_free(fake);
}

/* An event with `count` values in its data. */
static char *event_with_values(const char *event, size_t count)
{
	char *text = util_alloc(64 + 2 * count), *to = text;

	to += sprintf(text, "{\"event\": \"%s\", \"data\": [0", event);
	for (size_t i = 1; i < count; i++)
		to = stpcpy(to, ",0");
	strcpy(to, "]}\n");
	return text;
}

/* Sends any length of text; the client reads in between. */
static void say_long(struct fake_qmp *fake, struct qmp *qmp, const char *text)
{
	char piece[8192 + 1];

	for (size_t size = strlen(text), at = 0; at < size; at += sizeof(piece) - 1) {
		snprintf(piece, sizeof(piece), "%.*s", (int)sizeof(piece) - 1, text + at);
		fake_qmp_say(fake, piece);
		assert_true(qmp_step(qmp, util_now()));
	}
}

/* A message may fit into a line, and still have too many values to be parsed. */
static void test_many_values(void **state)
{
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine });
	struct qmp *qmp = connect_fake(fake);
	char *many = event_with_values("STOP", 50000), *fewer = event_with_values("STOP", 45000);

	(void)state;
	say_long(fake, qmp, many);
	fake_qmp_say(fake, "{\"event\": \"RESET\"}\n");
	for (int i = 0; i < STEPS && qmp_resets(qmp) == 0; i++) {
		assert_int_equal(qmp_state(qmp), VM_RUNNING);
		usleep(1000);
		qmp_step(qmp, util_now());
	}
	assert_int_equal(qmp_resets(qmp), 1);
	for (int i = 0; i < STEPS && qmp_asked(qmp); i++) {	/* else the answer would come within the next line */
		loop_wait(qmp, 10);
		qmp_step(qmp, util_now());
	}
	say_long(fake, qmp, fewer);
	assert_int_equal(await_state(qmp, VM_PAUSED), VM_PAUSED);
	free(fewer);
	free(many);
	qmp_free(qmp);
	fake_qmp_free(fake);
}

static size_t peak_kib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (size_t)used.ru_maxrss;
}

/* A line of 100 MB takes no more memory than one that is taken. */
static void test_endless_line(void **state)
{
	enum { PIECE = 1 << 20, PIECES = 100, MOST_KIB = 30 << 10 };
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine });
	struct qmp *qmp = connect_fake(fake);
	char *piece = util_alloc(PIECE + 1);
	size_t before;

	(void)state;
	memset(piece, '[', PIECE);
	before = peak_kib();
	for (int i = 0; i < PIECES; i++)
		say_long(fake, qmp, piece);
	fake_qmp_say(fake, "\n{\"event\": \"STOP\"}\n");
	assert_int_equal(await_state(qmp, VM_PAUSED), VM_PAUSED);
	assert_in_range(peak_kib() - before, 0, MOST_KIB);
	free(piece);
	qmp_free(qmp);
	fake_qmp_free(fake);
}

static void test_keys(void **state)
{
	static const uint8_t chord[] = { 29, 56, 30 };
	static const int order[] = { 29, 56, 30, 30, 56, 29 };
	struct fake_qmp *fake = fake_qmp_new(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine });
	struct qmp *qmp = connect_fake(fake);
	const char *line, *at;

	(void)state;
	assert_false(qmp_send_keys(qmp, chord, 0));
	assert_true(qmp_send_keys(qmp, chord, 3));
	line = fake_qmp_wait(fake, "input-send-event");
	assert_non_null(line);
	at = line;
	for (int i = 0; i < 6; i++) {
		char *key = util_format("\"down\":%s,\"key\":{\"type\":\"number\",\"data\":%d}",
			i < 3 ? "true" : "false", order[i]);

		at = strstr(at, key);
		assert_non_null(at);
		at++;
		free(key);
	}
	qmp_free(qmp);
	fake_qmp_free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_tell_the_state),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
