/* SPDX-License-Identifier: MIT */
/*
 * Plays a session from its start to its end again and again, and refuses another allocation each time: RUNS of them, or
 * with `all` each. What came while memory was short is there, or is counted as lost. What comes later is as if nothing
 * had happened. `test_scarce SCENE N` refuses allocation N in one scene; scenes count from 1. Writes TAP.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/answers/profile.h"
#include "agent/base/budget.h"
#include "agent/base/json.h"
#include "agent/base/util.h"
#include "agent/export/export_folded.h"
#include "agent/fleet/fleet.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "agent/session/tape.h"
#include "agent/source/replay.h"
#include "agent/store/store.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/picture.h"
#include "tests/unit/fakes/scarce.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { RUNS = 8, SOON = 15, TOLD = 0x800, HOT = 0x1210, COLD = 0x1310, CALLER = 0x1120 };

/* ---- a guest that sends its meta events when it is asked ---- */

static void tell_thread(struct fake_guest *guest, uint32_t number, const char *name)
{
	const struct ktop_wire_thread thread = { .thread = number };
	struct body body = { 0 };

	body_fixed(&body, &thread, sizeof(thread));
	body_text(&body, name);
	guest->clock += FAKE_GUEST_TICKS_PER_MS;
	packets_begin(guest->packets, KTOP_META, 0, guest->clock);
	packets_event(guest->packets, guest->clock, KTOP_EVENT_thread, &body);
	packets_end(guest->packets, guest->clock);
}

static void tell(struct fake_guest *guest)
{
	fake_guest_facts(guest, NULL, 0);
	tell_thread(guest, 7, "worker");
	fake_guest_symbol(guest, TOLD, 0x100, "told_by_the_guest");
	fake_guest_symbol(guest, 0, 0, "");
	fake_guest_status(guest, guest->running);
	fake_guest_counts(guest);
	fake_guest_reply(guest, true, "hello");
}

static void end_if_failed(const struct session *session)
{
	const char *why = session_failure(session);

	if (!why)
		return;
	fprintf(stderr, "ktop: %s\n", why);
	_exit(1);
}

/* Steps until the guest is up, at least SOON times. If the user's file cannot be read, it ends as ktop does. */
static void live_on(struct fixture *fixture)
{
	for (int i = 0; i < SOON || session_link(fixture->session) != LINK_UP; i++) {
		if (fake_guest_got(fixture->guest, "hello"))
			tell(fixture->guest);
		fixture_step(fixture);
		end_if_failed(fixture->session);
	}
}

/* The kernel's file was written by main. */
static struct fixture begin(void)
{
	return fixture_begin(&(struct session_options) { .symbols = scratch_path("names"),
		.patient = true });
}

/* ---- a boot ---- */

static uint64_t self_of(const struct picture *picture, const char *name)
{
	uint64_t self = 0;

	for (size_t i = 0; picture->functions->table && i < picture->functions->table->count; i++) {
		const struct row *row = &picture->functions->table->rows[i];

		if (strcmp(symbols_get(picture->functions->answer.symbols, row->function)->name, name) == 0)
			self += row->self;
	}
	return self;
}

/* Samples that are not in the table are counted as lost. */
static void check_weight(const struct picture *picture, uint64_t sent)
{
	const struct epoch *epoch = picture->functions->answer.epoch;

	assert_int_equal(picture->functions->table->weight + store_given_up(epoch->inputs.store) + epoch->untimed,
		sent);
}

/* And remarks tell of names that are missing. */
static void check_first(const struct picture *picture, uint64_t sent)
{
	check_weight(picture, sent);
	if (self_of(picture, "hot") != sent)
		assert_string_not_equal(picture->vitals->note, "");
}

static void boot(void *context)
{
	struct fixture fixture = begin();
	struct picture *picture;

	(void)context;
	live_on(&fixture);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, HOT, CALLER);
	picture = fixture_picture(&fixture);
	check_first(picture, 30);
	picture_free(picture);
	scarce_end();

	live_on(&fixture);
	for (int i = 0; i < 20; i++)
		fake_guest_sample(fixture.guest, 1, 1, i < 15 ? COLD : TOLD + 1, CALLER);
	picture = fixture_picture(&fixture);
	assert_int_equal(self_of(picture, "cold"), 15);
	assert_int_equal(self_of(picture, "told_by_the_guest"), 5);
	assert_string_equal(threads_name(picture->functions->answer.epoch->inputs.threads, 7), "worker");
	assert_int_equal(picture->vitals->cpu_count, 2);
	picture_free(picture);
	fixture_end(&fixture);
}

static struct fixture begin_unhindered(void)
{
	scarce_pause(true);
	return begin();
}

/* A boot that follows another one. */
static void next_boot(void *context)
{
	struct fixture fixture = begin_unhindered();
	struct picture *picture;

	(void)context;
	live_on(&fixture);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, HOT, CALLER);
	picture_free(fixture_picture(&fixture));
	scarce_pause(false);
	packets_boot(fixture.guest->packets, 2);
	fixture.guest->clock = 0;
	tell(fixture.guest);
	live_on(&fixture);
	scarce_end();

	live_on(&fixture);
	for (int i = 0; i < 20; i++)
		fake_guest_sample(fixture.guest, 1, 1, i < 15 ? COLD : TOLD + 1, CALLER);
	picture = fixture_picture(&fixture);
	assert_int_equal(self_of(picture, "hot"), 0);
	assert_int_equal(self_of(picture, "cold"), 15);
	assert_int_equal(self_of(picture, "told_by_the_guest"), 5);
	assert_string_equal(threads_name(picture->functions->answer.epoch->inputs.threads, 7), "worker");
	picture_free(picture);
	fixture_end(&fixture);
}

/* ---- a snapshot, a report ---- */

static void snapshot(void *context)
{
	struct fixture fixture = begin_unhindered();
	struct session_message message = { .text = "" };

	(void)context;
	live_on(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, HOT, CALLER);
	picture_free(fixture_picture(&fixture));
	scarce_pause(false);
	session_snapshot(fixture.session, scratch_path("shot.folded"), &picture_all,
		&(struct export_choice) { .format = &export_folded });
	for (int i = 0; i < FIXTURE_STEPS && !message.text[0]; i++) {
		fixture_step(&fixture);
		session_message(fixture.session, &message);
	}
	scarce_end();
	assert_string_not_equal(message.text, "");
	if (!message.failed)
		scratch_run("grep -qx 'main_loop;hot 3' shot*.folded");
	fixture_end(&fixture);
	scratch_run("rm -f shot*.folded");
}

static void obey(struct fake_guest *guest)
{
	if (fake_guest_got(guest, "hello"))
		tell(guest);
	fake_guest_obey(guest);
	for (int i = 0; guest->running && i < 5; i++)
		fake_guest_sample(guest, (uint32_t)i % 2, 1, i ? HOT : COLD, CALLER);
	fake_guest_beat(guest, 50);
}

static uint64_t given_up(const struct report *report)
{
	return store_given_up(report->epoch->inputs.store);
}

static void write_report(struct report *report, bool json)
{
	char *text, *error = NULL;
	size_t size;
	FILE *out = util_text_open(&text, &size);
	bool done;

	report->request.json = json;
	done = report_write(report, out, &error);
	text = util_text_close(out, &text);
	assert_true(done == !error && (!done || size > 0));
	if (done && given_up(report))
		assert_non_null(strstr(text, "memory is full"));
	if (error)
		fprintf(stderr, "%s\n", error);
	free(error);
	free(text);
}

static void make_report(void *context)
{
	struct fixture fixture = begin();
	struct report_request request = report_default;
	char *folded = util_format("%s", scratch_path("report.folded"));
	struct report *report;

	(void)context;
	request.duration_ns = 200000000;
	request.folded = folded;
	report = report_new(fixture.session, &request);
	while (report_step(report) < REPORT_DONE) {	/* the alarm of scarce.c bounds it */
		obey(fixture.guest);
		fixture_step(&fixture);
	}
	assert_true(report->state == REPORT_DONE ? report->profile->table->samples > 0 : !!report->error);
	if (report->state == REPORT_DONE && !report->note[0] && !report->error)
		assert_int_equal(report->profile->table->samples + given_up(report),
			fixture.guest->taken[0] + fixture.guest->taken[1]);
	if (report->state == REPORT_DONE) {
		write_report(report, false);
		write_report(report, true);
	}
	report_free(report);
	fixture_end(&fixture);
	free(folded);
}

/* ---- a recording, and its replay ---- */

enum { PART_BYTES = 4096, ROUNDS = 40 };

/* Samples to a tape in parts, between which the guest tells all again. */
static struct tape *record_some(struct fixture *fixture, const char *folder)
{
	const struct record_options options = { .folder = folder, .part_bytes = PART_BYTES };
	struct tape *tape = tape_new(fixture->session, &options);

	for (int i = 0; i < ROUNDS; i++) {
		fake_guest_sample(fixture->guest, 0, 1, i % 4 ? HOT : COLD, CALLER);
		if (fake_guest_got(fixture->guest, "hello"))
			tell(fixture->guest);
		fixture_step(fixture);
	}
	return tape;
}

static char *new_folder(void)
{
	char *folder = util_format("%s", scratch_path("tape")), *error = NULL;

	scratch_run("rm -rf tape");
	assert_true(record_folder(folder, &error));
	return folder;
}

/* What was taken as recorded is on the disk, or is said not to be. */
static void make_recording(void *context)
{
	struct fixture fixture = begin_unhindered();
	char *folder = new_folder(), *error = NULL;
	struct recording *recording;
	struct record_sums sums;
	struct tape *tape;
	uint64_t packets = 0;
	bool good;

	(void)context;
	live_on(&fixture);
	scarce_pause(false);
	tape = record_some(&fixture, folder);
	sums = tape_sums(tape);
	good = tape_close(tape, &error);
	scarce_end();
	assert_true(good == !error);
	recording = recording_new(folder, good ? &error : NULL);
	assert_true(recording || !good);
	for (size_t i = 0; recording && i < recording->part_count; i++)
		packets += recording->parts[i].packets;
	assert_true(good ? packets == sums.packets && recording->part_count > 1 : packets < sums.packets);
	recording_free(recording);
	free(error);
	free(folder);
	fixture_end(&fixture);
}

static void play_until_over(struct fixture *fixture)
{
	while (!session_over(fixture->session)) {	/* or the alarm of scarce.c rings */
		session_step(fixture->session, FIXTURE_STEP_MS);
		end_if_failed(fixture->session);
	}
}

/* What is not in the table is counted; played again, with memory back, all is there. */
static void replay(void *context)
{
	struct fixture fixture = begin_unhindered();
	char *folder = new_folder(), *error = NULL;
	const struct session_options options = { .symbols = scratch_path("names") };
	struct recording *recording;
	struct picture *picture;

	(void)context;
	live_on(&fixture);
	assert_true(tape_close(record_some(&fixture, folder), &error));
	session_free(fixture.session);
	scarce_pause(false);
	recording = recording_new(folder, &error);
	if (!recording)
		fail_msg("%s", error);
	fixture.session = session_new_on(replay_new(recording, &(struct replay_options) { .at_once = true }), &options,
		&error);
	if (!fixture.session)
		fail_msg("%s", error);
	play_until_over(&fixture);
	picture = fixture_picture(&fixture);
	check_weight(picture, ROUNDS);
	picture_free(picture);
	scarce_end();

	session_play(fixture.session, (struct play) { .kind = PLAY_TO });
	while (session_over(fixture.session))
		session_step(fixture.session, FIXTURE_STEP_MS);
	session_play(fixture.session, (struct play) { .kind = PLAY_BY, .ns = INT64_MAX });
	play_until_over(&fixture);
	picture = fixture_picture(&fixture);
	assert_int_equal(self_of(picture, "hot"), ROUNDS * 3 / 4);
	assert_int_equal(self_of(picture, "cold"), ROUNDS / 4);
	assert_string_equal(threads_name(picture->functions->answer.epoch->inputs.threads, 7), "worker");
	picture_free(picture);
	free(folder);
	fixture_end(&fixture);
}

/* ---- QMP: a machine that has the port, and one into which it is plugged ---- */

/* Runs in a process of its own, so that its allocations do not count. It dies with this process. */
static pid_t serve(const struct fake_script *script, const char *path)
{
	int ready[2];
	char byte = 0;
	pid_t server;

	unlink(path);
	assert_int_equal(pipe(ready), 0);
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fake_qmp_listen(script, path);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return server;
}

static void dismiss(pid_t server)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

static void begin_qmp(struct fixture *fixture, bool plug)
{
	char *error = NULL;

	fixture->session = session_new(&(struct session_options) { .symbols = scratch_path("names"),
		.qmp = scratch_path("qmp"), .no_plug = !plug, .patient = true }, &error);
	if (!fixture->session)
		fail_msg("%s", error);
}

/* Steps until the guest has told of itself; the session tries again what fails. */
static void connect_by_qmp(void *context)
{
	char *port = util_format("%s", scratch_path("port")), *text = util_format("\"return\": "
		"[{\"label\": \"c\", \"filename\": \"disconnected:unix:%s,server=on\"}]", port);
	const struct fake_answer answers[] = {
		{ "query-chardev", text },
		{ "\"/machine/peripheral-anon\"",
			"\"return\": [" MACHINE_HAS("device[0]", "virtserialport") "]" },
		{ "\"name\"", "\"return\": \"org.ktop.0\"" },
		{ "\"chardev\"", "\"return\": \"c\"" },
		{ "qmp_capabilities", "\"return\": {}" },
		{ "query-status", "\"return\": {\"status\": \"running\"}" },
		{ "", MACHINE_REFUSES }, { NULL, NULL },
	};
	struct fixture fixture = { .port = port };
	struct picture *picture;
	pid_t server;

	(void)context;
	scarce_pause(true);
	server = serve(&(struct fake_script) { .greeting = fake_greeting, .answers = answers },
		scratch_path("qmp"));
	unlink(port);
	fixture.guest = fake_guest_new(port);
	scarce_pause(false);
	begin_qmp(&fixture, false);
	live_on(&fixture);
	scarce_end();

	fake_guest_sample(fixture.guest, 0, 7, HOT, CALLER);
	picture = fixture_picture(&fixture);
	assert_int_equal(self_of(picture, "hot"), 7);
	picture_free(picture);
	fixture_end(&fixture);
	dismiss(server);
	free(text);
}

/* Plugs the port into the machine, and takes it out again. */
static void plug_in(void *context)
{
	struct machine machine = machine_pc;
	char text[256];
	struct fixture fixture = { .guest = NULL };
	pid_t server;

	(void)context;
	scarce_pause(true);
	server = serve(&(struct fake_script) { .greeting = fake_greeting, .machine = machine_answer,
		.context = &machine }, scratch_path("qmp"));
	scarce_pause(false);
	begin_qmp(&fixture, true);
	while (!session_plugged(fixture.session, text, sizeof(text))[0]) {
		session_step(fixture.session, FIXTURE_STEP_MS);
		end_if_failed(fixture.session);
	}
	session_leave(fixture.session, util_now() + 1000 * UINT64_C(1000000));
	scarce_end();
	assert_null(session_stays(fixture.session));
	session_free(fixture.session);
	dismiss(server);
}

/* ---- many machines ---- */

enum { MACHINES = 3, TICK_NS = 1000000 };	/* TICK_NS: the period of a tick */

static struct picture *part_of(struct fixture *fixture)
{
	struct picture *picture = fixture_picture(fixture);

	picture->functions->table->time = picture->functions->table->weight * TICK_NS;
	return picture;
}

static void give(struct fleet *fleet, int machine, struct picture *part)
{
	fleet_take(fleet, (size_t)machine, &part->vitals->answer);
	fleet_take(fleet, (size_t)machine, &part->functions->answer);
	free(part);
}

static struct picture *fleet_all(struct fleet *fleet)
{
	uint64_t now = util_now();

	return picture_new(&fleet_vitals(fleet, now)->answer, &fleet_functions(fleet, now)->answer);
}

static void sample_all(struct fixture *machines)
{
	for (int i = 0; i < MACHINES; i++) {
		fake_guest_sample(machines[i].guest, 0, 10, HOT, CALLER);
		fake_guest_sample(machines[i].guest, 0, 5, i ? COLD : TOLD + 1, CALLER);
	}
}

/* The weight of all rows. Functions without a name are in "[unknown]", so it is what the machines have. */
static uint64_t all_of(const struct picture *picture)
{
	uint64_t self = 0;

	for (size_t i = 0; i < picture->functions->table->count; i++)
		self += picture->functions->table->rows[i].self;
	return self;
}

static void sum_machines(void *context)
{
	static const char *const names[MACHINES] = { "one", "two", "three" };
	struct fixture machines[MACHINES];
	struct picture *parts[MACHINES], *picture;
	struct budget *budget;
	struct fleet *fleet;

	(void)context;
	scarce_pause(true);
	for (int i = 0; i < MACHINES; i++) {
		machines[i] = begin();
		live_on(&machines[i]);
	}
	sample_all(machines);
	for (int i = 0; i < MACHINES; i++)
		parts[i] = part_of(&machines[i]);
	budget = budget_new(BUDGET_MIB);
	scarce_pause(false);

	fleet = fleet_new(names, MACHINES, budget);
	for (int i = 0; i < MACHINES; i++)
		give(fleet, i, parts[i]);
	picture = fleet_all(fleet);
	assert_int_equal(all_of(picture), picture->functions->table->weight);
	assert_int_equal(picture->functions->table->weight, MACHINES * 15 * TICK_NS);
	picture_free(picture);
	scarce_end();

	sample_all(machines);
	for (int i = 0; i < MACHINES; i++)
		give(fleet, i, part_of(&machines[i]));
	picture = fleet_all(fleet);
	assert_int_equal(all_of(picture), MACHINES * 30 * TICK_NS);
	assert_int_equal(self_of(picture, "hot"), MACHINES * 20 * TICK_NS);
	assert_int_equal(self_of(picture, "cold"), (MACHINES - 1) * 10 * TICK_NS);
	assert_int_equal(self_of(picture, "told_by_the_guest"), 10 * TICK_NS);
	picture_free(picture);
	fleet_free(fleet);
	budget_release(budget);
	for (int i = 0; i < MACHINES; i++)
		fixture_end(&machines[i]);
}

/* ---- the whole ---- */

static const struct { const char *name; void (*body)(void *context); } scenes[] = {
	{ "a boot", boot }, { "the next boot", next_boot }, { "a snapshot", snapshot },
	{ "a report", make_report }, { "a recording", make_recording }, { "its replay", replay },
	{ "connecting by QMP", connect_by_qmp },
	{ "plugging in", plug_in }, { "many machines", sum_machines },
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

static bool play_once(int scene, uint64_t number)
{
	return scarce_run(&(struct scarce_runs) {
		.from = number, .step = SCARCE_NONE / 2, .body = scenes[scene - 1].body });
}

static bool play(void (*body)(void *context), bool all)
{
	struct scarce_runs runs = { .step = 1, .body = body };
	uint64_t count = scarce_count(body, NULL);

	if (!all)
		runs.step = count / RUNS + 1;
	fprintf(stderr, "%llu allocations\n", (unsigned long long)count);
	return count && scarce_run(&runs);
}

int main(int count, char **arguments)
{
	bool all = count > 1 && strcmp(arguments[1], "all") == 0, well = true;

	json_begin();
	scratch_text("names", fixture_names);
	if (count == 3)
		return !play_once(atoi(arguments[1]), strtoull(arguments[2], NULL, 10));
	printf("1..%d\n", SCENES);
	for (int i = 0; i < SCENES; i++) {
		bool good = play(scenes[i].body, all);

		printf("%s %d - %s, allocations refused in turn\n", good ? "ok" : "not ok", i + 1,
			scenes[i].name);
		well = well && good;
	}
	return !well;
}
