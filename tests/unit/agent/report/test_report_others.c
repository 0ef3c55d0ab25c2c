/* SPDX-License-Identifier: MIT */
/* A report beside others who profile the same guest: a person, other reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/answers/function_table.h"
#include "agent/answers/profile.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/session_fixture.h"
#include "tests/unit/fakes/walked.h"

/* What a person sets meanwhile, by a control line or by a key, is not undone at the end. */
static void test_what_a_person_sets_stays(void **state)
{
	(void)state;
	for (int by_key = 0; by_key < 2; by_key++) {
		struct fixture fixture = fixture_begin(NULL);
		struct report *report = report_fixture_run(&fixture);

		if (by_key) {
			session_run_profiler(fixture.session, true);
			fixture_await_message(&fixture, false, "profiling on (already)");
		} else {
			fixture_command(&fixture, "start");
			fixture_await_line(&fixture, "start");
			fake_guest_reply(fixture.guest, true, "started");
			fixture_await_message(&fixture, false, "started");
		}
		report_cut(report, "interrupted", report_fixture_late());
		report_fixture_finish(&fixture, report);
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
	request.duration_ns = 3600 * NS_PER_SECOND;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_fixture_begin(&fixture, &request);
	fixture_command(&fixture, "rate 250");
	fixture_await_line(&fixture, "rate 250");
	fake_guest_reply(fixture.guest, true, "rate 250");
	fixture_await_message(&fixture, false, "rate 250");
	fixture_command(&fixture, "sampler nmi");
	fixture_await_line(&fixture, "sampler nmi");
	fake_guest_reply(fixture.guest, true, "sampler nmi");
	fixture_await_message(&fixture, false, "sampler nmi");
	report_cut(report, "interrupted", report_fixture_late());
	report_fixture_finish(&fixture, report);
	report_free(report);
	fixture_step(&fixture);
	assert_string_equal(fixture.guest->lines, "");
	fixture_end(&fixture);
}

enum { TOGETHER = 3 };

struct pack {
	struct fixture fixture;
	struct report *reports[TOGETHER];
	int starts, stops;		/* how many of these lines the guest got */
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
	report_fixture_live(pack->fixture.guest);
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

/* The profiler was off. It goes off when the last report has ended, and each report has its rows. */
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

		/* 5 samples in 25 ms, and slices of 20 ms at both ends. */
		assert_in_range(report->profile->table->samples, 100 * (i + 1) - 55, 100 * (i + 1) + 55);
		assert_string_equal(report->note, "");
	}
	end_pack(&pack);
}

/* A report that comes while another one's books are being closed has a profile of its own. */
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
	taken = pack.reports[0]->profile->table->samples;
	run_pack(&pack);
	assert_int_equal(pack.starts, 2);
	assert_int_equal(pack.stops, 2);
	assert_int_equal(pack.reports[0]->profile->table->samples, taken);
	assert_true(taken > 50);
	assert_int_equal(pack.reports[1]->profile->table->samples + taken,
		pack.fixture.guest->taken[0] + pack.fixture.guest->taken[1]);
	end_pack(&pack);
}

/* A report is a reader of its own for the query, freed with the report. */
static void test_a_report_frees_its_reader(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct report *report = report_fixture_run(&fixture);
	struct epoch *epoch = epoch_hold(session_epoch(fixture.session));

	(void)state;
	report->request.cpu = 1;
	report_cut(report, "interrupted", report_fixture_late());
	report_fixture_finish(&fixture, report);
	assert_true(report->profile->table->samples > 0);
	assert_int_equal(query_reader_new(epoch->query), QUERY_ANYBODY + 2);
	report_free(report);
	fixture_step(&fixture);			/* the session frees the reader in its next step */
	assert_int_equal(query_reader_new(epoch->query), QUERY_ANYBODY + 1);
	epoch_release(epoch);
	fixture_end(&fixture);
}

/* ---- a screen, All and reports of one machine ---- */

enum { READERS = 4, ROUNDS = 40, LEAST_REPORTS = 5 };

struct crowd {
	struct fixture fixture;
	struct subscription *readers[READERS];	/* for each screen: header, table */
	struct report *report;		/* NULL: none runs */
	uint32_t reports;		/* how many have ended */
	void (*beside)(struct crowd *crowd);	/* what runs beside the screens; NULL: nothing */
};

/* One screen asks for the last ten seconds, as at its start. The other asks for all time, of one CPU. */
static void ask_both(struct crowd *crowd)
{
	for (int i = 0; i < READERS; i++) {
		struct vitals_request vitals = answers_vitals_request();
		struct function_request functions = answers_function_request();
		struct request *request = i % 2 ? &functions.request : &vitals.request;

		request->excerpt.window_ns = i < 2 ? 10 * NS_PER_SECOND : 0;
		request->excerpt.filter = filter_of(i < 2 ? "" : "cpu:1");
		request->pause_ms = 1;
		crowd->readers[i] = session_subscribe(crowd->fixture.session, NULL, NULL);
		subscription_ask(crowd->readers[i], request);
	}
}

static void step_report(struct crowd *crowd)
{
	struct report_request request = report_default;
	const struct table *table;

	if (!crowd->report) {
		request.duration_ns = 500000000;
		request.cpu = crowd->reports % 2;
		crowd->report = report_new(crowd->fixture.session, &request);
	}
	if (report_step(crowd->report) < REPORT_DONE)
		return;
	assert_int_equal(crowd->report->state, REPORT_DONE);
	table = crowd->report->profile->table;
	assert_true(table->samples > 0);
	for (size_t i = 0; i < table->count; i++)
		assert_true(!table->rows[i].self || table->rows[i].cpus[0] == 1u << crowd->reports % 2);
	report_free(crowd->report);
	crowd->report = NULL;
	crowd->reports++;
}

/* A quarter of a second of the guest's time comes, and each reader takes an answer about it. */
static void serve_all(struct crowd *crowd)
{
	bool got[READERS] = { false };
	int count = 0;

	for (int i = 0; i < 10; i++)
		report_fixture_live(crowd->fixture.guest);
	for (int i = 0; i < FIXTURE_STEPS && count < READERS; i++) {
		fixture_step(&crowd->fixture);
		for (int k = 0; k < READERS; k++) {
			struct answer *answer = subscription_take(crowd->readers[k]);

			count += answer && !got[k];
			got[k] = got[k] || answer;
			if (answer)
				assert_ptr_equal(answer->epoch, session_epoch(crowd->fixture.session));
			answer_free(answer);
		}
		if (crowd->beside)
			crowd->beside(crowd);
	}
	assert_int_equal(count, READERS);
}

static void serve_beside(struct crowd *crowd, void (*beside)(struct crowd *crowd))
{
	crowd->beside = beside;
	for (int i = 0; i < ROUNDS; i++)
		serve_all(crowd);
}

static void end_crowd(struct crowd *crowd)
{
	report_free(crowd->report);
	for (int i = 0; i < READERS; i++)
		subscription_leave(crowd->readers[i]);
	fixture_end(&crowd->fixture);
}

/* Each reader is served, whoever else asks. */
static void test_many_readers_of_one_machine(void **state)
{
	struct crowd crowd = { .fixture = fixture_begin(NULL) };

	(void)state;
	fixture_bring_up(&crowd.fixture);
	fake_guest_status(crowd.fixture.guest, true);
	ask_both(&crowd);
	serve_beside(&crowd, step_report);
	assert_true(crowd.reports >= LEAST_REPORTS);
	end_crowd(&crowd);
}

/* The report's boot is over before the report is. Once the report is done, no other answer is made for it. */
static void step_past(struct crowd *crowd)
{
	if (crowd->report->state < REPORT_DONE)
		report_step(crowd->report);
	else if (crowd->report->subscription)
		assert_null(subscription_take(crowd->report->subscription));
}

/* A report of an earlier boot: it has all samples of that boot, and the screens, on the present one, lose nothing. */
static void test_a_report_of_an_earlier_boot_beside_screens(void **state)
{
	struct crowd crowd = { .fixture = fixture_begin(NULL) };
	struct fake_guest *guest = crowd.fixture.guest;
	uint64_t taken;
	struct epoch *before;

	(void)state;
	crowd.report = report_fixture_run(&crowd.fixture);
	before = session_epoch(crowd.fixture.session);
	taken = guest->taken[0] + guest->taken[1];
	packets_boot(guest->packets, 2);
	fake_guest_facts(guest, NULL, 0);
	fake_guest_status(guest, true);
	for (int i = 0; i < FIXTURE_STEPS && session_epoch(crowd.fixture.session) == before; i++)
		fixture_step(&crowd.fixture);
	ask_both(&crowd);
	serve_beside(&crowd, step_past);
	assert_int_equal(crowd.report->state, REPORT_DONE);
	assert_non_null(strstr(crowd.report->error, "the guest restarted"));
	assert_ptr_equal(crowd.report->profile->answer.epoch, before);
	assert_int_equal(crowd.report->profile->table->samples, taken);
	assert_null(crowd.report->profile->books);
	end_crowd(&crowd);
}

/* ---- different rates ---- */

/* Two reports want different rates: the second one fails, and says why. */
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
	assert_non_null(strstr(pack.reports[1]->error, "--rate: another report runs with another value"));
	assert_true(pack.fixture.guest->running);
	report_cut(pack.reports[0], "enough", report_fixture_late());
	for (int i = 0; i < FIXTURE_STEPS && pack.reports[0]->state < REPORT_DONE; i++) {
		step_pack(&pack);
		if (fake_guest_got(pack.fixture.guest, "rate 997"))
			fake_guest_reply(pack.fixture.guest, true, "rate 997");
	}
	assert_int_equal(pack.reports[0]->state, REPORT_DONE);
	assert_string_equal(pack.reports[0]->note, "cut short: enough");
	end_pack(&pack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_person_sets_stays),
		cmocka_unit_test(test_a_rate_that_a_person_sets_stays),
		cmocka_unit_test(test_reports_at_once_share_the_profiler),
		cmocka_unit_test(test_report_behind_another),
		cmocka_unit_test(test_a_report_frees_its_reader),
		cmocka_unit_test(test_many_readers_of_one_machine),
		cmocka_unit_test(test_a_report_of_an_earlier_boot_beside_screens),
		cmocka_unit_test(test_reports_of_different_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
