/* SPDX-License-Identifier: MIT */
/*
 * The decoder reads streams whose contents are known. Its events are written back to wire form, and
 * compared with what went in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/decode_log.h"
#include "tests/unit/fakes/packets.h"
#include "random_stream.h"

/* Large, so they are static; one test at a time uses them. */
static struct log in, out;

/* ---- streams ---- */

static uint64_t discarded_in(const struct packets *packets, uint32_t stream)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		sum += packets->lanes[stream][cpu].discarded;
	return sum;
}

static uint64_t missing_in_all(const struct decode *decode)
{
	return decode_books_all(decode, STREAM_META).missing_packets +
		decode_books_all(decode, STREAM_SAMPLES).missing_packets +
		decode_books_all(decode, STREAM_TRACE).missing_packets;
}

/* ---- tests: whole streams ---- */

static void test_oracle(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct packets *packets = random_stream(&in, seed, 40, 12, seed % 2 ? 64 : 5);
		struct decode *decode = log_decode(&out);
		uint64_t chunk_seed = seed;

		for (size_t at = 0, part; at < packets->size; at += part) {
			part = 1 + random_next(&chunk_seed) % 3000;
			part = part < packets->size - at ? part : packets->size - at;
			decode_feed(decode, packets->bytes + at, part);
		}
		if (!log_same(&in, &out))
			fail_msg("seed %d: other events came out than went in", (int)seed);
		assert_int_equal(out.boots, 1);
		assert_memory_equal(out.boot_id, packets->boot_id, KTOP_BOOT_ID);
		assert_books(decode, packets);
		assert_int_equal(missing_in_all(decode), 0);
		assert_int_equal(decode_counts(decode).skipped_bytes, 0);
		assert_int_equal(decode_counts(decode).bad_events, 0);
		assert_int_equal(decode_counts(decode).unknown_events, 0);
		assert_int_equal(decode_counts(decode).bytes, packets->size);
		for (uint32_t stream = 0; stream < KTOP_STREAMS; stream++)
			assert_true(decode_books_all(decode, stream).lost <=
				discarded_in(packets, stream));
		decode_free(decode);
		packets_free(packets);
	}
}

static void test_every_split(void **state)
{
	struct packets *packets = random_stream(&in, 77, 6, 4, 6);

	(void)state;
	for (size_t split = 0; split <= packets->size; split++) {
		struct decode *decode = log_decode(&out);

		decode_feed(decode, packets->bytes, split);
		decode_feed(decode, packets->bytes + split, packets->size - split);
		assert_true(log_same(&in, &out));
		assert_int_equal(decode_counts(decode).skipped_bytes, 0);
		decode_free(decode);
	}
	packets_free(packets);
}

/* Where in the kernel a sample was: one flag tells, or none. Of a program and of idle time there is nothing to tell. */
static void test_contexts(void **state)
{
	static const struct { uint8_t mode, flags, wanted; } rows[] = {
		{ KTOP_MODE_KERNEL, 0, 0 }, { KTOP_MODE_KERNEL, KTOP_TASK, KTOP_TASK },
		{ KTOP_MODE_KERNEL, KTOP_SOFTIRQ, KTOP_SOFTIRQ }, { KTOP_MODE_KERNEL, KTOP_IRQ, KTOP_IRQ },
		{ KTOP_MODE_KERNEL, KTOP_TASK | KTOP_SOFTIRQ | KTOP_IRQ, KTOP_IRQ },	/* no honest hook sends two */
		{ KTOP_MODE_USER, KTOP_TASK, 0 }, { KTOP_MODE_IDLE, KTOP_SOFTIRQ, 0 },
	};
	enum { ROWS = sizeof(rows) / sizeof(*rows) };
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	struct body wanted[ROWS];

	(void)state;
	packets_begin(packets, KTOP_SAMPLES, 0, 0);
	for (size_t i = 0; i < ROWS; i++) {
		struct ktop_wire_sample wire = { .mode = rows[i].mode, .flags = rows[i].flags, .weight = 1 };
		struct body body = { .size = 0 };

		wanted[i].size = 0;
		body_fixed(&body, &wire, sizeof(wire));
		wire.flags = rows[i].wanted;
		body_fixed(&wanted[i], &wire, sizeof(wire));
		for (int list = 0; list < 2; list++) {
			body_list(&body, NULL, 0, 8);
			body_list(&wanted[i], NULL, 0, 8);
		}
		packets_event(packets, i, KTOP_EVENT_sample, &body);
	}
	packets_end(packets, ROWS);
	add_heartbeats(packets, ROWS);
	decode_feed(decode, packets->bytes, packets->size);
	assert_int_equal(out.count, ROWS);
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(out.entries[i].hash, log_hash(wanted[i].bytes, wanted[i].size));
	decode_free(decode);
	packets_free(packets);
}

static void test_byte_by_byte(void **state)
{
	struct packets *packets = random_stream(&in, 5, 200, 40, 64);
	struct decode *decode = log_decode(&out);

	(void)state;
	for (size_t i = 0; i < packets->size; i++)
		decode_feed(decode, packets->bytes + i, 1);
	assert_true(packets->size > 300000);
	assert_true(log_same(&in, &out));
	assert_books(decode, packets);
	decode_free(decode);
	packets_free(packets);
}

/* The sink stops after each packet. The result is the same: no held byte is lost or taken twice. */
static void test_held_after_each_packet(void **state)
{
	(void)state;
	for (size_t part = 1; part < 300000; part *= 7) {
		struct packets *packets = random_stream(&in, 5, 60, 40, 64);
		struct decode *decode = log_decode(&out);
		size_t at = 0;

		out.hold = true;
		while (at < packets->size || decode_held(decode)) {
			size_t left = packets->size - at, before = out.packets;

			at += decode_feed(decode, packets->bytes + at, left < part ? left : part);
			assert_true(out.packets <= before + 1);
			assert_int_equal(decode_held(decode), out.packets > before);
			assert_int_equal(decode_counts(decode).bytes, at);
		}
		assert_true(log_same(&in, &out));
		assert_books(decode, packets);
		assert_int_equal(decode_counts(decode).skipped_bytes, 0);
		decode_free(decode);
		packets_free(packets);
	}
}

/* A packet is handed out with its last byte, not later when more comes. */
static void test_nothing_is_held_back(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	uint64_t seed = 9;

	(void)state;
	in.count = 0;
	add_packet(packets, &in, KTOP_SAMPLES, 0, 100, 5, &seed, 10);
	decode_feed(decode, packets->bytes, packets->size - 1);
	assert_int_equal(out.count, 0);
	decode_feed(decode, packets->bytes + packets->size - 1, 1);
	assert_int_equal(out.count, 5);
	decode_free(decode);
	packets_free(packets);
}

/* ---- tests: books and epochs ---- */

static void test_missing_packets(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	uint64_t seed = 4, time = 0;
	struct books books;

	(void)state;
	in.count = 0;
	for (int i = 0; i < 10; i++) {
		size_t begin = packets->size;

		packets_discard(packets, KTOP_SAMPLES, 2, i == 1 || i == 6 ? 100 : 0);
		time = add_packet(packets, &in, KTOP_SAMPLES, 2, time, 10, &seed, 5);
		if (i < 2 || i == 4 || i == 7)		/* never arrives */
			packets->size = begin;
	}
	decode_feed(decode, packets->bytes, packets->size);
	books = decode_books(decode, STREAM_SAMPLES, 2);
	assert_int_equal(books.packets, 6);
	assert_int_equal(books.missing_packets, 2);
	assert_int_equal(books.received, 60);
	assert_int_equal(books.lost, 20 + 100);
	assert_int_equal(books.earlier, 20 + 100);
	assert_int_equal(books.earlier_lost, 100);
	books = decode_books_all(decode, STREAM_SAMPLES);
	assert_int_equal(books.lost, 120);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 70000).packets, 0);
	decode_free(decode);
	packets_free(packets);
}

/* What is missing before each packet: discarded by the guest, or of packets that never came; of its lane alone. */
static void note_lost(void *context, const struct packet *packet)
{
	fprintf(context, "%u:%u ", packet->cpu, (unsigned)packet->lost);
}

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static void test_losses_are_told_with_the_packet_behind_them(void **state)
{
	char *text;
	size_t size;
	const struct decode_sink sink = {
		.context = util_text_open(&text, &size), .boot = no_boot, .packet = note_lost, .events = no_events,
	};
	struct packets *packets = packets_new(1);
	struct decode *decode = decode_new(&sink);
	uint64_t seed = 4, time = 0;

	(void)state;
	in.count = 0;
	for (uint32_t i = 0; i < 8; i++) {
		size_t begin = packets->size;

		packets_discard(packets, KTOP_SAMPLES, 2, i == 0 || i == 4 ? 100 : 0);
		time = add_packet(packets, &in, KTOP_SAMPLES, 2, time, 10, &seed, 5);
		if (i == 2)			/* never arrives */
			packets->size = begin;
		time = add_packet(packets, &in, KTOP_SAMPLES, 1, time, 10, &seed, 5);
	}
	decode_feed(decode, packets->bytes, packets->size);
	util_text_close(sink.context, &text);
	assert_string_equal(text, "2:0 1:0 2:0 1:0 1:0 2:10 1:0 2:100 1:0 2:0 1:0 2:0 1:0 2:0 1:0 ");
	free(text);
	decode_free(decode);
	packets_free(packets);
}

static void test_unknown_and_bad_events(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	struct body body;
	uint64_t seed = 6;

	(void)state;
	in.count = 0;
	packets_begin(packets, KTOP_SAMPLES, 1, 50);
	add_event(packets, &in, 1, 60, KTOP_EVENT_sample, &seed, 9);
	body_random(&body, KTOP_EVENT_sample, &seed, 9);
	packets_event(packets, 61, 4000, &body);			/* an event of a newer hook */
	body.size--;
	packets_event(packets, 62, KTOP_EVENT_sample, &body);		/* too short */
	body.size += 2;
	packets_event(packets, 63, KTOP_EVENT_sample, &body);		/* too long */
	body_random(&body, KTOP_EVENT_process, &seed, 9);
	packets_event(packets, 64, KTOP_EVENT_process, &body);		/* an event of another stream */
	body_random(&body, KTOP_EVENT_missed, &seed, 9);
	packets_event(packets, 91, KTOP_EVENT_missed, &body);		/* later than the packet's end */
	add_event(packets, &in, 1, 90, KTOP_EVENT_missed, &seed, 9);
	packets_end(packets, 90);
	decode_feed(decode, packets->bytes, packets->size);
	assert_true(log_same(&in, &out));
	assert_int_equal(decode_counts(decode).unknown_events, 1);
	assert_int_equal(decode_counts(decode).bad_events, 4);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 1).received, 3);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 1).lost, 4);
	decode_free(decode);
	packets_free(packets);
}

/* Values that a consumer could trip over are refused. Each row sets one byte of a good event. */
static void test_out_of_range(void **state)
{
	enum { PROGRAM_LISTS = sizeof(struct ktop_wire_program_sample) };
	static const struct { uint16_t id; uint32_t stream; size_t at; uint8_t value; } rows[] = {
		{ KTOP_EVENT_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_sample, mode), 3 },
		{ KTOP_EVENT_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_sample), KTOP_FRAMES_MAX + 1 },
		{ KTOP_EVENT_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_sample) + 1, 255 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_raw_sample, mode), KTOP_MODES + 1 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_raw_sample, arch), KTOP_ARCHS },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_raw_sample), KTOP_REGISTERS_MAX + 1 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_raw_sample) + 3, 0x09 },
		{ KTOP_EVENT_task_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_task_sample, mode), KTOP_MODES + 1 },
		{ KTOP_EVENT_task_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_task_sample) + 7, 65 },
		{ KTOP_EVENT_walked_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_walked_sample, mode), 3 },
		{ KTOP_EVENT_walked_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_walked_sample, arch), KTOP_ARCHS },
		{ KTOP_EVENT_stacks_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_stacks_sample, mode), 4 },
		{ KTOP_EVENT_stacks_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_stacks_sample) + 9, 0x09 },
		{ KTOP_EVENT_program_sample, KTOP_SAMPLES, 0, KTOP_ARCHS },
		{ KTOP_EVENT_program_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_program_sample, mode), 3 },
		{ KTOP_EVENT_program_sample, KTOP_SAMPLES, PROGRAM_LISTS, KTOP_FRAMES_MAX + 1 },
		{ KTOP_EVENT_program_sample, KTOP_SAMPLES, PROGRAM_LISTS + 4, KTOP_REGISTERS_MAX + 1 },
		{ KTOP_EVENT_program_sample, KTOP_SAMPLES, PROGRAM_LISTS + 7, 0x21 },
		{ KTOP_EVENT_memory, KTOP_META, offsetof(struct ktop_wire_memory, physical), 2 },
		{ KTOP_EVENT_memory, KTOP_META, sizeof(struct ktop_wire_memory) + 1, 0x11 },
		{ KTOP_EVENT_status, KTOP_META, offsetof(struct ktop_wire_status, sampler), KTOP_SAMPLERS },
		{ KTOP_EVENT_cpu_status, KTOP_META, offsetof(struct ktop_wire_cpu_status, stream), 3 },
		{ KTOP_EVENT_cpu_status, KTOP_META, offsetof(struct ktop_wire_cpu_status, cpu) + 1, 16 },
		{ KTOP_EVENT_guest, KTOP_META, offsetof(struct ktop_wire_guest, cpus) + 2, 1 },
		{ KTOP_EVENT_descriptor, KTOP_META, offsetof(struct ktop_wire_descriptor, stream), 3 },
		{ KTOP_EVENT_process, KTOP_META, sizeof(struct ktop_wire_process) + 1, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packets *packets = packets_new(1);
		struct decode *decode = log_decode(&out);
		struct body body;

		body_random(&body, rows[i].id, &(uint64_t) { i + 1 }, 0);
		packets_begin(packets, rows[i].stream, 0, 0);
		packets_event(packets, 0, rows[i].id, &body);
		body.bytes[rows[i].at] = rows[i].value;
		packets_event(packets, 0, rows[i].id, &body);
		packets_end(packets, 0);
		decode_feed(decode, packets->bytes, packets->size);
		assert_int_equal(out.count, 1);
		assert_int_equal(decode_counts(decode).bad_events, 1);
		decode_free(decode);
		packets_free(packets);
	}
}

static void test_bad_headers(void **state)
{
	static const struct { size_t at; uint8_t value; } rows[] = {
		{ offsetof(struct ktop_wire_packet, stream), KTOP_STREAMS },
		{ offsetof(struct ktop_wire_packet, cpu) + 1, 16 },
		{ offsetof(struct ktop_wire_packet, begin) + 1, 1 },
		{ offsetof(struct ktop_wire_packet, content_size), 1 },
		{ offsetof(struct ktop_wire_packet, packet_size) + 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct packets *packets = packets_new(1);
		struct decode *decode = log_decode(&out);

		packets_begin(packets, KTOP_META, 0, 0);
		packets_end(packets, 0);
		packets->bytes[rows[i].at] = rows[i].value;
		packets_begin(packets, KTOP_META, 0, 0);
		packets_end(packets, 0);
		decode_feed(decode, packets->bytes, packets->size);
		assert_int_equal(out.packets, 1);
		assert_int_equal(decode_counts(decode).skipped_bytes, sizeof(struct ktop_wire_packet));
		decode_free(decode);
		packets_free(packets);
	}
}

static void test_full_time(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	const uint64_t times[] = { 0x1fffffff0, 0x200000000, 0x2ffffffff, 0x3fffffffe, 0x3fffffffe };
	struct body body = { .size = 4 };

	(void)state;
	packets_begin(packets, KTOP_SAMPLES, 0, 0x1ffffff00);
	for (int i = 0; i < 5; i++)
		packets_event(packets, times[i], KTOP_EVENT_missed, &body);
	packets_end(packets, 0x3fffffffe);
	decode_feed(decode, packets->bytes, packets->size);
	assert_int_equal(out.count, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(out.entries[i].time, times[i]);
	decode_free(decode);
	packets_free(packets);
}

static void check_two_boots(bool clock_goes_on)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	uint64_t seed = 8, time;

	in.count = 0;
	time = add_packet(packets, &in, KTOP_SAMPLES, 0, 1000, 5, &seed, 5);
	time = clock_goes_on ? time + 10 : 10;
	packets_boot(packets, 2);
	add_packet(packets, &in, KTOP_SAMPLES, 0, time, 4, &seed, 5);
	add_packet(packets, &in, KTOP_SAMPLES, 1, time + 10, 3, &seed, 5);
	decode_feed(decode, packets->bytes, packets->size);
	assert_true(log_same(&in, &out));
	assert_int_equal(out.boots, 2);
	assert_memory_equal(out.boot_id, packets->boot_id, KTOP_BOOT_ID);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).received, 4);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).earlier, 0);
	decode_free(decode);
	packets_free(packets);
}

/* The new boot's clock starts anew, or goes on. */
static void test_two_boots(void **state)
{
	(void)state;
	check_two_boots(false);
	check_two_boots(true);
}

static void test_machine_put_back(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	uint64_t seed = 8, time, later;
	struct packets_lane saved;

	(void)state;
	in.count = 0;
	time = add_packet(packets, &in, KTOP_SAMPLES, 0, 1000, 5, &seed, 5);
	saved = packets->lanes[KTOP_SAMPLES][0];
	later = add_packet(packets, &in, KTOP_SAMPLES, 0, time, 5, &seed, 5);
	assert_true(later > time);
	packets->lanes[KTOP_SAMPLES][0] = saved;
	add_packet(packets, &in, KTOP_SAMPLES, 0, time, 3, &seed, 5);
	decode_feed(decode, packets->bytes, packets->size);
	assert_true(log_same(&in, &out));
	assert_int_equal(out.boots, 2);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).received, 3);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).earlier, 5);
	decode_free(decode);
	packets_free(packets);
}

/* Some was read ahead of what the guest sends; then it is put back to before that. */
static void test_machine_put_back_behind_what_came_ahead(void **state)
{
	struct packets *packets = packets_new(1);
	struct decode *decode = log_decode(&out);
	uint64_t seed = 8, time, first;
	struct packets_lane saved;
	size_t sent, ahead;

	(void)state;
	in.count = 0;
	first = add_packet(packets, &in, KTOP_SAMPLES, 0, 1000, 5, &seed, 5);
	saved = packets->lanes[KTOP_SAMPLES][0];
	time = add_packet(packets, &in, KTOP_SAMPLES, 0, first, 5, &seed, 5);
	sent = packets->size;
	add_packet(packets, &in, KTOP_SAMPLES, 0, time, 5, &seed, 5);
	ahead = packets->size;
	packets->lanes[KTOP_SAMPLES][0] = saved;
	add_packet(packets, &in, KTOP_SAMPLES, 0, first, 3, &seed, 5);
	decode_feed(decode, packets->bytes, sent);
	assert_int_equal(decode_put(decode, STREAM_SAMPLES, 0), 10);
	decode_ahead(decode, true);
	decode_feed(decode, packets->bytes + sent, ahead - sent);
	decode_ahead(decode, false);
	assert_int_equal(decode_put(decode, STREAM_SAMPLES, 0), 15);
	assert_int_equal(out.boots, 1);
	decode_feed(decode, packets->bytes + ahead, packets->size - ahead);
	assert_true(log_same(&in, &out));
	assert_int_equal(out.boots, 2);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).received, 3);
	decode_free(decode);
	packets_free(packets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_held_after_each_packet),
		cmocka_unit_test(test_nothing_is_held_back),
		cmocka_unit_test(test_missing_packets),
		cmocka_unit_test(test_losses_are_told_with_the_packet_behind_them),
		cmocka_unit_test(test_unknown_and_bad_events),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_full_time),
		cmocka_unit_test(test_two_boots),
		cmocka_unit_test(test_machine_put_back),
		cmocka_unit_test(test_machine_put_back_behind_what_came_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
