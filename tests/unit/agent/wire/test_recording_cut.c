/* SPDX-License-Identifier: MIT */
/*
 * Power fails while a guest is recorded: each file of the recording, one after the other, is cut at the end of each
 * packet, a byte before and behind it, at random bytes, and at its beginning. What is whole is read, and so it is after
 * a repair; what is lost is said. One file alone never hides what guest it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_repair.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum {
	ROUNDS = 8, BEAT = 100, HZ = 1000,	/* of packets; ticks between two of them; ticks in a second */
	SAID = 6,				/* a lane that lacks so many packets ends early: that is said */
	RANDOM = 24,
	DESCRIPTORS = 1,
};

struct file {
	const char *name;
	bool lane;
	enum stream stream;
	uint32_t cpu;
	char *path, *bytes;
	size_t size, packets, ends[2 * ROUNDS];
};

/* ---- the recording ---- */

static struct file files[] = {
	{ .name = "metadata" },
	{ .name = "meta_0", .lane = true, .stream = STREAM_META },
	{ .name = "samples_0", .lane = true, .stream = STREAM_SAMPLES },
	{ .name = "samples_1", .lane = true, .stream = STREAM_SAMPLES, .cpu = 1 },
	{ .name = "trace_1", .lane = true, .stream = STREAM_TRACE, .cpu = 1 },
};

enum { FILES = sizeof(files) / sizeof(files[0]) };

static struct packets *some_packets(void)
{
	struct packets *packets = packets_new(3);

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		if (round == 1)
			recordings_guest(packets, BEAT, HZ);
		recordings_descriptor(packets, round * BEAT);
		for (uint32_t cpu = 0; cpu < RECORDINGS_CPUS; cpu++)
			recordings_missed(packets, cpu, round * BEAT, 3);
		recordings_own_event(packets, round * BEAT);
	}
	return packets;
}

static void find_packets(struct file *file)
{
	struct ktop_wire_packet wire;

	for (size_t at = 0; file->lane && at < file->size; file->ends[file->packets++] = at) {
		memcpy(&wire, file->bytes + at, sizeof(wire));
		at += wire.packet_size / 8;
	}
}

static int make(void **state)
{
	struct packets *packets = some_packets();
	char *part;

	(void)state;
	recordings_write(scratch_path("recording"), packets);
	part = scratch_only(scratch_path("recording"));
	for (struct file *file = files; file < files + FILES; file++) {
		file->path = util_format("%s/%s", part, file->name);
		file->bytes = scratch_read(file->path, &file->size);
		find_packets(file);
	}
	free(part);
	packets_free(packets);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	for (struct file *file = files; file < files + FILES; file++) {
		free(file->path);
		free(file->bytes);
	}
	return 0;
}

static void put(const struct file *file, size_t size)
{
	FILE *to = fopen(file->path, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(file->bytes, 1, size, to), size);
	assert_int_equal(fclose(to), 0);
}

static size_t whole_before(const struct file *file, size_t cut)
{
	size_t count = 0;

	while (count < file->packets && file->ends[count] <= cut)
		count++;
	return count;
}

/* The bytes behind the last whole packet. */
static size_t torn(const struct file *file, size_t cut)
{
	size_t whole = whole_before(file, cut);

	return file->lane ? cut - (whole ? file->ends[whole - 1] : 0) : 0;
}

/* ---- reading it ---- */

struct seen {
	const struct recording *recording;
	struct decode *decode;
};

/* As a session does, it learns of the kernel's own events before their descriptors come. */
static void see_boot(void *context, const uint8_t *boot_id)
{
	const struct seen *seen = context;
	const struct recording_boot *boot = &seen->recording->boots[0];

	(void)boot_id;
	for (size_t i = 0; i < boot->descriptor_count; i++)
		decode_learn(seen->decode, &boot->descriptors[i]);
}

static struct recording *open_it(void)
{
	char *error = NULL;
	struct recording *recording = recording_new(scratch_path("recording"), &error);

	if (!recording)
		fail_msg("%s", error);
	assert_int_equal(recording->boot_count, 1);
	return recording;
}

/* Reads all of it. The caller frees the decoder. */
static struct decode *read_it(const struct recording *recording)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct seen seen = { .recording = recording };
	struct reader *reader = reader_new(recording, 0);
	size_t got;

	seen.decode = decode_new(&(struct decode_sink) {
		.context = &seen, .boot = see_boot, .packet = recordings_no_packet, .events = recordings_no_events });
	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		decode_feed(seen.decode, bytes, got);
	reader_free(reader);
	return seen.decode;
}

/* Each file but `cut_file` has all its packets, which has `packets`. */
static void check_packets(const struct recording *recording, const struct file *cut_file, size_t packets)
{
	struct decode *decode = read_it(recording);

	for (const struct file *file = files; file < files + FILES; file++)
		if (file->lane)
			assert_int_equal(decode_books(decode, file->stream, file->cpu).packets,
				file == cut_file ? packets : file->packets);
	assert_int_equal(decode_counts(decode).skipped_bytes, 0);
	assert_int_equal(decode_counts(decode).unknown_events, 0);
	decode_free(decode);
}

static void check_guest(const struct recording *recording)
{
	const struct recording_boot *boot = &recording->boots[0];

	assert_non_null(boot->payload);
	assert_int_equal(boot->guest.guest.clock_hz, HZ);
	assert_int_equal(boot->guest.guest.cpus, RECORDINGS_CPUS);
	assert_int_equal(boot->guest.guest.kernel.size, strlen("demo"));
	assert_memory_equal(boot->guest.guest.kernel.bytes, "demo", strlen("demo"));
	assert_int_equal(boot->descriptor_count, DESCRIPTORS);
	assert_memory_equal(boot->descriptors[0].descriptor.name.bytes, "mail_put", strlen("mail_put"));
}

static void check_said(const struct recording *recording, const struct file *file, size_t cut)
{
	char text[512], *bytes = util_format("cut or damaged: %zu bytes", torn(file, cut));
	size_t whole = whole_before(file, cut);

	recording_remark(recording, 0, text, sizeof(text));
	assert_null(strstr(text, "does not say"));
	assert_int_equal(!strstr(text, bytes), !torn(file, cut));
	if (file->lane && (!whole || whole + SAID <= file->packets))
		assert_non_null(strstr(text, file->stream == STREAM_META ? "says of itself" :
			file->stream == STREAM_TRACE ? "trace events of CPU 1 end" :
			file->cpu ? "samples of CPU 1 end" : "samples of CPU 0 end"));
	free(bytes);
}

static void check_metadata(void)
{
	const struct file *metadata = &files[0];
	char *made;
	size_t size;

	made = scratch_read(metadata->path, &size);
	assert_string_equal(strstr(made, "clock {"), strstr(metadata->bytes, "clock {"));
	free(made);
}

static void repair(struct recording *recording, const struct file *file, size_t cut)
{
	struct recording_repaired done;
	char *error = NULL;

	if (!recording_repair(recording, &done, &error))
		fail_msg("%s", error);
	assert_int_equal(done.files, torn(file, cut) > 0);
	assert_int_equal(done.bytes, torn(file, cut));
	assert_int_equal(done.described, !file->lane);
}

static void check_cut(const struct file *file, size_t cut)
{
	struct recording *recording;
	char text[512];

	put(file, cut);
	recording = open_it();
	check_guest(recording);
	check_said(recording, file, cut);
	check_packets(recording, file, whole_before(file, cut));
	repair(recording, file, cut);
	recording_free(recording);

	recording = open_it();
	check_guest(recording);
	check_packets(recording, file, whole_before(file, cut));
	check_metadata();
	assert_null(strstr(recording_remark(recording, 0, text, sizeof(text)), "damaged"));
	recording_free(recording);
	put(file, file->size);
}

/* ---- tests ---- */

static void test_each_file_is_cut(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (const struct file *file = files; file < files + FILES; file++) {
		for (size_t i = 0; i < file->packets; i++) {
			check_cut(file, file->ends[i] - 1);
			if (file->ends[i] < file->size)
				check_cut(file, file->ends[i]);
			if (file->ends[i] < file->size)
				check_cut(file, file->ends[i] + 1);
		}
		for (int i = 0; i < RANDOM; i++)
			check_cut(file, random_next(&seed) % file->size);
		check_cut(file, 0);
		check_cut(file, 1);
		check_cut(file, file->size - 1);
	}
}

/* Nothing is left that says what guest it is: its samples are still there, and so they are after a repair. */
static void test_all_that_the_guest_says_is_cut(void **state)
{
	struct recording_repaired done;
	struct recording *recording;
	char *error = NULL, text[512];

	(void)state;
	put(&files[0], 0);
	put(&files[1], 0);
	recording = open_it();
	assert_null(recording->boots[0].payload);
	assert_int_equal(recording->boots[0].guest.kind, EVENT_GUEST);
	assert_int_equal(recording->boots[0].guest.guest.cpus, RECORDINGS_CPUS);
	recording_remark(recording, 0, text, sizeof(text));
	assert_non_null(strstr(text, "of itself is lost: names are missing"));
	assert_non_null(strstr(text, "does not say what guest it is of"));
	assert_true(recording_repair(recording, &done, &error));
	assert_int_equal(done.described, 1);
	recording_free(recording);
	recording = open_it();
	for (size_t i = 2; i < FILES; i++) {
		struct decode *decode = read_it(recording);

		assert_int_equal(decode_books(decode, files[i].stream, files[i].cpu).packets, files[i].packets);
		decode_free(decode);
	}
	recording_free(recording);
	put(&files[0], files[0].size);
	put(&files[1], files[1].size);
}

/* A part in which nothing is whole is passed over, which is said. */
static void test_a_part_is_cut_to_nothing(void **state)
{
	struct recording *recording;
	char text[512];

	(void)state;
	scratch_run("mkdir recording/0002-hollow.partial && : >recording/0002-hollow.partial/samples_0");
	recording = open_it();
	assert_int_equal(recording->part_count, 1);
	assert_non_null(strstr(recording_remark(recording, 0, text, sizeof(text)),
		"parts of the recording in which no packet is whole: 1"));
	recording_free(recording);
	scratch_run("rm -r recording/0002-hollow.partial");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_file_is_cut),
		cmocka_unit_test(test_all_that_the_guest_says_is_cut),
		cmocka_unit_test(test_a_part_is_cut_to_nothing),
	};

	return cmocka_run_group_tests(tests, make, forget);
}
