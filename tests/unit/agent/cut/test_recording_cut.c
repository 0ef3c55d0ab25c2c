/* SPDX-License-Identifier: MIT */
/* Recordings that are cut to random ranges of time: their events are those of the range, and their books say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
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
#include "agent/cut/recording_cut.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum { ROUNDS = 40, IN_PACKET = 7, RANGES = 60, STEP = 100000000 /* ticks, at most */ };

static const uint64_t hz = 2400000123;

/* ---- what is in a recording ---- */

struct seen {
	const struct recording_boot *boot;
	uint64_t from, to;		/* guest ns: what is counted */
	uint64_t samples, sum;		/* missed ticks, and the sum of their numbers */
	uint64_t names, states;		/* of any time */
	uint64_t first, last;		/* guest ns, of packets */
};

static void see_packet(void *context, const struct packet *packet)
{
	struct seen *seen = context;
	uint64_t begin = recording_ns(seen->boot, packet->begin), end = recording_ns(seen->boot, packet->end);

	seen->first = begin < seen->first ? begin : seen->first;
	seen->last = end > seen->last ? end : seen->last;
}

static void see_events(void *context, const struct event *events, size_t count)
{
	struct seen *seen = context;

	for (const struct event *event = events; event < events + count; event++) {
		uint64_t time = recording_ns(seen->boot, event->time);
		bool in = time >= seen->from && time < seen->to;

		seen->samples += in && event->kind == EVENT_MISSED;
		seen->sum += in && event->kind == EVENT_MISSED ? event->missed.ticks : 0;
		seen->names += event->kind == EVENT_PROCESS;
		seen->states += event->kind == EVENT_STATUS;
	}
}

static struct seen see(const struct recording *recording, uint64_t from, uint64_t to,
	struct books books[RECORDINGS_CPUS])
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct seen seen = { .boot = &recording->boots[0], .from = from, .to = to, .first = UINT64_MAX };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &seen, .boot = recordings_no_boot, .packet = see_packet, .events = see_events,
	});
	struct reader *reader = reader_new(recording, 0);
	size_t got;

	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		decode_feed(decode, bytes, got);
	for (uint32_t cpu = 0; cpu < RECORDINGS_CPUS; cpu++)
		books[cpu] = decode_books(decode, STREAM_SAMPLES, cpu);
	assert_int_equal(decode_counts(decode).skipped_bytes, 0);
	assert_int_equal(decode_counts(decode).bad_events, 0);
	reader_free(reader);
	decode_free(decode);
	return seen;
}

/* ---- a recording ---- */

static void add_name(struct packets *packets, uint64_t time)
{
	struct body body = { .size = 0 };

	body_fixed(&body, &(struct ktop_wire_process) { .process = 7 }, sizeof(struct ktop_wire_process));
	body_text(&body, "a name");
	packets_event(packets, time, KTOP_EVENT_process, &body);
}

static void add_state(struct packets *packets, uint64_t time)
{
	struct body body = { .size = 0 };

	body_fixed(&body, &(struct ktop_wire_status) { .running = 1 }, sizeof(struct ktop_wire_status));
	body_text(&body, "");
	packets_event(packets, time, KTOP_EVENT_status, &body);
}

/* Missed ticks, whose numbers are all different; names and states between them. Returns the time at the end. */
static uint64_t record(const char *folder, uint64_t seed)
{
	struct packets *packets = packets_new(3);
	uint64_t time = hz, number = 0;

	recordings_guest(packets, time, hz);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = time;

		for (uint32_t cpu = 0; cpu < RECORDINGS_CPUS; cpu++) {
			uint64_t at = begin;

			packets_begin(packets, KTOP_SAMPLES, cpu, begin);
			for (int i = 0; i < IN_PACKET; i++) {
				struct body body = { .size = 4 };
				uint32_t ticks = (uint32_t)++number;

				memcpy(body.bytes, &ticks, sizeof(ticks));
				at += random_next(&seed) % STEP;
				packets_event(packets, at, KTOP_EVENT_missed, &body);
			}
			packets_end(packets, at);
			time = at > time ? at : time;
		}
		packets_begin(packets, KTOP_META, 0, begin);
		add_name(packets, begin);
		add_state(packets, time);
		packets_end(packets, time);
	}
	recordings_write(scratch_path(folder), packets);
	packets_free(packets);
	return time;
}

static struct recording *open_recording(const char *folder)
{
	char *error = NULL;
	struct recording *recording = recording_new(scratch_path(folder), &error);

	assert_null(error);
	return recording;
}

static bool cut_to(const struct recording *recording, uint64_t from, uint64_t to, bool stop, char **error)
{
	atomic_bool stopped = stop;
	atomic_uint done = 0;
	struct recording_sums sums;
	bool good = recording_cut_write(recording, &(struct recording_cut) { .from = from, .to = to, .stop = &stopped,
		.done = &done }, scratch_path("cut"), &sums, error);

	assert_true(!good || atomic_load(&done) == 1000);
	return good;
}

static void check_range(const struct recording *recording, uint64_t from, uint64_t to)
{
	struct books before[RECORDINGS_CPUS], books[RECORDINGS_CPUS];
	struct seen wanted = see(recording, from, to, before), got;
	struct recording *cut;
	char *error = NULL;
	uint64_t received = 0;

	assert_true(cut_to(recording, from, to, false, &error));
	cut = open_recording("cut");
	got = see(cut, 0, UINT64_MAX, books);
	assert_int_equal(got.samples, wanted.samples);
	assert_int_equal(got.sum, wanted.sum);
	assert_int_equal(got.names, wanted.names);
	assert_true(got.states <= wanted.states);
	assert_true(got.first + 1 >= from && (to == UINT64_MAX || got.last <= to + 1));
	for (uint32_t cpu = 0; cpu < RECORDINGS_CPUS; cpu++) {
		assert_int_equal(books[cpu].lost, 0);
		assert_true(books[cpu].received + books[cpu].earlier <= before[cpu].received);
		received += books[cpu].received;
	}
	assert_int_equal(received, got.samples);
	recording_free(cut);
	scratch_run("rm -r cut");
}

static void test_random_ranges(void **state)
{
	uint64_t seed = 11, end = record("whole", 5) / (hz / 1000) * 1000000;
	struct recording *recording = open_recording("whole");

	(void)state;
	for (int i = 0; i < RANGES; i++) {
		uint64_t from = random_next(&seed) % end, to = from + random_next(&seed) % (end - from);

		check_range(recording, from, i % 4 ? to : UINT64_MAX);
	}
	recording_free(recording);
}

/* An event at its first tick belongs to the range, an event at its last one does not. */
static void test_the_ends_of_a_range(void **state)
{
	struct recording *recording = open_recording("whole");
	const struct recording_boot *boot = &recording->boots[0];

	(void)state;
	for (uint64_t ticks = boot->begin; ticks < boot->begin + 5; ticks++) {
		uint64_t ns = recording_ns(boot, ticks);

		assert_true(recording_ticks(boot, ns) <= ticks && recording_ns(boot, recording_ticks(boot, ns)) >= ns);
	}
	check_range(recording, recording_ns(boot, boot->begin), recording_ns(boot, boot->end));
	check_range(recording, 0, recording_ns(boot, boot->begin));
	assert_int_equal(recording_ticks(boot, UINT64_MAX), UINT64_MAX);
	recording_free(recording);
}

/* Without a range, each packet is as it was. */
static void test_all_is_verbatim(void **state)
{
	struct recording *recording = open_recording("whole");
	char *error = NULL;

	(void)state;
	assert_true(cut_to(recording, 0, UINT64_MAX, false, &error));
	scratch_run("diff -r whole cut && rm -r cut");
	recording_free(recording);
}

/* Its first part has one file, its second one a file for each CPU, of which nothing is in the range. */
static void test_packets_that_cannot_be_reached(void **state)
{
	struct packets *packets = packets_new(3);
	struct rlimit before, few;
	struct recording *recording;
	int first = dup(0), told = 0;
	bool good = false;

	(void)state;
	close(first);
	recordings_guest(packets, hz, hz);
	for (uint32_t cpu = 0; cpu < 6; cpu++)
		recordings_missed(packets, cpu, 2 * hz, 1);
	recordings_write(scratch_path("few"), packets);
	packets_free(packets);
	scratch_run("mv few/0001* few/0002 && mkdir few/0001 && mv few/0002/meta_0 few/0001");
	recording = open_recording("few");
	assert_int_equal(recording->boots[0].parts, 2);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	for (few.rlim_cur = (rlim_t)first; !good; few.rlim_cur++) {
		char *error = NULL;

		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		good = cut_to(recording, 0, NS_PER_SECOND + 1, false, &error);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_true(good || strstr(error, "Too many open files; let ktop have more files (ulimit -n)"));
		told += !good && strstr(error, "the recording was not read to its end: ");
		scratch_run("rm -rf cut cut.partial");
		free(error);
	}
	assert_true(told > 0);
	recording_free(recording);
}

static bool is_there(const char *name)
{
	return access(scratch_path(name), F_OK) == 0;
}

static void check_refused(const struct recording *recording, bool stop, const char *why)
{
	char *error = NULL;

	assert_false(cut_to(recording, 0, UINT64_MAX, stop, &error));
	assert_non_null(strstr(error, why));
	assert_false(is_there("cut.partial"));
	free(error);
}

/* What cannot be written, or is given up, leaves nothing. What is there already stays. */
static void test_what_cannot_be_written(void **state)
{
	struct recording *recording = open_recording("whole");

	(void)state;
	check_refused(recording, true, "interrupted");
	assert_false(is_there("cut"));
	scratch_run("mkdir cut && echo kept >cut/file");
	check_refused(recording, false, "name a new or an empty folder");
	scratch_run("grep -q kept cut/file && rm -r cut && mkdir cut");
	assert_true(cut_to(recording, 0, UINT64_MAX, false, NULL));		/* an empty folder is as good as none */
	scratch_run("rm -r cut");
	recording_free(recording);
}

/* Its events' sizes do not add up: to a reader it is no packet. */
static void test_a_damaged_packet(void **state)
{
	struct recording *recording = open_recording("whole");
	char *part = scratch_only(scratch_path("whole")), *path = util_format("%s/samples_0", part);
	char *bytes, *error = NULL;
	struct books books[RECORDINGS_CPUS];
	struct recording *cut;
	size_t size;
	FILE *file;

	(void)state;
	bytes = scratch_read(path, &size);
	memset(bytes + sizeof(struct ktop_wire_packet) + 6, 0xff, 2);	/* the size of its first event */
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_true(cut_to(recording, 0, UINT64_MAX, false, &error));
	cut = open_recording("cut");
	see(cut, 0, UINT64_MAX, books);
	assert_int_equal(books[0].received, (ROUNDS - 1) * IN_PACKET);
	assert_int_equal(books[1].received, ROUNDS * IN_PACKET);
	recording_free(cut);
	recording_free(recording);
	free(bytes);
	free(path);
	free(part);
	scratch_run("rm -r cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_ranges),
		cmocka_unit_test(test_the_ends_of_a_range),
		cmocka_unit_test(test_all_is_verbatim), cmocka_unit_test(test_packets_that_cannot_be_reached),
		cmocka_unit_test(test_what_cannot_be_written),
		cmocka_unit_test(test_a_damaged_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
