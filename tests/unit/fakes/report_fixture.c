/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "fake_guest.h"
#include "report_fixture.h"
#include "session_fixture.h"

void report_fixture_live(struct fake_guest *guest)
{
	static const char *const settings[] = { "rate 500", "mode nmi" };

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (fake_guest_got(guest, settings[i]))
			fake_guest_reply(guest, true, settings[i]);
	fake_guest_obey(guest);
	for (int i = 0; guest->running && i < 5; i++)
		fake_guest_sample(guest, (uint32_t)i % 2, 1, i ? 0x1210 : 0x1310, 0x1120);
	fake_guest_beat(guest, 20);
}

void report_fixture_until(struct fixture *fixture, struct report *report, enum report_state state)
{
	for (int i = 0; i < FIXTURE_STEPS && report_step(report) < state; i++) {
		report_fixture_live(fixture->guest);
		fixture_step(fixture);
	}
	if (report->state != state)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
}

struct report *report_fixture_begin(struct fixture *fixture, const struct report_request *request)
{
	struct report *report = report_new(fixture->session, request);

	fixture_bring_up(fixture);
	report_fixture_until(fixture, report, REPORT_RUNNING);
	return report;
}

struct report *report_fixture_run_at(struct fixture *fixture, uint32_t rate)
{
	struct report_request request = report_default;
	struct report *report;

	request.duration_ns = 3600 * NS_PER_SECOND;
	request.rate = rate;
	report = report_fixture_begin(fixture, &request);
	for (int i = 0; i < 20; i++) {
		report_fixture_live(fixture->guest);
		fixture_step(fixture);
	}
	assert_int_equal(report_step(report), REPORT_RUNNING);
	return report;
}

struct report *report_fixture_run(struct fixture *fixture)
{
	return report_fixture_run_at(fixture, 0);
}

void report_fixture_finish(struct fixture *fixture, struct report *report)
{
	uint64_t late = util_now() + 60 * NS_PER_SECOND;	/* a file may take its time */

	while (util_now() < late && report_step(report) < REPORT_DONE) {
		report_fixture_live(fixture->guest);
		fixture_step(fixture);
	}
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
}

char *report_fixture_text(struct report *report)
{
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(report_write(report, out, &error));
	fclose(out);
	return text;
}

uint64_t report_fixture_late(void)
{
	return util_now() + 60 * NS_PER_SECOND;
}
