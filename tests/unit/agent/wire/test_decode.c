/* SPDX-License-Identifier: MIT */
/*
 * The decoder reads streams whose contents are known. Its events are written back to wire form, and
 * compared with what went in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "tests/unit/fakes/decode_log.h"
#include "tests/unit/fakes/packets.h"

enum { CPUS = 3 };

/* Large, so they are static; one test at a time uses them. */
static struct log in, out, other;

/* ---- streams ---- */

static const struct { uint16_t id; uint32_t stream; } kinds[] = {
#define KIND(id, stream, name) { id, stream },
	KTOP_WIRE_EVENTS(KIND)
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void add_event(struct packets *packets, struct log *log, uint32_t cpu, uint64_t time,
	uint16_t id, uint64_t *seed, size_t list_max)
{
	struct body body;

	body_random(&body, id, seed, list_max);
	packets_event(packets, time, id, &body);
	log_add(log, cpu, time, id, &body);
}

/* One packet of random events; returns the time of its end. */
static uint64_t add_packet(struct packets *packets, struct log *log, uint32_t stream, uint32_t cpu,
	uint64_t time, size_t events, uint64_t *seed, size_t list_max)
{
	packets_begin(packets, stream, cpu, time);
	for (size_t i = 0; i < events;) {
		size_t kind = random_next(seed) % KINDS;

		if (kinds[kind].stream != stream)
			continue;
		time += random_next(seed) % 0x60000000;
		add_event(packets, log, cpu, time, kinds[kind].id, seed, list_max);
		i++;
	}
	packets_end(packets, time);
	return time;
}

/* A heartbeat of each stream and CPU: after it, the books are exact. */
static void add_heartbeats(struct packets *packets, uint64_t time)
{
	for (uint32_t stream = 0; stream < KTOP_STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			packets_begin(packets, stream, cpu, time);
			packets_end(packets, time);
		}
}

static struct packets *random_stream(struct log *log, uint64_t seed, size_t count, size_t events,
	size_t list_max)
{
	struct packets *packets = packets_new(1);
	uint64_t time = seed % 1000;

	log->count = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t stream = random_next(&seed) % KTOP_STREAMS, cpu = random_next(&seed) % CPUS;

		if (random_next(&seed) % 4 == 0)
			packets_discard(packets, stream, cpu, random_next(&seed) % 10);
		time = add_packet(packets, log, stream, cpu, time, random_next(&seed) % (events + 1),
			&seed, list_max);
	}
	add_heartbeats(packets, time);
	return packets;
}

/* On each stream and CPU, earlier + received + lost is what the guest says it took. */
static void assert_books(const struct decode *decode, const struct packets *packets)
{
	for (uint32_t stream = 0; stream < KTOP_STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			struct books books = decode_books(decode, stream, cpu);
			const struct packets_lane *lane = &packets->lanes[stream][cpu];

			assert_int_equal(books.earlier + books.received + books.lost,
				lane->before + lane->discarded);
		}
}

static uint64_t discarded_in(const struct packets *packets, uint32_t stream)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		sum += packets->lanes[stream][cpu].discarded;
	return sum;
}

static uint64_t lost_in_all(const struct decode *decode)
{
	return decode_books_all(decode, STREAM_META).lost + decode_books_all(decode, STREAM_SAMPLES).lost +
		decode_books_all(decode, STREAM_TRACE).lost;
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

/* ---- tests: damage ---- */

static void test_every_truncation(void **state)
{
	struct packets *packets = random_stream(&in, 78, 5, 4, 6);
	size_t cut_at = packets->size;

	(void)state;
	add_heartbeats(packets, UINT64_C(1) << 40);
	for (size_t cut = 0; cut <= cut_at; cut++) {
		struct decode *decode = log_decode(&out);
		uint64_t delivered = 0;

		decode_feed(decode, packets->bytes, cut);
		decode_cut(decode);
		delivered = decode_counts(decode).bytes - decode_counts(decode).skipped_bytes;
		assert_true(delivered <= cut && out.count <= in.count);
		decode_feed(decode, packets->bytes + cut_at, packets->size - cut_at);
		assert_books(decode, packets);
		assert_int_equal(out.boots, 1);
		decode_free(decode);
	}
	packets_free(packets);
}

/*
 * Like test_every_truncation, but the decoder is not told of the cut: the stream goes on in the middle of a
 * packet. When only one to three bytes are missing, the decoder takes the next packet for the end of this
 * one, and loses it.
 */
static void test_every_gap(void **state)
{
	struct packets *packets = random_stream(&in, 79, 5, 4, 6);
	size_t gap_end = packets->size, swallowed = 0;

	(void)state;
	add_packet(packets, &in, KTOP_SAMPLES, 0, UINT64_C(1) << 39, 3, &(uint64_t) { 3 }, 6);
	add_heartbeats(packets, UINT64_C(1) << 40);
	for (size_t gap = 0; gap <= gap_end; gap++) {
		struct decode *decode = log_decode(&out);
		bool survives;

		decode_feed(decode, packets->bytes, gap);
		decode_feed(decode, packets->bytes + gap_end, packets->size - gap_end);
		assert_books(decode, packets);
		assert_int_equal(out.last_packet_end, UINT64_C(1) << 40);
		survives = out.entries[out.count - 1].hash == in.entries[in.count - 1].hash;
		if (survives) {
			assert_int_equal(decode_counts(decode).bad_events, 0);
		} else {
			assert_true(decode_counts(decode).skipped_bytes > 0);
			swallowed++;
		}
		decode_free(decode);
	}
	assert_true(swallowed <= 3 * 5);
	packets_free(packets);
}

/* True if the logs differ in the contents of one event at most. */
static bool differs_in_one(const struct log *a, const struct log *b)
{
	size_t differences = 0;

	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		differences += a->entries[i].size != b->entries[i].size ||
			a->entries[i].hash != b->entries[i].hash || a->entries[i].id != b->entries[i].id;
	return differences <= 1;
}

/* A flipped bit in this field moves a whole packet to another CPU, and nothing can show it. */
static bool is_cpu_field(const struct packets *packets, size_t byte)
{
	struct ktop_wire_packet wire;

	for (size_t at = 0; at <= byte; at += wire.packet_size / 8) {
		size_t field = at + offsetof(struct ktop_wire_packet, cpu);

		memcpy(&wire, packets->bytes + at, sizeof(wire));
		if (byte >= field && byte < field + sizeof(wire.cpu))
			return true;
	}
	return false;
}

static void test_every_bit_flip(void **state)
{
	struct packets *packets = random_stream(&in, 80, 5, 4, 5);
	size_t damaged = packets->size;

	(void)state;
	add_heartbeats(packets, UINT64_C(1) << 40);
	add_heartbeats(packets, UINT64_C(1) << 41);
	for (size_t bit = 0; bit < 8 * damaged; bit++) {
		struct decode *decode = log_decode(&out);
		struct decode_counts counts;

		packets->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		decode_feed(decode, packets->bytes, packets->size);
		packets->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		counts = decode_counts(decode);
		if (!is_cpu_field(packets, bit / 8))
			assert_books(decode, packets);
		if (!differs_in_one(&in, &out) && counts.skipped_bytes + counts.bad_events +
				counts.unknown_events + lost_in_all(decode) == 0)
			fail_msg("bit %d: events changed, and nothing was counted", (int)bit);
		assert_true(counts.skipped_bytes <= 8192);
		assert_true(out.boots <= 2);		/* 2: the first packet's boot id was hit */
		assert_true(bit >= 8 * (4 + KTOP_BOOT_ID) ? out.boots == 1 : true);
		assert_int_equal(out.last_packet_end, UINT64_C(1) << 41);
		decode_free(decode);
	}
	packets_free(packets);
}

static void test_garbage_between_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct packets *packets = packets_new(1);
		struct decode *decode = log_decode(&out);
		uint64_t random = seed, garbage = 0, time = 0;

		in.count = 0;
		for (int i = 0; i < 20; i++) {
			uint8_t noise[700];
			size_t size = random_next(&random) % sizeof(noise);

			for (size_t k = 0; k < size; k++)
				noise[k] = (uint8_t)(random_next(&random) % 3 ? random_next(&random) : 0xc1);
			packets_raw(packets, noise, size);
			garbage += size;
			time = add_packet(packets, &in, KTOP_SAMPLES, 0, time, 5, &random, 20);
		}
		for (size_t at = 0, part = 1 + seed * 13; at < packets->size; at += part)
			decode_feed(decode, packets->bytes + at,
				part < packets->size - at ? part : packets->size - at);
		assert_true(log_same(&in, &out));
		assert_int_equal(decode_counts(decode).skipped_bytes, garbage);
		assert_true(decode_counts(decode).resyncs <= 20 && decode_counts(decode).resyncs > 0);
		decode_free(decode);
		packets_free(packets);
	}
}

/* A stack may contain the magic, or even a whole packet of another boot. The packet around it is still good. */
static void test_magic_in_frames(void **state)
{
	struct packets *packets = packets_new(1), *inner = packets_new(9);
	struct decode *decode = log_decode(&out);
	struct ktop_wire_sample wire = { .weight = 1 };
	struct body body = { .size = 0 };
	uint64_t frames[KTOP_FRAMES_MAX];
	const uint32_t magic = KTOP_MAGIC;

	(void)state;
	packets_begin(inner, KTOP_SAMPLES, 0, 0);
	packets_end(inner, 0);
	for (size_t i = 0; i < KTOP_FRAMES_MAX; i++)
		memcpy(&frames[i], (uint32_t[2]) { magic, magic }, 8);
	memcpy(&frames[10], inner->bytes, inner->size);
	body_fixed(&body, &wire, sizeof(wire));
	body_list(&body, frames, KTOP_FRAMES_MAX, 8);
	body_list(&body, frames, 3, 8);

	packets_raw(packets, "xyz", 3);
	for (uint64_t i = 0; i < 3; i++) {
		packets_begin(packets, KTOP_SAMPLES, 0, i);
		packets_event(packets, i, KTOP_EVENT_sample, &body);
		packets_end(packets, i);
	}
	add_heartbeats(packets, 3);
	for (size_t i = 0; i < packets->size; i++)
		decode_feed(decode, packets->bytes + i, 1);
	assert_int_equal(out.count, 3);
	assert_int_equal(out.entries[1].hash, log_hash(body.bytes, body.size));
	assert_int_equal(out.boots, 1);
	assert_int_equal(decode_counts(decode).skipped_bytes, 3);
	decode_free(decode);
	packets_free(packets);
	packets_free(inner);
}

static void test_garbage_never_is_a_boot(void **state)
{
	struct decode *decode = log_decode(&out);
	uint64_t seed = 12345;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct ktop_wire_packet wire;
		uint8_t noise[1000];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)random_next(&seed);
		memcpy(&wire, noise, sizeof(wire));
		wire.magic = KTOP_MAGIC;
		wire.stream %= KTOP_STREAMS;
		wire.cpu %= CPUS;
		wire.end = wire.begin;
		wire.content_size = wire.packet_size = 8 * sizeof(noise);
		memcpy(noise, &wire, sizeof(wire));
		decode_feed(decode, noise, sizeof(noise));
	}
	assert_int_equal(out.boots, 0);
	decode_cut(decode);
	assert_int_equal(decode_counts(decode).skipped_bytes, 3000 * 1000);
	decode_free(decode);
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
	static const struct { uint16_t id; uint32_t stream; size_t at; uint8_t value; } rows[] = {
		{ KTOP_EVENT_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_sample, mode), 3 },
		{ KTOP_EVENT_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_sample), KTOP_FRAMES_MAX + 1 },
		{ KTOP_EVENT_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_sample) + 1, 255 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_raw_sample, mode), KTOP_MODES + 1 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, offsetof(struct ktop_wire_raw_sample, arch), KTOP_ARCHS },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_raw_sample), KTOP_REGISTERS_MAX + 1 },
		{ KTOP_EVENT_raw_sample, KTOP_SAMPLES, sizeof(struct ktop_wire_raw_sample) + 3, 0x09 },
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

/* Only the bytes decide, not how they are cut into pieces: even for streams that are mostly damage. */
static void test_damage_is_split_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct packets *packets = random_stream(&in, seed, 12, 6, 8);
		struct decode *whole, *pieces;
		struct decode_counts a, b;
		uint64_t random = seed;

		for (int i = 0; i < 30; i++)
			packets->bytes[random_next(&random) % packets->size] = (uint8_t)random_next(&random);
		whole = log_decode(&out);
		decode_feed(whole, packets->bytes, packets->size);
		pieces = log_decode(&other);
		for (size_t i = 0; i < packets->size; i++)
			decode_feed(pieces, packets->bytes + i, 1);
		decode_cut(whole);
		decode_cut(pieces);
		a = decode_counts(whole);
		b = decode_counts(pieces);
		assert_true(log_same(&out, &other));
		assert_memory_equal(&a, &b, sizeof(a));
		decode_free(whole);
		decode_free(pieces);
		packets_free(packets);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_held_after_each_packet),
		cmocka_unit_test(test_nothing_is_held_back),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_gap),
		cmocka_unit_test(test_every_bit_flip),
		cmocka_unit_test(test_garbage_between_packets),
		cmocka_unit_test(test_magic_in_frames),
		cmocka_unit_test(test_garbage_never_is_a_boot),
		cmocka_unit_test(test_missing_packets),
		cmocka_unit_test(test_unknown_and_bad_events),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_full_time),
		cmocka_unit_test(test_two_boots),
		cmocka_unit_test(test_machine_put_back),
		cmocka_unit_test(test_damage_is_split_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
