#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "decode.h"
#include "epoch.h"
#include "fake_guest.h"
#include "fake_qmp.h"
#include "meter.h"
#include "picture.h"
#include "remarks.h"
#include "report.h"
#include "scratch.h"
#include "session.h"
#include "stacks.h"
#include "store.h"
#include "symbols.h"
#include "util.h"

enum { STEPS = 400, STEP_MS = 10 };	/* how long anything is awaited */

static const char names[] =
	"0000000000001000 T _start\n0000000000001100 T main_loop\n0000000000001200 T hot\n"
	"0000000000001300 T cold\n0000000000001400 T _end\n";

struct fixture {
	struct fake_guest *guest;
	struct session *session;
	char *port;
	int number;
};

static struct fixture begin(const struct session_options *extra)
{
	static int number;
	struct fixture fixture = { .number = number++ };
	struct session_options options = extra ? *extra : (struct session_options){ 0 };
	char *name = util_format("port%d", fixture.number), *error = NULL;

	fixture.port = util_copy(scratch_path(name), strlen(scratch_path(name)));
	fixture.guest = fake_guest_new(fixture.port);
	options.port = fixture.port;
	if (!options.kernel && !options.symbols)
		options.symbols = scratch_text("names", names);
	fixture.session = session_new(&options, &error);
	if (!fixture.session)
		fail_msg("%s", error);
	free(name);
	return fixture;
}

static void end(struct fixture *fixture)
{
	session_free(fixture->session);
	fake_guest_free(fixture->guest);
	free(fixture->port);
}

static void step(struct fixture *fixture)
{
	fake_guest_step(fixture->guest);
	session_step(fixture->session, STEP_MS);
}

static void await_link(struct fixture *fixture, enum link_state wanted)
{
	for (int i = 0; i < STEPS && session_link(fixture->session) != wanted; i++)
		step(fixture);
	assert_int_equal(session_link(fixture->session), wanted);
}

static void await_line(struct fixture *fixture, const char *line)
{
	for (int i = 0; i < STEPS; i++) {
		if (fake_guest_got(fixture->guest, line))
			return;
		step(fixture);
	}
	fail_msg("no line %s, but %s", line, fixture->guest->lines);
}

static void await_message(struct fixture *fixture, bool failed, const char *part)
{
	struct session_message message;

	for (int i = 0; i < STEPS; i++) {
		step(fixture);
		if (!session_message(fixture->session, &message))
			continue;
		if (!strstr(message.text, part) || message.failed != failed)
			fail_msg("not %s, but %s", part, message.text);
		return;
	}
	fail_msg("no message %s", part);
}

/* The newest picture after all that the guest has sent; a wish makes it at once. */
static struct picture *take_picture(struct fixture *fixture)
{
	const struct session_wish wish = { .filter.cpu = EVENT_NONE, .selected = SYMBOLS_NONE };
	struct picture *picture = NULL;

	for (int i = 0; i < 5; i++)
		step(fixture);
	picture_free(session_picture(fixture->session));
	session_wish(fixture->session, &wish);
	for (int i = 0; i < STEPS && !picture; i++) {
		step(fixture);
		picture = session_picture(fixture->session);
	}
	assert_non_null(picture);
	return picture;
}

static void tell_all(struct fixture *fixture)
{
	fake_guest_facts(fixture->guest, NULL, 0);
	fake_guest_status(fixture->guest, false);
	fake_guest_counts(fixture->guest);
	fake_guest_reply(fixture->guest, true, "hello");
	await_link(fixture, LINK_UP);
}

static void bring_up(struct fixture *fixture)
{
	await_line(fixture, "hello");
	tell_all(fixture);
}

static bool is_named(const struct picture *picture, uint32_t function, const char *name)
{
	return strcmp(symbols_get(picture->symbols, function)->name, name) == 0;
}

static const struct row *find_row(const struct picture *picture, const char *name)
{
	for (size_t i = 0; picture->table && i < picture->table->count; i++)
		if (is_named(picture, picture->table->rows[i].function, name))
			return &picture->table->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void test_states_in_order(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	assert_int_equal(session_link(fixture.session), LINK_NOT_OPENED);
	await_line(&fixture, "hello");
	fake_guest_beat(fixture.guest, 1);
	await_link(&fixture, LINK_NO_HELLO);
	tell_all(&fixture);
	end(&fixture);
}

/* SPACE too early says what the empty screen says. */
static void test_profiler_of_a_silent_guest(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	session_run_profiler(fixture.session, true);
	await_message(&fixture, true, "profiling not turned on: nothing is known of the guest: "
		"it has not opened the port; is the hook in its kernel");
	end(&fixture);
}

static void test_picture_of_samples(void **state)
{
	struct fixture fixture = begin(NULL);
	struct picture *picture;

	(void)state;
	bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	for (int i = 0; i < 10; i++)
		fake_guest_sample(fixture.guest, 1, 2, 0x1310, 0x1120);
	fake_guest_counts(fixture.guest);
	picture = take_picture(&fixture);

	assert_string_equal(picture->kernel, "toy?[2J");
	assert_int_equal(picture->cpu_count, 2);
	assert_true(picture->running);
	assert_int_equal(picture->rate, 997);
	/* Two ticks of the guest's clock are a nanosecond. */
	assert_int_equal(picture->now, fixture.guest->clock / 2);
	assert_int_equal(picture->table->weight, 50);
	assert_int_equal(picture->table->samples, 40);
	assert_int_equal(find_row(picture, "hot")->self, 30);
	assert_int_equal(find_row(picture, "cold")->self, 20);
	assert_int_equal(find_row(picture, "main_loop")->self, 0);
	assert_int_equal(find_row(picture, "main_loop")->total, 50);
	assert_int_equal(picture->lost_guest + picture->lost_host, 0);
	assert_int_equal(picture->cost_ns, 500);
	assert_int_equal(session_epoch(fixture.session)->cpus[0].events[16], 30);
	assert_int_equal(session_epoch(fixture.session)->cpus[1].events[16], 10);
	picture_free(picture);
	end(&fixture);
}

static void test_profiler_by_port(void **state)
{
	struct fixture fixture = begin(NULL);
	struct picture *picture;

	(void)state;
	bring_up(&fixture);
	session_run_profiler(fixture.session, true);
	await_line(&fixture, "start");
	fake_guest_reply(fixture.guest, true, "started");
	picture = take_picture(&fixture);
	assert_false(picture->running);		/* an answer is not a status */
	picture_free(picture);
	fake_guest_status(fixture.guest, true);
	await_message(&fixture, false, "profiling on (by port: no key path)");
	picture = take_picture(&fixture);
	assert_true(picture->running);
	picture_free(picture);

	session_run_profiler(fixture.session, false);
	await_line(&fixture, "stop");
	fake_guest_reply(fixture.guest, false, "no, today not");
	await_message(&fixture, true, "no, today not");
	end(&fixture);
}

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "query-cpus-fast", "\"return\": [{}, {}]" },
	{ "/machine/unattached",
		"\"return\": [{\"name\": \"device[9]\", \"type\": \"child<i8042>\"}]" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

static void test_profiler_by_key(void **state)
{
	const char *path = scratch_path("keys.qmp");
	struct fake_qmp *qmp = fake_qmp_listen(&(struct fake_script){
		.greeting = fake_greeting, .answers = machine }, path);
	struct fixture fixture = begin(&(struct session_options){ .qmp = path });

	(void)state;
	bring_up(&fixture);
	fake_guest_keys(fixture.guest);
	picture_free(take_picture(&fixture));
	session_run_profiler(fixture.session, true);
	step(&fixture);
	assert_non_null(fake_qmp_wait(qmp, "input-send-event"));
	fake_guest_status(fixture.guest, true);
	await_message(&fixture, false, "profiling on (by key)");

	/* A key that nobody hears: the port follows. */
	session_run_profiler(fixture.session, false);
	await_line(&fixture, "stop");
	fake_guest_status(fixture.guest, false);
	await_message(&fixture, false, "profiling off (by port: the key did not arrive)");
	end(&fixture);
	fake_qmp_free(qmp);
}

static void test_snapshot_that_cannot_be_written(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	bring_up(&fixture);
	session_snapshot(fixture.session, "/nowhere/at/all.folded", (struct folded_options){ 0 });
	await_message(&fixture, true, "the folder in which ktop was started");
	end(&fixture);
}

static void test_commands_are_answered_in_order(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	bring_up(&fixture);
	session_command(fixture.session, "status");
	session_command(fixture.session, "bogus");
	await_line(&fixture, "status");
	await_line(&fixture, "bogus");
	fake_guest_reply(fixture.guest, true, "first\nline\x1b");
	fake_guest_reply(fixture.guest, false, "second");
	await_message(&fixture, false, "first\nline?");
	await_message(&fixture, true, "second");
	session_command(fixture.session, "two\nlines");
	await_message(&fixture, true, "not a control line");
	end(&fixture);
}

static void test_new_boot_is_a_new_epoch(void **state)
{
	struct fixture fixture = begin(NULL);
	struct picture *old, *fresh;

	(void)state;
	bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	old = take_picture(&fixture);
	packets_boot(fixture.guest->packets, 2);
	fixture.guest->clock = 0;
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	fresh = take_picture(&fixture);
	assert_int_equal(fresh->table->weight, 0);
	assert_ptr_not_equal(fresh->epoch, old->epoch);
	/* A frozen screen may still show the old one. */
	assert_int_equal(find_row(old, "hot")->self, 1);
	picture_free(fresh);
	end(&fixture);
	picture_free(old);
}

/* loadvm: number, clock and count of its packets are those of before; it does not know. */
static void test_put_back_guest_is_asked_again(void **state)
{
	struct fixture fixture = begin(NULL);
	struct packets *packets = fixture.guest->packets;
	struct packets_lane lane;
	uint64_t clock;

	(void)state;
	bring_up(&fixture);
	lane = packets->lanes[KTOP_SAMPLES][0];
	clock = fixture.guest->clock;
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	picture_free(take_picture(&fixture));
	packets->lanes[KTOP_SAMPLES][0] = lane;
	fixture.guest->clock = clock;
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	await_line(&fixture, "hello");
	end(&fixture);
}

/* `--symbols <(nm kernel)`: a pipe, that both boots need. */
static void test_names_from_a_pipe(void **state)
{
	struct fixture fixture;
	struct picture *picture;
	int ends[2];
	char *path;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], names, strlen(names)), strlen(names));
	close(ends[1]);
	path = util_format("/dev/fd/%d", ends[0]);
	fixture = begin(&(struct session_options){ .symbols = path });
	close(ends[0]);
	bring_up(&fixture);
	packets_boot(fixture.guest->packets, 2);
	tell_all(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	picture = take_picture(&fixture);
	assert_int_equal(find_row(picture, "hot")->self, 1);
	picture_free(picture);
	end(&fixture);
	free(path);
}

static void test_connects_again(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	bring_up(&fixture);
	session_command(fixture.session, "status");
	await_line(&fixture, "status");
	fake_guest_hang_up(fixture.guest);
	session_step(fixture.session, STEP_MS);
	assert_int_equal(session_link(fixture.session), LINK_LOST);
	await_message(&fixture, true, "was lost");
	await_line(&fixture, "hello");
	fake_guest_status(fixture.guest, false);
	await_link(&fixture, LINK_UP);
	end(&fixture);
}

/* This program stands for the kernel: it has another build-id than the guest says. */
static void test_wrong_kernel(void **state)
{
	struct fixture fixture = begin(&(struct session_options){ .kernel = "/proc/self/exe" });
	struct picture *picture;

	(void)state;
	await_line(&fixture, "hello");
	fake_guest_facts(fixture.guest, "01234567890123456789", 20);
	fake_guest_status(fixture.guest, true);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	await_link(&fixture, LINK_UP);
	picture = take_picture(&fixture);
	assert_non_null(strstr(picture->note, "build-ids differ"));
	assert_int_equal(find_row(picture, "[unknown]")->self, 1);
	picture_free(picture);
	end(&fixture);
}

/* Every loss that is counted is shown: beside the picture, and in the report. */
static void test_losses_are_shown(void **state)
{
	struct fixture fixture = begin(NULL);
	const struct store_key damaged = { .stack = STACKS_NONE, .mode = MODES };
	struct picture *picture;

	(void)state;
	await_line(&fixture, "hello");
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	tell_all(&fixture);
	picture = take_picture(&fixture);
	assert_string_equal(picture->note, "3 ticks came before the guest told its clock");
	picture_free(picture);

	store_add(session_epoch(fixture.session)->inputs.store, 1, &damaged, 2);
	session_epoch(fixture.session)->status.meta_lost = 1;
	picture = take_picture(&fixture);
	assert_string_equal(picture->note, "2 ticks not kept: memory is full; "
		"3 ticks came before the guest told its clock; "
		"1 facts lost: the guest's tables are full");
	picture_free(picture);
	end(&fixture);
}

static void test_remarks_are_cut_to_their_room(void **state)
{
	struct epoch *epoch = epoch_new((const uint8_t[16]){ 0 }, NULL, NULL);
	char text[16];

	(void)state;
	epoch->untimed = 12;
	memset(text, 'x', sizeof(text));
	assert_string_equal(remarks_text(epoch, text, 12), "12 ticks ca");
	assert_int_equal(text[12], 'x');
	epoch_release(epoch);
}

/* A rate that was changed is reached within the window; two CPUs are on, and achieve the same. */
static void test_meter_follows_the_window(void **state)
{
	struct meter meter = { .used = 0 };
	struct meter_point point = { .time = 0 };

	(void)state;
	for (; point.time <= 70000000000; point.time += 250000000) {
		point.taken += point.time <= 60000000000 ? 50 : 500;
		point.span += 500000000;
		meter_add(&meter, &point);
	}
	assert_float_equal(meter_rate(&meter, 1000000000), 1000, 1);
	assert_float_equal(meter_rate(&meter, 20000000000), 550, 1);
	assert_true(meter_rate(&meter, 0) > 200 && meter_rate(&meter, 0) < 300);
}

/*
 * Somebody comes back to a profiler that ran on: a ring full of old samples comes at once, behind
 * it a gap, and the counts of all of it.
 */
static void test_backlog_is_no_rate(void **state)
{
	struct fixture fixture = begin(NULL);
	struct fake_guest *guest = fixture.guest;
	struct picture *picture;

	(void)state;
	await_line(&fixture, "hello");
	guest->taken[0] = 4000;
	guest->packets->lanes[KTOP_SAMPLES][0].discarded = 1000;
	tell_all(&fixture);
	fake_guest_status(guest, true);
	for (int i = 0; i < 2000; i++)
		fake_guest_sample(guest, 0, 1, 0x1210, 0x1120);
	guest->taken[0] -= 2000;			/* they were counted when they were taken */
	for (int i = 0; i < 40; i++) {
		guest->taken[0] += 5;
		fake_guest_beat(guest, 48);		/* and two ms for the counts */
		fake_guest_counts(guest);
		step(&fixture);
	}
	picture = take_picture(&fixture);
	/* fake_guest_counts: a sample in 100000 ticks of a clock of two a nanosecond. */
	assert_float_equal(picture->achieved, 20000, 1);
	assert_int_equal(picture->table->samples, 2000);
	assert_int_equal(picture->lost_guest + picture->lost_host, 0);
	assert_int_equal(picture->lost_before, 1000);
	picture_free(picture);
	end(&fixture);
}

static void test_missing_kernel_is_told_at_once(void **state)
{
	char *error = NULL;
	const struct session_options options = { .port = "/nowhere", .kernel = "/nowhere.elf" };

	(void)state;
	assert_null(session_new(&options, &error));
	assert_non_null(strstr(error, "/nowhere.elf"));
	free(error);
}

/* Valid packets of random contents, and garbage: it lives, and shows what there is. */
static void test_hostile_guest(void **state)
{
	static const uint16_t ids[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 36, 99 };
	struct fixture fixture = begin(NULL);
	uint64_t seed = 20260101;

	(void)state;
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 20; i++) {
			uint16_t id = ids[random_next(&seed) % (sizeof(ids) / sizeof(ids[0]))];
			uint32_t stream = (uint32_t)(random_next(&seed) % KTOP_STREAMS);
			uint64_t garbage = random_next(&seed);
			struct body body;

			body_random(&body, id, &seed, 20);
			packets_begin(fixture.guest->packets, stream,
				(uint32_t)garbage % PACKETS_CPUS, fixture.guest->clock);
			packets_event(fixture.guest->packets, fixture.guest->clock, id, &body);
			packets_end(fixture.guest->packets, fixture.guest->clock);
			fixture.guest->clock += random_next(&seed) >> (garbage % 64);
			if (garbage % 7 == 0)
				packets_raw(fixture.guest->packets, &garbage, garbage % 8);
		}
		step(&fixture);
		picture_free(session_picture(fixture.session));
	}
	picture_free(take_picture(&fixture));
	assert_true(decode_counts(session_decode(fixture.session)).bytes > 0);
	end(&fixture);
}

/* What a true guest does while a report is made: obeys lines, samples while it is on. */
static void live(struct fake_guest *guest)
{
	static const char *const settings[] = { "rate 500", "mode nmi" };

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (fake_guest_got(guest, settings[i]))
			fake_guest_reply(guest, true, settings[i]);
	if (fake_guest_got(guest, "start")) {
		fake_guest_status(guest, true);
		fake_guest_reply(guest, true, "started");
	}
	if (fake_guest_got(guest, "stop")) {
		fake_guest_status(guest, false);
		fake_guest_counts(guest);
		fake_guest_reply(guest, true, "stopped");
	}
	for (int i = 0; guest->running && i < 5; i++)
		fake_guest_sample(guest, (uint32_t)i % 2, 1, i ? 0x1210 : 0x1310, 0x1120);
	fake_guest_beat(guest, 20);
}

static void test_report_is_exact(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report_request request = report_default;
	struct report *report;
	uint64_t taken;
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	request.duration_ns = 1000000000;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	bring_up(&fixture);
	for (int i = 0; i < STEPS && report_step(report) < REPORT_RATE_BACK; i++) {
		live(fixture.guest);
		step(&fixture);
	}
	/* The guest is as it was before. */
	report_step(report);
	await_line(&fixture, "rate 997");
	fake_guest_reply(fixture.guest, true, "rate 997");
	for (int i = 0; i < STEPS && report_step(report) < REPORT_SAMPLER_BACK; i++)
		step(&fixture);
	report_step(report);
	await_line(&fixture, "mode timer");
	fake_guest_reply(fixture.guest, true, "mode timer");
	for (int i = 0; i < STEPS && report_step(report) < REPORT_DONE; i++) {
		live(fixture.guest);
		step(&fixture);
	}
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
	taken = fixture.guest->taken[0] + fixture.guest->taken[1];
	assert_true(taken > 100);
	assert_int_equal(report->table->samples, taken);
	assert_int_equal(
		decode_books_all(session_decode(fixture.session), STREAM_SAMPLES).received, taken);
	assert_string_equal(report->note, "");
	assert_true(report->seconds >= 1);
	assert_false(fixture.guest->running);

	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, " hot "));
	free(text);
	out = open_memstream(&text, &size);
	report->request.json = true;
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "\"caller"));
	free(text);
	report_free(report);
	end(&fixture);
}

/* A report that runs; its guest is on. */
static struct report *run_report(struct fixture *fixture)
{
	struct report_request request = report_default;
	struct report *report;

	request.duration_ns = 3600000000000;
	report = report_new(fixture->session, &request);
	bring_up(fixture);
	for (int i = 0; i < STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture->guest);
		step(fixture);
	}
	for (int i = 0; i < 20; i++) {
		live(fixture->guest);
		step(fixture);
	}
	assert_int_equal(report_step(report), REPORT_RUNNING);
	return report;
}

static void finish_report(struct fixture *fixture, struct report *report)
{
	for (int i = 0; i < 2 * STEPS && report_step(report) < REPORT_DONE; i++) {
		live(fixture->guest);
		step(fixture);
	}
	if (report->state != REPORT_DONE)
		fail_msg("state %d: %s", report->state, report->error ? report->error : "");
}

/* What was sampled is not lost because the guest does not stop. */
static void test_report_survives_a_guest_that_does_not_stop(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report_cut(report, "interrupted");
	report_step(report);
	await_line(&fixture, "stop");
	fake_guest_reply(fixture.guest, false, "not now");
	finish_report(&fixture, report);
	assert_true(report->table->samples > 0);
	assert_non_null(strstr(report->note, "cut short: interrupted; "));
	assert_non_null(strstr(report->note, "not now"));
	report_free(report);
	end(&fixture);
}

static void test_report_of_a_profiler_that_somebody_stops(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	fake_guest_status(fixture.guest, false);
	fake_guest_counts(fixture.guest);
	finish_report(&fixture, report);
	assert_non_null(strstr(report->note, "somebody has stopped the profiler"));
	assert_int_equal(report->table->samples,
		fixture.guest->taken[0] + fixture.guest->taken[1]);
	report_free(report);
	end(&fixture);
}

/* What the books of the next boot say is not said of this one. */
static void test_report_of_a_guest_that_restarts(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	packets_boot(fixture.guest->packets, 2);
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	finish_report(&fixture, report);
	assert_true(report_write(report, out, &error));
	fclose(out);
	assert_non_null(strstr(text, "lost unknown"));
	assert_non_null(strstr(text, "the guest restarted"));
	assert_non_null(strstr(text, " hot "));
	free(text);
	report_free(report);
	end(&fixture);
}

/* Nobody drives the session after it: the guest has its line all the same. */
static void test_report_that_is_given_up_stops_the_guest(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report_free(report);
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
	end(&fixture);
}

/* A window into a profile that runs: rates are right although it is cut by whole slices. */
static void test_report_beside_a_running_profiler(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.duration_ns = 1000000000;
	bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 20; i++) {
		live(fixture.guest);
		step(&fixture);
	}
	report = report_new(fixture.session, &request);
	finish_report(&fixture, report);
	assert_true(fixture.guest->running);
	/* 5 samples in 25 ms: a millisecond each, and 20 of silence. */
	assert_float_equal((double)report->table->samples / report->seconds, 200, 8);
	report_free(report);
	end(&fixture);
}

static char *text_of(struct report *report)
{
	char *text = NULL, *error = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(report_write(report, out, &error));
	fclose(out);
	return text;
}

/* How much of the time nobody knows of is told; of which rows are asked for does not matter. */
static void test_report_tells_its_gaps(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);
	char *text;

	(void)state;
	report->request.mode = MODE_USER;
	fake_guest_missed(fixture.guest, 0, fixture.guest->taken[0] + fixture.guest->taken[1]);
	step(&fixture);
	report_cut(report, "enough");
	finish_report(&fixture, report);
	assert_int_equal(report->table->weight, 0);
	assert_true(report->missed > 0.4 && report->missed <= 0.5);
	report->missed = 0.35;
	text = text_of(report);
	assert_non_null(strstr(text, " (35.0%), lost 0\n"));
	assert_non_null(strstr(text, "the host did not run the guest's CPUs for 35% of the time: "
		"the table rests on the other 65%\n"));
	free(text);
	report->missed = 0.1;
	text = text_of(report);
	assert_null(strstr(text, "the host did not run"));
	free(text);
	report_free(report);
	end(&fixture);
}

/* Nobody drives the session after it: the guest has its lines all the same. */
static void test_report_that_is_given_up_gives_back(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report_request request = report_default;
	struct report *report;

	(void)state;
	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	report = report_new(fixture.session, &request);
	bring_up(&fixture);
	for (int i = 0; i < STEPS && report_step(report) != REPORT_RUNNING; i++) {
		live(fixture.guest);
		step(&fixture);
	}
	report_free(report);
	fake_guest_step(fixture.guest);
	assert_true(fake_guest_got(fixture.guest, "stop"));
	assert_true(fake_guest_got(fixture.guest, "rate 997"));
	assert_true(fake_guest_got(fixture.guest, "mode timer"));
	end(&fixture);
}

static void await_failure(struct fixture *fixture, const char *why)
{
	struct report_request request = report_default;
	struct report *report;

	request.wait_ns = 50000000;
	report = report_new(fixture->session, &request);
	for (int i = 0; i < STEPS && report_step(report) < REPORT_DONE; i++)
		step(fixture);
	assert_int_equal(report->state, REPORT_FAILED);
	if (!strstr(report->error, why))
		fail_msg("%s", report->error);
	report_free(report);
}

/* A guest that never speaks, and one that never says who it is: a bounded wait, and the reason. */
static void test_report_of_a_silent_guest_says_why(void **state)
{
	struct fixture fixture = begin(NULL);

	(void)state;
	await_failure(&fixture, "in 0.05 s: it has not opened the port");
	fake_guest_beat(fixture.guest, 1);
	await_link(&fixture, LINK_NO_HELLO);
	await_failure(&fixture, "in 0.05 s: it sends, but not who it is");
	end(&fixture);
}

/* What came before its clock stood still is shown, and that it did is an error. */
static void test_report_of_a_guest_that_stands_still(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = run_report(&fixture);

	(void)state;
	report->request.wait_ns = 50000000;
	for (int i = 0; i < STEPS && report_step(report) == REPORT_RUNNING; i++)
		step(&fixture);
	assert_int_equal(report->state, REPORT_STOPPING);
	finish_report(&fixture, report);
	assert_true(report->table->samples > 0);
	assert_non_null(strstr(report->error, "cut short: the guest's clock stands still for 0.05 s"));
	assert_non_null(strstr(report->note, "the guest's clock stands still"));
	report_free(report);
	end(&fixture);
}

static void test_report_of_a_silent_vm_ends(void **state)
{
	struct fixture fixture = begin(NULL);
	struct report *report = report_new(fixture.session, &report_default);

	(void)state;
	report_cut(report, "interrupted");
	assert_int_equal(report_step(report), REPORT_FAILED);
	assert_string_equal(report->error, "interrupted");
	report_free(report);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_in_order),
		cmocka_unit_test(test_profiler_of_a_silent_guest),
		cmocka_unit_test(test_picture_of_samples),
		cmocka_unit_test(test_profiler_by_port),
		cmocka_unit_test(test_profiler_by_key),
		cmocka_unit_test(test_snapshot_that_cannot_be_written),
		cmocka_unit_test(test_commands_are_answered_in_order),
		cmocka_unit_test(test_new_boot_is_a_new_epoch),
		cmocka_unit_test(test_put_back_guest_is_asked_again),
		cmocka_unit_test(test_names_from_a_pipe),
		cmocka_unit_test(test_connects_again),
		cmocka_unit_test(test_wrong_kernel),
		cmocka_unit_test(test_losses_are_shown),
		cmocka_unit_test(test_remarks_are_cut_to_their_room),
		cmocka_unit_test(test_meter_follows_the_window),
		cmocka_unit_test(test_backlog_is_no_rate),
		cmocka_unit_test(test_missing_kernel_is_told_at_once),
		cmocka_unit_test(test_hostile_guest),
		cmocka_unit_test(test_report_is_exact),
		cmocka_unit_test(test_report_survives_a_guest_that_does_not_stop),
		cmocka_unit_test(test_report_of_a_profiler_that_somebody_stops),
		cmocka_unit_test(test_report_of_a_guest_that_restarts),
		cmocka_unit_test(test_report_that_is_given_up_stops_the_guest),
		cmocka_unit_test(test_report_beside_a_running_profiler),
		cmocka_unit_test(test_report_tells_its_gaps),
		cmocka_unit_test(test_report_that_is_given_up_gives_back),
		cmocka_unit_test(test_report_of_a_silent_guest_says_why),
		cmocka_unit_test(test_report_of_a_guest_that_stands_still),
		cmocka_unit_test(test_report_of_a_silent_vm_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
