#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

/* What a true guest does while a report is made: obeys lines, samples while it is on. */
static void live(struct fake_guest *guest)
{
	static const char *const settings[] = { "rate 500", "mode nmi" };

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (fake_guest_got(guest, settings[i]))
			fake_guest_reply(guest, true, settings[i]);
	if (fake_guest_got(guest, "start")) {
		fake_guest_status(guest, true);
		fake_guest_reply(guest, true, "started");
	}
	if (fake_guest_got(guest, "stop")) {
		fake_guest_status(guest, false);
		fake_guest_counts(guest);
		fake_guest_reply(guest, true, "stopped");
	}
	for (int i = 0; guest->running && i < 5; i++)
		fake_guest_sample(guest, (uint32_t)i % 2, 1, i ? 0x1210 : 0x1310, 0x1120);
	fake_guest_beat(guest, 20);
}

/* Written piece by piece, it is one whole. */
static void check_json(const char *text, const struct report *report)
{
	cJSON *root = cJSON_Parse(text);

	assert_true(cJSON_IsObject(root));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "functions")),
		report->table->count);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "cpus")), 2);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(root, "books")) > 0);
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(root, "events")) > 0);
	assert_true(cJSON_IsString(cJSON_GetObjectItem(root, "remark")));
	cJSON_Delete(root);
}

/* Names stand by columns, not by bytes, in the C locale too. */
static void test_text_is_aligned(void **state)
{
	static const char name[] = "gr\xc3\xb6\xc3\x9f" "e_\xe5\x90\x8d\xe5\x89\x8d";	/* 10 columns */
	char *names = util_format("0000000000001000 T _start\n0000000000001100 T main_loop\n"
		"0000000000001200 T %s\n0000000000001400 T _end\n", name);
	char *path = util_format("%s", scratch_text("wide_names", names)), *text = NULL;
	struct fixture fixture = fixture_begin(&(struct session_options) { .symbols = path });
	const struct question question = { .to = UINT64_MAX, .filter.cpu = EVENT_NONE };
	struct report report = { .request = report_default, .session = fixture.session };
	char *wide = util_format(" %s%23skernel ", name, ""), *plain;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	plain = util_format(" main_loop%24skernel ", "");
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	picture_free(fixture_picture(&fixture));
	report.epoch = session_epoch(fixture.session);
	report.table = query_table(report.epoch->query, &question);
	report_text(&report, out);
	fclose(out);
	assert_non_null(strstr(text, wide));
	assert_non_null(strstr(text, plain));
	table_free(report.table);
	fixture_end(&fixture);
	free(text);
	free(wide);
	free(plain);
	free(names);
	free(path);
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
	request.duration_ns = 1000000000;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_RATE_BACK; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	/* The guest is as it was before. */
	report_step(report);
	fixture_await_line(&fixture, "rate 997");
	fake_guest_reply(fixture.guest, true, "rate 997");
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_SAMPLER_BACK; i++)
		fixture_step(&fixture);
	report_step(report);
	fixture_await_line(&fixture, "mode timer");
	fake_guest_reply(fixture.guest, true, "mode timer");
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
	taken = fixture.guest->taken[0] + fixture.guest->taken[1];
	assert_true(taken > 100);
	assert_int_equal(report->table->samples, taken);
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
	rows = report->table->count;
	report->table->count = 0;
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "(no sample was taken)"));
	free(text);
	report->table->count = rows;
	out = open_memstream(&text, &size);
	report->request.json = true;
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "\"caller"));
	check_json(text, report);
	free(text);
	report_free(report);
	fixture_end(&fixture);
}

/* A report that runs; its guest is on. */
static struct report *run_report_at(struct fixture *fixture, uint32_t rate)
{
	struct report_request request = report_default;
	struct report *report;

	request.duration_ns = 3600000000000;
	request.rate = rate;
	report = report_new(fixture->session, &request);
	fixture_bring_up(fixture);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture->guest);
		fixture_step(fixture);
	}
	for (int i = 0; i < 20; i++) {
		live(fixture->guest);
		fixture_step(fixture);
	}
	assert_int_equal(report_step(report), REPORT_RUNNING);
	return report;
}

static struct report *run_report(struct fixture *fixture)
{
	return run_report_at(fixture, 0);
}

static void finish_report(struct fixture *fixture, struct report *report)
{
	uint64_t late = util_now() + 60000000000;	/* a file may take its time */

	while (util_now() < late && report_step(report) < REPORT_DONE) {
		live(fixture->guest);
		fixture_step(fixture);
	}
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
}

/* What was sampled is not lost because the guest does not stop. */
static void test_report_survives_a_guest_that_does_not_stop(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report_cut(report, "interrupted");
	report_step(report);
	fixture_await_line(&fixture, "stop");
	fake_guest_reply(fixture.guest, false, "not now");
	finish_report(&fixture, report);
	assert_true(report->table->samples > 0);
	assert_non_null(strstr(report->note, "cut short: interrupted; "));
	assert_non_null(strstr(report->note, "not now"));
	report_free(report);
	fixture_end(&fixture);
}

/* Somebody waits: a guest that says nothing more is left, and told to go on as before. */
static void test_report_that_is_cut_leaves_a_silent_guest(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);
	uint64_t late = util_now() + 60000000000;

	(void)state;
	report_cut(report, "interrupted");
	while (util_now() < late && report_step(report) < REPORT_DONE)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_DONE);
	assert_string_equal(report->note, "cut short: interrupted; the guest has not confirmed `stop`, "
		"as it was before; `ktop ctl stop` tells it again");
	assert_true(report->table->samples > 0);
	report_free(report);
	fixture_end(&fixture);
}

static void test_report_of_a_profiler_that_somebody_stops(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	fake_guest_status(fixture.guest, false);
	fake_guest_counts(fixture.guest);
	finish_report(&fixture, report);
	assert_non_null(strstr(report->note, "somebody has stopped the profiler"));
	assert_non_null(strstr(report->error, "cut short: somebody has stopped the profiler; "));
	assert_int_equal(report->table->samples,
		fixture.guest->taken[0] + fixture.guest->taken[1]);
	report_free(report);
	fixture_end(&fixture);
}

/* What the books of the next boot say is not said of this one. */
static void test_report_of_a_guest_that_restarts(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report_at(&fixture, 500);
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	packets_boot(fixture.guest->packets, 2);
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	finish_report(&fixture, report);
	/* The new boot is as it is: nothing of it was borrowed. */
	fake_guest_step(fixture.guest);
	assert_string_equal(fixture.guest->lines, "hello\n");
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "lost unknown"));
	assert_non_null(strstr(text, "the guest restarted"));
	assert_null(strstr(text, "has not confirmed"));
	assert_non_null(strstr(text, " hot "));
	free(text);
	report_free(report);
	fixture_end(&fixture);
}

/* Nobody drives the session after it: the guest has its line all the same. */
static void test_report_that_is_given_up_stops_the_guest(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report_free(report);
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
	fixture_end(&fixture);
}

/* A window into a profile that runs: rates are right although it is cut by whole slices. */
static void test_report_beside_a_running_profiler(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.duration_ns = 1000000000;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 20; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	report = report_new(fixture.session, &request);
	finish_report(&fixture, report);
	assert_true(fixture.guest->running);
	/* 5 samples in 25 ms: a millisecond each, and 20 of silence. */
	assert_float_equal((double)report->table->samples / report->seconds, 200, 8);
	report_free(report);
	fixture_end(&fixture);
}

static char *text_of(struct report *report)
{
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(report_write(report, out, &error));
	fclose(out);
	return text;
}

/* How much of the time nobody knows of is told; of which rows are asked for does not matter. */
static void test_report_tells_its_gaps(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);
	char *text;

	(void)state;
	report->request.mode = MODE_USER;
	fake_guest_missed(fixture.guest, 0, fixture.guest->taken[0] + fixture.guest->taken[1]);
	fixture_step(&fixture);
	report_cut(report, "enough");
	finish_report(&fixture, report);
	assert_int_equal(report->table->weight, 0);
	assert_true(report->missed > 0.4 && report->missed <= 0.5);
	report->missed = 0.35;
	text = text_of(report);
	assert_non_null(strstr(text, " (35.0%), lost 0\n"));
	assert_non_null(strstr(text, "the host did not run the guest's CPUs for 35% of the time: "
		"the table rests on the other 65%\n"));
	free(text);
	report->missed = 0.1;
	text = text_of(report);
	assert_null(strstr(text, "the host did not run"));
	free(text);
	report_free(report);
	fixture_end(&fixture);
}

/* Nobody drives the session after it: the guest has its lines all the same. */
static void test_report_that_is_given_up_gives_back(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	report_free(report);
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
	assert_true(fake_guest_got(fixture.guest, "rate 997"));
	assert_true(fake_guest_got(fixture.guest, "mode timer"));
	fixture_end(&fixture);
}

static void await_failure(struct fixture *fixture, const char *why)
{
	struct report_request request = report_default;
	struct report *report;

	request.wait_ns = 50000000;
	report = report_new(fixture->session, &request);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
		fixture_step(fixture);
	assert_int_equal(report->state, REPORT_FAILED);
	if (!strstr(report->error, why))
		fail_msg("%s", report->error);
	report_free(report);
}

/* A guest that never speaks, and one that never says who it is: a bounded wait, and the reason. */
static void test_report_of_a_silent_guest_says_why(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	await_failure(&fixture, "in 0.05 s: it has not opened the port");
	fake_guest_beat(fixture.guest, 1);
	fixture_await_link(&fixture, LINK_NO_HELLO);
	await_failure(&fixture, "in 0.05 s: it sends, but not who it is");
	fixture_end(&fixture);
}

/* What came before its clock stood still is shown, and that it did is an error. */
static void test_report_of_a_guest_that_stands_still(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report->request.wait_ns = 50000000;
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) == REPORT_RUNNING; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_STOPPING);
	finish_report(&fixture, report);
	assert_true(report->table->samples > 0);
	assert_non_null(strstr(report->error, "cut short: the guest's clock stands still for 0.05 s"));
	assert_non_null(strstr(report->note, "the guest's clock stands still"));
	report_free(report);
	fixture_end(&fixture);
}

/* It goes on where the port comes back; what was on the way is lost, and in the books. */
static void test_report_outlives_its_connection(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	for (int i = 0; i < 3; i++) {
		fake_guest_hang_up(fixture.guest);
		fixture_await_link(&fixture, LINK_LOST);
		assert_int_equal(report_step(report), REPORT_RUNNING);
		fixture_await_line(&fixture, "hello");
		fake_guest_status(fixture.guest, true);
		fake_guest_reply(fixture.guest, true, "hello");
		live(fixture.guest);
		fixture_await_link(&fixture, LINK_UP);
	}
	report_cut(report, "interrupted");
	finish_report(&fixture, report);
	assert_null(report->error);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct books books =
			decode_books(session_decode(fixture.session), STREAM_SAMPLES, cpu);

		assert_int_equal(fixture.guest->taken[cpu], books.received + books.lost);
	}
	report_free(report);
	fixture_end(&fixture);
}

static void test_report_of_a_lost_port_ends(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report->request.wait_ns = 50000000;
	close(fixture.guest->listener);
	fixture.guest->listener = -1;
	fake_guest_hang_up(fixture.guest);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_DONE);
	assert_non_null(strstr(report->error, "the guest's port is lost for 0.05 s"));
	report_free(report);
	fixture_end(&fixture);
}

static void test_report_of_a_silent_vm_ends(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = report_new(fixture.session, &report_default);

	(void)state;
	report_cut(report, "interrupted");
	assert_int_equal(report_step(report), REPORT_FAILED);
	assert_string_equal(report->error, "no report: interrupted before it began; ask again");
	report_free(report);
	fixture_end(&fixture);
}

/* The guest has begun to tell of its functions, and the one that was sampled comes late. */
static void test_report_waits_for_the_guests_names(void **state)
{
	const struct session_options other = {
		.symbols = scratch_text("other", "0000000000009000 T other\n"),
	};
	struct fixture fixture = fixture_begin(&other);
	struct report *report = run_report(&fixture);
	bool named = false;

	(void)state;
	fake_guest_symbol(fixture.guest, 0x1000, 0x10, "first");
	report->end = report->begin;			/* the window is over */
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) != REPORT_NAMING; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(report_step(report), REPORT_NAMING);
		fixture_step(&fixture);
	}
	fake_guest_symbol(fixture.guest, 0x1200, 0x100, "told_late");
	fake_guest_symbol(fixture.guest, 0, 0, "");
	finish_report(&fixture, report);
	for (size_t i = 0; i < report->table->count; i++)
		named |= strcmp(symbols_get(report->epoch->inputs.symbols,
			report->table->rows[i].function)->name, "told_late") == 0;
	assert_true(named);
	report_free(report);
	fixture_end(&fixture);
}

/* ---- what is asked for ---- */

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

/* What can be known before is no window's time lost, nor cut in silence. */
static void test_what_is_wrong_is_said_before_the_window(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	char name[65] = "";

	(void)state;
	memset(name, 'n', 64);
	fixture_bring_up(&fixture);
	request.folded = "/nowhere/at/all";
	fails_at_once(&fixture, &request, "/nowhere/at/all: not written: ");
	request.folded = NULL;
	request.thread = name;
	fails_at_once(&fixture, &request, "--thread: longer than 63 bytes; give a part of the name");
	request.thread = NULL;
	request.cpu = 5;
	fails_at_once(&fixture, &request, "--cpu 5: the guest has 2 CPUs; give 0 to 1");
	fixture_end(&fixture);
}

static void test_a_filter_that_nothing_passes_is_told(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report->request.thread = "nosuch";
	report_cut(report, "enough");
	finish_report(&fixture, report);
	assert_non_null(strstr(report->note, "no sample passes --thread; leave one out, or give more --seconds"));
	report_free(report);
	fixture_end(&fixture);
}

/* Nobody reads the report: the stacks that it was asked for are written all the same. */
static void test_stacks_are_written_whoever_reads(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = run_report(&fixture);
	char *error = NULL, *path = util_format("%s", scratch_path("unread.folded")), *text;
	FILE *full = fopen("/dev/full", "w");
	size_t size;

	(void)state;
	report->request.folded = path;
	report_cut(report, "enough");
	finish_report(&fixture, report);
	assert_non_null(full);
	assert_false(report_write(report, full, &error));
	assert_non_null(strstr(error, "report: not written: "));
	fclose(full);
	text = scratch_read(path, &size);
	assert_non_null(strstr(text, "main_loop_[k];hot"));
	free(text);
	free(error);
	free(path);
	report_free(report);
	fixture_end(&fixture);
}

/* ---- several at once ---- */

enum { TOGETHER = 3 };

struct pack {
	struct fixture fixture;
	struct report *reports[TOGETHER];
	int starts, stops;		/* lines that the guest got */
};

static int lines_of(const struct fake_guest *guest, const char *line)
{
	int count = 0;

	for (const char *at = guest->lines; (at = strstr(at, line)); at++)
		count++;
	return count;
}

static bool step_pack(struct pack *pack)
{
	bool done = true;

	fixture_step(&pack->fixture);
	pack->starts += lines_of(pack->fixture.guest, "start\n");
	pack->stops += lines_of(pack->fixture.guest, "stop\n");
	live(pack->fixture.guest);
	for (int i = 0; i < TOGETHER; i++)
		if (pack->reports[i] && report_step(pack->reports[i]) < REPORT_DONE)
			done = false;
	return done;
}

static void run_pack(struct pack *pack)
{
	for (int i = 0; i < 4 * FIXTURE_STEPS && !step_pack(pack); i++)
		;
	for (int i = 0; i < TOGETHER; i++)
		if (pack->reports[i] && pack->reports[i]->state != REPORT_DONE)
			fail_msg("report %d: state %d: %s", i, pack->reports[i]->state,
				pack->reports[i]->error ? pack->reports[i]->error : "");
}

static void end_pack(struct pack *pack)
{
	for (int i = 0; i < TOGETHER; i++)
		report_free(pack->reports[i]);
	fixture_end(&pack->fixture);
}

/* Beside a profiler that was off: it goes off when the last has ended, and each has its rows. */
/* What a person does meanwhile, by a line or by the key of the screen, is not undone at the end. */
static void test_what_a_person_sets_stays(void **state)
{
	(void)state;
	for (int by_key = 0; by_key < 2; by_key++) {
		struct fixture fixture = fixture_begin(NULL);
		struct report *report = run_report(&fixture);

		if (by_key) {
			session_run_profiler(fixture.session, true);
			fixture_await_message(&fixture, false, "profiling on (already)");
		} else {
			session_command(fixture.session, "start");
			fixture_await_line(&fixture, "start");
			fake_guest_reply(fixture.guest, true, "started");
			fixture_await_message(&fixture, false, "started");
		}
		report_cut(report, "interrupted");
		finish_report(&fixture, report);
		report_free(report);
		fixture_step(&fixture);
		assert_true(fixture.guest->running);
		assert_false(fake_guest_got(fixture.guest, "stop"));
		fixture_end(&fixture);
	}
}

static void test_a_rate_that_a_person_sets_stays(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.duration_ns = 3600000000000;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	session_command(fixture.session, "rate 250");
	fixture_await_line(&fixture, "rate 250");
	fake_guest_reply(fixture.guest, true, "rate 250");
	fixture_await_message(&fixture, false, "rate 250");
	session_command(fixture.session, "mode nmi");
	fixture_await_line(&fixture, "mode nmi");
	fake_guest_reply(fixture.guest, true, "mode nmi");
	fixture_await_message(&fixture, false, "mode nmi");
	report_cut(report, "interrupted");
	finish_report(&fixture, report);
	report_free(report);
	fixture_step(&fixture);
	assert_string_equal(fixture.guest->lines, "");
	fixture_end(&fixture);
}

static void test_reports_at_once_share_the_profiler(void **state)
{
	struct pack pack = { .fixture = fixture_begin(NULL) };
	struct report_request request = report_default;

	(void)state;
	fixture_bring_up(&pack.fixture);
	for (int i = 0; i < TOGETHER; i++) {
		request.duration_ns = 500000000u * (unsigned)(i + 1);
		pack.reports[i] = report_new(pack.fixture.session, &request);
	}
	run_pack(&pack);
	assert_false(pack.fixture.guest->running);
	assert_int_equal(pack.starts, 1);
	assert_int_equal(pack.stops, 1);
	for (int i = 0; i < TOGETHER; i++) {
		const struct report *report = pack.reports[i];

		/* 5 samples in 25 ms, and slices of 250 ms at both ends. */
		assert_in_range(report->table->samples, 100 * (i + 1) - 55, 100 * (i + 1) + 55);
		assert_string_equal(report->note, "");
	}
	end_pack(&pack);
}

/* One that comes while another's books are being closed has a profile of its own. */
static void test_report_behind_another(void **state)
{
	struct pack pack = { .fixture = fixture_begin(NULL) };
	struct report_request request = report_default;
	uint64_t taken;

	(void)state;
	request.duration_ns = 500000000;
	fixture_bring_up(&pack.fixture);
	pack.reports[0] = report_new(pack.fixture.session, &request);
	for (int i = 0; i < FIXTURE_STEPS && pack.reports[0]->state < REPORT_STOPPING; i++)
		step_pack(&pack);
	pack.reports[1] = report_new(pack.fixture.session, &request);
	while (pack.reports[0]->state < REPORT_DONE)
		step_pack(&pack);
	taken = pack.reports[0]->table->samples;
	run_pack(&pack);
	assert_int_equal(pack.starts, 2);
	assert_int_equal(pack.stops, 2);
	assert_int_equal(pack.reports[0]->table->samples, taken);
	assert_true(taken > 50);
	assert_int_equal(pack.reports[1]->table->samples + taken,
		pack.fixture.guest->taken[0] + pack.fixture.guest->taken[1]);
	end_pack(&pack);
}

/* Two that want different rates cannot both have theirs: the second is told so. */
static void test_reports_of_different_rates(void **state)
{
	struct pack pack = { .fixture = fixture_begin(NULL) };
	struct report_request request = report_default;

	(void)state;
	request.duration_ns = 500000000;
	request.rate = 500;
	fixture_bring_up(&pack.fixture);
	pack.reports[0] = report_new(pack.fixture.session, &request);
	for (int i = 0; i < FIXTURE_STEPS && pack.reports[0]->state < REPORT_RUNNING; i++)
		step_pack(&pack);
	request.rate = 600;
	pack.reports[1] = report_new(pack.fixture.session, &request);
	for (int i = 0; i < FIXTURE_STEPS && pack.reports[1]->state < REPORT_DONE; i++)
		step_pack(&pack);
	assert_int_equal(pack.reports[1]->state, REPORT_FAILED);
	assert_non_null(strstr(pack.reports[1]->error, "--rate: another report has set it otherwise"));
	assert_true(pack.fixture.guest->running);
	report_cut(pack.reports[0], "enough");
	for (int i = 0; i < FIXTURE_STEPS && pack.reports[0]->state < REPORT_DONE; i++) {
		step_pack(&pack);
		if (fake_guest_got(pack.fixture.guest, "rate 997"))
			fake_guest_reply(pack.fixture.guest, true, "rate 997");
	}
	assert_int_equal(pack.reports[0]->state, REPORT_DONE);
	assert_string_equal(pack.reports[0]->note, "cut short: enough");
	end_pack(&pack);
}

/* A guest that stands still hears later that its rate is as before; the report says so. */
static void test_report_tells_what_a_still_guest_keeps(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.rate = 500;
	report = report_new(fixture.session, &request);
	fixture_bring_up(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture.guest);
		fixture_step(&fixture);
	}
	report->request.wait_ns = 50000000;
	for (int i = 0; i < 3 * FIXTURE_STEPS && report_step(report) < REPORT_DONE; i++)
		fixture_step(&fixture);
	assert_int_equal(report->state, REPORT_DONE);
	assert_non_null(strstr(report->note, "the guest has not confirmed `rate 997`"));
	fixture_step(&fixture);
	assert_non_null(strstr(fixture.guest->lines, "rate 997\n"));
	report_free(report);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_aligned),
		cmocka_unit_test(test_report_is_exact),
		cmocka_unit_test(test_report_survives_a_guest_that_does_not_stop),
		cmocka_unit_test(test_report_that_is_cut_leaves_a_silent_guest),
		cmocka_unit_test(test_report_of_a_profiler_that_somebody_stops),
		cmocka_unit_test(test_report_of_a_guest_that_restarts),
		cmocka_unit_test(test_report_that_is_given_up_stops_the_guest),
		cmocka_unit_test(test_report_beside_a_running_profiler),
		cmocka_unit_test(test_report_tells_its_gaps),
		cmocka_unit_test(test_report_that_is_given_up_gives_back),
		cmocka_unit_test(test_report_of_a_silent_guest_says_why),
		cmocka_unit_test(test_report_of_a_guest_that_stands_still),
		cmocka_unit_test(test_report_outlives_its_connection),
		cmocka_unit_test(test_report_of_a_lost_port_ends),
		cmocka_unit_test(test_report_of_a_silent_vm_ends),
		cmocka_unit_test(test_report_waits_for_the_guests_names),
		cmocka_unit_test(test_what_is_wrong_is_said_before_the_window),
		cmocka_unit_test(test_a_filter_that_nothing_passes_is_told),
		cmocka_unit_test(test_stacks_are_written_whoever_reads),
		cmocka_unit_test(test_what_a_person_sets_stays),
		cmocka_unit_test(test_a_rate_that_a_person_sets_stays),
		cmocka_unit_test(test_reports_at_once_share_the_profiler),
		cmocka_unit_test(test_report_behind_another),
		cmocka_unit_test(test_reports_of_different_rates),
		cmocka_unit_test(test_report_tells_what_a_still_guest_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
