/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/json.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/session/session.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/scratch.h"
#include "scarce.h"
#include "scenes.h"

enum { RUNS = 8, SOON = 15 };

static void tell_thread(struct fake_guest *guest, uint32_t number, const char *name)
{
	const struct ktop_wire_thread thread = { .thread = number };
	struct body body = { 0 };

	body_fixed(&body, &thread, sizeof(thread));
	body_text(&body, name);
	guest->clock += FAKE_GUEST_TICKS_PER_MS;
	packets_begin(guest->packets, KTOP_META, 0, guest->clock);
	packets_event(guest->packets, guest->clock, KTOP_EVENT_thread, &body);
	packets_end(guest->packets, guest->clock);
}

void scene_tell(struct fake_guest *guest)
{
	fake_guest_facts(guest, NULL, 0);
	tell_thread(guest, 7, "worker");
	fake_guest_symbol(guest, TOLD, 0x100, "told_by_the_guest");
	fake_guest_symbol(guest, 0, 0, "");
	fake_guest_status(guest, guest->running);
	fake_guest_counts(guest);
	fake_guest_reply(guest, true, "hello");
}

void scene_end_if_failed(const struct session *session)
{
	const char *why = session_failure(session);

	if (!why)
		return;
	fprintf(stderr, "ktop: %s\n", why);
	_exit(1);
}

void scene_live(struct fixture *fixture)
{
	for (int i = 0; i < SOON || session_link(fixture->session) != LINK_UP; i++) {
		if (fake_guest_got(fixture->guest, "hello"))
			scene_tell(fixture->guest);
		fixture_step(fixture);
		scene_end_if_failed(fixture->session);
	}
}

/* scenes_main has written it. */
const char *scene_names(void)
{
	return scratch_path("names");
}

struct fixture scene_begin(void)
{
	return fixture_begin(&(struct session_options) { .symbols = scene_names(),
		.patient = true });
}

uint64_t scene_self(const struct answers *answers, const char *name)
{
	uint64_t self = 0;

	for (size_t i = 0; answers->functions->table && i < answers->functions->table->count; i++) {
		const struct row *row = &answers->functions->table->rows[i];

		if (strcmp(symbols_get(answers->functions->answer.symbols, row->function)->name, name) == 0)
			self += row->self;
	}
	return self;
}

void scene_check_weight(const struct answers *answers, uint64_t sent)
{
	const struct epoch *epoch = answers->functions->answer.epoch;

	assert_int_equal(answers->functions->table->weight + store_given_up(epoch->inputs.store) + epoch->untimed,
		sent);
}

struct fixture scene_begin_unhindered(void)
{
	scarce_pause(true);
	return scene_begin();
}

static bool play_once(const struct scene *scene, uint64_t number)
{
	return scarce_run(&(struct scarce_runs) {
		.from = number, .step = SCARCE_NONE / 2, .body = scene->body });
}

static bool play(const struct scene *scene, bool all)
{
	struct scarce_runs runs = { .step = 1, .body = scene->body };
	uint64_t count = scarce_count(scene->body, NULL);

	if (!all)
		runs.step = count / quick_part(RUNS, 4) + 1;
	fprintf(stderr, "%llu allocations\n", (unsigned long long)count);
	return count && scarce_run(&runs);
}

int scenes_main(const struct scene *scenes, size_t size, int count, char **arguments)
{
	bool all = count > 1 && strcmp(arguments[1], "all") == 0, well = true;

	json_begin();
	scratch_text("names", fixture_names);
	if (count == 3)
		return !play_once(&scenes[atoi(arguments[1]) - 1], strtoull(arguments[2], NULL, 10));
	printf("1..%zu\n", size);
	for (size_t i = 0; i < size; i++) {
		bool good = play(&scenes[i], all);

		printf("%s %zu - %s, allocations refused in turn\n", good ? "ok" : "not ok", i + 1,
			scenes[i].name);
		well = well && good;
	}
	return !well;
}
