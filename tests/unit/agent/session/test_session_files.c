/* SPDX-License-Identifier: MIT */
/* The files that a session reads names from, and writes. */
#include <fcntl.h>
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
#include "agent/base/util_file.h"
#include "agent/export/export_folded.h"
#include "agent/export/save_format.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/live_session.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

/* The self weight of a function in the answer. */
static uint64_t self_of(const struct answers *answers, const char *name)
{
	for (size_t i = 0; answers->functions->table && i < answers->functions->table->count; i++) {
		const struct row *row = &answers->functions->table->rows[i];

		if (strcmp(symbols_get(answers->functions->answer.symbols, row->function)->name, name) == 0)
			return row->self;
	}
	fail_msg("no row %s", name);
	return 0;
}

static void test_snapshot_that_cannot_be_written(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	session_snapshot(fixture.session, "/nowhere/at/all.folded", &answers_all,
		&(struct export_choice) { .format = &export_folded });
	fixture_await_message(&fixture, true, "the folder in which ktop was started");
	fixture_end(&fixture);
}

/* The session is left right after the orders. The files are written whole. */
static void test_snapshot_outlives_the_session(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	char *path = util_format("%s", scratch_path("last.folded")), *text;
	struct export_choice page;
	size_t size, html;

	(void)state;
	assert_true(save_format_named("html", &html));
	page = save_format_choice(html, "");
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	session_snapshot(fixture.session, path, &answers_all,
		&(struct export_choice) { .format = &export_folded });
	session_snapshot(fixture.session, path, &answers_all,
		&(struct export_choice) { .format = &export_folded });
	session_snapshot(fixture.session, scratch_path("last.html"), &answers_all, &page);
	session_step(fixture.session, 0);
	fixture_end(&fixture);
	scratch_run("grep -q main_loop last.html && tail -c 20 last.html | grep -q '</html>'");
	text = scratch_read(path, &size);
	assert_string_equal(text, "main_loop;hot 3\n");
	free(text);
	free(path);
}

/* Each names the function; but what the CPUs did by time has none. */
static void check_saved(const char *name, const char *path)
{
	const char *word = strstr(name, "-times") ? "samples" : "main_loop";
	char *packed = util_format("gzip -dc '%s' | grep -aq %s", path, word);
	char *text = util_format("grep -arq %s '%s'", word, path);

	scratch_run(strcmp(name, "pprof") == 0 ? packed : text);
	free(packed);
	free(text);
}

/* A snapshot of each format, one after the other, in the saver's thread. The message has its samples and weight. */
static void test_snapshots_of_all_formats(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct save_format format;
	size_t count = 0;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	fake_guest_sample(fixture.guest, 0, 2, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	for (; (format = save_format_at(count)).name; count++) {
		const struct export_choice choice = save_format_choice(count, "a machine");
		char *name = util_format("one%s", format.ending), *path = util_format("%s", scratch_path(name));
		char *told = util_format("%s: 2 samples (weight 5)%s", path, count ? "" : " in 1 stack");

		session_snapshot(fixture.session, path, &answers_all, &choice);
		fixture_await_message(&fixture, false, told);
		check_saved(format.name, path);
		free(told);
		free(path);
		free(name);
	}
	assert_in_range(count, 11, 100);
	scratch_run("grep -qx 'a_machine;main_loop_\\[k\\];hot_\\[k\\] 5' one.folded");
	scratch_run("grep -q 'a machine' one.html && grep -q 'a machine' one.speedscope.json");
	scratch_run("head -1 one.csv | grep -q '^function,object,source,self,' && "
		"grep -qFx '\"hot\",\"kernel\",\"\",5,5,100.0000,100.0000,2,0' one.csv");
	scratch_run("grep -qFx '\"samples\": 2,' one.json && "
		"grep -qF '\"callers\":[{\"name\":\"main_loop\",\"weight\":5}]' one.json");
	fixture_end(&fixture);
}

/* A name alone chooses the rows of a table. Where there is no table, a file of other samples is not written. */
static void test_a_name_in_the_filter(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	char *csv = util_format("%s", scratch_path("named.csv")), *svg = util_format("%s", scratch_path("named.svg"));
	struct excerpt excerpt = answers_all;
	struct export_choice table, picture;
	size_t number;

	(void)state;
	assert_true(filter_parse("hot", &excerpt.filter, NULL));
	assert_true(save_format_named("csv", &number));
	table = save_format_choice(number, "");
	assert_true(save_format_named("svg", &number));
	picture = save_format_choice(number, "");
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	session_snapshot(fixture.session, svg, &excerpt, &picture);
	fixture_await_message(&fixture, true, "a NAME alone in the filter chooses rows of a table");
	session_snapshot(fixture.session, csv, &excerpt, &table);
	fixture_await_message(&fixture, false, "named.csv: 1 sample (weight 3)");
	scratch_run("[ ! -e named.svg ] && [ $(wc -l <named.csv) = 2 ] && tail -1 named.csv | grep -q '^.hot.,'");
	fixture_end(&fixture);
	free(csv);
	free(svg);
}

/* An "a" and so many wide characters, in fresh memory. */
static char *wide_name(size_t characters)
{
	static const char character[] = "\xe5\x90\x8d";
	char *name = util_alloc(2 + characters * 3);

	name[0] = 'a';
	for (size_t i = 0; i < characters; i++)
		memcpy(name + 1 + i * 3, character, 3);
	return name;
}

/* Names of files and names from the guest may hold any bytes, and are cut if they are too long. */
static void test_stacks_are_utf8_whatever_names_are(void **state)
{
	char *wide = wide_name(2000);
	char *names = util_format("0000000000001000 T _start\n0000000000001100 T main\xff\xc3;loop\n"
		"0000000000001200 T %s\n0000000000001400 T _end\n", wide);
	char *list = util_format("%s", scratch_text("odd_names", names));
	char *path = util_format("%s", scratch_path("odd.folded")), *text;
	struct fixture fixture = fixture_begin(&(struct session_options) { .symbols = list });
	const struct export_choice choice = export_stacks(EXPORT_FOLDED, (struct stack_options) {
		.kernel_mark = true, .root = "\xe5\x90\x8d" });
	size_t size, whole = 0, next;
	uint32_t point;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_symbol(fixture.guest, 0x800, 0x100, "told\xe5\x90 \x80");
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	fake_guest_sample(fixture.guest, 0, 4, 0x810, 0x1120);
	answers_free(fixture_answers(&fixture));
	session_snapshot(fixture.session, path, &answers_all, &choice);
	session_step(fixture.session, 0);
	fixture_end(&fixture);
	text = scratch_read(path, &size);
	while ((next = util_utf8(text + whole, size - whole, &point)))
		whole += next;
	assert_int_equal(whole, size);
	assert_non_null(strstr(text, "\xe5\x90\x8d;main??:loop_[k];a\xe5\x90\x8d\xe5\x90\x8d"));
	assert_non_null(strstr(text, "\xe5\x90\x8d;main??:loop_[k];told??_?_[k] 4\n"));
	free(text);
	free(path);
	free(list);
	free(names);
	free(wide);
}

/*
 * Somebody holds the snapshot key down. Each snapshot is a file of its own, or is counted as refused in the last
 * message.
 */
static void test_a_thousand_snapshots(void **state)
{
	enum { ASKED = 1000 };
	struct fixture fixture = fixture_begin(NULL);
	char *path = util_format("%s", scratch_path("many.folded")), *command;
	struct session_message message, last = { .text = "" };
	unsigned refused = 0;
	const char *told;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	for (int i = 0; i < ASKED; i++)
		session_snapshot(fixture.session, path, &answers_all,
			&(struct export_choice) { .format = &export_folded });
	session_leave(fixture.session, 0);		/* takes all orders */
	while (session_message(fixture.session, &message))
		last = message;				/* it may be of before the last order was refused */
	for (int i = 0; i < FIXTURE_STEPS && !session_message(fixture.session, &last); i++)
		session_step(fixture.session, FIXTURE_STEP_MS);
	told = strstr(last.text, "not taken so far: ");
	if (told)
		refused = (unsigned)strtoul(told + strlen("not taken so far: "), NULL, 10);
	fixture_end(&fixture);
	command = util_format("test $(($(ls many*.folded | wc -l) + %u)) = %d && "
		"test $(cat many*.folded | grep -cx 'main_loop;hot 3') = $((%d - %u)) && "
		"rm many*.folded", refused, ASKED, ASKED, refused);
	scratch_run(command);
	free(command);
	free(path);
}

/* `--symbols <(nm kernel)` is a pipe, which can be read once. Both boots need its names. */
static void test_names_from_a_pipe(void **state)
{
	struct fixture fixture;
	struct answers *answers;
	int ends[2];
	char *path;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], fixture_names, strlen(fixture_names)),
		strlen(fixture_names));
	close(ends[1]);
	path = util_format("/dev/fd/%d", ends[0]);
	fixture = fixture_begin(&(struct session_options) { .symbols = path });
	fixture_bring_up(&fixture);
	close(ends[0]);
	packets_boot(fixture.guest->packets, 2);
	fixture_tell_all(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	answers = fixture_answers(&fixture);
	assert_int_equal(self_of(answers, "hot"), 1);
	answers_free(answers);
	fixture_end(&fixture);
	free(path);
}

/* Fails unless the first try fails for this reason. */
static void check_failure(const struct session_options *options, const char *why)
{
	char *error = NULL;
	struct session *session = live_session(NULL, "/nowhere", options, &error);

	assert_non_null(session);
	for (int i = 0; i < FIXTURE_STEPS && !session_settled(session); i++)
		session_step(session, FIXTURE_STEP_MS);
	assert_non_null(session_failure(session));
	assert_non_null(strstr(session_failure(session), why));
	session_free(session);
}

/* Nobody writes into the pipe: the wait is bounded, and the error tells why. The same for a path that is no file. */
static void test_names_that_do_not_come(void **state)
{
	struct spool spool = { .fd = -1 };
	char *error = NULL, *path = util_format("%s", scratch_path("fifo"));
	int writer;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(spool_open(&spool, path, 20, NULL, &error));
	assert_non_null(strstr(error, "nobody writes into this pipe"));
	free(error);
	spool_close(&spool);
	writer = open(path, O_RDWR);		/* a writer that is silent */
	assert_false(spool_open(&spool, path, 20, NULL, &error));
	free(error);
	spool_close(&spool);
	check_failure(&(struct session_options) { .kernel = "/dev/zero" }, "not a regular file");
	close(writer);
	free(path);
}

/* This program is given as the kernel. Its build-id differs from the guest's. */
static void test_wrong_kernel(void **state)
{
	struct fixture fixture = fixture_begin(&(struct session_options) { .kernel = "/proc/self/exe" });
	struct answers *answers;

	(void)state;
	fixture_await_line(&fixture, "hello");
	fake_guest_facts(fixture.guest, "01234567890123456789", 20);
	fake_guest_status(fixture.guest, true);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fixture_await_link(&fixture, LINK_UP);
	answers = fixture_answers(&fixture);
	assert_non_null(strstr(answers->vitals->note, "build-ids differ"));
	assert_int_equal(self_of(answers, "[unknown]"), 1);
	answers_free(answers);
	fixture_end(&fixture);
}

/* So is a file of another architecture, which may have no build-id. The guest is of x86-64. */
static void test_kernel_of_another_architecture(void **state)
{
	char *path = util_format("%s", scratch_path("foreign"));
	char *command = util_format("cp /proc/%d/exe %s && printf '\\267\\0' | "
		"dd of=%s bs=1 seek=18 conv=notrunc 2>/dev/null", (int)getpid(), path, path);	/* now EM_AARCH64 */
	struct fixture fixture;
	struct answers *answers;

	(void)state;
	assert_int_equal(system(command), 0);
	fixture = fixture_begin(&(struct session_options) { .kernel = path });
	fixture_await_line(&fixture, "hello");
	fake_guest_facts(fixture.guest, "", 0);
	fake_guest_status(fixture.guest, true);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fixture_await_link(&fixture, LINK_UP);
	answers = fixture_answers(&fixture);
	assert_non_null(strstr(answers->vitals->note, "it is for another CPU architecture than x86_64; give the "));
	assert_int_equal(self_of(answers, "[unknown]"), 1);
	answers_free(answers);
	fixture_end(&fixture);
	free(command);
	free(path);
}

/* A program's file cannot be read, and a line of the list has no name: remarks tell both. */
static void test_names_that_are_left_out(void **state)
{
	char *kernel = util_format("%s", scratch_path("kernel"));
	const char *names = scratch_text("bad-names", "1000 T _start\n1200 T hot\nnonsense\n");
	struct fixture fixture = fixture_begin(&(struct session_options) {
		.kernel = kernel, .symbols = names });
	const struct ktop_wire_object object = { .process = 3, .start = 0x400000, .end = 0x500000 };
	struct body body = { 0 };
	struct answers *answers;

	(void)state;
	scratch_text("broken", "\177ELF and no more");
	fixture_bring_up(&fixture);
	body_fixed(&body, &object, sizeof(object));
	body_text(&body, "/bin/broken");
	body_list(&body, NULL, 0, 1);
	packets_begin(fixture.guest->packets, KTOP_META, 0, fixture.guest->clock);
	packets_event(fixture.guest->packets, fixture.guest->clock, KTOP_EVENT_object, &body);
	packets_end(fixture.guest->packets, fixture.guest->clock);
	answers = fixture_answers(&fixture);
	for (int i = 0; i < FIXTURE_STEPS && !strstr(answers->vitals->note, "have no names"); i++) {
		answers_free(answers);			/* another thread reads the file */
		answers = fixture_answers(&fixture);
	}
	assert_non_null(strstr(answers->vitals->note, "1 symbol left out: its line or name is damaged"));
	assert_non_null(strstr(answers->vitals->note, "the functions of 1 program have no names; the last one: "));
	assert_non_null(strstr(answers->vitals->note, "/broken: not an ELF file, or a damaged one; "));
	answers_free(answers);
	fixture_end(&fixture);
	free(kernel);
}

/* The failure is told once, when it happens and not only at the end. */
static void test_a_recording_that_fails_is_told(void **state)
{
	char *folder = util_format("%s", scratch_path("recording")), *error = NULL;
	struct fixture fixture = fixture_begin(&(struct session_options) { 0 });
	struct session_message message;
	struct capture *capture;

	(void)state;
	assert_true(recording_folder(folder, &error));
	capture = capture_new(fixture.session, &(struct recording_options) { .folder = folder });
	assert_int_equal(rmdir(folder), 0);
	fixture_await_line(&fixture, "hello");
	fake_guest_facts(fixture.guest, NULL, 0);
	fixture_await_message(&fixture, true, "not recorded: No such file or directory; make room");
	fixture_tell_all(&fixture);
	for (int i = 0; i < 5; i++)
		fixture_step(&fixture);
	while (session_message(fixture.session, &message))
		assert_null(strstr(message.text, "not recorded"));
	assert_true(capture_failed(capture));
	assert_false(capture_close(capture, &error));
	assert_non_null(strstr(error, "not recorded"));
	free(error);
	fixture_end(&fixture);
	free(folder);
}

/* Whoever reads a recording may be in another folder, where another file has that name. */
static void test_a_recording_keeps_the_whole_path(void **state)
{
	static const char kernel[] = "../../../../../../../../../../proc/self/exe";
	char *folder = util_format("%s", scratch_path("placed")), *here = getcwd(NULL, 0), *error = NULL;
	struct fixture fixture = fixture_begin(&(struct session_options) { .kernel = kernel });
	char *whole = util_format("kernel_image = \"%s/%s\"", here, kernel), *part, *path, *metadata;
	struct capture *capture;
	size_t size;

	(void)state;
	assert_true(recording_folder(folder, &error));
	capture = capture_new(fixture.session, &(struct recording_options) { .folder = folder });
	fixture_await_line(&fixture, "hello");
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, true);
	fixture_await_link(&fixture, LINK_UP);
	if (!capture_close(capture, &error))
		fail_msg("%s", error);
	part = scratch_only(folder);
	path = util_format("%s/metadata", part);
	metadata = scratch_read(path, &size);
	assert_non_null(strstr(metadata, whole));
	fixture_end(&fixture);
	free(metadata);
	free(path);
	free(part);
	free(whole);
	free(here);
	free(folder);
}

static void test_missing_kernel_is_told(void **state)
{
	(void)state;
	check_failure(&(struct session_options) { .kernel = "/nowhere.elf" }, "/nowhere.elf");
}

static void test_folders_that_are_not_there(void **state)
{
	const struct session_options options[] = {
		{ .sysroot = "/no/root" },
		{ .debug = "/dev/null" },
	};
	static const char *const said[] = { "--sysroot /no/root: no such", "--debug-dir /dev/null: no" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char *error = NULL;

		assert_null(live_session(NULL, "/nowhere", &options[i], &error));
		assert_non_null(strstr(error, said[i]));
		free(error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshot_that_cannot_be_written),
		cmocka_unit_test(test_snapshot_outlives_the_session),
		cmocka_unit_test(test_snapshots_of_all_formats),
		cmocka_unit_test(test_a_name_in_the_filter),
		cmocka_unit_test(test_stacks_are_utf8_whatever_names_are),
		cmocka_unit_test(test_a_thousand_snapshots),
		cmocka_unit_test(test_names_from_a_pipe),
		cmocka_unit_test(test_names_that_do_not_come),
		cmocka_unit_test(test_wrong_kernel),
		cmocka_unit_test(test_kernel_of_another_architecture),
		cmocka_unit_test(test_names_that_are_left_out),
		cmocka_unit_test(test_a_recording_that_fails_is_told),
		cmocka_unit_test(test_a_recording_keeps_the_whole_path),
		cmocka_unit_test(test_missing_kernel_is_told),
		cmocka_unit_test(test_folders_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
