/* SPDX-License-Identifier: MIT */
/* The decoder reads streams that were damaged: it finds what is left, and its books say what is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/decode_log.h"
#include "tests/unit/fakes/packets.h"
#include "random_stream.h"

/* Large, so they are static; one test at a time uses them. */
static struct log in, out, other;

/* ---- streams ---- */

static uint64_t lost_in_all(const struct decode *decode)
{
	return decode_books_all(decode, STREAM_META).lost + decode_books_all(decode, STREAM_SAMPLES).lost +
		decode_books_all(decode, STREAM_TRACE).lost;
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
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_every_gap),
		cmocka_unit_test(test_every_bit_flip),
		cmocka_unit_test(test_garbage_between_packets),
		cmocka_unit_test(test_magic_in_frames),
		cmocka_unit_test(test_garbage_never_is_a_boot),
		cmocka_unit_test(test_damage_is_split_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
