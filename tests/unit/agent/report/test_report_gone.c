/* SPDX-License-Identifier: MIT */
/*
 * The VM goes away in each state of a report and of a recording: its port first, or QMP first. What they say is that,
 * and no advice that needs the VM.
 */
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
#include "agent/guest/commands.h"
#include "agent/report/recorder.h"
#include "agent/report/report.h"
#include "agent/session/session.h"
#include "tests/unit/clock.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/report_fixture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"

enum { ALONE = 5 };			/* steps in which the guest does not answer */

static const struct fake_answer machine[] = {
	{ "qmp_capabilities", "\"return\": {}" },
	{ "query-status", "\"return\": {\"status\": \"running\"}" },
	{ "", "\"error\": {\"desc\": \"not in this test\"}" },
	{ NULL, NULL },
};

static struct vm {
	struct fixture fixture;
	struct fake_qmp *qmp;
	char *path;
	bool port_first;
} vm;

struct own_end {			/* of a QEMU that this ktop has started */
	const char *how;
	bool well;
	int asked;			/* so often it has not ended yet, each time a tenth of a second */
};

static char *ended(void *context, bool *well)
{
	struct own_end *end = context;

	*well = end->well;
	if (end->asked-- <= 0)
		return util_format("%s", end->how);
	clock_pass(NS_PER_SECOND / 10);
	return NULL;
}

static void begin_own(bool port_first, struct own_end *own)
{
	static int number;
	char *name = util_format("vm%d.qmp", number++);

	vm = (struct vm) { .path = util_format("%s", scratch_path(name)), .port_first = port_first };
	vm.qmp = fake_qmp_listen(&(struct fake_script) { .greeting = fake_greeting, .answers = machine }, vm.path);
	vm.fixture = own ? fixture_begin_own(vm.path, ended, own) : fixture_begin_qmp(vm.path);
	free(name);
}

static void begin(bool port_first)
{
	begin_own(port_first, NULL);
}

static void end(void)
{
	fixture_end(&vm.fixture);
	if (vm.qmp)
		fake_qmp_free(vm.qmp);
	free(vm.path);
}

static void close_port(void)
{
	unlink(vm.fixture.port);
	close(vm.fixture.guest->listener);
	vm.fixture.guest->listener = -1;
	fake_guest_hang_up(vm.fixture.guest);
}

static void close_qmp(void)
{
	unlink(vm.path);
	fake_qmp_free(vm.qmp);
	vm.qmp = NULL;
}

/* A QEMU that ends closes one socket after the other. */
static void go_away(void)
{
	if (vm.port_first && vm.fixture.guest->listener >= 0)
		close_port();
	else if (!vm.port_first && vm.qmp)
		close_qmp();
}

static void go_on(void)
{
	if (vm.qmp)
		close_qmp();
	else if (vm.fixture.guest->listener >= 0)
		close_port();
}

static bool says(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static void check_words(const char *text, bool must, const char *where, unsigned state)
{
	static const char *const wrong[] = {
		"not turned on", "the guest answers", "tells it again", "ask again", "try again", "report again",
		"still there",
		"did not confirm", "is lost", "was lost", "not connected",
	};

	if (must && !says(text, "the VM is gone") && !says(text, "the VM has ended") && !says(text, "the VM ended"))
		fail_msg("%s %u, port %d: %s", where, state, vm.port_first, text);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (says(text, wrong[i]))
			fail_msg("%s %u, port %d: %s", where, state, vm.port_first, text);
}

/* As a guest that does what it is told; in `alone` steps more it answers nothing. */
static struct report *reach(enum report_state state, int alone)
{
	static const char *const back[] = { "rate 997", "mode timer" };
	struct report_request request = report_default;
	struct report *report;

	request.rate = 500;
	request.sampler = SAMPLER_NMI;
	request.duration_ns = NS_PER_SECOND / 10;
	report = report_new(vm.fixture.session, &request);
	if (state > REPORT_WAITING)
		fixture_bring_up(&vm.fixture);
	else
		fixture_await_line(&vm.fixture, "hello");
	report_fixture_until(&vm.fixture, report, state < REPORT_RATE_BACK ? state : REPORT_RATE_BACK);
	for (uint64_t late = report_fixture_late(); report->state < state && util_now() < late; report_step(report)) {
		for (size_t i = 0; i < 2; i++)
			if (fake_guest_got(vm.fixture.guest, back[i]))
				fake_guest_reply(vm.fixture.guest, true, back[i]);
		fixture_step(&vm.fixture);
	}
	assert_int_equal(report->state, state);
	for (int i = 0; i < alone && report->state == state; i++) {
		report_step(report);
		if (report->state == state)
			fixture_step(&vm.fixture);
	}
	return report;
}

static void check_report(enum report_state state, int alone)
{
	struct report *report = reach(state, alone);
	uint64_t late = report_fixture_late();

	go_away();
	for (int i = 0; i < ALONE && report_step(report) < REPORT_DONE; i++)
		fixture_step(&vm.fixture);
	go_on();
	while (util_now() < late && report_step(report) < REPORT_DONE)
		fixture_step(&vm.fixture);
	assert_int_equal(report->state, state < REPORT_RUNNING ? REPORT_FAILED : REPORT_DONE);
	check_words(report->error, state <= REPORT_RUNNING, "error", state);
	check_words(report->note, state >= REPORT_RUNNING && state < REPORT_NAMING, "note", state);
	report_free(report);
}

static void a_report_says_so_in_each_state(void **unused)
{
	(void)unused;
	for (unsigned state = REPORT_WAITING; state <= REPORT_NAMING; state++)
		for (int variant = 0; variant < 4; variant++) {
			begin(variant & 1);
			check_report((enum report_state)state, variant & 2 ? ALONE : 0);
			end();
		}
}

/* A guest that ends its own VM has no error in its report; a QEMU that has failed has. */
static void check_own(struct own_end own, bool port_first)
{
	struct report *report;
	uint64_t late = report_fixture_late();

	begin_own(port_first, &own);
	report = reach(REPORT_RUNNING, ALONE);
	go_away();
	go_on();
	while (util_now() < late && report_step(report) < REPORT_DONE)
		fixture_step(&vm.fixture);
	assert_int_equal(report->state, REPORT_DONE);
	if (own.well)
		assert_null(report->error);
	else
		assert_true(says(report->error, "the report is cut short: ") && says(report->error, own.how));
	assert_true(says(report->note, "cut short: ") && says(report->note, own.how));
	report_free(report);
	end();
}

static void the_guest_s_own_end_is_no_failure(void **unused)
{
	(void)unused;
	for (int variant = 0; variant < 6; variant++) {
		const int asked = variant / 2 * 100;

		check_own((struct own_end) { "the guest has ended the VM, with status 33", true, asked }, variant & 1);
		check_own((struct own_end) { "QEMU was ended by signal 9 (Killed)", false, asked }, variant & 1);
	}
}

/* QEMU stays, but its guest goes no further: nobody waits for it, however long --wait is. */
static void check_told_end(const char *event, const char *how, bool well)
{
	struct report *report;
	uint64_t late;

	begin(false);
	report = reach(REPORT_RUNNING, ALONE);
	report->request.wait_ns = 1000 * NS_PER_SECOND;
	late = util_now() + 30 * NS_PER_SECOND;
	fake_qmp_say(vm.qmp, event);
	while (util_now() < late && report_step(report) < REPORT_DONE)
		fixture_step(&vm.fixture);
	assert_int_equal(report->state, REPORT_DONE);
	assert_int_equal(!report->error, well);
	assert_true(well || says(report->error, how));
	assert_true(says(report->note, "cut short: ") && says(report->note, how));
	report_free(report);
	end();
}

static void a_guest_that_has_ended_is_not_waited_for(void **unused)
{
	(void)unused;
	check_told_end("{\"event\": \"GUEST_PANICKED\"}\r\n{\"event\": \"STOP\"}\r\n",
		"the guest's kernel has panicked", false);
	check_told_end("{\"event\": \"SHUTDOWN\"}\r\n{\"event\": \"STOP\"}\r\n", "the machine was shut down", true);
}

/* ---- recordings ---- */

static void check_recording(const char *line, int number)
{
	struct recorder_request request = recorder_default;
	char *name = util_format("rec%d", number), *text = NULL, *error = NULL, *all;
	uint64_t late = report_fixture_late();
	struct recorder *recorder;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	request.folder = scratch_path(name);
	request.rate = 500;
	assert_int_equal(mkdir(request.folder, 0700), 0);
	recorder = recorder_new(vm.fixture.session, &request);
	fixture_bring_up(&vm.fixture);
	while (util_now() < late && !(line ? strstr(vm.fixture.guest->lines, line) : NULL) &&
			vm.fixture.guest->taken[0] < 100) {
		assert_false(recorder_step(recorder));
		if (!line || !strstr(vm.fixture.guest->lines, line))
			report_fixture_live(vm.fixture.guest);
		fixture_step(&vm.fixture);
	}
	go_away();
	for (int i = 0; i < ALONE && !recorder_step(recorder); i++)
		fixture_step(&vm.fixture);
	go_on();
	while (util_now() < late && !recorder_step(recorder))
		fixture_step(&vm.fixture);
	recorder_write(recorder, out, &error);
	fclose(out);
	all = util_format("%s%s", text, error ? error : "");
	check_words(all, true, line ? line : "recording", (unsigned)number);
	recorder_free(recorder);
	free(all);
	free(error);
	free(text);
	free(name);
}

static void a_recording_says_so(void **unused)
{
	static const char *const lines[] = { "rate 500", "start", NULL };

	(void)unused;
	for (int i = 0; i < 6; i++) {
		begin(i & 1);
		check_recording(lines[i / 2], i);
		end();
	}
}

/* ---- control lines and wishes ---- */

static void take_answer(void *context, bool ok, const char *text)
{
	char **answer = context;

	assert_false(ok);
	free(*answer);
	*answer = util_copy(text, strlen(text));
}

static void whoever_waits_for_an_answer_is_told(void **unused)
{
	(void)unused;
	for (int variant = 0; variant < 8; variant++) {
		char *answer = NULL;
		const struct command_sink sink = { .context = &answer, .answered = take_answer };
		uint64_t late = report_fixture_late();

		begin(variant & 1);
		fixture_bring_up(&vm.fixture);
		if (variant & 4) {		/* it is asked when the VM is gone */
			go_away();
			go_on();
			while (util_now() < late && session_source(vm.fixture.session).vm != VM_GONE)
				fixture_step(&vm.fixture);
		}
		if (variant & 2)
			session_profile(vm.fixture.session, true, &sink);
		else
			session_ask(vm.fixture.session, "rate 500", &sink);
		for (int i = 0; i < ALONE && !(variant & 4); i++)
			fixture_step(&vm.fixture);
		go_away();
		for (int i = 0; i < ALONE; i++)
			fixture_step(&vm.fixture);
		go_on();
		while (util_now() < late && !answer)
			fixture_step(&vm.fixture);
		assert_non_null(answer);
		assert_non_null(strstr(answer, "the VM is gone"));
		session_forget(vm.fixture.session, &answer);
		free(answer);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_says_so_in_each_state),
		cmocka_unit_test(the_guest_s_own_end_is_no_failure),
		cmocka_unit_test(a_guest_that_has_ended_is_not_waited_for),
		cmocka_unit_test(a_recording_says_so),
		cmocka_unit_test(whoever_waits_for_an_answer_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
