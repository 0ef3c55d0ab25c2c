/* SPDX-License-Identifier: MIT */
/* Recordings of a guest that restarts, or that is cut at once; and those that wait for what cannot come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/report/recorder.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

static struct fixture fixture;

static struct recorder *begin(const char *folder)
{
	struct recorder_request request = recorder_default;

	request.folder = scratch_path(folder);
	assert_int_equal(mkdir(request.folder, 0700), 0);
	return recorder_new(fixture.session, &request);
}

/* Cuts the recorder, and steps it to its end. Returns what it tells; the caller frees it. */
static char *end(struct recorder *recorder, bool live)
{
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	recorder_cut(recorder, "enough", report_fixture_late());
	for (uint64_t late = report_fixture_late(); util_now() < late && !recorder_step(recorder);) {
		if (live)
			report_fixture_live(fixture.guest);
		fixture_step(&fixture);
	}
	assert_true(recorder_write(recorder, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "ended: enough"));
	recorder_free(recorder);
	return text;
}

static int set_up(void **state)
{
	(void)state;
	fixture = fixture_begin(NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fixture_end(&fixture);
	return 0;
}

/* The guest restarts while its profiler is being turned on. The recording goes on with the next boot. */
static void test_a_guest_that_restarts_at_once(void **state)
{
	struct recorder *recorder = begin("restarts");
	char *text;

	(void)state;
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && !fake_guest_got(fixture.guest, "start"); i++) {
		assert_false(recorder_step(recorder));
		fixture_step(&fixture);
	}
	packets_boot(fixture.guest->packets, 2);
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	for (int i = 0; i < FIXTURE_STEPS && fixture.guest->taken[0] < 100; i++) {
		fixture_step(&fixture);
		assert_false(recorder_step(recorder));
		if (fake_guest_got(fixture.guest, "hello"))
			fake_guest_reply(fixture.guest, true, "hello");
		report_fixture_live(fixture.guest);
	}
	assert_true(fixture.guest->taken[0] >= 100);
	text = end(recorder, true);
	assert_non_null(strstr(text, "boots 2"));
	free(text);
}

/* Profiling is on already, so samples are recorded at once. A cut before the recorder's first step keeps them. */
static void test_one_that_is_cut_at_once(void **state)
{
	struct recorder *recorder;
	char *text;

	(void)state;
	fixture_bring_up(&fixture);
	recorder = begin("at-once");
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 10; i++) {
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
		fake_guest_beat(fixture.guest, 20);
		fixture_step(&fixture);
	}
	text = end(recorder, false);
	assert_non_null(strstr(text, "recorded: samples and gaps "));
	free(text);
}

/* A guest that traces this event alone. What is said of such a condition in two seconds of it; "": nothing is. */
static void check_when(const char *folder, const char *event, const char *when, const char *says)
{
	struct recorder_request request = recorder_default;
	struct session_message message;
	struct recorder *recorder;
	char said[1024] = "";

	fixture = fixture_begin(NULL);
	request.folder = scratch_path(folder);
	request.when = when;
	assert_int_equal(mkdir(request.folder, 0700), 0);
	recorder = recorder_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	fake_guest_traces(fixture.guest, 32, "lock_wait");
	fake_guest_traces(fixture.guest, 40, event);
	for (int i = 0; i < FIXTURE_STEPS && fixture.guest->taken[0] < 300; i++) {
		report_fixture_live(fixture.guest);
		fixture_step(&fixture);
		assert_false(recorder_step(recorder));
		while (session_message(fixture.session, &message))
			util_print(said + strlen(said), sizeof(said) - strlen(said), "%s", message.text);
	}
	assert_string_equal(said, says);
	free(end(recorder, true));
	fixture_end(&fixture);
}

static void test_a_condition_that_nothing_meets_says_so(void **state)
{
	(void)state;
	check_when("no-such", "disk_begin", "dick>1us", "--when dick>1us: waits: the guest has no event of this name "
		"that takes time; `ktop ctl events` lists what it has");
	check_when("lasts-not", "disk", "disk>1us", "--when disk>1us: waits: the guest has no event of this name "
		"that takes time; `ktop ctl events` lists what it has");
	check_when("is-off", "disk_begin", "lock inode>1us", "--when lock inode>1us: waits: the guest does not trace "
		"that; `ktop ctl events +lock` has it do so");
	check_when("may-come", "disk_begin", "disk write>1s", "");
	check_when("begins", "disk_begin", "di>1s", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_guest_that_restarts_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_that_is_cut_at_once, set_up, tear_down),
		cmocka_unit_test(test_a_condition_that_nothing_meets_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
