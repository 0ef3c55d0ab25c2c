/* SPDX-License-Identifier: MIT */
/* The thread that reads the port never waits, whatever QEMU, the guest or the disk does. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/session/tape.h"
#include "agent/vm/link.h"
#include "agent/vm/stand_in.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/record.h"
#include "agent/wire/record_writer.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/no_waits.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { STEPS = 4000, HURRY_MS = 250 };

static void check_no_waits(const char *what, int number)
{
	if (no_waits_seen())
		fail_msg("%s %d: %s may wait", what, number, no_waits_seen());
}

static const uint64_t PATIENCE_NS = 30000000000;	/* the bound of waits for what has to come */
static const uint64_t LEAVE_NS = 30000000;

/* ---- every answer of every dialogue ---- */

struct watched {			/* a link whose clock is moved by the test */
	struct machine machine;
	struct fake_qmp *fake;
	struct link *link;
	uint64_t later;
};

/* If nothing else happens, the clock moves on by `leap` for each millisecond. */
static void step(struct watched *watched, uint64_t leap)
{
	no_waits_begin(0);
	link_step(watched->link, util_now() + watched->later);
	no_waits_end();
	poll(NULL, 0, 1);
	watched->later += leap;
}

static void begin(struct watched *watched, enum fake_oddity odd, int from)
{
	static int number;
	char *name = util_format("waits%d.qmp", number++);

	*watched = (struct watched) { .machine = machine_pc };
	watched->fake = fake_qmp_listen(&(struct fake_script) { .greeting = fake_greeting,
		.machine = machine_answer, .context = &watched->machine, .odd = odd,
		.odd_from = from }, scratch_path(name));
	watched->link = link_new(scratch_path(name), NULL, true, LINK_AUTO);
	free(name);
}

static void end(struct watched *watched)
{
	link_free(watched->link);
	fake_qmp_free(watched->fake);
	free(watched->machine.text);
}

/* Leaves the link. Whatever is under way, that takes no longer than the time that is given. */
static void leave(struct watched *watched, const char *what, int number)
{
	uint64_t now = util_now() + watched->later, most = (uint64_t)HURRY_MS * NS_PER_MS;

	no_waits_begin(0);
	link_leave(watched->link, now, HURRY_MS);
	no_waits_end();
	for (int i = 0; i < STEPS && link_leaving(watched->link) &&
			util_now() + watched->later < now + most; i++)
		step(watched, 5 * NS_PER_MS);
	step(watched, 0);
	if (link_leaving(watched->link))
		fail_msg("%s %d: it is not left", what, number);
	check_no_waits(what, number);
}

/* How many answers a correct QEMU gives until all is plugged in and taken out again. */
static int count_answers(void)
{
	struct watched watched;
	int count;

	begin(&watched, FAKE_FAIR, 0);
	for (int i = 0; i < STEPS && !link_socket(watched.link); i++)
		step(&watched, 0);
	assert_non_null(link_socket(watched.link));
	leave(&watched, "a fair one", 0);
	assert_null(link_stays(watched.link));
	count = fake_qmp_answered(watched.fake);
	end(&watched);
	return count;
}

/* The try ends, with or without an error. Until then the remark says what the link waits for. */
static void check_try(enum fake_oddity odd, int from)
{
	static const char *const names[] = { "fair", "silent", "drips", "lies" };
	struct watched watched;
	char text[256];

	begin(&watched, odd, from);
	step(&watched, 0);
	for (int i = 0; i < STEPS && !link_settled(watched.link); i++) {
		link_remark(watched.link, link_port_state(watched.link), text, sizeof(text));
		if (!text[0] && !link_settled(watched.link))
			fail_msg("%s from %d: not said what is waited for", names[odd], from);
		step(&watched, fake_qmp_answered(watched.fake) >= from ? 200 * NS_PER_MS : 0);
	}
	if (!link_settled(watched.link))
		fail_msg("%s from %d: the try does not end", names[odd], from);
	leave(&watched, names[odd], from);
	end(&watched);
}

static void test_every_answer(void **state)
{
	int count = count_answers();

	(void)state;
	assert_in_range(count, 20, 60);
	for (int from = 0; from <= count; from++)
		for (int odd = FAKE_SILENT; odd < FAKE_ODDITIES; odd++)
			check_try(odd, from);
}

/* Somebody quits at each of the answers. */
static void test_left_at_every_answer(void **state)
{
	int count = count_answers();

	(void)state;
	for (int from = 0; from <= count; from++) {
		struct watched watched;

		begin(&watched, FAKE_SILENT, from);
		for (int i = 0; i < STEPS && fake_qmp_answered(watched.fake) < from &&
				!link_socket(watched.link); i++)
			step(&watched, 0);
		leave(&watched, "left at", from);
		end(&watched);
	}
}

/* ---- a session is left, whatever does not answer ---- */

/* The port is plugged in, a line for the guest waits, and QEMU is silent from that answer on. */
static void leave_session(int from)
{
	struct machine pc = machine_pc;
	const char *path = scratch_path("left.qmp");
	const struct fake_script script = { .greeting = fake_greeting, .machine = machine_answer,
		.context = &pc, .odd = FAKE_SILENT, .odd_from = from };
	struct fake_qmp *fake = fake_qmp_listen(&script, path);
	struct session *session = session_new(&(struct session_options) { .qmp = path }, NULL);
	uint64_t late = util_now() + PATIENCE_NS;
	char text[256];

	assert_non_null(session);
	while (util_now() < late && fake_qmp_answered(fake) < from &&
			!session_plugged(session, text, sizeof(text))[0])
		session_step(session, 1);
	session_ask(session, "stop", &(struct command_sink) { 0 });
	late = util_now() + LEAVE_NS;
	no_waits_until(late);
	session_leave(session, late);
	no_waits_end();
	no_waits_begin(0);
	session_leave(session, util_now() + LEAVE_NS);
	no_waits_end();
	check_no_waits("left", from);
	session_free(session);
	fake_qmp_free(fake);
	unlink(path);
	free(pc.text);
}

/* All steps share one deadline: no wait goes beyond it. */
static void test_all_share_one_end(void **state)
{
	int count = count_answers();

	(void)state;
	for (int from = 0; from <= count; from++)
		leave_session(from);
}

/* ---- the port is read meanwhile ---- */

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

static uint64_t bytes_of(const struct fixture *fixture)
{
	return decode_counts(session_decode(fixture->session)).bytes;
}

static void watched_step(struct fixture *fixture)
{
	fake_guest_beat(fixture->guest, 1);
	fake_guest_step(fixture->guest);
	no_waits_begin(1);
	session_step(fixture->session, FIXTURE_STEP_MS);
	no_waits_end();
}

static void test_port_beside_an_odd_qmp(void **state)
{
	(void)state;
	for (int odd = FAKE_SILENT; odd < FAKE_ODDITIES; odd++) {
		const char *path = scratch_path("beside.qmp");
		struct fake_script script = { .greeting = fake_greeting, .answers = machine };
		struct fake_qmp *fake = fake_qmp_listen(&script, path);
		struct fixture fixture = fixture_begin(&(struct session_options) { .qmp = path });
		uint64_t before;

		fixture_bring_up(&fixture);
		fake_qmp_free(fake);
		unlink(path);
		script.odd = odd;
		script.odd_from = 1;
		fake = fake_qmp_listen(&script, path);
		for (uint64_t late = util_now() + PATIENCE_NS; util_now() < late &&
				fake_qmp_answered(fake) == 0;)
			watched_step(&fixture);
		assert_int_not_equal(fake_qmp_answered(fake), 0);
		/* The dialogue with this QEMU takes seconds now. Each step reads what comes meanwhile. */
		for (int i = 0; i < 20; i++) {
			before = bytes_of(&fixture);
			for (int k = 0; k < 10 && bytes_of(&fixture) == before; k++)
				watched_step(&fixture);
			assert_true(bytes_of(&fixture) > before);
		}
		check_no_waits("beside", odd);
		fixture_end(&fixture);
		fake_qmp_free(fake);
		unlink(path);
	}
}

/* The thread itself is busy for long. The guest goes on sending, and nothing is lost. */
static void test_port_beside_long_work(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	uint64_t before, late = util_now() + PATIENCE_NS;
	size_t sent;

	(void)state;
	fixture_bring_up(&fixture);
	for (int i = 0; i < 5; i++)
		fixture_step(&fixture);
	before = bytes_of(&fixture);
	sent = fixture.guest->sent;
	while (fixture.guest->packets->size - sent < STAND_IN_ROOM / 2)
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	while (fixture.guest->sent < fixture.guest->packets->size) {	/* without a step of the session */
		fake_guest_step(fixture.guest);
		poll(NULL, 0, 1);
		assert_true(util_now() < late);
	}
	sent = fixture.guest->sent - sent;
	for (int i = 0; i < STEPS && bytes_of(&fixture) < before + sent; i++)
		watched_step(&fixture);
	assert_true(bytes_of(&fixture) >= before + sent);
	assert_int_equal(decode_counts(session_decode(fixture.session)).skipped_bytes, 0);
	check_no_waits("long work", 0);
	fixture_end(&fixture);
}

/* ---- files ---- */

static void test_files_are_written_beside(void **state)
{
	struct fixture fixture = fixture_begin(&(struct session_options) { 0 });
	struct report_request request = report_default;
	char *error = NULL;
	struct report *report;
	struct tape *tape;

	(void)state;
	assert_true(record_folder(scratch_path("waits.raw"), &error));
	request.folded = scratch_path("waits.folded");
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
	assert_int_equal(access(request.folded, R_OK), 0);
	tape = report_take_tape(report);
	report_free(report);
	fixture.guest->packets->boot_id[0] ^= 1;	/* the recording's part ends */
	for (int i = 0; i < 10; i++)
		watched_step(&fixture);
	check_no_waits("files", 0);
	assert_true(tape_close(tape, NULL));
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

/* Steps until as many errands as may run at once wait for the disk, or no file is left to read. */
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

/* Programs' files are read by errands, a few at a time. Older samples get their names once the files are read. */
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
	struct tape *tape;
	struct record *record;

	(void)state;
	assert_true(record_folder(folder, &error));
	tape = tape_new(fixture.session, &(struct record_options) { .folder = folder });
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
	assert_true(tape_close(tape, &error));
	fixture_end(&fixture);

	free(folder);
	folder = util_copy(scratch_path("full.raw"), strlen(scratch_path("full.raw")));
	assert_true(record_folder(folder, &error));
	record = record_new(&(struct record_options) { .folder = folder }, &(struct metadata_machine) { 0 });
	no_waits_hold(folder);
	no_waits_begin(0);
	for (int i = 0; i < 2 * RECORD_WAITING_MAX / (int)sizeof(bytes); i++)
		record_packet(record, &packet);
	no_waits_end();
	check_no_waits("recording", 1);
	no_waits_hold(NULL);
	assert_false(record_close(record, &error));
	assert_non_null(strstr(error, "the disk is too slow: 32 MB wait"));
	free(error);
	free(folder);
}

/* While the guest is silent, ktop searches the sockets and processes of the host for the cause. */
static void test_a_silence(void **state)
{
	const char *path = scratch_path("silent.port");
	struct fake_guest *guest = fake_guest_new(path);
	struct watched watched = { .link = link_new(NULL, path, false, LINK_AUTO) };

	(void)state;
	for (int i = 0; i < STEPS && !link_socket(watched.link); i++)
		step(&watched, 0);
	for (int i = 0; i < 100; i++) {
		fake_guest_step(guest);
		step(&watched, 100 * NS_PER_MS);
	}
	assert_true(link_silent(watched.link));
	check_no_waits("silence", 0);
	link_free(watched.link);
	fake_guest_free(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer),
		cmocka_unit_test(test_left_at_every_answer),
		cmocka_unit_test(test_all_share_one_end),
		cmocka_unit_test(test_port_beside_an_odd_qmp),
		cmocka_unit_test(test_port_beside_long_work),
		cmocka_unit_test(test_files_are_written_beside),
		cmocka_unit_test(test_programs_on_a_dead_disk),
		cmocka_unit_test(test_recording_on_a_dead_disk),
		cmocka_unit_test(test_a_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
