/* SPDX-License-Identifier: MIT */
/* Memory is refused while a guest boots, and while it boots again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/guest/epoch.h"
#include "agent/names/threads.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "scarce.h"
#include "scenes.h"

/* And remarks tell of names that are missing. */
static void check_first(const struct answers *answers, uint64_t sent)
{
	scene_check_weight(answers, sent);
	if (scene_self(answers, "hot") != sent)
		assert_string_not_equal(answers->vitals->note, "");
}

static void boot(void *context)
{
	struct fixture fixture = scene_begin();
	struct answers *answers;

	(void)context;
	scene_live(&fixture);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, HOT, CALLER);
	answers = fixture_answers(&fixture);
	check_first(answers, 30);
	answers_free(answers);
	scarce_end();

	scene_live(&fixture);
	for (int i = 0; i < 20; i++)
		fake_guest_sample(fixture.guest, 1, 1, i < 15 ? COLD : TOLD + 1, CALLER);
	answers = fixture_answers(&fixture);
	assert_int_equal(scene_self(answers, "cold"), 15);
	assert_int_equal(scene_self(answers, "told_by_the_guest"), 5);
	assert_string_equal(threads_name(answers->functions->answer.epoch->inputs.threads, 7), "worker");
	assert_int_equal(answers->vitals->cpu_count, 2);
	answers_free(answers);
	fixture_end(&fixture);
}

/* A boot that follows another one. */
static void next_boot(void *context)
{
	struct fixture fixture = scene_begin_unhindered();
	struct answers *answers;

	(void)context;
	scene_live(&fixture);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, HOT, CALLER);
	answers_free(fixture_answers(&fixture));
	scarce_pause(false);
	packets_boot(fixture.guest->packets, 2);
	fixture.guest->clock = 0;
	scene_tell(fixture.guest);
	scene_live(&fixture);
	scarce_end();

	scene_live(&fixture);
	for (int i = 0; i < 20; i++)
		fake_guest_sample(fixture.guest, 1, 1, i < 15 ? COLD : TOLD + 1, CALLER);
	answers = fixture_answers(&fixture);
	assert_int_equal(scene_self(answers, "hot"), 0);
	assert_int_equal(scene_self(answers, "cold"), 15);
	assert_int_equal(scene_self(answers, "told_by_the_guest"), 5);
	assert_string_equal(threads_name(answers->functions->answer.epoch->inputs.threads, 7), "worker");
	answers_free(answers);
	fixture_end(&fixture);
}

int main(int count, char **arguments)
{
	static const struct scene scenes[] = {
		{ "a boot", boot },
		{ "the next boot", next_boot },
	};

	return scenes_main(scenes, sizeof(scenes) / sizeof(scenes[0]), count, arguments);
}
