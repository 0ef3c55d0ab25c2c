/* SPDX-License-Identifier: MIT */
/* A repair removes what is damaged, makes the metadata anew, and touches nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_repair.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"
#include "recording_seen.h"

static void test_repaired(void **state)
{
	struct written written;
	struct recording_repaired done;
	char *partial, *error = NULL, text[256];
	struct recording *recording;
	uint64_t packet;

	(void)state;
	written = write_some("repair", "samples_0");
	partial = util_format("%s.partial", written.part);
	packet = size_of(written.file) / ROUNDS;
	assert_int_equal(truncate(written.file, (off_t)(3 * packet + 7)), 0);
	assert_int_equal(rename(written.part, partial), 0);

	recording = recording_new(scratch_path("repair"), &error);
	assert_non_null(strstr(recording_remark(recording, 0, text, sizeof(text)), "is not complete"));
	assert_true(recording_repair(recording, &done, &error));
	assert_int_equal(done.files, 1);
	assert_int_equal(done.bytes, 7);
	assert_int_equal(done.ended, 1);
	recording_free(recording);
	assert_int_equal(size_of(written.file), 3 * packet);
	check_cut(scratch_path("repair"), 3, 0);
	recording = recording_new(scratch_path("repair"), &error);
	assert_string_equal(recording_remark(recording, 0, text, sizeof(text)), "");
	recording_free(recording);
	free(partial);
	written_clear(&written);
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
	struct written written;
	struct recording_repaired done;
	char *error = NULL;
	struct recording *recording;
	uint64_t size;

	(void)state;
	written = write_some("disk", "samples_0");
	size = size_of(written.file);
	recording = recording_new(scratch_path("disk"), &error);
	fails_from = (off_t)(size / 2);
	assert_false(recording_repair(recording, &done, &error));
	fails_from = 0;
	assert_non_null(strstr(error, "it cannot be read: Input/output error"));
	assert_int_equal(done.files, 0);
	assert_int_equal(size_of(written.file), size);
	recording_free(recording);
	free(error);
	written_clear(&written);
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
	struct written written;
	char *whole, *made, *outside = util_format("%s", scratch_text("outside", "mine"));
	size_t size, made_size;

	(void)state;
	recordings_descriptor(packets, ROUNDS * 100);
	recordings_own_event(packets, ROUNDS * 100);
	written = write_packets(packets, "metadata", "metadata");
	whole = scratch_read(written.file, &size);
	assert_non_null(strstr(whole, "mail_put"));
	assert_int_equal(repair(scratch_path("metadata")).described, 0);
	for (size_t cut = size - 1; cut > size / 2; cut -= 1 + cut % 7) {
		assert_int_equal(truncate(written.file, (off_t)cut), 0);
		assert_int_equal(repair(scratch_path("metadata")).described, 1);
		check_metadata(written.file, whole);
	}
	assert_int_equal(unlink(written.file), 0);
	assert_int_equal(repair(scratch_path("metadata")).described, 1);
	made = scratch_read(written.file, &made_size);
	assert_null(strstr(made, "/boot/kernel"));
	assert_string_equal(strstr(made, "clock {"), strstr(whole, "clock {"));
	assert_int_equal(unlink(written.file), 0);
	assert_int_equal(symlink(outside, written.file), 0);
	assert_int_equal(repair(scratch_path("metadata")).described, 1);
	check_metadata(outside, "mine");
	check_metadata(written.file, made);
	assert_int_equal(repair(scratch_path("metadata")).described, 0);
	free(outside);
	free(made);
	free(whole);
	written_clear(&written);
}

/* Packets with good headers and damaged events. */
static void test_metadata_of_damaged_packets(void **state)
{
	struct written written;
	uint64_t size;
	FILE *opened;

	(void)state;
	written = write_some("inside", "meta_0");
	size = size_of(written.file);
	opened = fopen(written.file, "r+");
	assert_non_null(opened);
	for (uint64_t at = 0; at < size; at += size / ROUNDS)
		assert_int_equal(pwrite(fileno(opened), "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
			(off_t)(at + sizeof(struct ktop_wire_packet))), 8);
	fclose(opened);
	free(written.file);
	written.file = util_format("%s/metadata", written.part);
	assert_int_equal(unlink(written.file), 0);
	assert_int_equal(repair(scratch_path("inside")).described, 1);
	assert_int_equal(repair(scratch_path("inside")).described, 0);
	written_clear(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repaired),
		cmocka_unit_test(test_what_cannot_be_read_is_not_removed),
		cmocka_unit_test(test_metadata_made_anew),
		cmocka_unit_test(test_metadata_of_damaged_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
