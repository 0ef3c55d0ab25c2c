/* SPDX-License-Identifier: MIT */
/* A snapshot that is a recording. Who plays it sees the tables of the session that has saved it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "agent/query/question/filter.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { STEP_MS = 1, PROGRAM = 7, OTHER = 8, BASE = 0x400000, SIZE = 0x10000 };

static void tell(struct fake_guest *guest, uint16_t id, uint32_t stream, const void *fixed, size_t size,
	struct body *rest)
{
	struct body body = { 0 };

	body_fixed(&body, fixed, size);
	memcpy(body.bytes + body.size, rest->bytes, rest->size);
	body.size += rest->size;
	guest->clock += FAKE_GUEST_TICKS_PER_MS;
	packets_begin(guest->packets, stream, 0, guest->clock);
	packets_event(guest->packets, guest->clock, id, &body);
	packets_end(guest->packets, guest->clock);
	guest->taken[0] += stream == KTOP_SAMPLES;
}

static void name_thread(struct fake_guest *guest, uint32_t thread, uint32_t process, const char *name)
{
	const struct ktop_wire_thread fixed = { .thread = thread, .process = process };
	const struct ktop_wire_process owner = { .process = process };
	struct body text = { 0 };

	body_text(&text, name);
	tell(guest, KTOP_EVENT_thread, KTOP_META, &fixed, sizeof(fixed), &text);
	tell(guest, KTOP_EVENT_process, KTOP_META, &owner, sizeof(owner), &text);
}

/* A sample of a program, in a system call; with other callers for each process. */
static void call(struct fake_guest *guest, uint32_t process, uint8_t flags, uint32_t weight)
{
	const struct ktop_wire_sample fixed = {
		.process = process, .thread = process + 100, .weight = weight, .flags = flags, .exact = 1,
	};
	const uint64_t kernel[] = { 0x1210, 0x1120 };
	const uint64_t user[] = { BASE + 0x10, BASE + 0x1000 * process, BASE + SIZE - 1 };
	struct body frames = { 0 };

	body_list(&frames, kernel, 2, sizeof(*kernel));
	body_list(&frames, user, 3, sizeof(*user));
	tell(guest, KTOP_EVENT_sample, KTOP_SAMPLES, &fixed, sizeof(fixed), &frames);
}

static void work(struct fake_guest *guest)
{
	fake_guest_object(guest, PROGRAM, BASE, BASE + SIZE, "/bin/one");
	fake_guest_object(guest, OTHER, BASE, BASE + SIZE, "/bin/other");
	fake_guest_symbol(guest, 0x800, 0x100, "told");
	name_thread(guest, PROGRAM + 100, PROGRAM, "first");
	name_thread(guest, OTHER + 100, OTHER, "second");
	for (uint32_t i = 0; i < 20; i++) {
		call(guest, i % 3 ? PROGRAM : OTHER, i % 2 ? KTOP_TASK : KTOP_SOFTIRQ | KTOP_USER_CUT, 1 + i % 4);
		fake_guest_sample(guest, i % 2, 1 + i % 3, i % 2 ? 0x1210 : 0x810, 0x1120);
		fake_guest_beat(guest, 100);		/* several slices */
	}
	fake_guest_missed(guest, 1, 50);
}

/* Saves in a format, by rows of a kind. */
static void save(struct session *session, const char *format, const char *file, const struct excerpt *excerpt)
{
	char *path = util_format("%s", scratch_path(file));
	struct session_message message = { .text = "" };
	struct export_choice choice;
	size_t number;

	assert_true(save_format_named(format, &number));
	choice = save_format_choice(number, "");
	session_snapshot(session, path, excerpt, &choice);
	for (int i = 0; i < FIXTURE_STEPS && !strstr(message.text, file); i++) {
		session_step(session, STEP_MS);
		session_message(session, &message);
	}
	if (message.failed || !strstr(message.text, file))
		fail_msg("%s: %s", file, message.text);
	free(path);
}

static void save_tables(struct session *session, const char *name, const struct excerpt *of)
{
	for (int by = 0; by < GROUPS; by++) {
		char *file = util_format("%s-%d.csv", name, by);
		struct excerpt excerpt = *of;

		excerpt.by = (enum group_by)by;
		save(session, "csv", file, &excerpt);
		free(file);
	}
}

/* Names come out of the recording alone. */
static void play(const char *folder, const char *name)
{
	char *path = util_format("%s", scratch_path(folder)), *error = NULL;
	struct recording *recording = recording_new(path, &error);
	struct session *session;

	assert_non_null(recording);
	session = session_new(replay_new(recording, &(struct replay_options) { .at_once = true }),
		&(struct session_options) { .memory = 64 }, &error);
	while (!session_over(session))
		session_step(session, STEP_MS);
	save_tables(session, name, &answers_all);
	session_free(session);
	free(path);
}

static void check_tables(const char *one, const char *other)
{
	for (int by = 0; by < GROUPS; by++) {
		char *command = util_format("[ $(wc -l <%s-%d.csv) -gt 1 ] && diff %s-%d.csv %s-%d.csv >&2", one, by,
			one, by, other, by);

		scratch_run(command);
		free(command);
	}
}

static void check(struct session *session, const char *words)
{
	struct excerpt excerpt = answers_all;

	assert_true(filter_parse(words, &excerpt.filter, NULL));
	save_tables(session, "seen", &excerpt);
	save(session, "ctf", "saved.ctf", &excerpt);
	play("saved.ctf", "played");
	check_tables("seen", "played");
	scratch_run("rm -rf saved.ctf *.csv");
}

static void test_what_was_kept_is_played_as_it_was_seen(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	work(fixture.guest);
	answers_free(fixture_answers(&fixture));
	check(fixture.session, "");
	check(fixture.session, "process:second");
	check(fixture.session, "cpu:1 mode:kernel");
	check(fixture.session, "mode:softirq under:hot");
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_kept_is_played_as_it_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
