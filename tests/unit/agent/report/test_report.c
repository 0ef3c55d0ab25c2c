/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

/* The JSON is written piece by piece, and parses as one object. */
static void check_json(const char *text, const struct report *report)
{
	cJSON *root = cJSON_Parse(text);

	assert_true(cJSON_IsObject(root));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "functions")),
		report->profile->table->count);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "cpus")), 2);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(root, "books")) > 0);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(root, "events")) > 0);
	assert_true(cJSON_IsString(cJSON_GetObjectItem(root, "remark")));
	cJSON_Delete(root);
}

/* The same samples by thread: a row for each, in text and JSON. */
static void check_groups(struct report *report)
{
	struct profile_request request = { .request.excerpt.by = GROUP_THREAD };
	char *text = NULL, *error = NULL;
	uint64_t sum = 0;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	cJSON *root, *row;

	answer_free((struct answer *)report->profile);
	report->profile = (struct profile *)profile_kind.make(&request.request,
		&(struct moment) { .epoch = report->epoch, .past = true });
	report->request.json = false;
	assert_true(report_write(report, out, &error));
	report->request.json = true;
	fputc('\0', out);
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, " THREAD  "));
	assert_null(strstr(text, "FUNCTION"));
	root = cJSON_Parse(text + strlen(text) + 1);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "by")), "thread");
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(root, "groups"))
		sum += (uint64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(row, "self"));
	assert_int_equal(sum, report->profile->table->weight);
	assert_true(sum > 0);
	cJSON_Delete(root);
	free(text);
}

/* Names are aligned by columns and not by bytes, in the C locale, too. */
static void test_text_is_aligned(void **state)
{
	static const char name[] = "gr\xc3\xb6\xc3\x9f" "e_\xe5\x90\x8d\xe5\x89\x8d";	/* 10 columns */
	char *names = util_format("0000000000001000 T _start\n0000000000001100 T main_loop\n"
		"0000000000001200 T %s\n0000000000001400 T _end\n", name);
	char *path = util_format("%s", scratch_text("wide_names", names)), *text = NULL;
	struct fixture fixture = fixture_begin(&(struct session_options) { .symbols = path });
	struct profile_request question = { .request.excerpt.window_ns = 0 };
	struct report report = { .request = report_default, .session = fixture.session };
	char *wide = util_format(" %s%23skernel ", name, ""), *plain;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	plain = util_format(" main_loop%24skernel ", "");
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	report.epoch = session_epoch(fixture.session);
	report.profile = (struct profile *)profile_kind.make(&question.request,
		&(struct moment) { .epoch = report.epoch, .past = true });
	report_text(&report, out);
	fclose(out);
	assert_non_null(strstr(text, wide));
	assert_non_null(strstr(text, plain));
	answer_free((struct answer *)report.profile);
	fixture_end(&fixture);
	free(text);
	free(wide);
	free(plain);
	free(names);
	free(path);
}

#define UNKNOWN UINT64_C(0xffffffffc0000100)

/* A function has its name, but not who called it: that is told, too, unless it is rare. */
static void test_callers_without_a_name_are_told(void **state)
{
	static const struct {
		uint32_t weight;
		uint64_t frames[3];
	} samples[] = {
		{ 95, { 0x1210, 0x1120, 0x1010 } },
		{ 3, { UNKNOWN, UNKNOWN, 0x1010 } },		/* the code itself has no name */
		{ 2, { 0x1210, UNKNOWN, 0x1010 } },
	};
	static const char told[] = "incomplete: 2.00% of the time has a caller without a name: ";
	struct session_options options = {
		.symbols = scratch_text("callers", "0000000000001000 T start\n0000000000001200 T leaf\n"
			"0000000000001400 T _end\n"),
	};
	struct fixture fixture = fixture_begin(&options);
	struct profile_request question = { .request.excerpt.window_ns = 0 };
	struct report report = { .request = report_default, .session = fixture.session };
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	fixture_bring_up(&fixture);
	answers_free(fixture_answers(&fixture));
	report.epoch = session_epoch(fixture.session);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		epoch_events(report.epoch, &(struct event) {
			.kind = EVENT_SAMPLE, .time = fixture.guest->clock,
			.sample = {
				.process = EVENT_KERNEL, .thread = 7, .mode = MODE_KERNEL, .weight = samples[i].weight,
				.exact = 1, .kernel = samples[i].frames, .kernel_count = 3,
			},
		}, 1);
	report.profile = (struct profile *)profile_kind.make(&question.request,
		&(struct moment) { .epoch = report.epoch, .past = true });
	assert_int_equal(report.profile->unnamed, 3);
	assert_int_equal(report.profile->unnamed_callers, 2);
	out = open_memstream(&text, &size);
	report_text(&report, out);
	fclose(out);
	assert_non_null(strstr(text, told));
	free(text);
	report.profile->unnamed_callers = 0;
	out = open_memstream(&text, &size);
	report_text(&report, out);
	fclose(out);
	assert_null(strstr(text, " has a caller without a name"));
	free(text);
	answer_free((struct answer *)report.profile);
	fixture_end(&fixture);
}

static void test_report_is_exact(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;
	uint64_t taken;
	char *text = NULL, *error = NULL;
	size_t size, rows;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	request.duration_ns = NS_PER_SECOND;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	report_fixture_until(&fixture, report, REPORT_RATE_BACK);
	/* The guest is as it was before. */
	report_step(report);
	fixture_await_line(&fixture, "rate 997");
	fake_guest_reply(fixture.guest, true, "rate 997");
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_SAMPLER_BACK; i++)
		fixture_step(&fixture);
	report_step(report);
	fixture_await_line(&fixture, "mode timer");
	fake_guest_reply(fixture.guest, true, "sampler timer");
	report_fixture_until(&fixture, report, REPORT_DONE);
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
	taken = fixture.guest->taken[0] + fixture.guest->taken[1];
	assert_true(taken > 100);
	assert_int_equal(report->profile->table->samples, taken);
	assert_int_equal(
		decode_books_all(session_decode(fixture.session), STREAM_SAMPLES).received, taken);
	assert_string_equal(report->note, "");
	assert_true(report->seconds >= 1);
	assert_false(fixture.guest->running);

	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, " hot "));
	assert_null(strstr(text, "no sample"));
	free(text);
	out = open_memstream(&text, &size);
	rows = report->profile->table->count;
	report->profile->table->count = 0;
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "(no sample was taken: the window was too short for the rate; give more"));
	free(text);
	report->profile->table->count = rows;
	out = open_memstream(&text, &size);
	report->request.json = true;
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "\"caller"));
	check_json(text, report);
	free(text);
	check_groups(report);
	report_free(report);
	fixture_end(&fixture);
}

/* In a window into a running profile, rates are right although it is cut at whole slices. */
static void test_report_beside_a_running_profiler(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.duration_ns = NS_PER_SECOND;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 20; i++) {
		report_fixture_live(fixture.guest);
		fixture_step(&fixture);
	}
	report = report_new(fixture.session, &request);
	report_fixture_finish(&fixture, report);
	assert_true(fixture.guest->running);
	/* 5 samples in 25 ms: a millisecond each, and 20 of silence. */
	assert_float_equal((double)report->profile->table->samples / report->seconds, 200, 8);
	report_free(report);
	fixture_end(&fixture);
}

/* The report tells the share of missed periods, whichever rows are asked for. */
static void test_report_tells_its_gaps(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = report_fixture_run(&fixture);
	char *text;

	(void)state;
	report->request.mode = MODE_USER;
	fake_guest_missed(fixture.guest, 0, fixture.guest->taken[0] + fixture.guest->taken[1]);
	fixture_step(&fixture);
	report_cut(report, "enough", report_fixture_late());
	report_fixture_finish(&fixture, report);
	assert_int_equal(report->profile->table->weight, 0);
	assert_true(report->profile->missed > 0.4 && report->profile->missed <= 0.5);
	report->profile->missed = 0.35;
	text = report_fixture_text(report);
	assert_non_null(strstr(text, " (35.0%), lost 0\n"));
	assert_non_null(strstr(text, "the host did not run the guest's CPUs for 35% of the time: "
		"the table rests on the other 65%\n"));
	free(text);
	report->status.sampler = SAMPLER_STUB;
	text = report_fixture_text(report);
	assert_non_null(strstr(text, "no sample came, since the gdb stub was slow, for 35% of the time: the table"));
	free(text);
	report->status.sampler = SAMPLER_OUTSIDE;
	report->profile->table->count = 0;
	text = report_fixture_text(report);
	assert_non_null(strstr(text, "no sample came, by a busy host or QEMU's -icount, for 35% of the time"));
	free(text);
	report->profile->missed = 0.1;
	text = report_fixture_text(report);
	assert_null(strstr(text, "the host did not run"));
	free(text);
	report_free(report);
	fixture_end(&fixture);
}

/* The guest has begun to send the names of its functions; that of the sampled function comes late. */
static void test_report_waits_for_the_guests_names(void **state)
{
	const struct session_options other = {
		.symbols = scratch_text("other", "0000000000009000 T other\n"),
	};
	struct fixture fixture = fixture_begin(&other);
	struct report *report = report_fixture_run(&fixture);
	bool named = false;

	(void)state;
	fake_guest_symbol(fixture.guest, 0x1000, 0x10, "first");
	report->end = report->begin;			/* the window is over */
	report_fixture_until(&fixture, report, REPORT_NAMING);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(report_step(report), REPORT_NAMING);
		fixture_step(&fixture);
	}
	fake_guest_symbol(fixture.guest, 0x1200, 0x100, "told_late");
	fake_guest_symbol(fixture.guest, 0, 0, "");
	report_fixture_finish(&fixture, report);
	for (size_t i = 0; i < report->profile->table->count; i++)
		named |= strcmp(symbols_get(report->epoch->inputs.symbols,
			report->profile->table->rows[i].function)->name, "told_late") == 0;
	assert_true(named);
	report_free(report);
	fixture_end(&fixture);
}

static void fails_at_once(struct fixture *fixture, const struct report_request *request,
	const char *why)
{
	struct report *report = report_new(fixture->session, request);

	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_STARTING; i++)
		fixture_step(fixture);
	assert_int_equal(report->state, REPORT_FAILED);
	if (!strstr(report->error, why))
		fail_msg("%s", report->error);
	assert_false(fake_guest_got(fixture->guest, "start"));
	report_free(report);
}

/* Mistakes that can be known before the window are told before it. */
static void test_what_is_wrong_is_said_before_the_window(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;

	(void)state;
	fixture_bring_up(&fixture);
	request.files[EXPORT_FOLDED] = "/nowhere/at/all";
	fails_at_once(&fixture, &request, "/nowhere/at/all: not written: ");
	request.files[EXPORT_FOLDED] = NULL;
	request.cpu = 5;
	fails_at_once(&fixture, &request, "--cpu 5: the guest has 2 CPUs; give 0 to 1");
	fixture_end(&fixture);
}

/* An option that would change nothing is a mistake: events have rows of some groups alone. */
static void test_an_option_without_effect_is_refused(void **state)
{
	struct report_request request = report_default;
	char *mistake;

	(void)state;
	for (int by = 0; by < GROUPS; by++) {
		bool served = by == GROUP_FUNCTION || by == GROUP_LINE || by == GROUP_THREAD || by == GROUP_PROCESS ||
			by == GROUP_CPU;

		request.by = by;
		request.events = true;
		mistake = report_options_mistake(&request);
		assert_int_equal(mistake == NULL, served);
		free(mistake);
		request.events = false;
		assert_null(report_options_mistake(&request));
	}
	request = report_default;
	request.baseline = "1..2";
	mistake = report_options_mistake(&request);
	assert_non_null(strstr(mistake, "--baseline: without effect: it is for report --events"));
	free(mistake);
	request.events = true;
	assert_null(report_options_mistake(&request));
	for (int i = 0; i < 4; i++) {
		request = report_default;
		request.threads = i == 0;
		request.inlined = i == 1;
		request.kernel_mark = i != 2;
		request.least = i == 3 ? 0 : 1;
		mistake = report_options_mistake(&request);
		assert_non_null(strstr(mistake, i == 3 ? "it is for --tree" : "it is for --folded"));
		free(mistake);
		request.files[EXPORT_FOLDED] = "file";
		request.tree = 0;
		assert_null(report_options_mistake(&request));
	}
}

/* With --events and with --timeline, as text and as JSON. */
static void test_what_of_a_filter_events_leave_out_is_told(void **state)
{
	static const char *const notes[] = { "of the filter, only names, CPUs, threads and processes count for events",
		"of the filter, only CPUs, threads and processes count for events" };
	static const struct { const char *filter; bool told; } filters[] = {
		{ "mode:kernel", true }, { "under:main cpu:0", true }, { "hot", true }, { "object:demo", true },
		{ "cpu:0|1", false },
	};
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	for (size_t i = 0; i < 6 * sizeof(filters) / sizeof(*filters); i++) {
		struct report_request request = report_default;
		struct report *report;
		char *text;

		request.duration_ns = NS_PER_SECOND;
		request.filter = filters[i / 6].filter;
		request.events = i % 3 == 1;
		request.timeline = i % 3 == 2;
		request.json = i / 3 % 2;
		report = report_new(fixture.session, &request);
		report_fixture_finish(&fixture, report);
		text = report_fixture_text(report);
		for (int timeline = 0; timeline < 2; timeline++)	/* in which names count for nothing */
			assert_int_equal(strstr(text, notes[timeline]) != NULL, filters[i / 6].told &&
				i % 3 == 1u + (unsigned)timeline && (timeline || strcmp(filters[i / 6].filter, "hot")));
		free(text);
		report_free(report);
	}
	fixture_end(&fixture);
}

static void test_a_filter_that_nothing_passes_is_told(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = report_fixture_run(&fixture);
	char *text;

	(void)state;
	report->request.thread = "nosuch";
	report_cut(report, "enough", report_fixture_late());
	report_fixture_finish(&fixture, report);
	assert_non_null(strstr(report->note, "no sample passes --thread; leave one out"));
	assert_null(strstr(report->note, "--seconds"));
	text = report_fixture_text(report);
	assert_non_null(strstr(text, "no sample passes --thread"));
	assert_non_null(strstr(text, "CPUs not run 0 (0.0%)"));
	assert_null(strstr(text, "kernel 0.0%"));	/* without samples there are no shares */
	free(text);
	report_free(report);
	fixture_end(&fixture);
}

static void test_a_machine_that_is_not_there_is_told(void **state)
{
	static const char *const filters[] = { "machine:nosuch", "!machine:nosuch", "machine:2|nosuch" };

	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		struct fixture fixture = fixture_begin(NULL);
		struct report *report = report_fixture_run(&fixture);

		report->request.filter = filters[i];
		report_cut(report, "enough", report_fixture_late());
		report_fixture_finish(&fixture, report);
		if (!strstr(report->note, i < 2 ? "no machine is called nosuch: this one " :
				"no machine is called 2: this one "))
			fail_msg("%s: %s", filters[i], report->note);
		report_free(report);
		fixture_end(&fixture);
	}
}

/* The stacks are written even if nobody reads the report. */
static void test_stacks_are_written_whoever_reads(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = report_fixture_run(&fixture);
	char *error = NULL, *path = util_format("%s", scratch_path("unread.folded")), *text;
	FILE *full = fopen("/dev/full", "w");
	size_t size;

	(void)state;
	report->request.files[EXPORT_FOLDED] = path;
	report_cut(report, "enough", report_fixture_late());
	report_fixture_finish(&fixture, report);
	assert_non_null(full);
	assert_false(report_write(report, full, &error));
	assert_non_null(strstr(error, "standard output: not written: "));
	fclose(full);
	text = scratch_read(path, &size);
	assert_non_null(strstr(text, "main_loop_[k];hot"));
	free(text);
	free(error);
	free(path);
	report_free(report);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_aligned),
		cmocka_unit_test(test_callers_without_a_name_are_told),
		cmocka_unit_test(test_report_is_exact),
		cmocka_unit_test(test_report_beside_a_running_profiler),
		cmocka_unit_test(test_report_tells_its_gaps),
		cmocka_unit_test(test_report_waits_for_the_guests_names),
		cmocka_unit_test(test_an_option_without_effect_is_refused),
		cmocka_unit_test(test_what_of_a_filter_events_leave_out_is_told),
		cmocka_unit_test(test_what_is_wrong_is_said_before_the_window),
		cmocka_unit_test(test_a_filter_that_nothing_passes_is_told),
		cmocka_unit_test(test_a_machine_that_is_not_there_is_told),
		cmocka_unit_test(test_stacks_are_written_whoever_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
