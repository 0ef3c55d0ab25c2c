/* SPDX-License-Identifier: MIT */
/* The process that samples ends at any step of a sample: the keeper lets the machine go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_keeper.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "tests/unit/fakes/fake_gdb.h"

enum { CASES = 40, GIVE_UP_S = 60 };

/* A process with a keeper that ends amid a sample, after so many steps. The machine is another process's. */
static void die_amid_a_sample(int fd, int after)
{
	struct gdb_keeper keeper = { .held = NULL };
	uint64_t now = NS_PER_SECOND;
	struct gdb_stub *stub;

	gdb_keeper_start(&keeper, fd);
	stub = gdb_stub_new(fd, now);
	for (int i = 0; i < after; i++) {
		now += NS_PER_MS;
		if (gdb_stub_state(stub) == GDB_RUNNING) {
			gdb_keeper_hold(&keeper, true);
			gdb_stub_sample(stub, now);
		}
		gdb_stub_step(stub, now);
		usleep(100);
	}
	_exit(0);
}

/* All at once, since a keeper waits for a while whether the machine has stopped again. */
static void the_machine_runs_on(void **state)
{
	static struct fake_gdb fakes[CASES];
	uint64_t give_up = util_now() + GIVE_UP_S * NS_PER_SECOND;
	unsigned left = CASES;

	(void)state;
	for (int i = 0; i < CASES; i++) {
		int fd = fake_gdb_begin(&fakes[i]);

		fakes[i].bounded = i % 2;
		if (fork() == 0)
			die_amid_a_sample(fd, 2 * i);
		close(fd);
	}
	while (left && util_now() < give_up) {		/* the keeper ends, too, and the connection with it */
		left = 0;
		for (int i = 0; i < CASES; i++) {
			fake_gdb_step(&fakes[i]);
			left += fakes[i].fd >= 0;
		}
		usleep(50);
	}
	assert_int_equal(left, 0);
	for (int i = 0; i < CASES; i++)
		assert_true(fakes[i].running);
}

/* It does not touch a machine that runs, or that somebody else has stopped. */
static void another_pause_stays(void **state)
{
	struct fake_gdb fake = { 0 };
	struct gdb_keeper keeper = { .held = NULL };
	int fd = fake_gdb_begin(&fake);

	(void)state;
	if (fork() == 0) {
		gdb_keeper_start(&keeper, fd);
		gdb_keeper_hold(&keeper, false);
		_exit(0);
	}
	close(fd);
	for (uint64_t give_up = util_now() + GIVE_UP_S * NS_PER_SECOND; fake.fd >= 0 && util_now() < give_up;)
		fake_gdb_step(&fake);
	assert_int_equal(fake.fd, -1);
	assert_false(fake.running);
	assert_int_equal(fake.continues, 0);
}

/* Whether the machine stands or runs, and whether the stub's last packet is acknowledged or not. */
static void one_try_is_enough(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct fake_gdb fake = { 0 };
		struct gdb_keeper keeper = { .held = NULL };
		int fd = fake_gdb_begin(&fake);

		fake.running = i & 1;
		fake.waits = i & 2;
		if (fork() == 0) {
			gdb_keeper_start(&keeper, fd);
			_exit(0);
		}
		close(fd);
		for (uint64_t give_up = util_now() + GIVE_UP_S * NS_PER_SECOND; fake.fd >= 0 && util_now() < give_up;)
			fake_gdb_step(&fake);
		assert_int_equal(fake.fd, -1);
		assert_true(fake.running);
		assert_int_equal(fake.stops, i & 1);
		assert_int_equal(fake.continues, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_machine_runs_on), cmocka_unit_test(another_pause_stays),
		cmocka_unit_test(one_try_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
