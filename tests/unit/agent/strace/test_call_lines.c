/* SPDX-License-Identifier: MIT */
/*
 * A recording of system calls, as lines and as a summary: arguments by their types, errors by their names, losses where
 * they were, calls without an end. Names that would harm a terminal do not reach it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/strace/call_lines.h"
#include "agent/wire/recording.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

#define US 1000				/* ticks: the guest's clock counts ns */
#define BEGIN NS_PER_SECOND

enum { LATE_SECONDS = 60 };		/* catches a hang: no loaded host is that late */
enum { OLD_ENTER = 35, GETPRIORITY = 140, OPEN = 2, UNTOLD = 7, EXIT = 60 };

static void meta(struct packets *packets, uint16_t id, const struct body *body)
{
	packets_begin(packets, KTOP_META, 0, BEGIN);
	packets_event(packets, BEGIN, id, body);
	packets_end(packets, BEGIN);
}

static void tell_guest(struct packets *packets, const char *kernel)
{
	const struct ktop_wire_guest wire = { .cpus = 2, .clock = NS_PER_SECOND };
	struct body body = { .size = 0 };

	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, kernel);
	body_text(&body, "6.1");
	body_text(&body, "x86_64");
	body_text(&body, "");
	body_text(&body, "");
	meta(packets, KTOP_EVENT_guest, &body);
}

static void tell_thread(struct packets *packets, uint32_t thread, uint32_t process, const char *name)
{
	const struct ktop_wire_process owner = { .process = process };
	const struct ktop_wire_thread wire = { .thread = thread, .process = process };
	struct body body = { .size = 0 };

	body_fixed(&body, &owner, sizeof(owner));
	body_text(&body, name);
	meta(packets, KTOP_EVENT_process, &body);
	body.size = 0;
	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, name);
	meta(packets, KTOP_EVENT_thread, &body);
}

static void tell_call(struct packets *packets, uint64_t number, const char *name, const char *fields)
{
	const struct ktop_wire_number named = { .event = KTOP_EVENT_syscall_enter, .number = number };
	const struct ktop_wire_arguments wire = { .event = KTOP_EVENT_syscall_enter, .number = number };
	struct body body = { .size = 0 };

	body_fixed(&body, &named, sizeof(named));
	body_text(&body, name);
	meta(packets, KTOP_EVENT_number, &body);
	body.size = 0;
	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, fields);
	meta(packets, KTOP_EVENT_arguments, &body);
}

static void tell_old_hook(struct packets *packets)
{
	const struct ktop_wire_descriptor wire = { .event = OLD_ENTER, .stream = KTOP_TRACE };
	struct body body = { .size = 0 };

	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, "syscall_enter");
	body_text(&body, "u32 thread;u32 number;");
	meta(packets, KTOP_EVENT_descriptor, &body);
}

/* A packet with one event, `us` behind the beginning. */
static void send(struct packets *packets, uint32_t cpu, uint64_t us, uint16_t id, const void *fields, size_t size)
{
	struct body body = { .size = 0 };

	body_fixed(&body, fields, size);
	packets_begin(packets, KTOP_TRACE, cpu, BEGIN + us * US);
	packets_event(packets, BEGIN + us * US, id, &body);
	packets_end(packets, BEGIN + us * US);
}

static void enter(struct packets *packets, uint32_t cpu, uint64_t us, struct ktop_wire_syscall_enter fields)
{
	send(packets, cpu, us, KTOP_EVENT_syscall_enter, &fields, sizeof(fields));
}

static void leave(struct packets *packets, uint32_t cpu, uint64_t us, uint32_t thread, uint32_t number, int64_t result)
{
	const struct ktop_wire_syscall_exit fields = {
		.thread = thread, .number = number, .result = (uint64_t)result,
	};

	send(packets, cpu, us, KTOP_EVENT_syscall_exit, &fields, sizeof(fields));
}

static void make_calls(struct packets *packets)
{
	const uint32_t old[] = { 19, GETPRIORITY };

	enter(packets, 0, 10, (struct ktop_wire_syscall_enter) { .thread = 17, .number = GETPRIORITY,
		.arg0 = 0xdead00000000, .arg1 = 0xffffff9c, .arg2 = 99 });
	enter(packets, 1, 12, (struct ktop_wire_syscall_enter) { .thread = 18, .number = OPEN,
		.arg0 = 0x7ffe00001000, .arg1 = 0x80000, .arg2 = 0xabc01a4 });
	leave(packets, 0, 13, 17, GETPRIORITY, 20);
	leave(packets, 0, 20, 18, OPEN, -2);		/* on another CPU */
	enter(packets, 1, 30, (struct ktop_wire_syscall_enter) { .thread = 18, .number = UNTOLD, .arg0 = 1,
		.arg5 = 0x10000 });
	leave(packets, 1, 31, 18, UNTOLD, 0x7f0000000000);
	enter(packets, 0, 40, (struct ktop_wire_syscall_enter) { .thread = 17, .number = OPEN });
	packets_discard(packets, KTOP_TRACE, 0, 12);
	leave(packets, 0, 50, 17, OPEN, 3);
	send(packets, 0, 60, OLD_ENTER, old, sizeof(old));
	leave(packets, 0, 62, 19, GETPRIORITY, -4096);
	enter(packets, 0, 70, (struct ktop_wire_syscall_enter) { .thread = 19, .number = EXIT, .arg0 = 1 });
	enter(packets, 1, 80, (struct ktop_wire_syscall_enter) { .thread = 17, .number = OPEN });
}

static const char *record(const char *name, const char *kernel)
{
	struct packets *packets = packets_new(1);
	const char *folder = scratch_path(name);

	tell_guest(packets, kernel);
	tell_thread(packets, 17, 5, "calls");
	tell_thread(packets, 18, 6, "o\x1b[2Jther");
	tell_call(packets, GETPRIORITY, "getpriority", "s32 which;s32 who;");
	tell_call(packets, OPEN, "open", "u64 filename;s32 flags;u16 mo\x1b" "de;");
	tell_call(packets, UNTOLD, "un\x1b\ntold", "nonsense");
	tell_call(packets, EXIT, "exit", "s32 status;");
	tell_old_hook(packets);
	make_calls(packets);
	recordings_write(folder, packets);
	packets_free(packets);
	return folder;
}

/* What is written of those, as one text. Returns how many calls. */
static uint64_t written(const char *folder, const char *whom, bool summary, char **text)
{
	size_t size;
	FILE *out = open_memstream(text, &size);
	struct call_lines *lines = call_lines_new(whom, summary, out);
	const struct session_options options = { .calls = call_lines_watcher(lines) };
	char *error = NULL;
	struct recording *recording = recording_new(folder, &error);
	struct session *session = session_new(replay_new(recording, &(struct replay_options) { .at_once = true }),
		&options, &error);
	uint64_t count, late = util_now() + LATE_SECONDS * NS_PER_SECOND;

	assert_non_null(session);
	call_lines_of(lines, session);
	while (!session_over(session) && util_now() < late)	/* a thread looks for the kernel's file first */
		session_step(session, 1);
	assert_true(session_over(session));
	call_lines_end(lines);
	count = call_lines_count(lines);
	session_free(session);
	call_lines_free(lines);
	fclose(out);
	return count;
}

static void is_written(const char *folder, const char *whom, bool summary, uint64_t calls, const char *expected)
{
	char *text;

	assert_int_equal(written(folder, whom, summary, &text), calls);
	assert_string_equal(text, expected);
	free(text);
}

#define FIRST "    1.000010  calls/17  getpriority(which=0, who=-100) = 20 <3.00us>\n"
#define SECOND "    1.000012  o?[2Jther/18  open(filename=0x7ffe00001000, flags=524288, field_2=420) = -2"
#define THIRD "    1.000030  o?[2Jther/18  un??told(1, 0, 0, 0, 0, 0x10000) = 0x7f0000000000 <1.00us>\n"
#define LOST "    1.000040  calls/17  open(filename=0, flags=0, field_2=0) = ? <end not known>\n"
#define LOSS "    1.000050  -- 12 events of CPU 0 were lost here --\n"
#define OLD "    1.000060  thread 19  getpriority(...) = -4096 <2.00us>\n"
#define LAST "    1.000080  calls/17  open(filename=0, flags=0, field_2=0 <unfinished ...>\n"
#define GONE "    1.000070  thread 19  exit(status=1) = ?\n"

static void calls_are_lines(void **state)
{
	const char *folder = record("lines", "Linux");

	(void)state;
	is_written(folder, NULL, false, 7, FIRST SECOND " ENOENT <8.00us>\n" THIRD LOSS LOST OLD GONE LAST);
	is_written(record("other", "demo"), "18", false, 2, SECOND " <8.00us>\n" THIRD LOSS);
}

static void those_of_a_process_or_thread(void **state)
{
	static const char *const first[] = { "5", "17", "calls", "calls/17" };
	const char *folder = record("whom", "Linux");

	(void)state;
	for (int i = 0; i < 4; i++)
		is_written(folder, first[i], false, 3, FIRST LOSS LOST LAST);
	is_written(folder, "call", false, 0, LOSS);
}

static void a_summary_has_a_row_for_each_call(void **state)
{
	(void)state;
	is_written(record("summary", "Linux"), NULL, true, 6,
		"    CALLS    ERRORS    TOTAL      p50      p99      MAX  CALL\n"
		"        1         1   8.00us   8.00us   8.00us   8.00us  open (and 1 whose end was lost)\n"
		"        2         0   5.00us   2.00us   2.98us   3.00us  getpriority\n"
		"        1         0   1.00us   1.00us   1.00us   1.00us  un??told\n"
		"        1         0        -        -        -        -  exit\n"
		"(12 events were lost: calls are missing)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_lines),
		cmocka_unit_test(those_of_a_process_or_thread),
		cmocka_unit_test(a_summary_has_a_row_for_each_call),
	};

	return cmocka_run_group_tests_name("call_lines", tests, NULL, NULL);
}
