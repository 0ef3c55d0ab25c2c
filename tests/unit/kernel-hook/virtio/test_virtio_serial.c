/* SPDX-License-Identifier: MIT */
/* The driver of the port and its handshake, with a controller that is simulated in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/ktop.h"
#include "kernel-hook/transport.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "tests/unit/fakes/fake_serial.h"
#include "serial_bench.h"

/* ---- the handshake ---- */

static void no_controller_is_no_transport(void **state)
{
	struct bench *bench = *state;

	assert_null(ktop_virtio_serial_over(&bench->config, NULL, 0));
}

static void a_controller_of_one_console_is_no_transport(void **state)
{
	struct bench *bench = *state;
	struct ktop_virtio *device = &bench->fake->device;

	bench->fake->features &= ~2ull;
	assert_null(ktop_virtio_serial_over(&bench->config, &device, 1));
	assert_int_equal(bench->fake->status & 4, 0);
}

static void a_reset_that_never_ends_is_given_up(void **state)
{
	struct bench *bench = *state;
	struct ktop_virtio *device = &bench->fake->device;

	bench->fake->stuck = true;
	assert_null(ktop_virtio_serial_over(&bench->config, &device, 1));
}

static void memory_must_be_large_enough_and_aligned(void **state)
{
	struct bench *bench = *state;
	struct ktop_virtio *device = &bench->fake->device;
	struct ktop_virtio_serial_config small = bench->config, crooked = bench->config;

	small.size--;
	assert_null(ktop_virtio_serial_over(&small, &device, 1));
	crooked.memory = (uint8_t *)crooked.memory + 64;
	assert_null(ktop_virtio_serial_over(&crooked, &device, 1));
	assert_int_equal(bench->fake->touched, 0);
}

static void only_features_that_are_served_are_accepted(void **state)
{
	struct bench *bench = *state;

	open(bench);
	assert_true(bench->fake->accepted == (1ull << 32 | 1 << 1));
	assert_int_equal(bench->fake->status, 1 | 2 | 4 | 8);
}

static void a_device_that_refuses_them_is_given_up(void **state)
{
	struct bench *bench = *state;
	struct ktop_virtio *device = &bench->fake->device;

	bench->fake->refuses = true;
	assert_null(ktop_virtio_serial_over(&bench->config, &device, 1));
	assert_int_equal(bench->fake->status, 128);
}

static void a_legacy_device_has_no_features_ok(void **state)
{
	struct bench *bench = *state;

	bench->fake->features = 1 << 1;
	open(bench);
	assert_int_equal(bench->fake->status, 1 | 2 | 4);
}

static void the_port_is_found_by_its_name(void **state)
{
	struct bench *bench = *state;

	for (uint32_t port = 0; port < 31; port++)
		bench->fake->ports[port] = (struct fake_serial_port) {
			.name = port & 1 ? "org.ktop.00" : "org.ktop.",
			.host = true,
		};
	open_connected(bench, 30);
	assert_int_equal(bench->connections, 1);
	assert_int_equal(bench->fake->dropped, 0);
	assert_true(bench->fake->ports[30].open);
	assert_false(bench->fake->ports[29].open);
}

static void the_first_port_has_the_first_queues(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 0);
	*buffer(bench) = 'x';
	send(bench, 1);
	fake_serial_run(bench->fake);
	assert_int_equal(bench->fake->out_size, 1);
}

static void queues_are_never_set_up_late(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 3);
	assert_int_equal(bench->fake->late, 0);
}

static void a_second_controller_is_looked_at(void **state)
{
	struct bench *bench = *state;

	bench->other->ports[1].name = "org.other.0";
	open_connected(bench, 1);
	assert_false(bench->other->ports[1].open);
	assert_int_equal(bench->other->resets, 1);
}

static void without_the_port_nothing_is_connected(void **state)
{
	struct bench *bench = *state;
	uint8_t byte;

	bench->fake->ports[1] = (struct fake_serial_port) { .name = "org.other.0", .host = true };
	open(bench);
	assert_false(settle(bench));
	assert_null(buffer(bench));
	send(bench, 10);
	assert_int_equal(receive(bench, &byte, 1), 0);
}

static void a_port_beyond_the_device_is_given_up(void **state)
{
	struct bench *bench = *state;

	bench->fake->ports[35] = (struct fake_serial_port) { .name = NAME, .host = true };
	open(bench);
	assert_false(settle(bench));
	assert_int_equal(bench->fake->status, 128);
}

static void a_port_may_come_later(void **state)
{
	struct bench *bench = *state;

	open(bench);
	assert_false(settle(bench));
	fake_serial_plug(bench->fake, 5, NAME);
	assert_false(settle(bench));
	fake_serial_host(bench->fake, 5, true);
	assert_true(settle(bench));
	assert_int_equal(bench->connections, 1);
}

static void a_port_may_move(void **state)
{
	struct bench *bench = *state;
	uint32_t before;

	open_connected(bench, 5);
	fake_serial_unplug(bench->fake, 5);
	assert_false(settle(bench));
	assert_null(buffer(bench));
	before = bench->connections;
	fake_serial_plug(bench->fake, 6, NAME);
	settle(bench);
	fake_serial_host(bench->fake, 6, true);
	assert_true(settle(bench));
	assert_true(bench->connections > before);
	assert_non_null(buffer(bench));
	fake_serial_unplug(bench->fake, 6);
	settle(bench);
	fake_serial_plug(bench->other, 2, NAME);
	settle(bench);
	fake_serial_host(bench->other, 2, true);
	assert_true(settle(bench));
	/* The first controller does not have the memory any more that now belongs to the second. */
	assert_int_equal(bench->fake->queues[2 * 6 + 2].size, 0);
}

static void each_connection_is_counted(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 1);
	for (uint32_t i = 2; i < 100; i++) {
		fake_serial_host(bench->fake, 1, false);
		assert_false(connected(bench));
		fake_serial_host(bench->fake, 1, true);
		assert_true(connected(bench));
		assert_int_equal(bench->connections, i);
	}
	/* The driver does not see that the host was away, but it counts a new connection. */
	fake_serial_host(bench->fake, 1, false);
	fake_serial_host(bench->fake, 1, true);
	assert_true(connected(bench));
	assert_int_equal(bench->connections, 100);
}

/* At any point of the handshake. */
static void a_host_that_comes_at_any_time_counts_once(void **state)
{
	for (uint32_t turns = 0; turns < 12; turns++) {
		struct bench *bench = *state;

		bench->fake->ports[1].name = NAME;
		open(bench);
		for (uint32_t i = 0; i < turns; i++) {
			connected(bench);
			fake_serial_run(bench->fake);
		}
		fake_serial_host(bench->fake, 1, true);
		assert_true(settle(bench));
		assert_int_equal(bench->connections, 1);
		tear_down(state);
		set_up(state);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(no_controller_is_no_transport),
		TEST(a_controller_of_one_console_is_no_transport),
		TEST(a_reset_that_never_ends_is_given_up),
		TEST(memory_must_be_large_enough_and_aligned),
		TEST(only_features_that_are_served_are_accepted),
		TEST(a_device_that_refuses_them_is_given_up),
		TEST(a_legacy_device_has_no_features_ok),
		TEST(the_port_is_found_by_its_name),
		TEST(the_first_port_has_the_first_queues),
		TEST(queues_are_never_set_up_late),
		TEST(a_second_controller_is_looked_at),
		TEST(without_the_port_nothing_is_connected),
		TEST(a_port_beyond_the_device_is_given_up),
		TEST(a_port_may_come_later),
		TEST(a_port_may_move),
		TEST(each_connection_is_counted),
		TEST(a_host_that_comes_at_any_time_counts_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
