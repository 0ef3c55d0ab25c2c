/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_gdb.h"

enum { STEPS = 4000, MOST = 400 };

/* A machine, the dialogue with it, and the time. */
struct world {
	struct fake_gdb fake;
	struct gdb_stub *stub;
	uint64_t now;
};

static struct world begin(struct fake_gdb fake)
{
	struct world world = { .fake = fake, .now = NS_PER_SECOND };

	world.stub = gdb_stub_new(fake_gdb_begin(&world.fake), world.now);
	return world;
}

static void end(struct world *world)
{
	gdb_stub_free(world->stub);
	fake_gdb_end(&world->fake);
}

static bool step(struct world *world)
{
	world->now += NS_PER_MS / 10;
	fake_gdb_step(&world->fake);
	return gdb_stub_step(world->stub, world->now);
}

static bool reaches(struct world *world, enum gdb_state state)
{
	for (int i = 0; i < STEPS && gdb_stub_state(world->stub) != state; i++)
		step(world);
	for (int i = 0; i < MOST; i++)		/* what is on its way arrives */
		fake_gdb_step(&world->fake);
	return gdb_stub_state(world->stub) == state;
}

/* Takes one sample. False: it does not become complete. */
static bool sample(struct world *world)
{
	gdb_stub_sample(world->stub, world->now);
	for (int i = 0; i < STEPS; i++)
		if (step(world))
			return true;
	return false;
}

static void test_greeting(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_string_equal(gdb_stub_arch(world.stub), "x86_64");
	assert_int_equal(gdb_stub_cpus(world.stub), FAKE_GDB_CPUS);
	assert_int_equal(world.fake.continues, 1);
	end(&world);
}

static void test_a_sample(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });
	const struct target_state *cpu;
	struct gdb_stack stack;

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING) && sample(&world) && reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_int_equal(world.fake.stops, 1);
	assert_int_equal(world.fake.continues, 2);

	cpu = gdb_stub_cpu(world.stub, 0, &stack);
	assert_non_null(cpu);
	assert_int_equal(cpu->mode, KTOP_MODE_USER);
	assert_int_equal(cpu->pc, 0x401000);
	assert_int_equal(stack.size, 0);	/* a program's memory is not looked at */

	/* To the end of its page: the next one is not there, and to ask for both would have given nothing. */
	cpu = gdb_stub_cpu(world.stub, 1, &stack);
	assert_non_null(cpu);
	assert_int_equal(cpu->mode, KTOP_MODE_KERNEL);
	assert_int_equal(cpu->arch, KTOP_X86_64);
	assert_int_equal(cpu->pc, 0xffffffff81000010);
	assert_int_equal(cpu->space, 0x1234000);
	assert_int_equal(cpu->base, 0xffff888000000000);
	assert_int_equal(stack.size, 0x100);
	assert_int_equal(stack.bytes[1], 1);
	assert_false(gdb_stub_idle(world.stub, 1));
	end(&world);
}

/* Somebody else stops the machine: it stays so, and is sampled again once it runs. */
static void test_a_pause_of_others(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING));
	fake_gdb_stop(&world.fake);
	assert_true(reaches(&world, GDB_PAUSED));
	for (int i = 0; i < 5; i++) {
		assert_false(sample(&world));
		assert_int_equal(gdb_stub_state(world.stub), GDB_PAUSED);
		assert_false(world.fake.running);
	}
	world.fake.running = true;
	assert_true(sample(&world));
	assert_true(reaches(&world, GDB_RUNNING) && world.fake.running);
	end(&world);
}

/* It is stopped just before the first byte of a sample comes: the stop looks like that byte's. */
static void test_a_pause_at_the_same_time(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	fake_gdb_stop(&world.fake);
	assert_true(reaches(&world, GDB_PAUSED));
	assert_false(world.fake.running);
	gdb_stub_leave(world.stub, world.now);
	assert_true(reaches(&world, GDB_GONE));
	assert_false(world.fake.running);
	end(&world);
}

/* It is left after any number of steps of the greeting and of a sample: in the end the machine runs. */
static void test_leaving_at_any_step(void **state)
{
	(void)state;
	for (int left_at = 0; left_at < MOST; left_at++) {
		struct world world = begin((struct fake_gdb) { .bounded = true });

		for (int i = 0; i < left_at; i++) {
			gdb_stub_sample(world.stub, world.now);
			step(&world);
			step(&world);
		}
		gdb_stub_leave(world.stub, world.now);
		for (int i = 0; i < STEPS && world.fake.fd >= 0; i++)
			step(&world);
		assert_int_equal(world.fake.fd, -1);
		assert_true(world.fake.running);
		assert_true(reaches(&world, GDB_GONE));
		assert_string_equal(gdb_stub_error(world.stub), "");
		end(&world);
	}
}

/* Somebody lets the machine go on while it is stopped for a sample: what is asked then only stops it. */
static void test_it_goes_on_amid_a_sample(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING));
	gdb_stub_sample(world.stub, world.now);
	fake_gdb_step(&world.fake);
	world.fake.running = true;
	for (int i = 0; i < 5 * STEPS; i++)
		step(&world);
	assert_true(reaches(&world, GDB_RUNNING));
	assert_true(world.fake.running);
	assert_true(sample(&world) && reaches(&world, GDB_RUNNING) && world.fake.running);
	end(&world);
}

/* Without answers, the machine is let go on all the same. */
static void test_no_answers(void **state)
{
	struct world world = begin((struct fake_gdb) { 0 });

	(void)state;
	assert_true(reaches(&world, GDB_RUNNING));
	world.fake.mute = true;
	gdb_stub_sample(world.stub, world.now);
	for (int i = 0; i < 10 * STEPS; i++)
		step(&world);
	assert_int_equal(gdb_stub_state(world.stub), GDB_CONFUSED);
	world.fake.mute = false;
	for (int i = 0; i < 10 * STEPS && gdb_stub_state(world.stub) != GDB_RUNNING; i++)
		step(&world);
	assert_true(reaches(&world, GDB_RUNNING) && world.fake.running);
	end(&world);
}

static void test_a_mute_greeting(void **state)
{
	struct world world = begin((struct fake_gdb) { .mute = true });

	(void)state;
	for (int i = 0; i < 20 * STEPS && gdb_stub_state(world.stub) != GDB_GONE; i++)
		step(&world);
	assert_int_equal(gdb_stub_state(world.stub), GDB_GONE);
	assert_true(world.fake.running);
	assert_string_equal(gdb_stub_error(world.stub), "no answer to the greeting");
	end(&world);
}

static void test_an_unknown_cpu(void **state)
{
	struct world world = begin((struct fake_gdb) { .architecture = "m68k" });

	(void)state;
	assert_true(reaches(&world, GDB_GONE));
	assert_true(world.fake.running);
	assert_non_null(strstr(gdb_stub_error(world.stub), "not known here"));
	end(&world);
}

/* Answers that do not fit: it finds back. */
static void test_wrong_answers(void **state)
{
	static const char *const wrong[] = { "OK", "zz", "", "E99", "QCp01.01", "T05", "0000", "l", "m" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct world world = begin((struct fake_gdb) { 0 });

		assert_true(reaches(&world, GDB_RUNNING));
		gdb_stub_sample(world.stub, world.now);
		fake_gdb_say(&world.fake, wrong[i]);
		for (int j = 0; j < 10 * STEPS; j++)
			step(&world);
		if (strcmp(wrong[i], "T05") != 0)	/* that one says that somebody else has stopped it */
			assert_true(reaches(&world, GDB_RUNNING) && world.fake.running);
		end(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting), cmocka_unit_test(test_a_sample),
		cmocka_unit_test(test_a_pause_of_others), cmocka_unit_test(test_a_pause_at_the_same_time),
		cmocka_unit_test(test_leaving_at_any_step), cmocka_unit_test(test_it_goes_on_amid_a_sample),
		cmocka_unit_test(test_no_answers), cmocka_unit_test(test_a_mute_greeting),
		cmocka_unit_test(test_an_unknown_cpu), cmocka_unit_test(test_wrong_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
