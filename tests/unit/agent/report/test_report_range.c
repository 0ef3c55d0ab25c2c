/* SPDX-License-Identifier: MIT */
/* Reports that look back: on a range of what the session keeps. Their guest gets no line. */
#include <cjson/cJSON.h>
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
#include "agent/guest/epoch.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { ROUNDS = 160, SLICE_MS = 250 };		/* of 25 ms each; a fine slice of the store */

/* A guest that has been sampled for ROUNDS rounds, and stands still since. */
static struct fixture sampled_from(uint64_t seconds)
{
	struct fixture fixture = fixture_begin(NULL);

	fixture.guest->clock += seconds * (uint64_t)FAKE_GUEST_HZ;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	fixture.guest->running = true;
	for (int i = 0; i < ROUNDS; i++) {
		report_fixture_live(fixture.guest);
		fixture_step(&fixture);
	}
	answers_free(fixture_answers(&fixture));
	return fixture;
}

static struct fixture sampled(void)
{
	return sampled_from(0);
}

static struct report *report_between(struct fixture *fixture, const char *from, const char *to)
{
	struct report_request request = report_default;
	struct report *report;

	request.from = from;
	request.to = to;
	report = report_new(fixture->session, &request);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
		fixture_step(fixture);
	assert_int_equal(fixture->guest->lines[0], 0);
	return report;
}

/* What a screen has whose window was moved to this range. */
static uint64_t samples_on_screen(const struct fixture *fixture, uint64_t from, uint64_t to)
{
	struct profile_request request = { .request.excerpt = { .window_ns = to - from, .until_ns = to, .moved = 1 } };
	struct profile *profile = (struct profile *)profile_kind.make(&request.request, &(struct moment) {
		.epoch = session_epoch(fixture->session), .past = true });
	uint64_t samples = profile->table->samples;

	answer_free((struct answer *)profile);
	return samples;
}

static double member(const char *json, const char *name)
{
	cJSON *root = cJSON_Parse(json);
	double value = cJSON_GetNumberValue(cJSON_GetObjectItem(root, name));

	cJSON_Delete(root);
	return value;
}

/* The report says where its range lies, as text and as JSON. */
static void check_told(struct report *report)
{
	char *text = report_fixture_text(report), *json;

	report->request.json = true;
	json = report_fixture_text(report);
	assert_non_null(strstr(text, ": 1.00 s of guest time, from 00:00:0"));
	assert_true(member(json, "from") == (double)report->from / NS_PER_SECOND);
	assert_true(member(json, "to") == (double)report->to / NS_PER_SECOND);
	assert_true(member(json, "seconds") == 1);
	assert_true(member(json, "samples") == (double)report->profile->table->samples);
	free(text);
	free(json);
}

/* Before now, after the first sample, and by the guest's clock: each is the range that a screen shows. */
static void test_a_range_is_that_of_the_screen(void **state)
{
	struct fixture fixture = sampled();
	struct epoch *epoch = session_epoch(fixture.session);
	uint64_t now = epoch_now(epoch), half = NS_PER_SECOND / 2, ms = NS_PER_MS;
	struct report *before = report_between(&fixture, "-1.5", "-0.5"), *by_clock, *after;
	char *from, *to;

	(void)state;
	assert_int_equal(before->state, REPORT_DONE);
	assert_in_range(before->to, now - half - SLICE_MS * ms / 2, now - half + SLICE_MS * ms / 2);
	assert_int_equal(before->to - before->from, 2 * half);
	assert_in_range(before->profile->table->samples, 150, 250);	/* 200 a second */
	assert_int_equal(before->profile->table->samples, samples_on_screen(&fixture, now - 3 * half, now - half));
	assert_string_equal(before->note, "");
	check_told(before);

	from = util_format("0:%.3f", (double)before->from / NS_PER_SECOND);
	to = util_format("%.3f", (double)before->to / NS_PER_SECOND);
	by_clock = report_between(&fixture, from, to);
	assert_int_equal(by_clock->from, before->from);
	assert_int_equal(by_clock->profile->table->samples, before->profile->table->samples);

	after = report_between(&fixture, "+0.5", "+1.5");
	assert_in_range(after->from, store_oldest(epoch->inputs.store) + half - SLICE_MS * ms / 2,
		store_oldest(epoch->inputs.store) + half + SLICE_MS * ms / 2);
	assert_int_equal(after->profile->table->samples, samples_on_screen(&fixture, after->from, after->to));
	report_free(before);
	report_free(by_clock);
	report_free(after);
	free(from);
	free(to);
	fixture_end(&fixture);
}

/* Code that the kernel's file does not have ran at first alone: a report tells it of its own range. */
static void test_code_outside_is_told_of_the_range(void **state)
{
	static const uint64_t outside[] = { UINT64_C(0xffffffffc0000100) };
	struct fixture fixture = sampled();
	struct epoch *epoch = session_epoch(fixture.session);
	uint64_t first = store_oldest(epoch->inputs.store) + NS_PER_SECOND / 8;
	struct report *early, *late;
	char *text;

	(void)state;
	for (int i = 0; i < 300; i++)
		epoch_events(epoch, &(struct event) {
			.kind = EVENT_SAMPLE, .time = first * FAKE_GUEST_TICKS_PER_MS / NS_PER_MS,
			.sample = {
				.process = EVENT_KERNEL, .mode = MODE_KERNEL, .weight = 1, .exact = 1,
				.kernel = outside, .kernel_count = 1,
			},
		}, 1);
	early = report_between(&fixture, "+0", "+0.5");
	text = report_fixture_text(early);
	assert_non_null(strstr(text, " % of the kernel's samples lie outside "));
	free(text);
	late = report_between(&fixture, "+2", "+3");
	text = report_fixture_text(late);
	assert_true(late->profile->table->samples > 100);
	assert_null(strstr(text, " of the kernel's samples lie outside "));
	late->request.json = true;
	free(text);
	text = report_fixture_text(late);
	assert_null(strstr(text, " of the kernel's samples lie outside "));
	free(text);
	report_free(early);
	report_free(late);
	fixture_end(&fixture);
}

/* A machine was reset whose clock goes on: times count from then, those that are read and those that are typed. */
static void test_times_count_from_the_reset(void **state)
{
	struct fixture fixture = sampled_from(89);
	struct epoch *epoch = session_epoch(fixture.session);
	uint64_t reset = 69 * NS_PER_SECOND;
	struct report *by_clock = report_between(&fixture, "94", "1:35"), *by_uptime;
	struct answers *answers;
	char *text;

	(void)state;
	assert_int_equal(by_clock->state, REPORT_DONE);
	assert_int_equal(epoch_uptime(epoch).by, UPTIME_GUEST);
	assert_int_equal(epoch_uptime(epoch).begun, 0);
	epoch->before = 69 * (uint64_t)FAKE_GUEST_HZ + 1;
	assert_int_equal(epoch_uptime(epoch).by, UPTIME_MACHINE);
	assert_int_equal(epoch_uptime(epoch).begun, reset);
	assert_int_equal(epoch_uptime(epoch).zero, reset);

	by_uptime = report_between(&fixture, "25", "0:26");
	assert_int_equal(by_uptime->state, REPORT_DONE);
	assert_int_equal(by_uptime->from, by_clock->from);
	assert_int_equal(by_uptime->to, by_clock->to);
	assert_true(by_uptime->profile->table->samples > 0);
	text = report_fixture_text(by_uptime);
	assert_non_null(strstr(text, "from 00:00:25.00 to 00:00:26.00\nVM up 00:00:26.00 at its end\n"));
	free(text);
	by_uptime->request.json = true;
	text = report_fixture_text(by_uptime);
	assert_true(member(text, "from") == 25);
	assert_true(member(text, "to") == 26);
	free(text);
	report_free(by_uptime);
	by_uptime = report_between(&fixture, "94", "95");
	assert_int_equal(by_uptime->state, REPORT_FAILED);
	assert_non_null(strstr(by_uptime->error, "what is kept is from 00:00:2"));

	answers = fixture_answers(&fixture);
	assert_int_equal(answers->vitals->answer.zero, reset);
	assert_int_equal(answers->vitals->up.begun, reset);
	answers_free(answers);
	report_free(by_uptime);
	report_free(by_clock);
	fixture_end(&fixture);
}

/* By its kernel's own clock, whose readings are late at times. Only what is clearly off moves the times. */
static void test_a_kernels_own_clock(void **state)
{
	struct kernel_uptime uptime = { .known = false };
	const int64_t second = NS_PER_SECOND;

	(void)state;
	kernel_uptime_saw(&uptime, 94 * NS_PER_SECOND + 600 * NS_PER_MS, 25 * NS_PER_SECOND);
	assert_int_equal(uptime.begun, 69 * second + 600 * (int64_t)NS_PER_MS);
	assert_int_equal(uptime.zero, 70 * second);
	kernel_uptime_saw(&uptime, 96 * NS_PER_SECOND + 400 * NS_PER_MS, 27 * NS_PER_SECOND);
	assert_int_equal(uptime.begun, 69 * second + 400 * (int64_t)NS_PER_MS);
	assert_int_equal(uptime.zero, 70 * second);
	kernel_uptime_saw(&uptime, 99 * NS_PER_SECOND, 29 * NS_PER_SECOND);
	assert_int_equal(uptime.begun, 69 * second + 400 * (int64_t)NS_PER_MS);
	kernel_uptime_saw(&uptime, 100 * NS_PER_SECOND, 31 * NS_PER_SECOND);
	assert_int_equal(uptime.zero, 69 * second);
	kernel_uptime_saw(&uptime, 200 * NS_PER_SECOND, 101 * NS_PER_SECOND);	/* it was suspended */
	assert_int_equal(uptime.zero, 99 * second);
	kernel_uptime_saw(&uptime, 201 * NS_PER_SECOND, 600 * NS_PER_SECOND);	/* an earlier state was loaded */
	assert_int_equal(uptime.zero, -399 * second);
}

/* One end alone: the other is that of what is kept. Beyond it there is nothing. */
static void test_ranges_that_are_open(void **state)
{
	struct fixture fixture = sampled();
	struct report *all = report_between(&fixture, "-1000", NULL), *first = report_between(&fixture, NULL, "-2"),
		*last = report_between(&fixture, "-2", "1:00:00");
	uint64_t taken = fixture.guest->taken[0] + fixture.guest->taken[1];

	(void)state;
	assert_int_equal(all->profile->table->samples, taken);
	assert_true(first->profile->table->samples > 0);
	assert_int_equal(first->profile->table->samples + last->profile->table->samples, taken);
	report_free(all);
	report_free(first);
	report_free(last);
	fixture_end(&fixture);
}

static void refuses(struct fixture *fixture, const char *from, const char *to, const char *why)
{
	struct report *report = report_between(fixture, from, to);

	assert_int_equal(report->state, REPORT_FAILED);
	if (!strstr(report->error, why))
		fail_msg("%s", report->error);
	report_free(report);
}

static void test_ranges_that_cannot_be(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	refuses(&fixture, "-5", NULL, "no report: nothing has come from the guest yet; ");
	fixture_bring_up(&fixture);
	refuses(&fixture, "-5", NULL, "no report: nothing of this boot is kept; ");
	fixture_end(&fixture);
	fixture = sampled();
	refuses(&fixture, "-1", "-2", "the range ends before it begins; ");
	refuses(&fixture, NULL, "-1:00:00", "nothing is kept in this range: what is kept is from 00:00:0");
	refuses(&fixture, "1:00:00", NULL, "; give times between these");
	request.from = "-1";
	request.phase = 0;
	report = report_new(fixture.session, &request);
	assert_int_equal(report_step(report), REPORT_FAILED);
	assert_non_null(strstr(report->error, "--phase is a range, too; "));
	report_free(report);
	fixture_end(&fixture);
}

/* What is no time is refused with the option's name. */
static void test_times_are_checked(void **state)
{
	static const char *const bad[] = { "", "x", "1:2:3:4", "-", "10s", "--to" };
	struct report_request request = report_default;
	const struct option_set set = { .rows = report_options, .into = &request };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *words[] = { (char *)"--from", (char *)bad[i] }, *error = NULL;
		size_t used;

		assert_false(options_parse(words, 2, &set, 1, &used, &error));
		assert_non_null(strstr(error, "--from"));
		free(error);
	}
}

static char *told(bool (*tell)(struct report *report, FILE *out), struct report *report)
{
	char *text;
	size_t size;
	FILE *out = util_text_open(&text, &size);

	assert_true(tell(report, out));
	return util_text_close(out, &text);
}

static bool write_all(struct report *report, FILE *out)
{
	char *error = NULL;

	return report_write(report, out, &error);
}

static bool tell_beside(struct report *report, FILE *out)
{
	report_export_tell_beside(report, out);
	return true;
}

/* What is missing in a file is told with it; in a stream beside it, which has samples alone. */
static void test_an_export_tells_the_remarks(void **state)
{
	char *file = util_format("%s", scratch_path("told.folded"));

	(void)state;
	for (int stream = 0; stream < 2; stream++) {
		struct fixture fixture = sampled();
		struct report_request request = report_default;
		struct report *report;
		char *written, *beside;

		request.from = "+0.5";
		request.to = "+1.5";
		request.out = stream ? "-" : file;
		request.format = "folded";
		report = report_new(fixture.session, &request);
		for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
			fixture_step(&fixture);
		assert_int_equal(report->state, REPORT_DONE);
		strcpy(report->epoch->refused, "half of it is missing");
		written = told(write_all, report);
		beside = told(tell_beside, report);
		assert_int_equal(!!strstr(written, "half of it is missing\n"), !stream);
		assert_string_equal(beside, stream ? "ktop: half of it is missing\n" : "");
		free(written);
		free(beside);
		report_free(report);
		fixture_end(&fixture);
	}
	scratch_run("rm -f told.folded");
	free(file);
}

/* A name that may have meant another format says in which one it is written; an ending that is a format's does not. */
static void test_a_doubtful_ending_tells_the_format(void **state)
{
	static const struct { const char *name, *format, *says; } files[] = {
		{ "x.foo.json", NULL, "written as json, by its last ending; --format chooses another\n" },
		{ "chrome.json", NULL, "written as json, by its last ending; --format chooses another\n" },
		{ "x.foo.json", "json", NULL }, { "x.json", NULL, NULL }, { "x.chrome.json", NULL, NULL },
		{ "x.trace.json", NULL, NULL }, { "x.foo.trace.json", NULL, "written as chrome, by" },
		{ "x.perfetto.csv", NULL, "written as csv, by" }, { "x.foo.folded", NULL, "written as folded, by" },
		{ "x.pb.gz", NULL, NULL }, { "x.foo.chrome", NULL, "written as chrome, by" }, { ".x.json", NULL, NULL },
		{ "x.times.json", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct fixture fixture = sampled();
		struct report_request request = report_default;
		struct report *report;
		char *file = util_format("%s", scratch_path(files[i].name)), *written;

		request.from = "+0.5";
		request.to = "+1.5";
		request.out = file;
		request.format = files[i].format;
		report = report_new(fixture.session, &request);
		for (int step = 0; step < FIXTURE_STEPS && report_step(report) < REPORT_DONE; step++)
			fixture_step(&fixture);
		assert_int_equal(report->state, REPORT_DONE);
		written = told(write_all, report);
		if (!strstr(written, files[i].says ? files[i].says : "written as") == !!files[i].says)
			fail_msg("%s: %s", files[i].name, written);
		free(written);
		report_free(report);
		fixture_end(&fixture);
		unlink(file);
		free(file);
	}
}

/* Else each function would be looked for in all samples again. */
static void test_json_has_the_callers_of_all_functions_at_once(void **state)
{
	static const char *const formats[] = { "json", "csv", NULL };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fixture fixture = sampled();
		struct report_request request = report_default;
		struct report *report;

		request.from = "+0.5";
		request.json = !formats[i];
		request.out = formats[i] ? "-" : NULL;
		request.format = formats[i];
		report = report_new(fixture.session, &request);
		for (int step = 0; step < FIXTURE_STEPS && report_step(report) < REPORT_DONE; step++)
			fixture_step(&fixture);
		assert_int_equal(report->state, REPORT_DONE);
		assert_int_equal(report->profile->question.callers, i != 1);
		report_free(report);
		fixture_end(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_export_tells_the_remarks),
		cmocka_unit_test(test_a_doubtful_ending_tells_the_format),
		cmocka_unit_test(test_json_has_the_callers_of_all_functions_at_once),
		cmocka_unit_test(test_a_range_is_that_of_the_screen),
		cmocka_unit_test(test_code_outside_is_told_of_the_range),
		cmocka_unit_test(test_times_count_from_the_reset),
		cmocka_unit_test(test_a_kernels_own_clock),
		cmocka_unit_test(test_ranges_that_are_open),
		cmocka_unit_test(test_ranges_that_cannot_be),
		cmocka_unit_test(test_times_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
