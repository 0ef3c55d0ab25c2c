/* SPDX-License-Identifier: MIT */
/* Folders that a recording makes: its parts, each of which stands alone; and the limit of boots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/scratch.h"
#include "recorded.h"

/* ---- parts ---- */

enum {
	NAMES = 40,			/* in a packet */
	PART = 4096, SAMPLES_MOST = 2048,	/* bytes of a part; of a packet of samples */
};

struct rotation {
	struct recording_writer *writer;
	bool tells;			/* a part has begun, so the kernel tells its names again */
	unsigned parts;
};

static void on_rotated_packet(void *context, const struct packet *packet)
{
	struct rotation *rotation = context;

	if (recording_writer_packet(rotation->writer, packet)) {
		rotation->tells = true;
		rotation->parts++;
	}
}

static void add_names(struct packets *packets, uint64_t time, int count, bool last)
{
	struct ktop_wire_symbol wire = { .size = 16 };

	packets_begin(packets, KTOP_META, 0, time);
	for (int i = 0; i < count + last; i++) {
		struct body body = { .size = 0 };
		bool end = i == count;

		wire.address = end ? UINT64_MAX : 4096 + 16 * (uint64_t)i;
		wire.size = end ? 0 : 16;
		body_fixed(&body, &wire, sizeof(wire));
		body_text(&body, end ? "" : "function_of_the_kernel");
		packets_event(packets, time, KTOP_EVENT_symbol, &body);
	}
	packets_end(packets, time);
}

/*
 * After each beginning of a part, the kernel tells its names in `packs` packets, each before a packet of samples.
 * Returns how many parts began.
 */
static unsigned record_parts(const char *folder, int packs, int rounds)
{
	struct rotation rotation = { .tells = true };
	struct packets *packets = packets_new(3);
	struct counts counts = { 0 };
	uint64_t seed = 7, time = 0;
	struct decode *decode;
	char *error = NULL;
	size_t fed = 0;

	assert_true(recording_folder(folder, &error));
	rotation.writer = recording_writer_new(&(struct recording_options) { .folder = folder, .part_bytes = PART },
		&(struct metadata_machine) { 0 });
	decode = decode_new(&(struct decode_sink) {
		.context = &rotation, .boot = on_boot, .packet = on_rotated_packet, .events = on_events,
	});
	for (int i = 0, told = packs; i < rounds; i++) {
		told = rotation.tells ? 0 : told;
		rotation.tells = false;
		if (told < packs) {
			told++;
			add_names(packets, time, NAMES, told == packs);
		}
		add_packet(packets, KTOP_SAMPLES, 0, &time, 3, &seed, &counts);
		decode_feed(decode, packets->bytes + fed, packets->size - fed);
		fed = packets->size;
	}
	decode_free(decode);
	assert_true(recording_writer_close(rotation.writer, &error));
	packets_free(packets);
	return rotation.parts;
}

/* The shell prints a line for each part but the last: the part's bytes, and those of its names. */
static void check_parts(const char *folder, uint64_t names)
{
	char *command = util_format("cd '%s' && for part in $(ls | sed '$d'); do "
		"echo $(cat $part/*_0 | wc -c) $(cat $part/meta_0 2>/dev/null | wc -c); done", folder);
	FILE *parts = popen(command, "r");
	unsigned long bytes, meta;
	int count = 0;

	assert_non_null(parts);
	for (; fscanf(parts, "%lu %lu", &bytes, &meta) == 2; count++) {
		assert_int_equal(meta, names);
		assert_true(bytes <= PART || bytes - 2 * names < SAMPLES_MOST);
		assert_true(bytes >= PART / 2 && bytes >= 2 * names);
	}
	assert_int_equal(pclose(parts), 0);
	assert_true(count >= 3);
	free(command);
}

/* The bytes of so many packets of names. */
static uint64_t names_size(int packs)
{
	struct packets *packets = packets_new(3);
	uint64_t size;

	for (int i = 1; i <= packs; i++)
		add_names(packets, 0, NAMES, i == packs);
	size = packets->size;
	packets_free(packets);
	return size;
}

/* Each part has all names that the kernel tells, even if they are larger than part_bytes. */
static void test_parts_stand_alone(void **state)
{
	(void)state;
	assert_true(record_parts(scratch_path("unnamed"), 0, 300) >= 3);
	check_parts(scratch_path("unnamed"), 0);
	assert_true(names_size(1) < PART / 2);
	assert_true(record_parts(scratch_path("few_names"), 1, 300) >= 3);
	check_parts(scratch_path("few_names"), names_size(1));
	assert_true(names_size(5) > PART);
	assert_true(record_parts(scratch_path("many_names"), 5, 1500) >= 3);
	check_parts(scratch_path("many_names"), names_size(5));
}

static void test_folder(void **state)
{
	char *error = NULL;
	struct recording_writer *writer;

	(void)state;
	assert_int_equal(mkdir(scratch_path("used"), 0700), 0);
	writer = record_into(scratch_path("used"));
	assert_true(recording_writer_close(writer, &error));
	scratch_text("used/letter", "dear");
	assert_false(recording_folder(scratch_path("used"), &error));
	assert_non_null(strstr(error, "not empty"));
	free(error);
	assert_false(recording_folder(scratch_path("used/letter"), &error));
	free(error);
	assert_false(recording_folder(scratch_path("none/none"), &error));
	free(error);
}

/* A guest that boots again and again must not fill the disk with folders. What was recorded last stays. */
static void test_too_many_boots(void **state)
{
	uint8_t boot_id[RECORDING_BOOT_ID] = { 0 };
	struct recording_disk *writer;
	char *last, *error = NULL;

	(void)state;
	assert_int_equal(mkdir(scratch_path("boots"), 0700), 0);
	writer = recording_disk_new(scratch_path("boots"), 1);
	for (int i = 0; i <= 1000; i++) {
		memcpy(boot_id, &i, sizeof(i));
		recording_disk_begin(writer, boot_id, false);
		recording_disk_end(writer);
	}
	assert_false(recording_disk_close(writer, &error));
	assert_non_null(strstr(error, "more than 1000 boots in one recording"));
	last = scratch_only(scratch_path("boots"));
	assert_non_null(strstr(last, "/1000-"));
	free(last);
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_stand_alone),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_too_many_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
