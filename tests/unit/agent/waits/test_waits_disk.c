/* SPDX-License-Identifier: MIT */
/* Files that are read and written, on a disk that does not answer: the ingest thread never waits for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"
#include "no_waits.h"
#include "watched.h"

/* ---- files ---- */

static void test_files_are_written_beside(void **state)
{
	struct fixture fixture = fixture_begin(&(struct session_options) { 0 });
	struct report_request request = report_default;
	char *error = NULL;
	struct report *report;
	struct capture *capture;

	(void)state;
	assert_true(recording_folder(scratch_path("waits.raw"), &error));
	request.files[EXPORT_FOLDED] = scratch_path("waits.folded");
	request.raw = scratch_path("waits.raw");
	request.duration_ns = NS_PER_MS;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 5; i++)
		watched_step(&fixture);
	report = report_new(fixture.session, &request);
	for (uint64_t late = util_now() + PATIENCE_NS; report->state < REPORT_DONE && util_now() < late;) {
		if (report->state < REPORT_WRITING)
			fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
		watched_step(&fixture);
		no_waits_begin(0);
		report_step(report);
		no_waits_end();
	}
	assert_int_equal(report->state, REPORT_DONE);
	assert_null(report->unwritten);
	assert_int_equal(access(request.files[EXPORT_FOLDED], R_OK), 0);
	capture = report_take_capture(report);
	report_free(report);
	fixture.guest->packets->boot_id[0] ^= 1;	/* the recording's part ends */
	for (int i = 0; i < 10; i++)
		watched_step(&fixture);
	check_no_waits("files", 0);
	assert_true(capture_close(capture, NULL));
	fixture_end(&fixture);
}

/* ---- programs that the guest names, on a disk that does not answer ---- */

enum { PROGRAMS = 6, AT_ONCE = 4, FIRST = 10 };

static const uint64_t program_start = 0x400000, program_end = 0x500000;

static void build_programs(void)
{
	scratch_run("mkdir -p root && echo 'void _start(void) { for (;;); }' > p.c && "
		"gcc -O1 -nostdlib -static -no-pie -Wl,-Ttext=0x400000 -o root/p0 p.c && mkfifo root/fifo && "
		"for i in 1 2 3 4 5; do cp root/p0 root/p$i; done");
}

static void tell_programs(struct fixture *fixture)
{
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		char *name = util_format("/p%u", i);

		fake_guest_object(fixture->guest, FIRST + i, program_start, program_end, name);
		free(name);
	}
	fake_guest_object(fixture->guest, FIRST + PROGRAMS, program_start, program_end, "/fifo");
}

static int count_named(struct symbols *symbols)
{
	int named = 0;

	for (uint32_t i = 0; i <= PROGRAMS; i++) {
		uint32_t function = symbols_function(symbols, symbols_space(symbols, FIRST + i),
			program_start);

		named += strcmp(symbols_get(symbols, function)->name, "_start") == 0;
	}
	return named;
}

static struct symbols *symbols_of(const struct fixture *fixture)
{
	return session_epoch(fixture->session)->inputs.symbols;
}

/* Steps until as many jobs as may run at once wait for the disk, or no file is left to read. */
static void await_programs(struct fixture *fixture)
{
	uint64_t late = util_now() + PATIENCE_NS;

	do {
		uint64_t before = bytes_of(fixture);

		for (int k = 0; k < 10 && bytes_of(fixture) == before; k++)
			watched_step(fixture);
		assert_true(bytes_of(fixture) > before);
		assert_true(util_now() < late);
		assert_in_range(no_waits_held(), 0, AT_ONCE);
	} while (no_waits_held() < AT_ONCE && symbols_reading(symbols_of(fixture)));
	check_no_waits("programs", 0);
}

static void watched_report(struct fixture *fixture, const char *note)
{
	struct report_request request = report_default;
	struct report *report;

	request.duration_ns = NS_PER_MS;
	report = report_new(fixture->session, &request);
	for (uint64_t late = util_now() + PATIENCE_NS; report->state < REPORT_DONE && util_now() < late;) {
		fake_guest_sample(fixture->guest, 0, 1, 0x1210, 0x1120);
		watched_step(fixture);
		no_waits_begin(0);
		report_step(report);
		no_waits_end();
	}
	assert_int_equal(report->state, REPORT_DONE);
	assert_string_equal(report->note, note);
	report_free(report);
	check_no_waits("report", 0);
}

/* Programs' files are read by jobs, a few at a time. Older samples get their names once the files are read. */
static void test_programs_on_a_dead_disk(void **state)
{
	char *root = util_copy(scratch_path("root"), strlen(scratch_path("root")));
	struct fixture fixture;
	uint64_t generation;

	(void)state;
	build_programs();
	fixture = fixture_begin(&(struct session_options) { .sysroot = root });
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	no_waits_hold(root);
	tell_programs(&fixture);
	await_programs(&fixture);
	assert_int_equal(no_waits_held(), AT_ONCE);
	assert_int_equal(count_named(symbols_of(&fixture)), 0);
	watched_report(&fixture, "files of programs are still being read: some functions are "
		"[unknown]; report again");

	generation = symbols_generation(symbols_of(&fixture));
	no_waits_hold(NULL);
	while (symbols_reading(symbols_of(&fixture)))
		await_programs(&fixture);
	assert_true(symbols_generation(symbols_of(&fixture)) > generation);
	assert_int_equal(count_named(symbols_of(&fixture)), PROGRAMS);
	watched_report(&fixture, "");

	no_waits_hold(root);				/* the session is left while they are being read */
	packets_boot(fixture.guest->packets, 7);
	fixture_tell_all(&fixture);
	tell_programs(&fixture);
	for (uint64_t late = util_now() + PATIENCE_NS; no_waits_held() < AT_ONCE;) {
		watched_step(&fixture);
		assert_true(util_now() < late);
	}
	fixture_end(&fixture);
	no_waits_hold(NULL);
	check_no_waits("end", 0);
	free(root);
}

/* The recording's disk does not answer: the port is read meanwhile, and what does not fit is told. */
static void test_recording_on_a_dead_disk(void **state)
{
	static uint8_t bytes[1 << 16];
	struct packet packet = { .boot_id = bytes, .bytes = bytes, .size = sizeof(bytes),
		.stream = STREAM_SAMPLES };
	char *folder = util_copy(scratch_path("dead.raw"), strlen(scratch_path("dead.raw"))), *error = NULL;
	struct fixture fixture = fixture_begin(&(struct session_options) { 0 });
	struct capture *capture;
	struct recording_writer *writer;

	(void)state;
	assert_true(recording_folder(folder, &error));
	capture = capture_new(fixture.session, &(struct recording_options) { .folder = folder });
	no_waits_hold(folder);
	fixture_bring_up(&fixture);
	for (int i = 0; i < 20; i++) {
		uint64_t before = bytes_of(&fixture);

		for (int k = 0; k < 10 && bytes_of(&fixture) == before; k++)
			watched_step(&fixture);
		assert_true(bytes_of(&fixture) > before);
	}
	check_no_waits("recording", 0);
	no_waits_hold(NULL);
	assert_true(capture_close(capture, &error));
	fixture_end(&fixture);

	free(folder);
	folder = util_copy(scratch_path("full.raw"), strlen(scratch_path("full.raw")));
	assert_true(recording_folder(folder, &error));
	writer = recording_writer_new(&(struct recording_options) { .folder = folder },
		&(struct metadata_machine) { 0 });
	no_waits_hold(folder);
	no_waits_begin(0);
	for (int i = 0; i < 2 * RECORDING_WAITING_MAX / (int)sizeof(bytes); i++)
		recording_writer_packet(writer, &packet);
	no_waits_end();
	check_no_waits("recording", 1);
	no_waits_hold(NULL);
	assert_false(recording_writer_close(writer, &error));
	assert_non_null(strstr(error, "the disk is too slow: 32 MB wait"));
	free(error);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_written_beside),
		cmocka_unit_test(test_programs_on_a_dead_disk),
		cmocka_unit_test(test_recording_on_a_dead_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
