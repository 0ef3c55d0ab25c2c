/* SPDX-License-Identifier: MIT */
/* What a report does when its guest or VM stops, restarts, or falls silent meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

static const uint64_t soon = 200000000;		/* ns until the deadline of a report that is cut */

static struct fixture fixture;
static struct report *report;

static int set_up(void **state)
{
	(void)state;
	fixture = fixture_begin(NULL);
	return 0;
}

/* The report runs, and has samples. */
static int set_up_running(void **state)
{
	set_up(state);
	report = report_fixture_run(&fixture);
	return 0;
}

/* The same at another rate than the guest's own. */
static int set_up_at_a_rate(void **state)
{
	set_up(state);
	report = report_fixture_run_at(&fixture, 500);
	return 0;
}

/* A test may have freed the report. */
static int tear_down(void **state)
{
	(void)state;
	report_free(report);
	report = NULL;
	fixture_end(&fixture);
	return 0;
}

static void give_up(void)
{
	report_free(report);
	report = NULL;
}

/* Steps until the report is done. The guest does nothing meanwhile. */
static void end_alone(enum report_state state)
{
	for (int i = 0; i < 3 * FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, state);
}

/* The guest's port is there again, and the guest tells that its profiler is on. */
static void come_back(void)
{
	fixture_await_line(&fixture, "hello");
	fake_guest_status(fixture.guest, true);
	fake_guest_reply(fixture.guest, true, "hello");
}

/* The guest does not stop its profiler. The samples are shown all the same. */
static void test_report_survives_a_guest_that_does_not_stop(void **state)
{
	(void)state;
	report_cut(report, "interrupted", report_fixture_late());
	report_step(report);
	fixture_await_line(&fixture, "stop");
	fake_guest_reply(fixture.guest, false, "not now");
	report_fixture_finish(&fixture, report);
	assert_true(report->profile->table->samples > 0);
	assert_non_null(strstr(report->note, "cut short: interrupted; "));
	assert_non_null(strstr(report->note, "not now"));
}

/* Somebody waits for the end. The report leaves a guest that is silent, and sends it its old settings. */
static void test_report_that_is_cut_leaves_a_silent_guest(void **state)
{
	(void)state;
	report_cut(report, "interrupted", util_now() + soon);
	end_alone(REPORT_DONE);
	assert_string_equal(report->note, "cut short: interrupted; the guest did not confirm "
		"that it is as before (`stop`); `ktop ctl stop` tells it again");
	assert_true(report->profile->table->samples > 0);
}

/* Nobody waits for its answer any more: what was broken off is not shown. */
static void test_report_whose_answers_are_broken_off(void **state)
{
	(void)state;
	report_cut(report, "interrupted", util_now() + soon);
	for (int i = 0; i < 3 * FIXTURE_STEPS && report_step(report) < REPORT_NAMING; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_NAMING);
	session_give_up(fixture.session);
	report_cut(report, "interrupted", util_now() + soon);
	assert_int_equal(report->state, REPORT_FAILED);
	assert_string_equal(report->error, "no report: interrupted; ask again");
}

static void test_report_that_is_broken_off_as_it_is_written(void **state)
{
	char *text = NULL, *error = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	report_cut(report, "interrupted", util_now() + soon);
	end_alone(REPORT_DONE);
	session_give_up(fixture.session);
	assert_false(report_write(report, out, &error));
	assert_string_equal(error, "no report: interrupted; ask again");
	fclose(out);
	free(text);
	free(error);
}

/* The same with a guest that sends samples, but does not obey. */
static void test_report_that_is_cut_leaves_a_deaf_guest(void **state)
{
	uint64_t late = util_now() + soon;
	int steps = 0;

	(void)state;
	report_cut(report, "interrupted", late);
	while (report_step(report) < REPORT_DONE && steps < 3) {
		steps += util_now() >= late;		/* one to leave the guest, one for names, one to be done */
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
		fixture_step(&fixture);
	}
	assert_int_equal(report->state, REPORT_DONE);
	assert_non_null(strstr(report->note, "the guest did not confirm that it is as before (`stop`)"));
}

static void test_report_of_a_profiler_that_somebody_stops(void **state)
{
	(void)state;
	fake_guest_status(fixture.guest, false);
	fake_guest_counts(fixture.guest);
	report_fixture_finish(&fixture, report);
	assert_non_null(strstr(report->note, "somebody has stopped the profiler"));
	assert_non_null(strstr(report->error, "cut short: somebody has stopped the profiler; "));
	assert_int_equal(report->profile->table->samples,
		fixture.guest->taken[0] + fixture.guest->taken[1]);
}

/* The report does not show the books of the next boot as its own. */
static void test_report_of_a_guest_that_restarts(void **state)
{
	char *text;

	(void)state;
	packets_boot(fixture.guest->packets, 2);
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	report_fixture_finish(&fixture, report);
	/* The report has borrowed nothing from the new boot, and leaves it as it is. */
	fake_guest_step(fixture.guest);
	assert_string_equal(fixture.guest->lines, "hello\n");
	text = report_fixture_text(report);
	assert_non_null(strstr(text, "lost unknown"));
	assert_non_null(strstr(text, "the guest restarted"));
	assert_null(strstr(text, "did not confirm"));
	assert_non_null(strstr(text, " hot "));
	free(text);
}

/* The same in each state after the window: the samples are shown, and a note tells that the books are missing. */
static void test_report_of_a_guest_that_restarts_at_its_end(void **state)
{
	static const enum report_state ends[] = {
		REPORT_STOPPING, REPORT_CLOSING, REPORT_RATE_BACK, REPORT_SAMPLER_BACK, REPORT_NAMING,
	};
	char *text;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (i)
			set_up_at_a_rate(state);
		report_cut(report, "interrupted", report_fixture_late());
		for (int k = 0; k < 3 * FIXTURE_STEPS && report_step(report) < ends[i]; k++) {
			fixture_step(&fixture);
			fake_guest_obey(fixture.guest);
		}
		assert_in_range(report->state, ends[i], REPORT_NAMING);
		packets_boot(fixture.guest->packets, 2);
		fake_guest_facts(fixture.guest, NULL, 0);
		fake_guest_status(fixture.guest, false);
		report_fixture_finish(&fixture, report);
		text = report_fixture_text(report);
		assert_non_null(strstr(text, " hot "));
		assert_non_null(strstr(text, "lost unknown"));
		assert_non_null(strstr(report->note, "the guest restarted at the report's end"));
		free(text);
		if (i + 1 < sizeof(ends) / sizeof(ends[0]))
			tear_down(state);
	}
}

/* The report is freed in its window, and no step follows. The line that stops the guest was sent. */
static void test_report_that_is_given_up_stops_the_guest(void **state)
{
	(void)state;
	give_up();
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
}

/* The same for the lines that set back rate and sampler. */
static void test_report_that_is_given_up_gives_back(void **state)
{
	struct report_request request = report_default;

	(void)state;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_fixture_begin(&fixture, &request);
	give_up();
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
	assert_true(fake_guest_got(fixture.guest, "rate 997"));
	assert_true(fake_guest_got(fixture.guest, "mode timer"));
}

static void await_failure(const char *why)
{
	struct report_request request = report_default;

	request.wait_ns = 50000000;
	report = report_new(fixture.session, &request);
	end_alone(REPORT_FAILED);
	if (!strstr(report->error, why))
		fail_msg("%s", report->error);
	give_up();
}

/* A guest sends nothing, or never its facts: the wait is bounded, and the error tells the reason. */
static void test_report_of_a_silent_guest_says_why(void **state)
{
	(void)state;
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	await_failure("in 0.05 s: it has not opened the port");
	fake_guest_beat(fixture.guest, 1);
	fixture_await_link(&fixture, LINK_NO_HELLO);
	await_failure("in 0.05 s: it sends data, but has not said who it is");
}

/* The guest's clock stands still. The report shows what came before, and is an error. */
static void test_report_of_a_guest_that_stands_still(void **state)
{
	(void)state;
	report->request.wait_ns = 50000000;
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) == REPORT_RUNNING; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_STOPPING);
	report_fixture_finish(&fixture, report);
	assert_true(report->profile->table->samples > 0);
	assert_non_null(strstr(report->error, "cut short: the guest's clock stands still for 0.05 s"));
	assert_non_null(strstr(report->note, "the guest's clock stands still"));
}

/* A guest that stands still will get its old rate later. The report says so. */
static void test_report_tells_what_a_still_guest_keeps(void **state)
{
	struct report_request request = report_default;

	(void)state;
	request.rate = 500;
	report = report_fixture_begin(&fixture, &request);
	report->request.wait_ns = 50000000;
	end_alone(REPORT_DONE);
	assert_non_null(strstr(report->note, "the guest did not confirm that it is as before (`rate 997`)"));
	fixture_step(&fixture);
	assert_non_null(strstr(fixture.guest->lines, "rate 997\n"));
}

/* The report goes on when the port comes back. What was on its way is lost, and counted in the books. */
static void test_report_outlives_its_connection(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		fake_guest_hang_up(fixture.guest);
		fixture_await_link(&fixture, LINK_LOST);
		assert_int_equal(report_step(report), REPORT_RUNNING);
		come_back();
		report_fixture_live(fixture.guest);
		fixture_await_link(&fixture, LINK_UP);
	}
	report_cut(report, "interrupted", report_fixture_late());
	report_fixture_finish(&fixture, report);
	assert_null(report->error);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct books books =
			decode_books(session_decode(fixture.session), STREAM_SAMPLES, cpu);

		assert_int_equal(fixture.guest->taken[cpu], books.received + books.lost);
	}
}

static void test_report_of_a_lost_port_ends(void **state)
{
	(void)state;
	report->request.wait_ns = 50000000;
	close(fixture.guest->listener);
	fixture.guest->listener = -1;
	fake_guest_hang_up(fixture.guest);
	end_alone(REPORT_DONE);
	assert_non_null(strstr(report->error, "the guest's port is lost for 0.05 s"));
}

/* The guest cannot be told that the profiler goes off. It is told when it is there again. */
static void lose_the_guest(void)
{
	report->request.wait_ns = 0;
	fake_guest_hang_up(fixture.guest);
	fixture_await_link(&fixture, LINK_LOST);
	end_alone(REPORT_DONE);
}

static void await_stop(void)
{
	give_up();
	come_back();
	fixture_await_link(&fixture, LINK_UP);
	fixture_await_line(&fixture, "stop");
}

static void test_profiling_goes_off_when_the_guest_is_back(void **state)
{
	(void)state;
	report->stays = true;
	lose_the_guest();
	await_stop();
}

static void test_the_line_that_stops_it_is_sent_again(void **state)
{
	(void)state;
	report->stays = true;
	report_cut(report, "interrupted", report_fixture_late());
	report_step(report);
	fixture_await_line(&fixture, "stop");
	lose_the_guest();
	assert_non_null(strstr(report->note, "the live ktop turns profiling off when the guest answers"));
	await_stop();
}

/* It fails at once even if the guest has told of itself before. */
static void test_report_of_a_paused_vm_fails_at_once(void **state)
{
	static const struct fake_answer machine[] = {
		{ "qmp_capabilities", "\"return\": {}" },
		{ "query-status", "\"return\": {\"status\": \"paused\"}" },
		{ "", "\"error\": {\"desc\": \"not in this test\"}" },
		{ NULL, NULL },
	};
	const char *path = scratch_path("paused.qmp");
	struct fake_qmp *qmp = fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = machine }, path);

	(void)state;
	fixture = fixture_begin_qmp(path);
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && session_source(fixture.session).vm != VM_PAUSED; i++)
		fixture_step(&fixture);
	report = report_new(fixture.session, &report_default);
	assert_int_equal(report_step(report), REPORT_FAILED);
	assert_non_null(strstr(report->error, "no report: the VM is paused"));
	tear_down(state);
	fake_qmp_free(qmp);
}

static void test_report_of_a_silent_vm_ends(void **state)
{
	(void)state;
	report = report_new(fixture.session, &report_default);
	report_cut(report, "interrupted", report_fixture_late());
	assert_int_equal(report_step(report), REPORT_FAILED);
	assert_string_equal(report->error, "no report: interrupted before it began; start it again");
}

#define TEST(function, set_up) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_profiling_goes_off_when_the_guest_is_back, set_up_running),
		TEST(test_the_line_that_stops_it_is_sent_again, set_up_running),
		cmocka_unit_test(test_report_of_a_paused_vm_fails_at_once),
		TEST(test_report_survives_a_guest_that_does_not_stop, set_up_running),
		TEST(test_report_that_is_cut_leaves_a_silent_guest, set_up_running),
		TEST(test_report_whose_answers_are_broken_off, set_up_running),
		TEST(test_report_that_is_broken_off_as_it_is_written, set_up_running),
		TEST(test_report_that_is_cut_leaves_a_deaf_guest, set_up_running),
		TEST(test_report_of_a_profiler_that_somebody_stops, set_up_running),
		TEST(test_report_of_a_guest_that_restarts, set_up_at_a_rate),
		TEST(test_report_of_a_guest_that_restarts_at_its_end, set_up_at_a_rate),
		TEST(test_report_that_is_given_up_stops_the_guest, set_up_running),
		TEST(test_report_that_is_given_up_gives_back, set_up),
		TEST(test_report_of_a_silent_guest_says_why, set_up),
		TEST(test_report_of_a_guest_that_stands_still, set_up_running),
		TEST(test_report_tells_what_a_still_guest_keeps, set_up),
		TEST(test_report_outlives_its_connection, set_up_running),
		TEST(test_report_of_a_lost_port_ends, set_up_running),
		TEST(test_report_of_a_silent_vm_ends, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
