/* SPDX-License-Identifier: MIT */
/* Memory is refused while a snapshot is saved, and while a report is made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "agent/guest/epoch.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "scarce.h"
#include "scenes.h"

/* In this format. `good`: a command that finds what is in the file. */
static void snapshot_in(const char *format, const char *good)
{
	struct fixture fixture = scene_begin_unhindered();
	struct session_message message = { .text = "" };
	struct export_choice choice;
	size_t number;

	assert_true(save_format_named(format, &number));
	choice = save_format_choice(number, "");
	scene_live(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, HOT, CALLER);
	answers_free(fixture_answers(&fixture));
	scarce_pause(false);
	session_snapshot(fixture.session, scratch_path("shot.file"), &answers_all, &choice);
	for (int i = 0; i < FIXTURE_STEPS && !message.text[0]; i++) {
		fixture_step(&fixture);
		session_message(fixture.session, &message);
	}
	scarce_end();
	assert_string_not_equal(message.text, "");
	if (!message.failed)
		scratch_run(good);
	fixture_end(&fixture);
	scratch_run("[ ! -e shot.file.partial ] && rm -rf shot*.file");
}

static void snapshot(void *context)
{
	(void)context;
	snapshot_in("folded", "grep -qx 'main_loop_.*;hot_.* 3' shot*.file");
}

static void table(void *context)
{
	(void)context;
	snapshot_in("json", "tail -1 shot*.file | grep -qx '}' && grep -q '\"name\":\"hot\".*\"self\":3,' shot*.file");
}

static void recording(void *context)
{
	(void)context;
	snapshot_in("ctf", "grep -aq hot shot*.file/0001-*/meta_0 && [ -s shot*.file/0001-*/samples_0 ]");
}

static void obey(struct fake_guest *guest)
{
	if (fake_guest_got(guest, "hello"))
		scene_tell(guest);
	fake_guest_obey(guest);
	for (int i = 0; guest->running && i < 5; i++)
		fake_guest_sample(guest, (uint32_t)i % 2, 1, i ? HOT : COLD, CALLER);
	fake_guest_beat(guest, 50);
}

static uint64_t given_up(const struct report *report)
{
	return store_given_up(report->epoch->inputs.store);
}

static void write_report(struct report *report, bool json)
{
	char *text, *error = NULL;
	size_t size;
	FILE *out = util_text_open(&text, &size);
	bool done;

	report->request.json = json;
	done = report_write(report, out, &error);
	text = util_text_close(out, &text);
	assert_true(done == !error && (!done || size > 0));
	if (done && given_up(report))
		assert_non_null(strstr(text, "memory is full"));
	if (error)
		fprintf(stderr, "%s\n", error);
	free(error);
	free(text);
}

/* `out`: the file that takes the place of the text; NULL: there is none. */
static void make_answer(const char *out)
{
	struct fixture fixture = scene_begin();
	struct report_request request = report_default;
	char *folded = util_format("%s", scratch_path("report.folded"));
	struct report *report;

	request.duration_ns = 200000000;
	request.out = out;
	request.files[EXPORT_FOLDED] = folded;
	report = report_new(fixture.session, &request);
	while (report_step(report) < REPORT_DONE) {	/* the alarm of scarce.c bounds it */
		obey(fixture.guest);
		fixture_step(&fixture);
	}
	assert_true(report->state == REPORT_DONE ? report->profile->table->samples > 0 : !!report->error);
	if (report->state == REPORT_DONE && !report->note[0] && !report->error)
		assert_int_equal(report->profile->table->samples + given_up(report),
			fixture.guest->taken[0] + fixture.guest->taken[1]);
	if (report->state == REPORT_DONE) {
		write_report(report, false);
		if (!out)
			write_report(report, true);
	}
	report_free(report);
	fixture_end(&fixture);
	free(folded);
}

static void make_report(void *context)
{
	(void)context;
	make_answer(NULL);
}

static void make_export(void *context)
{
	char *out = util_format("%s", scratch_path("export.folded"));

	(void)context;
	make_answer(out);
	scratch_run("rm -f export.folded");
	free(out);
}

int main(int count, char **arguments)
{
	static const struct scene scenes[] = {
		{ "a snapshot", snapshot },
		{ "a report", make_report },
		{ "an export", make_export },
		{ "a table as a snapshot", table },
		{ "a recording as a snapshot", recording },
	};

	return scenes_main(scenes, sizeof(scenes) / sizeof(scenes[0]), count, arguments);
}
