/* SPDX-License-Identifier: MIT */
/* How long a guest's bytes are decoded at a time, and how often a guest may boot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/export_folded.h"
#include "agent/guest/epoch.h"
#include "agent/session/session.h"
#include "agent/session/turn.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

#define MS NS_PER_MS

enum {
	SYMBOLS = 100000,
	BOOTS = TURN_BOOTS + 9,		/* eight of them have to wait */
	STEP_MOST_MS = 1000,		/* processor time of a turn, a boot and an answer, under sanitizers */
};

/* ---- alone ---- */

static void it_ends_after_its_time(void **state)
{
	struct turn turn = { 0 };

	(void)state;
	turn_begin(&turn, 5000 * MS);
	assert_true(turn_goes_on(&turn, 5000 * MS));
	assert_true(turn_goes_on(&turn, (5000 + TURN_MS) * MS - 1));
	assert_false(turn_goes_on(&turn, (5000 + TURN_MS) * MS));
	turn_begin(&turn, 6000 * MS);
	assert_true(turn_goes_on(&turn, 6000 * MS));
}

static void too_many_boots_are_waited_for(void **state)
{
	struct turn turn = { 0 };
	uint64_t now = 100000 * MS;

	(void)state;
	turn_begin(&turn, now);
	for (int i = 0; i < TURN_BOOTS; i++) {
		assert_int_equal(turn_pause(&turn, now), 0);
		turn_boot(&turn, now);
	}
	assert_int_equal(turn_pause(&turn, now), 0);
	turn_boot(&turn, now);
	assert_int_equal(turn_pause(&turn, now), TURN_BOOT_MS * MS);
	assert_false(turn_goes_on(&turn, now));
	now += TURN_BOOT_MS * MS;
	assert_int_equal(turn_pause(&turn, now), 0);
	turn_boot(&turn, now);
	assert_int_equal(turn_pause(&turn, now), TURN_BOOT_MS * MS);
	now += 1000000 * MS;
	for (int i = 0; i <= TURN_BOOTS; i++)
		turn_boot(&turn, now);
	assert_int_equal(turn_pause(&turn, now), TURN_BOOT_MS * MS);
}

/* ---- in a session ---- */

static uint64_t cpu_now(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static const char *many_names(void)
{
	const char *path = scratch_path("many");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (uint64_t i = 0; i < SYMBOLS; i++)		/* in no order, so that ktop has to sort them */
		fprintf(file, "%016llx T function_%llu\n",
			(unsigned long long)(0x1000 + 16 * (i * 77777 % SYMBOLS)),
			(unsigned long long)i);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Sends two packets of a boot: a single one would not be believed. */
static void boot(struct fake_guest *guest, uint8_t id)
{
	packets_boot(guest->packets, id);
	fake_guest_facts(guest, NULL, 0);
	fake_guest_beat(guest, 1);
}

/* Steps, and returns how many ms of processor time that took. */
static uint64_t step(struct fixture *fixture)
{
	uint64_t before;

	fake_guest_step(fixture->guest);
	before = cpu_now();
	session_step(fixture->session, 1);
	return (cpu_now() - before) / MS;
}

/* Steps until this boot is there. Returns how many other boots came before. */
static unsigned await_boot(struct fixture *fixture, uint8_t id, uint64_t *longest)
{
	uint64_t deadline = util_now() + 100000 * MS, took;
	struct epoch *last = session_epoch(fixture->session), *now;
	struct packets *wanted = packets_new(id);
	unsigned boots = 0;

	do {
		took = step(fixture);
		*longest = took > *longest ? took : *longest;
		now = session_epoch(fixture->session);
		boots += now != last;
		last = now;
		assert_true(util_now() < deadline);
	} while (!now || memcmp(now->boot_id, wanted->boot_id, KTOP_BOOT_ID) != 0);
	packets_free(wanted);
	return boots;
}

/* Its boots are taken one after the other, each in its time. In between the session does its other work. */
static void a_guest_that_boots_all_the_time_is_read_slowly(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	uint64_t longest = 0, begin = util_now(), least = BOOTS - TURN_BOOTS - 1;

	(void)state;
	fixture_bring_up(&fixture);
	for (uint8_t id = 2; id < 2 + BOOTS; id++)
		boot(fixture.guest, id);
	await_boot(&fixture, 1 + BOOTS, &longest);
	assert_true(util_now() - begin >= least * TURN_BOOT_MS * MS);
	fixture_end(&fixture);
}

/* The kernel's file is read once, however often the guest boots. */
static void a_boot_does_not_read_the_kernel_again(void **state)
{
	struct session_options options = { .symbols = many_names() };
	uint64_t begin = cpu_now(), longest = 0, first, all;
	struct fixture fixture = fixture_begin(&options);

	(void)state;
	fixture_bring_up(&fixture);
	first = cpu_now() - begin;
	begin = cpu_now();
	for (uint8_t id = 2; id < 2 + TURN_BOOTS / 2; id++)
		boot(fixture.guest, id);
	await_boot(&fixture, 1 + TURN_BOOTS / 2, &longest);
	all = cpu_now() - begin;
	print_message("the first %d ms, %d more %d ms, the longest step %d ms\n", (int)(first / MS),
		TURN_BOOTS / 2, (int)(all / MS), (int)longest);
	assert_true(all < TURN_BOOTS / 4 * first);
	assert_true(longest < STEP_MOST_MS);
	fixture_end(&fixture);
}

static uint64_t thread_now(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void ask_for_snapshot(struct fixture *fixture)
{
	session_snapshot(fixture->session, "/nowhere/at/all.folded", &answers_all,
		&(struct export_choice) { .format = &export_folded });
}

/* The processor time of one step. */
static uint64_t step_cost(struct fixture *fixture)
{
	uint64_t before = thread_now();

	session_step(fixture->session, 0);
	return thread_now() - before;
}

/* How many snapshots take eight turns on this machine. */
static int eight_turns(struct fixture *fixture)
{
	uint64_t cheapest = UINT64_MAX, cost;

	for (int i = 0; i < 10; i++) {
		ask_for_snapshot(fixture);
		cost = step_cost(fixture);
		cheapest = cost < cheapest ? cost : cheapest;
	}
	return (int)(8 * TURN_MS * MS / cheapest) + 1;
}

/* Somebody holds the snapshot key down. The port is read between the snapshots. */
static void a_burst_of_orders_is_taken_in_turns(void **state)
{
	enum { STACKS = 4000, STEPS = 400 };
	struct fixture fixture = fixture_begin(NULL);
	uint64_t longest = 0, all = 0, cost;
	int orders;

	(void)state;
	fixture_bring_up(&fixture);
	for (uint64_t i = 0; i < STACKS; i++)
		fake_guest_sample(fixture.guest, 0, 1, 0x1200 + i % 256, 0x1100 + i / 256);
	for (int i = 0; i < FIXTURE_STEPS && session_epoch(fixture.session)->taken < STACKS; i++)
		fixture_step(&fixture);
	orders = eight_turns(&fixture);
	for (int i = 0; i < orders; i++)
		ask_for_snapshot(&fixture);
	for (int i = 0; i < STEPS; i++) {
		cost = step_cost(&fixture);
		all += cost;
		longest = cost > longest ? cost : longest;
	}
	print_message("%d snapshots take %d ms, the longest step %d ms\n", orders, (int)(all / MS),
		(int)(longest / MS));
	assert_true(longest < all / 4);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_ends_after_its_time),
		cmocka_unit_test(too_many_boots_are_waited_for),
		cmocka_unit_test(a_guest_that_boots_all_the_time_is_read_slowly),
		cmocka_unit_test(a_boot_does_not_read_the_kernel_again),
		cmocka_unit_test(a_burst_of_orders_is_taken_in_turns),
	};

	return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
