/* SPDX-License-Identifier: MIT */
/*
 * Recordings are read again. Packets come in the order of their times. A recording that is cut at any byte has the
 * books of the whole packets before the cut. Damage anywhere costs one packet.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"
#include "recording_seen.h"

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

/* Gives up at the nth question, and counts what is asked after that. */
struct giver_up {
	unsigned at, asked, after;
};

static bool give_up(void *context)
{
	struct giver_up *giver_up = context;

	giver_up->after += giver_up->asked >= giver_up->at;
	return ++giver_up->asked >= giver_up->at;
}

enum { AT = 5, AFTER_MOST = 20, PACKETS_MANY = 20000, HOLE = 64 << 20 };

/* Of the thousands of looks that a whole pass makes, those after the wish to give up are few. */
static void check_given_up(const char *name)
{
	struct giver_up all = { .at = UINT_MAX }, some = { .at = AT }, reading = { .at = AT };
	char *error = NULL;
	struct recording *recording = recording_load(scratch_path(name), (struct recording_patience) { give_up, &all },
		&error);
	struct reader *reader;
	static uint8_t packet[KTOP_PACKET_MAX];
	uint64_t end;
	unsigned read = 0;

	assert_non_null(recording);
	assert_true(all.asked > 2 * (AT + AFTER_MOST));
	recording->patience = (struct recording_patience) { give_up, &reading };
	reader = reader_new(recording, 0);
	while (reader_peek(reader, &end) && reader_read(reader, packet, sizeof(packet)))
		read++;
	assert_true(read <= recording->parts[0].packets);
	assert_true(reading.after <= AFTER_MOST);
	reader_free(reader);
	recording_free(recording);

	assert_null(recording_load(scratch_path(name), (struct recording_patience) { give_up, &some }, &error));
	assert_non_null(strstr(error, ": not read: interrupted; "));
	assert_int_equal(some.asked, AT + some.after);
	assert_true(some.after <= AFTER_MOST);
	free(error);
}

/* Many small packets; no packet for long; both, as a hostile recording may have them. */
static void test_given_up(void **state)
{
	static const char *const names[] = { "many", "sparse", "both" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct packets *packets = some_packets(3);
		struct ktop_wire_packet head;
		char *part, *path;
		FILE *file;

		recordings_write(scratch_path(names[i]), packets);
		part = scratch_only(scratch_path(names[i]));
		path = util_format("%s/samples_0", part);
		file = fopen(path, "r+");
		assert_int_equal(fread(&head, sizeof(head), 1, file), 1);
		head.content_size = head.packet_size = 8 * sizeof(head);
		fseek(file, 0, SEEK_END);
		for (int k = 0; i != 1 && k < PACKETS_MANY; k++)
			fwrite(&head, sizeof(head), 1, file);
		fclose(file);
		if (i)
			assert_int_equal(truncate(path, HOLE), 0);
		check_given_up(names[i]);
		free(path);
		free(part);
		packets_free(packets);
	}
}

static void test_cut_at_each_byte(void **state)
{
	struct written written;
	uint64_t size, packet;

	(void)state;
	written = write_some("cut", "samples_0");
	size = size_of(written.file);
	packet = size / ROUNDS;
	for (uint64_t cut = size, step = getenv("QUICK") ? 4 : 1; cut >= step;) {
		cut -= step;
		assert_int_equal(truncate(written.file, (off_t)cut), 0);
		check_cut(scratch_path("cut"), cut / packet, cut % packet);
	}
	written_clear(&written);
}

/* One byte of a packet is changed, each in turn: the packets before and behind it are still there. */
static void test_damage_at_each_byte(void **state)
{
	struct written written;
	uint8_t *bytes;
	char *error = NULL;
	uint64_t size, packet;
	FILE *opened;

	(void)state;
	written = write_some("damage", "samples_0");
	size = size_of(written.file);
	packet = size / ROUNDS;
	bytes = util_alloc(size);
	opened = fopen(written.file, "r+");
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
	written_clear(&written);
}

/* Files vanish while they are read: what they lack is counted. */
static void test_files_that_vanish(void **state)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct written written;
	uint64_t packets_all = ROUNDS * (1 + CPUS), read = 0;
	char *error = NULL;
	struct recording *recording;
	struct reader *reader;
	char *failure;

	(void)state;
	written = write_some("vanish", "samples_0");
	recording = recording_new(scratch_path("vanish"), &error);
	reader = reader_new(recording, 0);
	while (reader_read(reader, bytes, sizeof(bytes)))
		read++;
	assert_int_equal(read, packets_all);
	assert_int_equal(reader_missing(reader), 0);
	reader_free(reader);

	reader = reader_new(recording, 0);
	assert_true(reader_read(reader, bytes, sizeof(bytes)) > 0);
	assert_int_equal(truncate(written.file, (off_t)(size_of(written.file) / ROUNDS)), 0);
	assert_int_equal(reader_missing(reader), 0);
	for (read = 1; reader_read(reader, bytes, sizeof(bytes));)
		read++;
	assert_int_equal(read, packets_all - (ROUNDS - 1));
	assert_int_equal(reader_missing(reader), ROUNDS - 1);
	reader_free(reader);

	scratch_run("rm -r vanish");
	reader = reader_new(recording, 0);
	assert_int_equal(reader_read(reader, bytes, sizeof(bytes)), 0);
	assert_int_equal(reader_missing(reader), packets_all);
	failure = reader_failure(reader);
	assert_string_equal(failure, "the recording was not read to its end: No such file or directory; copy it to a "
		"place where nobody changes it");
	free(failure);
	reader_free(reader);
	recording_free(recording);
	written_clear(&written);
}

/* A remark counts the files and folders that are there and cannot be read. */
static void test_what_cannot_be_opened(void **state)
{
	struct written written;
	char *error = NULL, text[256];
	struct recording *recording;

	(void)state;
	written = write_some("unread", "samples_7");
	assert_int_equal(symlink("samples_0", written.file), 0);
	recording = recording_new(scratch_path("unread"), &error);
	assert_non_null(recording);
	assert_int_equal(recording->unread, 1);
	assert_non_null(strstr(recording_remark(recording, 0, text, sizeof(text)), "that cannot be read: 1 ("));
	recording_free(recording);
	written_clear(&written);
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
		.boot = recordings_no_boot, .packet = recordings_no_packet, .events = recordings_no_events });
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
		cmocka_unit_test(test_as_it_was_recorded), cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_cut_at_each_byte),
		cmocka_unit_test(test_damage_at_each_byte),
		cmocka_unit_test(test_files_that_vanish),
		cmocka_unit_test(test_what_cannot_be_opened),
		cmocka_unit_test(test_descriptors_known_before),
		cmocka_unit_test(test_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
