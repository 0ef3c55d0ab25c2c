/* SPDX-License-Identifier: MIT */
/* A recording that is cut out of another one has the samples of the report of the same range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum { SAMPLES = 1500, STEP_MS = 10, SLOT = 20 };	/* samples are 1 ms apart; a fine slot of the store has 20 ms */

/* A recording that ends with a sample. */
static void record(const char *folder, uint32_t samples)
{
	struct fake_guest *guest = fake_guest_new(scratch_path("port"));

	fake_guest_facts(guest, NULL, 0);
	fake_guest_status(guest, true);
	for (uint32_t i = 0; i < samples; i++)
		fake_guest_sample(guest, i % 2, 1, 0x2008, 0x4008);
	recordings_write(folder, guest->packets);
	fake_guest_free(guest);
	unlink(scratch_path("port"));
}

/* How many samples the report has. `out`: the range is cut into this folder; NULL: it is not. */
static uint64_t samples_of(const char *folder, const char *from, const char *to, const char *out)
{
	const struct replay_options replay = { .at_once = true };
	struct report_request request = report_default;
	struct recording *recording = recording_new(folder, NULL);
	struct session *session = session_new(replay_new(recording, &replay), &(struct session_options) { 0 }, NULL);
	struct report *report;
	uint64_t samples;

	request.recording = folder;
	request.from = from;
	request.to = to;
	request.out = out;
	request.format = out ? "ctf" : NULL;
	report = report_new(session, &request);
	while (report_step(report) < REPORT_DONE)
		session_step(session, STEP_MS);
	assert_int_equal(report->state, REPORT_DONE);
	samples = report->profile->table->samples;
	report_free(report);
	session_free(session);
	return samples;
}

static void check(const char *folder, const char *from, const char *to)
{
	char *out = util_format("%s", scratch_path("cut.ctf"));
	uint64_t samples = samples_of(folder, from, to, out);

	assert_true(samples > 0);
	assert_int_equal(samples_of(out, NULL, NULL, NULL), samples);
	scratch_run("rm -rf cut.ctf");
	free(out);
}

/* Of a short range, which has fine slots, and of others; wherever in its slot the last sample is. */
static void a_cut_to_the_end_has_the_samples_of_the_report(void **state)
{
	static const char *const begins[] = { "-0.27", "-0.9", "-1.2", "+0.1", "+1.1" };
	char *folder = util_format("%s", scratch_path("recording"));

	(void)state;
	for (uint32_t i = 0; i < SLOT; i += 3) {
		record(folder, SAMPLES + i);
		for (size_t k = 0; k < sizeof(begins) / sizeof(*begins); k++)
			check(folder, begins[k], NULL);
		check(folder, "+0.333", "+0.334");
		check(folder, NULL, "+0.62");
		scratch_run("rm -rf recording");
	}
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_to_the_end_has_the_samples_of_the_report),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
