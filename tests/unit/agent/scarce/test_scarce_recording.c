/* SPDX-License-Identifier: MIT */
/* Memory is refused while a recording is made, and while it is replayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/threads.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "scarce.h"
#include "scenes.h"

enum { PART_BYTES = 4096, ROUNDS = 40 };

/* Samples to a capture in parts, between which the guest tells all again. */
static struct capture *record_some(struct fixture *fixture, const char *folder)
{
	const struct recording_options options = { .folder = folder, .part_bytes = PART_BYTES };
	struct capture *capture = capture_new(fixture->session, &options);

	fixture->guest->running = true;
	for (int i = 0; i < ROUNDS; i++) {
		fake_guest_sample(fixture->guest, 0, 1, i % 4 ? HOT : COLD, CALLER);
		if (fake_guest_got(fixture->guest, "hello"))
			scene_tell(fixture->guest);
		fixture_step(fixture);
	}
	return capture;
}

static char *new_folder(void)
{
	char *folder = util_format("%s", scratch_path("capture")), *error = NULL;

	scratch_run("rm -rf capture");
	assert_true(recording_folder(folder, &error));
	return folder;
}

/* What was taken as recorded is on the disk, or is said not to be. */
static void make_recording(void *context)
{
	struct fixture fixture = scene_begin_unhindered();
	char *folder = new_folder(), *error = NULL;
	struct recording *recording;
	struct recording_sums sums;
	struct capture *capture;
	uint64_t packets = 0;
	bool good;

	(void)context;
	scene_live(&fixture);
	scarce_pause(false);
	capture = record_some(&fixture, folder);
	sums = capture_sums(capture);
	good = capture_close(capture, &error);
	scarce_end();
	assert_true(good == !error);
	recording = recording_new(folder, good ? &error : NULL);
	assert_true(recording || !good);
	for (size_t i = 0; recording && i < recording->part_count; i++)
		packets += recording->parts[i].packets;
	assert_true(good ? packets == sums.packets && recording->part_count > 1 : packets < sums.packets);
	recording_free(recording);
	free(error);
	free(folder);
	fixture_end(&fixture);
}

static void play_until_over(struct fixture *fixture)
{
	while (!session_over(fixture->session)) {	/* or the alarm of scarce.c rings */
		session_step(fixture->session, FIXTURE_STEP_MS);
		scene_end_if_failed(fixture->session);
	}
}

/* What is not in the table is counted; played again, with memory back, all is there. */
static void replay(void *context)
{
	struct fixture fixture = scene_begin_unhindered();
	char *folder = new_folder(), *error = NULL;
	const struct session_options options = { .symbols = scene_names() };
	struct recording *recording;
	struct answers *answers;

	(void)context;
	scene_live(&fixture);
	assert_true(capture_close(record_some(&fixture, folder), &error));
	session_free(fixture.session);
	scarce_pause(false);
	recording = recording_new(folder, &error);
	if (!recording)
		fail_msg("%s", error);
	fixture.session = session_new(replay_new(recording, &(struct replay_options) { .at_once = true }), &options,
		&error);
	if (!fixture.session)
		fail_msg("%s", error);
	play_until_over(&fixture);
	answers = fixture_answers(&fixture);
	scene_check_weight(answers, ROUNDS);
	answers_free(answers);
	scarce_end();

	session_play(fixture.session, (struct play) { .kind = PLAY_TO });
	while (session_over(fixture.session))
		session_step(fixture.session, FIXTURE_STEP_MS);
	session_play(fixture.session, (struct play) { .kind = PLAY_BY, .ns = INT64_MAX });
	play_until_over(&fixture);
	answers = fixture_answers(&fixture);
	assert_int_equal(scene_self(answers, "hot"), ROUNDS * 3 / 4);
	assert_int_equal(scene_self(answers, "cold"), ROUNDS / 4);
	assert_string_equal(threads_name(answers->functions->answer.epoch->inputs.threads, 7), "worker");
	answers_free(answers);
	free(folder);
	fixture_end(&fixture);
}

int main(int count, char **arguments)
{
	static const struct scene scenes[] = {
		{ "a recording", make_recording },
		{ "its replay", replay },
	};

	return scenes_main(scenes, sizeof(scenes) / sizeof(scenes[0]), count, arguments);
}
