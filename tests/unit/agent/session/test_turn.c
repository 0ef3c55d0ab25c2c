/* SPDX-License-Identifier: MIT */
/* How long a guest's bytes are decoded at a time, and how often a guest may boot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/export.h"
#include "agent/guest/epoch.h"
#include "agent/session/session.h"
#include "agent/session/subscription.h"
#include "tests/unit/clock.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

#define MS NS_PER_MS

enum {
	BOOTS = TURN_BOOTS + 9,		/* eight of them have to wait */
};

/* Sends two packets of a boot: a single one would not be believed. */
static void boot(struct fake_guest *guest, uint8_t id)
{
	packets_boot(guest->packets, id);
	fake_guest_facts(guest, NULL, 0);
	fake_guest_beat(guest, 1);
}

/* Steps until this boot is there. */
static void await_boot(struct fixture *fixture, uint8_t id)
{
	struct packets *wanted = packets_new(id);

	while (!session_epoch(fixture->session) ||
			memcmp(session_epoch(fixture->session)->boot_id, wanted->boot_id, KTOP_BOOT_ID) != 0)
		fixture_step(fixture);
	packets_free(wanted);
}

/* Its boots are taken one after the other, each in its time. In between the session does its other work. */
static void a_guest_that_boots_all_the_time_is_read_slowly(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	uint64_t begin = util_now(), least = BOOTS - TURN_BOOTS - 1;

	(void)state;
	fixture_bring_up(&fixture);
	for (uint8_t id = 2; id < 2 + BOOTS; id++)
		boot(fixture.guest, id);
	await_boot(&fixture, 1 + BOOTS);
	assert_true(util_now() - begin >= least * TURN_BOOT_MS * MS);
	fixture_end(&fixture);
}

/* How often a file was opened since the last time. */
static unsigned times_opened(int watch)
{
	struct inotify_event opened[64];
	unsigned times = 0;

	for (ssize_t got; (got = read(watch, opened, sizeof(opened))) > 0;)
		times += (unsigned)got / (unsigned)sizeof(opened[0]);
	return times;
}

/* The kernel's file is read once, however often the guest boots. */
static void a_boot_does_not_read_the_kernel_again(void **state)
{
	struct session_options options = { .symbols = scratch_text("few", fixture_names) };
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct fixture fixture;

	(void)state;
	assert_true(inotify_add_watch(watch, options.symbols, IN_OPEN | IN_ACCESS) >= 0);
	fixture = fixture_begin(&options);
	fixture_bring_up(&fixture);
	assert_int_not_equal(times_opened(watch), 0);
	for (uint8_t id = 2; id < 2 + TURN_BOOTS / 2; id++)
		boot(fixture.guest, id);
	await_boot(&fixture, 1 + TURN_BOOTS / 2);
	assert_int_equal(times_opened(watch), 0);
	close(watch);
	fixture_end(&fixture);
}

/* A kind of snapshot that takes a quarter of a turn. */
static unsigned collected;

static void *collect_slowly(const struct export_input *input, const void *options)
{
	(void)input;
	(void)options;
	clock_pass(TURN_MS * MS / 4);
	collected++;
	return NULL;
}

static bool write_nothing(void *nothing, const char *name, FILE *to, struct export_result *result, char **error)
{
	(void)nothing;
	(void)to;
	(void)result;
	return util_fail(error, "%s: a test", name);
}

static const struct export_format slow = { .collect = collect_slowly, .write = write_nothing, .free = free };

/* Somebody holds the snapshot key down. The port is read between the snapshots. */
static void a_burst_of_orders_is_taken_in_turns(void **state)
{
	enum { ORDERS = 32, OF_A_TURN = 4 };
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	for (int i = 0; i < ORDERS; i++)
		session_snapshot(fixture.session, scratch_path("slow"), &answers_all,
			&(struct export_choice) { .format = &slow });
	for (unsigned turn = 1; turn <= ORDERS / OF_A_TURN; turn++) {
		fixture_step(&fixture);
		assert_int_equal(collected, turn * OF_A_TURN);
	}
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_that_boots_all_the_time_is_read_slowly),
		cmocka_unit_test(a_boot_does_not_read_the_kernel_again),
		cmocka_unit_test(a_burst_of_orders_is_taken_in_turns),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
