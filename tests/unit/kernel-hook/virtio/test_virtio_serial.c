/* SPDX-License-Identifier: MIT */
/* The driver of the port, with a controller that is simulated in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/transport.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_serial.h"

#define NAME "org.ktop.0"
enum { TURNS = 60 };			/* rounds; more than any handshake in here needs */

struct bench {
	struct fake_serial *fake, *other;
	struct ktop_virtio_serial_config config;
	struct ktop_transport *transport;
	uint32_t connections;
};

static uint64_t physical(const void *address)
{
	return (uintptr_t)address;
}

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	bench->fake = fake_serial_new();
	bench->other = fake_serial_new();
	bench->config = (struct ktop_virtio_serial_config) {
		.port = NAME,
		.size = ktop_virtio_serial_memory_size(),
		.physical = physical,
	};
	bench->config.memory = aligned_alloc(4096, bench->config.size);
	*state = bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	fake_serial_free(bench->fake);
	fake_serial_free(bench->other);
	free(bench->config.memory);
	free(bench);
	return 0;
}

static void open(struct bench *bench)
{
	struct ktop_virtio *devices[] = { &bench->other->device, &bench->fake->device };

	bench->transport = ktop_virtio_serial_over(&bench->config, devices, 2);
	assert_non_null(bench->transport);
}

static bool connected(struct bench *bench)
{
	return bench->transport->connected(bench->transport, &bench->connections);
}

/* Driver and device run in turns. */
static bool settle(struct bench *bench)
{
	for (uint32_t i = 0; i < TURNS; i++) {
		connected(bench);
		fake_serial_run(bench->fake);
		fake_serial_run(bench->other);
	}
	return connected(bench);
}

static void open_connected(struct bench *bench, uint32_t port)
{
	bench->fake->ports[port] = (struct fake_serial_port) { .name = NAME, .host = true };
	open(bench);
	assert_true(settle(bench));
}

static uint8_t *buffer(struct bench *bench)
{
	return bench->transport->buffer(bench->transport);
}

static void send(struct bench *bench, uint32_t size)
{
	bench->transport->send(bench->transport, size);
}

static uint32_t receive(struct bench *bench, void *to, uint32_t size)
{
	return bench->transport->receive(bench->transport, to, size);
}

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

/* ---- bytes ---- */

static void bytes_arrive_whole(void **state)
{
	struct bench *bench = *state;
	uint32_t sent = 0, size = 1;

	open_connected(bench, 1);
	while (sent + KTOP_PACKET_MAX <= FAKE_OUT) {
		uint8_t *to = buffer(bench);

		if (to == NULL) {
			fake_serial_run(bench->fake);
			continue;
		}
		assert_ptr_equal(to, buffer(bench));
		for (uint32_t i = 0; i < size; i++)
			to[i] = (uint8_t)((sent + i) * 31 >> 3);
		send(bench, size);
		sent += size;
		size = size * 3 % KTOP_PACKET_MAX + 1;
	}
	fake_serial_run(bench->fake);
	assert_int_equal(bench->fake->out_size, sent);
	for (uint32_t i = 0; i < sent; i++)
		if (bench->fake->out[i] != (uint8_t)(i * 31 >> 3))
			fail_msg("byte %u", i);
}

static void a_host_that_does_not_read_leaves_no_buffer(void **state)
{
	struct bench *bench = *state;
	uint32_t sent = 0;

	open_connected(bench, 1);
	bench->fake->reading = false;
	for (; buffer(bench) && sent < 1000; sent++) {
		*buffer(bench) = (uint8_t)sent;
		send(bench, 1);
		fake_serial_run(bench->fake);
	}
	assert_int_equal(sent, 32);
	assert_true(connected(bench));
	assert_null(buffer(bench));
	bench->fake->reading = true;
	fake_serial_run(bench->fake);
	assert_int_equal(bench->fake->out_size, sent);
	for (uint32_t i = 0; i < sent; i++)
		assert_int_equal(bench->fake->out[i], i);
	assert_non_null(buffer(bench));
}

/* Any number of hosts may stop reading and disconnect, each with a buffer that QEMU keeps. */
static void buffers_that_are_kept_are_got_back(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 1);
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t sent = 0;

		bench->fake->reading = false;
		for (; buffer(bench); sent++)
			send(bench, 1);
		assert_int_equal(sent, 32);
		fake_serial_run(bench->fake);
		fake_serial_host(bench->fake, 1, false);
		assert_int_equal(bench->fake->kept, i + 1);
		bench->fake->reading = true;
		if (i & 1)
			assert_false(settle(bench));
		fake_serial_host(bench->fake, 1, true);
		assert_true(settle(bench));
		assert_int_equal(bench->connections, i + 2);
	}
}

/* Bytes that the next host has sent by then are not lost in the reset that frees the buffer. */
static void a_quick_host_is_heard(void **state)
{
	struct bench *bench = *state;
	uint8_t got[10];

	open_connected(bench, 1);
	bench->fake->reading = false;
	while (buffer(bench))
		send(bench, 1);
	fake_serial_run(bench->fake);
	fake_serial_host(bench->fake, 1, false);
	bench->fake->reading = true;
	fake_serial_host(bench->fake, 1, true);
	assert_int_equal(fake_serial_type(bench->fake, 1, "start\n", 6), 6);
	assert_true(settle(bench));
	assert_int_equal(receive(bench, got, sizeof(got)), 6);
	assert_non_null(buffer(bench));
}

/* If no such buffer is kept, a new host causes no reset. */
static void a_host_that_reads_costs_no_reset(void **state)
{
	struct bench *bench = *state;
	uint32_t resets;

	open_connected(bench, 1);
	resets = bench->fake->resets;
	for (uint32_t i = 0; i < 100; i++) {
		assert_non_null(buffer(bench));
		send(bench, 1);
		fake_serial_run(bench->fake);
		fake_serial_host(bench->fake, 1, false);
		assert_false(settle(bench));
		fake_serial_host(bench->fake, 1, true);
		assert_true(settle(bench));
	}
	assert_int_equal(bench->fake->resets, resets);
}

static void sizes_that_cannot_be_are_not_sent(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 1);
	send(bench, 5);				/* without a call of buffer() before it */
	assert_non_null(buffer(bench));
	send(bench, 0);
	send(bench, KTOP_PACKET_MAX + 1);
	fake_serial_run(bench->fake);
	assert_int_equal(bench->fake->out_size, 0);
	send(bench, KTOP_PACKET_MAX);
	fake_serial_run(bench->fake);
	assert_int_equal(bench->fake->out_size, KTOP_PACKET_MAX);
}

static void bytes_are_received_in_pieces_of_any_size(void **state)
{
	struct bench *bench = *state;
	uint8_t text[20000], got[sizeof(text)];
	uint32_t typed = 0, read = 0, piece = 1;

	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 17 >> 2);
	open_connected(bench, 1);
	while (read < sizeof(text)) {
		uint32_t part = piece < sizeof(text) - read ? piece : (uint32_t)sizeof(text) - read;

		typed += fake_serial_type(bench->fake, 1, text + typed,
				(uint32_t)sizeof(text) - typed);
		part = receive(bench, got + read, part);
		assert_int_not_equal(part, 0);
		read += part;
		piece = piece * 5 % 1500 + 1;
	}
	assert_memory_equal(got, text, sizeof(text));
	assert_int_equal(receive(bench, got, sizeof(got)), 0);
}

/* ---- devices that misbehave ---- */

static void a_device_that_needs_a_reset_gets_it(void **state)
{
	struct bench *bench = *state;

	open_connected(bench, 1);
	assert_non_null(buffer(bench));
	bench->fake->status |= 64;
	assert_false(connected(bench));
	send(bench, 100);			/* the buffer from before: its queues are gone */
	assert_true(settle(bench));
	assert_int_equal(bench->connections, 2);
	assert_int_equal(bench->fake->out_size, 0);
}

static void a_device_that_somebody_took_is_left_alone(void **state)
{
	struct bench *bench = *state;
	uint32_t touched;

	open_connected(bench, 1);
	bench->fake->status = 1 | 2;
	assert_false(connected(bench));
	touched = bench->fake->touched;
	assert_false(settle(bench));
	assert_null(buffer(bench));
	assert_int_equal(bench->fake->touched, touched);
}

static void a_device_that_is_gone_is_given_up(void **state)
{
	struct bench *bench = *state;
	uint32_t touched;

	open_connected(bench, 1);
	bench->fake->stuck = true;
	bench->fake->status = 0xff;
	assert_false(connected(bench));
	touched = bench->fake->touched;
	assert_false(settle(bench));
	assert_int_equal(bench->fake->touched, touched);
}

static void a_bad_id_in_any_queue_begins_anew(void **state)
{
	struct bench *bench = *state;
	const uint32_t queues[] = { 2, 3, 4, 5 };
	uint8_t byte;

	open_connected(bench, 1);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t resets = bench->fake->resets;

		buffer(bench);
		send(bench, 1);
		device_push(&bench->fake->queues[queues[i]], 77777, 4096);
		receive(bench, &byte, 1);
		buffer(bench);
		assert_true(settle(bench));
		assert_true(bench->fake->resets > resets);
	}
}

static void malformed_messages_are_ignored(void **state)
{
	struct bench *bench = *state;
	const uint32_t far_away[] = { 64, 6 | 1 << 16 }, unknown[] = { 1, 99 };
	const uint32_t wild[] = { UINT32_MAX, 1 };

	open_connected(bench, 1);
	fake_serial_tell(bench->fake, "", 0);
	fake_serial_tell(bench->fake, "\1\0\0\0\6", 5);
	fake_serial_tell(bench->fake, far_away, sizeof(far_away));
	fake_serial_tell(bench->fake, unknown, sizeof(unknown));
	fake_serial_tell(bench->fake, wild, sizeof(wild));
	assert_true(connected(bench));
	assert_int_equal(bench->connections, 1);
}

/* Changes a random byte, word or ring in the device's half of the queues, or sends a random message. */
static void torment(struct bench *bench, uint32_t *random)
{
	struct fake_serial *fake = bench->fake;
	struct device_queue *queue = &fake->queues[2 + (*random >> 8) % 4];
	uint8_t message[160];

	for (uint32_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(*random >> (i * 7 % 24));
	message[1] = message[2] = message[3] = message[5] = 0;
	message[0] &= 3;
	message[4] &= 7;
	switch (*random >> 29) {
	case 0:
		if (queue->size)
			device_put16(queue->used + 2, (uint16_t)*random);
		break;
	case 1:
		if (queue->size)
			device_push(queue, *random % 40, *random);
		break;
	case 2:
	case 3:
		fake_serial_tell(fake, message, *random % sizeof(message));
		break;
	case 4:
		fake_serial_host(fake, 1, *random & 1);
		break;
	case 5:
		fake_serial_type(fake, 1, message, *random % sizeof(message));
		break;
	}
}

static void a_hostile_device_breaks_nothing(void **state)
{
	struct bench *bench = *state;
	uint32_t random = 12345, ups = 0;
	uint8_t bytes[700];

	open_connected(bench, 1);
	for (uint32_t i = 0; i < 100000; i++) {
		uint8_t *to;

		random = random * 1664525 + 1013904223;
		torment(bench, &random);
		ups += connected(bench);
		assert_true(receive(bench, bytes, sizeof(bytes)) <= sizeof(bytes));
		to = buffer(bench);
		if (to)
			memset(to, 0, KTOP_PACKET_MAX);
		send(bench, random % KTOP_PACKET_MAX);
		bench->fake->reading = random >> 13 & 1;
		bench->fake->out_size = 0;
		if (random & 1 << 12)
			fake_serial_run(bench->fake);
	}
	assert_true(ups > 0);
	/* When the device behaves again, everything works. */
	bench->fake->reading = true;
	bench->fake->status |= 64;
	settle(bench);
	fake_serial_host(bench->fake, 1, true);
	assert_true(settle(bench));
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
		TEST(bytes_arrive_whole),
		TEST(a_host_that_does_not_read_leaves_no_buffer),
		TEST(buffers_that_are_kept_are_got_back),
		TEST(a_quick_host_is_heard),
		TEST(a_host_that_reads_costs_no_reset),
		TEST(sizes_that_cannot_be_are_not_sent),
		TEST(bytes_are_received_in_pieces_of_any_size),
		TEST(a_device_that_needs_a_reset_gets_it),
		TEST(a_device_that_somebody_took_is_left_alone),
		TEST(a_device_that_is_gone_is_given_up),
		TEST(a_bad_id_in_any_queue_begins_anew),
		TEST(malformed_messages_are_ignored),
		TEST(a_hostile_device_breaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
