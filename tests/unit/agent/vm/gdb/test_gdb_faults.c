/* SPDX-License-Identifier: MIT */
/* What may happen between two packets: others stop or leave the machine, answers are missing or wrong, time passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_gdb.h"
#include "gdb_world.h"

enum { LEFT_AT = 400, HOURS = 24 };

static const struct ktop_task_places places = FAKE_GDB_PLACES;

/* Somebody else stops the machine: it stays so, and is sampled again once it runs. */
static void test_a_pause_of_others(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	fake_gdb_stop(&world.fake);
	assert_true(world_reaches(&world, GDB_PAUSED));
	for (int i = 0; i < 5; i++) {
		assert_false(world_sample(&world));
		assert_int_equal(gdb_stub_state(world.stub), GDB_PAUSED);
		assert_false(world.fake.running);
	}
	world.fake.running = true;
	assert_true(world_sample(&world));
	assert_true(world_reaches(&world, GDB_RUNNING) && world.fake.running);
	world_end(&world);
}

/* It is stopped just before the first byte of a sample comes: the stop looks like that byte's. */
static void test_a_pause_at_the_same_time(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	fake_gdb_stop(&world.fake);
	assert_true(world_reaches(&world, GDB_PAUSED));
	assert_false(world.fake.running);
	gdb_stub_leave(world.stub, world.now);
	assert_true(world_reaches(&world, GDB_GONE));
	assert_false(world.fake.running);
	world_end(&world);
}

/* It is left after any number of steps of the greeting and of a sample: in the end the machine runs. */
static void test_leaving_at_any_step(void **state)
{
	(void)state;
	for (int left_at = 0; left_at < LEFT_AT; left_at++) {
		struct world world = world_begin((struct fake_gdb) { .bounded = true });

		gdb_stub_follow(world.stub, &places);
		for (int i = 0; i < left_at; i++) {
			gdb_stub_sample(world.stub, world.now);
			world_step(&world);
			world_step(&world);
		}
		gdb_stub_leave(world.stub, world.now);
		for (int i = 0; i < WORLD_STEPS && world.fake.fd >= 0; i++)
			world_step(&world);
		assert_int_equal(world.fake.fd, -1);
		assert_true(world.fake.running);
		assert_true(world_reaches(&world, GDB_GONE));
		assert_string_equal(gdb_stub_error(world.stub), "");
		world_end(&world);
	}
}

/* Somebody lets the machine go on while it is stopped for a sample: what is asked then only stops it. */
static void test_it_goes_on_amid_a_sample(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	fake_gdb_step(&world.fake);
	world.fake.running = true;
	for (int i = 0; i < 5 * WORLD_STEPS; i++)
		world_step(&world);
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
	world_end(&world);
}

/* Without answers, the machine is let go on all the same. */
static void test_no_answers(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	world.fake.mute = true;
	gdb_stub_sample(world.stub, world.now);
	for (int i = 0; i < 10 * WORLD_STEPS; i++)
		world_step(&world);
	assert_int_equal(gdb_stub_state(world.stub), GDB_CONFUSED);
	world.fake.mute = false;
	for (int i = 0; i < 10 * WORLD_STEPS && gdb_stub_state(world.stub) != GDB_RUNNING; i++)
		world_step(&world);
	assert_true(world_reaches(&world, GDB_RUNNING) && world.fake.running);
	world_end(&world);
}

/* A migration ends while the machine stands for a sample. QEMU would abort if it ran then. */
static void test_the_end_of_a_migration(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	world.fake.migrated = true;
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_false(world.fake.running || world.fake.broken);
	gdb_stub_sample(world.stub, world.now);
	assert_true(world_reaches(&world, GDB_PAUSED));
	world.fake.migrated = false;
	assert_false(world_sample(&world) || world.fake.running);	/* it is not for us to let it run */
	world.fake.running = true;
	assert_true(world_sample(&world) && world_reaches(&world, GDB_RUNNING) && world.fake.running);
	world_end(&world);
}

/* QEMU's own process stands for hours amid a sample, and reads nothing meanwhile. */
static void test_a_frozen_qemu(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .bounded = true });

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	for (int i = 0; i < HOURS * 3600; i++) {
		world.now += NS_PER_SECOND;
		gdb_stub_step(world.stub, world.now);
	}
	assert_int_equal(gdb_stub_state(world.stub), GDB_CONFUSED);
	for (int i = 0; i < 1000 * WORLD_STEPS; i++) {
		if (gdb_stub_state(world.stub) == GDB_RUNNING && world.fake.running)
			break;
		world_step(&world);
	}
	assert_int_equal(gdb_stub_state(world.stub), GDB_RUNNING);
	assert_true(world.fake.running);
	world_end(&world);
}

/* The machine stands for a sample that is given up, too. */
static void test_rests(void **state)
{
	struct world world = world_begin((struct fake_gdb) { 0 });
	uint64_t begun;

	(void)state;
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_true(gdb_stub_rests(world.stub) <= world.now);
	begun = world.now;
	gdb_stub_sample(world.stub, begun);
	world.fake.mute = true;
	assert_false(world_reaches(&world, GDB_RUNNING));
	world.now += NS_PER_SECOND;
	world_step(&world);
	world.fake.mute = false;
	assert_true(world_reaches(&world, GDB_RUNNING));
	assert_true(gdb_stub_rests(world.stub) >= begun + 5 * NS_PER_SECOND);
	assert_true(gdb_stub_rests(world.stub) <= world.now + 20 * NS_PER_SECOND);
	world_end(&world);
}

static void test_a_mute_greeting(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .mute = true });

	(void)state;
	for (int i = 0; i < 20 * WORLD_STEPS && gdb_stub_state(world.stub) != GDB_GONE; i++)
		world_step(&world);
	assert_int_equal(gdb_stub_state(world.stub), GDB_GONE);
	assert_true(world.fake.running);
	assert_string_equal(gdb_stub_error(world.stub), "no answer to the greeting");
	world_end(&world);
}

static void test_an_unknown_cpu(void **state)
{
	struct world world = world_begin((struct fake_gdb) { .architecture = "m68k" });

	(void)state;
	assert_true(world_reaches(&world, GDB_GONE));
	assert_true(world.fake.running);
	assert_non_null(strstr(gdb_stub_error(world.stub), "not known here"));
	world_end(&world);
}

/* Answers that do not fit: it finds back. */
static void test_wrong_answers(void **state)
{
	static const char *const wrong[] = { "OK", "zz", "", "E99", "QCp01.01", "T05", "0000", "l", "m" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct world world = world_begin((struct fake_gdb) { 0 });

		assert_true(world_reaches(&world, GDB_RUNNING));
		gdb_stub_sample(world.stub, world.now);
		fake_gdb_say(&world.fake, wrong[i]);
		for (int j = 0; j < 10 * WORLD_STEPS; j++)
			world_step(&world);
		if (strcmp(wrong[i], "T05") != 0)	/* that one says that somebody else has stopped it */
			assert_true(world_reaches(&world, GDB_RUNNING) && world.fake.running);
		world_end(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pause_of_others),
		cmocka_unit_test(test_a_pause_at_the_same_time),
		cmocka_unit_test(test_leaving_at_any_step),
		cmocka_unit_test(test_it_goes_on_amid_a_sample),
		cmocka_unit_test(test_no_answers),
		cmocka_unit_test(test_a_mute_greeting),
		cmocka_unit_test(test_the_end_of_a_migration),
		cmocka_unit_test(test_a_frozen_qemu),
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_an_unknown_cpu),
		cmocka_unit_test(test_wrong_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
