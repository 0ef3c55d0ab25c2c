/* SPDX-License-Identifier: MIT */
/*
 * Recordings are read again. Packets come in the order of their times. A recording that is cut at any byte
 * has the books of the whole packets before the cut. Damage anywhere costs one packet, and a repair removes
 * it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_repair.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum { CPUS = RECORDINGS_CPUS, ROUNDS = 4, EVENTS = 3, HZ = 1000000000 };

/* ---- making one ---- */

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void no_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static struct packets *some_packets(uint8_t boot)
{
	struct packets *packets = packets_new(boot);

	for (uint64_t round = 0; round < ROUNDS; round++) {
		recordings_guest(packets, round * 100, HZ);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			recordings_missed(packets, cpu, round * 100 + 10 * cpu + 1, EVENTS);
	}
	return packets;
}

/* ---- reading it ---- */

struct seen {
	struct decode *decode;
	uint64_t boots, packets, ordered;
	uint64_t end;			/* of the last packet */
};

static void see_boot(void *context, const uint8_t *boot_id)
{
	struct seen *seen = context;

	(void)boot_id;
	seen->boots++;
}

static void see_packet(void *context, const struct packet *packet)
{
	struct seen *seen = context;

	seen->packets++;
	seen->ordered += packet->end >= seen->end;
	seen->end = packet->end;
}

/* Feeds a whole boot to a decoder. The caller frees it. */
static struct seen read_boot(const struct recording *recording, size_t boot)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct seen seen = { .boots = 0 };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &seen, .boot = see_boot, .packet = see_packet, .events = no_events,
	});
	struct reader *reader = reader_new(recording, boot);
	size_t got;

	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		decode_feed(decode, bytes, got);
	reader_free(reader);
	seen.decode = decode;
	return seen;
}

static uint64_t size_of(const char *path)
{
	struct stat is;

	assert_int_equal(stat(path, &is), 0);
	return (uint64_t)is.st_size;
}

/* ---- tests ---- */

static void test_as_it_was_recorded(void **state)
{
	struct packets *packets = some_packets(3);
	char *error = NULL, text[256];
	struct recording *recording;
	struct seen seen;

	(void)state;
	recordings_write(scratch_path("whole"), packets);
	recording = recording_new(scratch_path("whole"), &error);
	assert_non_null(recording);
	assert_int_equal(recording->boot_count, 1);
	assert_int_equal(recording->part_count, 1);
	assert_string_equal(recording->boots[0].machine, "vm");
	assert_string_equal(recording->boots[0].kernel, "/boot/kernel");
	assert_int_equal(recording->boots[0].guest.guest.cpus, CPUS);
	assert_string_equal(recording_remark(recording, 0, text, sizeof(text)), "");
	seen = read_boot(recording, 0);
	assert_int_equal(seen.packets, ROUNDS * (1 + CPUS));
	assert_int_equal(seen.ordered, seen.packets);
	assert_int_equal(seen.boots, 1);
	assert_int_equal(decode_books_all(seen.decode, STREAM_SAMPLES).received, ROUNDS * CPUS * EVENTS);
	assert_int_equal(decode_books_all(seen.decode, STREAM_SAMPLES).lost, 0);
	decode_free(seen.decode);
	recording_free(recording);
	packets_free(packets);
}

/* One file is cut; the others are whole. */
static void check_cut(const char *folder, uint64_t whole, uint64_t skipped)
{
	char *error = NULL, text[256], *count = util_format("cut or damaged: %d bytes", (int)skipped);
	struct recording *recording = recording_new(folder, &error);
	struct seen seen;
	struct books books;

	assert_non_null(recording);
	recording_remark(recording, 0, text, sizeof(text));
	assert_int_equal(!strstr(text, count), !skipped);
	seen = read_boot(recording, 0);
	books = decode_books(seen.decode, STREAM_SAMPLES, 0);
	assert_int_equal(seen.packets, whole + ROUNDS * CPUS);
	assert_int_equal(books.received, whole * EVENTS);
	assert_int_equal(books.lost, 0);
	assert_int_equal(decode_books(seen.decode, STREAM_SAMPLES, 1).received, ROUNDS * EVENTS);
	assert_int_equal(decode_counts(seen.decode).skipped_bytes, 0);
	decode_free(seen.decode);
	recording_free(recording);
	free(count);
}

static void test_cut_at_each_byte(void **state)
{
	struct packets *packets = some_packets(3);
	char *part, *file;
	uint64_t size, packet;

	(void)state;
	recordings_write(scratch_path("cut"), packets);
	part = scratch_only(scratch_path("cut"));
	file = util_format("%s/samples_0", part);
	size = size_of(file);
	packet = size / ROUNDS;
	for (uint64_t cut = size; cut-- > 0;) {
		assert_int_equal(truncate(file, (off_t)cut), 0);
		check_cut(scratch_path("cut"), cut / packet, cut % packet);
	}
	free(file);
	free(part);
	packets_free(packets);
}

/* One byte of a packet is changed, each in turn: the packets before and behind it are still there. */
static void test_damage_at_each_byte(void **state)
{
	struct packets *packets = some_packets(3);
	uint8_t *bytes;
	char *part, *file, *error = NULL;
	uint64_t size, packet;
	FILE *opened;

	(void)state;
	recordings_write(scratch_path("damage"), packets);
	part = scratch_only(scratch_path("damage"));
	file = util_format("%s/samples_0", part);
	size = size_of(file);
	packet = size / ROUNDS;
	bytes = util_alloc(size);
	opened = fopen(file, "r+");
	assert_non_null(opened);
	assert_int_equal(fread(bytes, 1, size, opened), size);
	for (uint64_t at = packet; at < 2 * packet; at++) {
		uint8_t damaged = (uint8_t)(bytes[at] ^ 0x55);
		struct recording *recording;
		struct seen seen;

		assert_int_equal(pwrite(fileno(opened), &damaged, 1, (off_t)at), 1);
		recording = recording_new(scratch_path("damage"), &error);
		assert_non_null(recording);
		seen = read_boot(recording, 0);
		assert_true(decode_books(seen.decode, STREAM_SAMPLES, 1).received == ROUNDS * EVENTS);
		assert_true(seen.packets >= ROUNDS * (1 + CPUS) - 1);
		decode_free(seen.decode);
		recording_free(recording);
		assert_int_equal(pwrite(fileno(opened), &bytes[at], 1, (off_t)at), 1);
	}
	fclose(opened);
	free(bytes);
	free(file);
	free(part);
	packets_free(packets);
}

/* ---- lanes that end before the rest ---- */

enum { TICKS = 1000, BEATS = 40, BEAT = 100, AT_ONCE = 5 };	/* a second; packets of a lane; ticks between them */

/* What the guest tells at a beat: how many events of a CPU it has taken. */
static void put_status(struct packets *packets, uint32_t cpu, uint64_t time, uint64_t taken)
{
	const struct ktop_wire_cpu_status wire = { .cpu = cpu, .stream = KTOP_SAMPLES, .enabled = 1, .taken = taken,
		.size = 65536 };
	struct body body = { .size = 0 };

	packets_begin(packets, KTOP_META, 0, time);
	body_fixed(&body, &wire, sizeof(wire));
	packets_event(packets, time, KTOP_EVENT_cpu_status, &body);
	packets_end(packets, time);
}

/* A guest that is recorded for four seconds, with so many CPUs, on which it takes events at each beat. */
static char *record_beats(const char *name, uint32_t cpus)
{
	struct packets *packets = packets_new(3);
	char *part;

	for (uint64_t beat = 1; beat <= BEATS; beat++) {
		recordings_guest(packets, beat * BEAT, TICKS);
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			recordings_missed(packets, cpu, beat * BEAT - AT_ONCE, AT_ONCE);
			put_status(packets, cpu, beat * BEAT, beat * AT_ONCE);
		}
	}
	recordings_write(scratch_path(name), packets);
	packets_free(packets);
	part = scratch_only(scratch_path(name));
	return part;
}

/* Cuts a lane behind so many of its packets, which are of equal size; `more` bytes of the next one stay. */
static void cut_lane(const char *part, const char *lane, uint64_t packets, uint64_t more)
{
	char *file = util_format("%s/%s", part, lane);

	assert_int_equal(truncate(file, (off_t)(size_of(file) / BEATS * packets + more)), 0);
	free(file);
}

static void check_remark(const char *name, const char *wanted)
{
	char *error = NULL, text[512];
	struct recording *recording = recording_new(scratch_path(name), &error);

	assert_non_null(recording);
	assert_string_equal(recording_remark(recording, 0, text, sizeof(text)), wanted);
	recording_free(recording);
}

/* Each file is cut at a place of its own: the remark says which CPU ends how much earlier than the rest. */
static void test_which_cpu_ends_early(void **state)
{
	char *part = record_beats("early", 4);

	(void)state;
	check_remark("early", "");
	cut_lane(part, "samples_1", 16, 7);
	cut_lane(part, "samples_3", 38, 0);	/* as much as may be on its way in any recording: nothing is said */
	check_remark("early", "left out of the recording, cut or damaged: 7 bytes; "
		"the samples of CPU 1 end 2.40 s before the rest, missing: 120");
	cut_lane(part, "samples_0", 39, 1);
	cut_lane(part, "samples_2", 0, 0);
	check_remark("early", "left out of the recording, cut or damaged: 8 bytes; "
		"the samples of CPU 2 end 3.90 s before the rest, missing: 200; "
		"the samples of CPU 1 end 2.40 s before the rest, missing: 120; "
		"the samples of CPU 0 end 0.10 s before the rest, missing: 5");
	free(part);
}

/* What the guest says of itself is cut, too, so nobody knows how many samples are missing. */
static void test_which_cpu_ends_early_without_counts(void **state)
{
	char *part = record_beats("uncounted", 5);

	(void)state;
	for (int cpu = 0; cpu < 4; cpu++) {
		char *lane = util_format("samples_%d", cpu);

		cut_lane(part, lane, (uint64_t)(30 - cpu), 0);
		free(lane);
	}
	cut_lane(part, "meta_0", 10, 0);
	check_remark("uncounted", "what the guest says of itself ends 3.00 s before the rest; "
		"the samples of CPU 3 end 1.30 s before the rest; the samples of CPU 2 end 1.20 s before the rest; "
		"other files that end early: 2");
	free(part);
}

static void test_repaired(void **state)
{
	struct packets *packets = some_packets(3);
	struct recording_repaired done;
	char *part, *partial, *file, *error = NULL, text[256];
	struct recording *recording;
	uint64_t packet;

	(void)state;
	recordings_write(scratch_path("repair"), packets);
	part = scratch_only(scratch_path("repair"));
	partial = util_format("%s.partial", part);
	file = util_format("%s/samples_0", part);
	packet = size_of(file) / ROUNDS;
	assert_int_equal(truncate(file, (off_t)(3 * packet + 7)), 0);
	assert_int_equal(rename(part, partial), 0);

	recording = recording_new(scratch_path("repair"), &error);
	assert_non_null(strstr(recording_remark(recording, 0, text, sizeof(text)), "is not complete"));
	assert_true(recording_repair(recording, &done, &error));
	assert_int_equal(done.files, 1);
	assert_int_equal(done.bytes, 7);
	assert_int_equal(done.ended, 1);
	recording_free(recording);
	assert_int_equal(size_of(file), 3 * packet);
	check_cut(scratch_path("repair"), 3, 0);
	recording = recording_new(scratch_path("repair"), &error);
	assert_string_equal(recording_remark(recording, 0, text, sizeof(text)), "");
	recording_free(recording);
	free(file);
	free(partial);
	free(part);
	packets_free(packets);
}

/* A disk that fails: what is behind the damaged place may be whole. */
static off_t fails_from;		/* 0: it does not */

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	if (!fails_from || offset < fails_from)
		return __real_pread(fd, to, size, offset);
	errno = EIO;
	return -1;
}

static void test_what_cannot_be_read_is_not_removed(void **state)
{
	struct packets *packets = some_packets(3);
	struct recording_repaired done;
	char *part, *file, *error = NULL;
	struct recording *recording;
	uint64_t size;

	(void)state;
	recordings_write(scratch_path("disk"), packets);
	part = scratch_only(scratch_path("disk"));
	file = util_format("%s/samples_0", part);
	size = size_of(file);
	recording = recording_new(scratch_path("disk"), &error);
	fails_from = (off_t)(size / 2);
	assert_false(recording_repair(recording, &done, &error));
	fails_from = 0;
	assert_non_null(strstr(error, "it cannot be read: Input/output error"));
	assert_int_equal(done.files, 0);
	assert_int_equal(size_of(file), size);
	recording_free(recording);
	free(error);
	free(file);
	free(part);
	packets_free(packets);
}

/* A remark counts the files and folders that are there and cannot be read. */
static void test_what_cannot_be_opened(void **state)
{
	struct packets *packets = some_packets(3);
	char *part, *file, *error = NULL, text[256];
	struct recording *recording;

	(void)state;
	recordings_write(scratch_path("unread"), packets);
	part = scratch_only(scratch_path("unread"));
	file = util_format("%s/samples_7", part);
	assert_int_equal(symlink("samples_0", file), 0);
	recording = recording_new(scratch_path("unread"), &error);
	assert_non_null(recording);
	assert_int_equal(recording->unread, 1);
	assert_non_null(strstr(recording_remark(recording, 0, text, sizeof(text)), "that cannot be opened: 1"));
	recording_free(recording);
	free(file);
	free(part);
	packets_free(packets);
}

/* A part may begin with events that the guest describes only later in that part. */
static void test_descriptors_known_before(void **state)
{
	struct packets *packets = packets_new(3);
	const struct recording_boot *boot;
	struct recording *recording;
	struct reader *reader;
	struct decode *decode;
	uint8_t bytes[KTOP_PACKET_MAX];
	char *error = NULL;
	size_t got;

	(void)state;
	recordings_guest(packets, 0, HZ);
	recordings_own_event(packets, 10);
	recordings_descriptor(packets, 100);
	recordings_own_event(packets, 100);
	recordings_write(scratch_path("own"), packets);
	recording = recording_new(scratch_path("own"), &error);
	assert_non_null(recording);
	boot = &recording->boots[0];
	assert_int_equal(boot->descriptor_count, 1);
	assert_memory_equal(boot->descriptors[0].descriptor.name.bytes, "mail_put", 8);
	decode = decode_new(&(struct decode_sink) {
		.boot = no_boot, .packet = no_packet, .events = no_events });
	reader = reader_new(recording, 0);
	while ((got = reader_read(reader, bytes, sizeof(bytes)))) {
		decode_feed(decode, bytes, got);
		decode_learn(decode, &boot->descriptors[0]);
	}
	assert_int_equal(decode_books_all(decode, STREAM_TRACE).received, 2);
	assert_int_equal(decode_counts(decode).unknown_events, 0);
	reader_free(reader);
	decode_free(decode);
	recording_free(recording);
	packets_free(packets);
}

static struct recording_repaired repair(const char *folder)
{
	struct recording_repaired done;
	char *error = NULL;
	struct recording *recording = recording_new(folder, &error);

	assert_non_null(recording);
	assert_true(recording_repair(recording, &done, &error));
	recording_free(recording);
	return done;
}

static void check_metadata(const char *file, const char *whole)
{
	size_t size;
	char *text = scratch_read(file, &size);

	assert_string_equal(text, whole);
	free(text);
}

/*
 * The metadata is missing, or cut at any byte, or a link out of the recording. The repair makes it as it was,
 * except for facts that only the cut bytes held.
 */
static void test_metadata_made_anew(void **state)
{
	struct packets *packets = some_packets(3);
	char *part, *file, *whole, *made, *outside = util_format("%s", scratch_text("outside", "mine"));
	size_t size, made_size;

	(void)state;
	recordings_descriptor(packets, ROUNDS * 100);
	recordings_own_event(packets, ROUNDS * 100);
	recordings_write(scratch_path("metadata"), packets);
	part = scratch_only(scratch_path("metadata"));
	file = util_format("%s/metadata", part);
	whole = scratch_read(file, &size);
	assert_non_null(strstr(whole, "mail_put"));
	assert_int_equal(repair(scratch_path("metadata")).described, 0);
	for (size_t cut = size - 1; cut > size / 2; cut -= 1 + cut % 7) {
		assert_int_equal(truncate(file, (off_t)cut), 0);
		assert_int_equal(repair(scratch_path("metadata")).described, 1);
		check_metadata(file, whole);
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(repair(scratch_path("metadata")).described, 1);
	made = scratch_read(file, &made_size);
	assert_null(strstr(made, "/boot/kernel"));
	assert_string_equal(strstr(made, "clock {"), strstr(whole, "clock {"));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(outside, file), 0);
	assert_int_equal(repair(scratch_path("metadata")).described, 1);
	check_metadata(outside, "mine");
	check_metadata(file, made);
	assert_int_equal(repair(scratch_path("metadata")).described, 0);
	free(outside);
	free(made);
	free(whole);
	free(file);
	free(part);
	packets_free(packets);
}

/* Packets with good headers and damaged events. */
static void test_metadata_of_damaged_packets(void **state)
{
	struct packets *packets = some_packets(3);
	char *part, *file;
	uint64_t size;
	FILE *opened;

	(void)state;
	recordings_write(scratch_path("inside"), packets);
	part = scratch_only(scratch_path("inside"));
	file = util_format("%s/meta_0", part);
	size = size_of(file);
	opened = fopen(file, "r+");
	assert_non_null(opened);
	for (uint64_t at = 0; at < size; at += size / ROUNDS)
		assert_int_equal(pwrite(fileno(opened), "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
			(off_t)(at + sizeof(struct ktop_wire_packet))), 8);
	fclose(opened);
	free(file);
	file = util_format("%s/metadata", part);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(repair(scratch_path("inside")).described, 1);
	assert_int_equal(repair(scratch_path("inside")).described, 0);
	free(file);
	free(part);
	packets_free(packets);
}

static void test_what_is_none(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(recording_new(scratch_path("none"), &error));
	free(error);
	assert_int_equal(mkdir(scratch_path("empty"), 0700), 0);
	assert_null(recording_new(scratch_path("empty"), &error));
	assert_non_null(strstr(error, "there is no packet"));
	free(error);
	scratch_text("empty/samples_0", "none either");
	assert_null(recording_new(scratch_path("empty"), &error));
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_it_was_recorded),
		cmocka_unit_test(test_cut_at_each_byte),
		cmocka_unit_test(test_damage_at_each_byte),
		cmocka_unit_test(test_which_cpu_ends_early),
		cmocka_unit_test(test_which_cpu_ends_early_without_counts),
		cmocka_unit_test(test_repaired),
		cmocka_unit_test(test_descriptors_known_before),
		cmocka_unit_test(test_metadata_made_anew),
		cmocka_unit_test(test_metadata_of_damaged_packets),
		cmocka_unit_test(test_what_cannot_be_read_is_not_removed),
		cmocka_unit_test(test_what_cannot_be_opened),
		cmocka_unit_test(test_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
