/* SPDX-License-Identifier: MIT */
/* What a session does for an order: it switches the profiler, sends control lines, answers another ktop. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

static void keep_text(void *context, bool ok, const char *text)
{
	char **kept = context;

	assert_false(ok);
	*kept = strdup(text);
}

/* The profiler is wanted before the guest is there. A screen's wish is kept, and says why; a report's fails. */
static void test_profiler_of_a_silent_guest(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	char *failed = NULL;
	const struct command_sink sink = { .context = &failed, .answered = keep_text };
	struct answers *answers;

	(void)state;
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	session_run_profiler(fixture.session, true);
	fixture_await_message(&fixture, false, "profiling starts when the guest answers: nothing is "
		"known of the guest: it has not opened the port; Linux: is ktop.ko loaded");
	answers = fixture_answers(&fixture);
	assert_int_equal(answers->vitals->kept, KEPT_ON);
	answers_free(answers);
	fixture_bring_up(&fixture);
	fixture_await_line(&fixture, "start");
	fake_guest_reply(fixture.guest, true, "started");
	fake_guest_status(fixture.guest, true);
	fixture_await_message(&fixture, false, "profiling on");
	answers = fixture_answers(&fixture);
	assert_int_equal(answers->vitals->kept, KEPT_NONE);
	answers_free(answers);
	fixture_end(&fixture);

	fixture = fixture_begin(NULL);
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	session_profile(fixture.session, true, &sink);
	for (int i = 0; i < FIXTURE_STEPS && !failed; i++)
		fixture_step(&fixture);
	assert_non_null(failed);
	assert_non_null(strstr(failed, "profiling not turned on: nothing is known of the guest: "
		"it has not opened the port; Linux: is ktop.ko loaded"));
	free(failed);
	fixture_end(&fixture);
}

static void test_profiler_by_port(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct answers *answers;

	(void)state;
	fixture_bring_up(&fixture);
	session_run_profiler(fixture.session, true);
	fixture_await_line(&fixture, "start");
	fake_guest_reply(fixture.guest, true, "started");
	answers = fixture_answers(&fixture);
	assert_false(answers->vitals->running);		/* an answer is not a status */
	answers_free(answers);
	fake_guest_status(fixture.guest, true);
	fixture_await_message(&fixture, false, "profiling on (by port: the guest takes no keys)");
	answers = fixture_answers(&fixture);
	assert_true(answers->vitals->running);
	answers_free(answers);

	session_run_profiler(fixture.session, false);
	fixture_await_line(&fixture, "stop");
	fake_guest_reply(fixture.guest, false, "no, today not");
	fixture_await_message(&fixture, true, "no, today not");
	fixture_end(&fixture);
}

/* The plugin knows what is traced. A key that comes too early, and a guest that does not answer, change nothing. */
static void test_functions(void **state)
{
	enum { HOT = 0x1200 };		/* of the kernel of the fixture */
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_message(&fixture, true, "no function: nothing is known of the guest: it has not opened the port");
	fixture_bring_up(&fixture);
	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_message(&fixture, true, "no function: nothing is traced while profiling is off; start it, then");
	fake_guest_status(fixture.guest, true);
	answers_free(fixture_answers(&fixture));
	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_message(&fixture, true, "no function: only ktop's plugin in QEMU traces functions of a kernel");
	fixture.guest->sampler = KTOP_OUTSIDE;
	fake_guest_status(fixture.guest, true);
	answers_free(fixture_answers(&fixture));
	session_trace_function(fixture.session, "cold", HOT + 1);
	fixture_await_message(&fixture, true, "no function: cold is not known to the file of the kernel");

	session_trace_function(fixture.session, "hot", HOT);
	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_line(&fixture, "function -1200");
	fixture_await_message(&fixture, true, "no function: the guest has still to answer for hot; again, then");
	fake_guest_reply(fixture.guest, false, "function: none that begins there is traced");
	fixture_await_line(&fixture, "events +function");
	fixture_await_line(&fixture, "function +1200 1300 hot");
	fake_guest_reply(fixture.guest, true, "+function");
	fake_guest_reply(fixture.guest, true, "function hot");
	fixture_await_message(&fixture, false, "hot is traced: Events has how often, and how long; again ends it");
	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_line(&fixture, "function -1200");
	fake_guest_reply(fixture.guest, true, "function");
	fixture_await_message(&fixture, false, "hot is no longer traced");

	session_trace_function(fixture.session, "hot", HOT);
	fixture_await_line(&fixture, "function -1200");
	packets_boot(fixture.guest->packets, 2);
	fixture.guest->clock = 0;
	fake_guest_facts(fixture.guest, NULL, 0);
	fixture_await_message(&fixture, true, "hot: not known whether it is traced: no answer: the guest ");
	fixture_end(&fixture);
}

/* The guest is asked to trace marks first, if it does not. What it answers is said, and why it was not asked. */
static void test_marks(void **state)
{
	static const struct {
		bool ok;
		const char *reply, *says;
	} tries[] = {
		{ true, "mark slow  disk", "marked: slow  disk" },
		{ false, "mark: too many texts: use one of before", "no mark: too many texts: use one of before" },
		{ false, "usage: start | stop | rate N", "no mark: the hook in this guest is older than marks; put a "
			"newer one there" },
		{ false, "usage: mark TEXT: an event", "no mark: usage: mark TEXT" },
	};
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	session_mark(fixture.session, "early");
	fixture_await_message(&fixture, true, "no mark: nothing is known of the guest: it has not opened the port; ");
	fixture_bring_up(&fixture);
	session_mark(fixture.session, "idle");
	fixture_await_message(&fixture, true, "no mark: nothing is traced while profiling is off; start it, then");
	fake_guest_status(fixture.guest, true);
	answers_free(fixture_answers(&fixture));
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		session_mark(fixture.session, "slow  disk");
		fixture_await_line(&fixture, "events +mark");
		fixture_await_line(&fixture, "mark slow  disk");
		fake_guest_reply(fixture.guest, i == 0, "whatever it says");
		fake_guest_reply(fixture.guest, tries[i].ok, tries[i].reply);
		fixture_await_message(&fixture, !tries[i].ok, tries[i].says);
	}
	fake_guest_traces(fixture.guest, KTOP_EVENT_mark, "mark");
	answers_free(fixture_answers(&fixture));
	session_mark(fixture.session, "a text that is by far longer than the sixty-three bytes that count");
	fixture_await_line(&fixture, "mark a text that is by far longer than the sixty-three bytes that co");
	fixture_end(&fixture);
}

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "query-cpus-fast", "\"return\": [{}, {}]" },
	{ "/machine/unattached",
		"\"return\": [{\"name\": \"device[9]\", \"type\": \"child<i8042>\"}]" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

static void test_profiler_by_key(void **state)
{
	const char *path = scratch_path("keys.qmp");
	struct fake_qmp *qmp = fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine }, path);
	struct fixture fixture = fixture_begin_qmp(path);

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_keys(fixture.guest);
	answers_free(fixture_answers(&fixture));
	session_run_profiler(fixture.session, true);
	fixture_step(&fixture);
	assert_non_null(fake_qmp_wait(qmp, "input-send-event"));
	fake_guest_status(fixture.guest, true);
	fixture_await_message(&fixture, false, "profiling on (by key)");

	/* The guest hears no key, so a line on the port follows. */
	session_run_profiler(fixture.session, false);
	fixture_await_line(&fixture, "stop");
	fake_guest_status(fixture.guest, false);
	fixture_await_message(&fixture, false, "profiling off (by port: the key did not arrive)");
	fixture_end(&fixture);
	fake_qmp_free(qmp);
}

struct obedient {			/* a guest that obeys in a thread of its own */
	struct fake_guest *guest;
	atomic_bool over;
};

static void *obey_all(void *context)
{
	struct obedient *obedient = context;

	while (!atomic_load(&obedient->over)) {
		fake_guest_step(obedient->guest);
		fake_guest_obey(obedient->guest);
		usleep(1000);
	}
	return NULL;
}

/* What this ktop has started ends with it. A profiler that was on, or that somebody has turned on, stays on. */
static void test_the_end_stops_what_was_started(void **state)
{
	enum { LONG_S = 60 };

	(void)state;
	for (int before = 0; before < 2; before++) {
		struct fixture fixture = fixture_begin(NULL);
		struct obedient obedient = { .guest = fixture.guest };
		pthread_t thread;

		fixture_bring_up(&fixture);
		if (before) {
			fake_guest_status(fixture.guest, true);
			fake_guest_beat(fixture.guest, 1);
			fixture_step(&fixture);
		}
		session_run_profiler(fixture.session, true);
		if (!before) {
			fixture_await_line(&fixture, "start");
			fake_guest_reply(fixture.guest, true, "started");
			fake_guest_status(fixture.guest, true);
		}
		fixture_await_message(&fixture, false, "profiling");
		pthread_create(&thread, NULL, obey_all, &obedient);
		session_leave(fixture.session, util_now() + LONG_S * NS_PER_SECOND);
		atomic_store(&obedient.over, true);
		pthread_join(thread, NULL);
		assert_int_equal(session_left_running(fixture.session), before);
		assert_int_equal(fixture.guest->running, before);
		fixture_end(&fixture);
	}
}

static void test_commands_are_answered_in_order(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	fixture_command(&fixture, "status");
	fixture_command(&fixture, "bogus");
	fixture_await_line(&fixture, "status");
	fixture_await_line(&fixture, "bogus");
	fake_guest_reply(fixture.guest, true, "first\nline\x1b");
	fake_guest_reply(fixture.guest, false, "second");
	fixture_await_message(&fixture, false, "first\nline?");
	fixture_await_message(&fixture, true, "second");
	fixture_command(&fixture, "two\nlines");
	fixture_await_message(&fixture, true, "not a control line");
	fixture_command(&fixture, "  ");		/* the hook would ignore it, without an answer */
	fixture_await_message(&fixture, true, "not a control line");
	fixture_end(&fixture);
}

/* A ktop that has ended left lines in the guest's port: the next ktop gets their answers. */
static void test_answers_to_another_ktop(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_await_line(&fixture, "hello");
	fixture_command(&fixture, "status");
	fixture_await_line(&fixture, "status");
	fake_guest_reply(fixture.guest, true, "stopped");
	fake_guest_reply(fixture.guest, true, "rate 997");
	fixture_tell_all(&fixture);
	fake_guest_reply(fixture.guest, true, "off, sampler timer");
	fixture_await_message(&fixture, false, "off, sampler timer");
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiler_of_a_silent_guest),
		cmocka_unit_test(test_profiler_by_port),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_profiler_by_key),
		cmocka_unit_test(test_the_end_stops_what_was_started),
		cmocka_unit_test(test_commands_are_answered_in_order),
		cmocka_unit_test(test_answers_to_another_ktop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
