/* SPDX-License-Identifier: MIT */
/*
 * The bytes that the driver of the port sends and receives, with a controller that is simulated in memory; and
 * controllers that misbehave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/transport.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_serial.h"
#include "serial_bench.h"

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
