/* SPDX-License-Identifier: MIT */
/*
 * Recordings are judged by another reader: babeltrace2 must see the same events, and complain only of what
 * was lost.
 */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/scratch.h"
#include "recorded.h"

/* ---- writing one ---- */

static void on_packet(void *context, const struct packet *packet)
{
	recording_writer_packet(context, packet);
}

/* Feeds the bytes to a decoder that records into `writer`. */
static void record_bytes(struct recording_writer *writer, const struct packets *packets)
{
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = writer, .boot = on_boot, .packet = on_packet, .events = on_events,
	});

	decode_feed(decode, packets->bytes, packets->size);
	assert_int_equal(decode_counts(decode).skipped_bytes, 0);
	decode_free(decode);
}

static void record_all(const char *folder, const struct packets *packets)
{
	struct recording_writer *writer = record_into(folder);
	char *error = NULL;

	record_bytes(writer, packets);
	assert_true(recording_writer_close(writer, &error));
	assert_null(error);
}

static void add_descriptor(struct packets *packets, uint16_t id, uint8_t stream, const char *name,
	const char *fields)
{
	struct body body = { .size = 0 };
	struct ktop_wire_descriptor wire = { .event = id, .stream = stream };

	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, name);
	body_text(&body, fields);
	packets_event(packets, 0, KTOP_EVENT_descriptor, &body);
}

static void add_guest(struct packets *packets, uint64_t clock, uint64_t epoch)
{
	struct ktop_wire_guest wire = { .cpus = CPUS, .clock = clock, .epoch = epoch };
	struct body body = { .size = 0 };

	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, "demo\"; \\ \n } evil { ");
	for (int i = 0; i < 4; i++)
		body_text(&body, "");
	packets_event(packets, 0, KTOP_EVENT_guest, &body);
}

/* ---- reading it ---- */

static int need_babeltrace(void **state)
{
	static bool missing;

	missing = system("command -v babeltrace2 >/dev/null 2>&1") != 0;
	*state = missing ? &missing : NULL;
	return 0;
}

#define SKIP_WITHOUT_READER(state) do { if (*(state)) skip(); } while (0)

/* Returns what babeltrace2 prints for the folder; `*errors`: its complaints. */
static char *babeltrace(const char *folder, char **errors)
{
	char *command = util_format("timeout 60 babeltrace2 --clock-seconds '%s' >'%s' 2>'%s'", folder,
		scratch_path("text"), scratch_path("errors"));
	size_t size;
	char *text;

	if (system(command) != 0) {
		*errors = scratch_read(scratch_path("errors"), &size);
		fail_msg("%s: %s", command, *errors);
	}
	free(command);
	text = scratch_read(scratch_path("text"), &size);
	*errors = scratch_read(scratch_path("errors"), &size);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

/* Finds a line like `[12.5] (+0.1) sample: { cpu_id = 3 }, { size = 12 }, { ... }`. */
static size_t count_events(const char *text, const char *name, uint32_t cpu)
{
	char *part = util_format(") %s: { events_before = ", name), *end;
	char *mark = util_format("cpu_id = %u }", cpu);
	size_t count = 0;

	for (; (text = strstr(text, part)); text++) {
		end = strchr(text, '}');
		count += end && memmem(text, (size_t)(end - text) + 1, mark, strlen(mark)) != NULL;
	}
	free(part);
	free(mark);
	return count;
}

static size_t count_folders(const char *recording)
{
	DIR *opened = opendir(recording);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(opened);
	while ((entry = readdir(opened)))
		count += entry->d_name[0] != '.';
	closedir(opened);
	return count;
}

/* ---- tests ---- */

static void test_same_events(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	uint64_t seed = 2026, time = 5000;
	size_t total = 0;
	char *text, *errors;

	packets_begin(packets, KTOP_META, 0, 0);
	for (size_t i = 0; i < KINDS; i++)
		add_descriptor(packets, kinds[i].id, (uint8_t)kinds[i].stream, kinds[i].name,
			kinds[i].fields);
	packets_end(packets, 0);
	for (int i = 0; i < 60; i++)
		add_packet(packets, random_next(&seed) % KTOP_STREAMS, random_next(&seed) % CPUS, &time,
			random_next(&seed) % 20, &seed, &counts);
	record_all(scratch_path("same"), packets);

	text = babeltrace(scratch_path("same"), &errors);
	assert_string_equal(errors, "");
	for (size_t i = 0; i < KINDS; i++)
		for (uint32_t cpu = 0; cpu < CPUS && kinds[i].id != KTOP_EVENT_descriptor; cpu++) {
			assert_int_equal(count_events(text, kinds[i].name, cpu), counts.events[i][cpu]);
			total += counts.events[i][cpu];
		}
	assert_true(total > 300);
	assert_int_equal(count_of(text, "\n"), total + KINDS);
	free(text);
	free(errors);
	packets_free(packets);
}

static void test_losses_are_seen(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	uint64_t seed = 1, time = 0;
	char *text, *errors;

	for (int i = 0; i < 6; i++) {
		size_t begin = packets->size;

		if (i == 2)
			packets_discard(packets, KTOP_SAMPLES, 1, 17);
		add_packet(packets, KTOP_SAMPLES, 1, &time, 5, &seed, &counts);
		if (i == 4)
			packets->size = begin;
	}
	record_all(scratch_path("losses"), packets);
	text = babeltrace(scratch_path("losses"), &errors);
	assert_non_null(strstr(errors, "discarded 17 events"));
	assert_non_null(strstr(errors, "discarded 1 packet"));
	assert_int_equal(count_of(text, "\n"), 25);
	free(text);
	free(errors);
	packets_free(packets);
}

static void test_clock(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct body body = { .size = 4 };
	char *text, *errors;

	packets_begin(packets, KTOP_META, 0, 0);
	add_guest(packets, 2500000000, UINT64_C(1700000000400000000));
	packets_end(packets, 0);
	packets_begin(packets, KTOP_SAMPLES, 0, UINT64_C(2) * 2500000000);
	packets_event(packets, UINT64_C(3) * 2500000000, KTOP_EVENT_missed, &body);
	packets_end(packets, UINT64_C(3) * 2500000000);
	record_all(scratch_path("clock"), packets);
	text = babeltrace(scratch_path("clock"), &errors);
	assert_string_equal(errors, "");
	assert_non_null(strstr(text, "[1700000000.400000000]"));
	assert_non_null(strstr(text, "[1700000003.400000000]"));
	free(text);
	free(errors);
	packets_free(packets);
}

/* Facts and descriptors that would break the metadata if they were copied unchecked. */
static void test_hostile_descriptors(void **state)
{
	SKIP_WITHOUT_READER(state);
	static const struct { const char *name, *fields; } rows[] = {
		{ "stream", "u8 event;u8 int;u8 uuid;u8 struct;" },
		{ "x\"; }; trace { major = 9", "u32 a;" },
		{ "", "u32 a}; env { b = 1;" },
		{ "a b", "u8 a;u8 a;u8 field_0;u8 field_1;" },
		{ "escape\x1b[2J", "u8 \x1b;u8 b\xff;u8 ;u8 _c;" },
		{ "unknown_type", "f32 a;" },
		{ "no_end", "u32 a" },
		{ "no_name", "u32;" },
		{ "no_type", " a;" },
		{ "list", "u8[] a;u16[] a_length;" },
		{ "event_901", "u8 a;u8 a_a;u8 A;u8 a1;" },
		{ "newer", "s64 change;char letter;char[] text;" },
	};
	struct packets *packets = packets_new(3);
	struct body body = { .size = 4 };
	char *text, *errors;

	packets_begin(packets, KTOP_META, 0, 0);
	add_guest(packets, UINT64_MAX, UINT64_MAX);
	for (uint16_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_descriptor(packets, (uint16_t)(900 + i), KTOP_TRACE, rows[i].name, rows[i].fields);
	packets_end(packets, 0);
	packets_begin(packets, KTOP_TRACE, 0, 0);
	memset(body.bytes, 0, sizeof(body.bytes));
	body.size = 4;
	for (uint16_t i = 0; i < 9; i++)
		packets_event(packets, i, (uint16_t)(900 + i), &body);
	packets_event(packets, 9, 909, &body);		/* two empty lists */
	packets_event(packets, 10, 910, &body);
	body.size = 0;
	body_fixed(&body, &(int64_t) { -5 }, 8);
	body_fixed(&body, "x", 1);
	body_text(&body, "gr\xc3\xbc\xc3\x9f dich");
	packets_event(packets, 11, 911, &body);
	packets_event(packets, 12, 950, &body);		/* never described */
	packets_end(packets, 12);
	record_all(scratch_path("hostile"), packets);
	text = babeltrace(scratch_path("hostile"), &errors);
	assert_string_equal(errors, "");
	assert_non_null(strstr(text, "stream: { events_before = 0, cpu_id = 0 }, { size = 4 }, "
		"{ event = 0, int = 0, uuid = 0, struct = 0 }"));
	assert_non_null(strstr(text, "event_903: "));
	assert_non_null(strstr(text, "{ a = 0, field_1 = 0, field_2 = 0, field_3 = 0 }"));
	assert_non_null(strstr(text, "change = -5"));
	assert_non_null(strstr(text, "gr\xc3\xbc\xc3\x9f dich"));
	assert_non_null(strstr(text, "event_950: "));
	assert_int_equal(count_of(text, "\n"), 1 + 12 + 13);
	free(text);
	free(errors);
	packets_free(packets);
}

/* More files than are kept open. */
static void test_many_cpus(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct body body = { .size = 4 };
	char *text, *errors;

	for (uint64_t round = 0; round < 3; round++)
		for (uint32_t cpu = 0; cpu < 150; cpu++) {
			packets_begin(packets, KTOP_SAMPLES, cpu, round);
			packets_event(packets, round, KTOP_EVENT_missed, &body);
			packets_end(packets, round);
		}
	record_all(scratch_path("many"), packets);
	text = babeltrace(scratch_path("many"), &errors);
	assert_string_equal(errors, "");
	for (uint32_t cpu = 0; cpu < 150; cpu++)
		assert_int_equal(count_events(text, "missed", cpu), 3);
	free(text);
	free(errors);
	packets_free(packets);
}

/* Another boot gets a folder of its own, and so does the same boot after it was put back to an earlier state. */
static void test_epochs(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	struct packets_lane saved;
	uint64_t seed = 1, time = 0, before;
	char *text, *errors;

	add_packet(packets, KTOP_SAMPLES, 0, &time, 5, &seed, &counts);
	saved = packets->lanes[KTOP_SAMPLES][0];
	before = time;
	add_packet(packets, KTOP_SAMPLES, 0, &time, 5, &seed, &counts);
	packets->lanes[KTOP_SAMPLES][0] = saved;
	time = before;
	add_packet(packets, KTOP_SAMPLES, 0, &time, 5, &seed, &counts);
	packets_boot(packets, 4);
	time = 0;
	add_packet(packets, KTOP_SAMPLES, 0, &time, 5, &seed, &counts);
	add_packet(packets, KTOP_SAMPLES, 1, &time, 5, &seed, &counts);
	record_all(scratch_path("epochs"), packets);
	assert_int_equal(count_folders(scratch_path("epochs")), 3);
	text = babeltrace(scratch_path("epochs"), &errors);
	assert_string_equal(errors, "");
	assert_int_equal(count_of(text, "\n"), 25);
	free(text);
	free(errors);
	packets_free(packets);
}

/* ---- parts ---- */

static void test_partial_until_closed(void **state)
{
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	char *error = NULL, *before, *after;
	struct recording_writer *writer = record_into(scratch_path("partial"));

	(void)state;
	add_packet(packets, KTOP_SAMPLES, 0, &(uint64_t) { 0 }, 5, &(uint64_t) { 7 }, &counts);
	record_bytes(writer, packets);
	for (int i = 0; i < 10000 && count_folders(scratch_path("partial")) == 0; i++)
		usleep(1000);
	before = scratch_only(scratch_path("partial"));
	assert_string_equal(before + strlen(before) - 8, ".partial");
	assert_true(recording_writer_close(writer, &error));
	after = scratch_only(scratch_path("partial"));
	assert_int_equal(strlen(after), strlen(before) - 8);
	free(before);
	free(after);
	packets_free(packets);
}

/* The packets that were written before the disk was full can still be read, and each is whole. */
static void test_no_room(void **state)
{
	SKIP_WITHOUT_READER(state);
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	struct rlimit old, small;
	char *error = NULL, *folder, *text, *errors;
	struct recording_writer *writer = record_into(scratch_path("room"));
	uint64_t seed = 7, time = 0;
	struct stat file;

	for (int i = 0; i < 100; i++)
		add_packet(packets, KTOP_SAMPLES, 0, &time, 20, &seed, &counts);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 100000;
	assert_true(packets->size > small.rlim_cur);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	record_bytes(writer, packets);
	assert_false(recording_writer_close(writer, &error));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(error, "File too large"));
	free(error);

	folder = scratch_only(scratch_path("room"));
	assert_non_null(strstr(folder, ".partial"));
	text = util_format("%s/samples_0", folder);
	assert_int_equal(stat(text, &file), 0);
	assert_true(file.st_size > 90000 && file.st_size <= (off_t)small.rlim_cur);
	free(text);
	text = babeltrace(folder, &errors);
	assert_string_equal(errors, "");
	assert_true(count_of(text, "\n") > 100);
	free(text);
	free(errors);
	free(folder);
	packets_free(packets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_same_events, need_babeltrace),
		cmocka_unit_test_setup(test_losses_are_seen, need_babeltrace),
		cmocka_unit_test_setup(test_clock, need_babeltrace),
		cmocka_unit_test_setup(test_hostile_descriptors, need_babeltrace),
		cmocka_unit_test_setup(test_many_cpus, need_babeltrace),
		cmocka_unit_test_setup(test_epochs, need_babeltrace),
		cmocka_unit_test_setup(test_no_room, need_babeltrace),
		cmocka_unit_test(test_partial_until_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
