/* SPDX-License-Identifier: MIT */
/* The thread that reads the port never waits, whatever QEMU, the guest or the disk does. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/session/session.h"
#include "agent/vm/port_socket.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/live_session.h"
#include "no_waits.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/session_fixture.h"
#include "watched.h"

enum { STEPS = 4000, HURRY_MS = 250 };
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
	watched->link = link_new(scratch_path(name), NULL, true, LINK_HOOK);
	free(name);
}

static void end(struct watched *watched)
{
	link_free(watched->link);
	fake_qmp_free(watched->fake);
	free(watched->machine.text);
}

/* Leaves the link. Whatever is under way, that takes no longer than the time that is given. */
static void leave(struct watched *watched, int timeout_ms, const char *what, int number)
{
	uint64_t now = util_now() + watched->later, most = (uint64_t)timeout_ms * NS_PER_MS;

	no_waits_begin(0);
	link_leave(watched->link, now, timeout_ms);
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
	leave(&watched, (int)(PATIENCE_NS / NS_PER_MS), "a fair one", 0);
	assert_null(link_stays(watched.link));
	count = fake_qmp_answered(watched.fake);
	end(&watched);
	return count;
}

/* A QEMU that says nothing more is waited for, and the remark says so. */
static bool is_over(const struct watched *watched)
{
	char text[256];

	link_remark(watched->link, link_port_state(watched->link), text, sizeof(text));
	return link_settled(watched->link) || strstr(text, ": QEMU hangs, ");
}

/* The try ends, with or without an error. Until then the remark says what the link waits for. */
static void check_try(enum fake_oddity odd, int from)
{
	static const char *const names[] = { "fair", "silent", "drips", "lies" };
	struct watched watched;
	char text[256];

	begin(&watched, odd, from);
	step(&watched, 0);
	for (int i = 0; i < STEPS && !is_over(&watched); i++) {
		link_remark(watched.link, link_port_state(watched.link), text, sizeof(text));
		if (!text[0] && !link_settled(watched.link))
			fail_msg("%s from %d: not said what is waited for", names[odd], from);
		step(&watched, fake_qmp_answered(watched.fake) >= from ? 200 * NS_PER_MS : 0);
	}
	if (!is_over(&watched))
		fail_msg("%s from %d: the try does not end", names[odd], from);
	leave(&watched, HURRY_MS, names[odd], from);
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
		leave(&watched, HURRY_MS, "left at", from);
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
	struct session *session = live_session(path, NULL, &(struct session_options) { 0 }, NULL);
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

static void test_port_beside_an_odd_qmp(void **state)
{
	(void)state;
	for (int odd = FAKE_SILENT; odd < FAKE_ODDITIES; odd++) {
		const char *path = scratch_path("beside.qmp");
		struct fake_script script = { .greeting = fake_greeting, .answers = machine };
		struct fake_qmp *fake = fake_qmp_listen(&script, path);
		struct fixture fixture = fixture_begin_qmp(path);
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
	while (fixture.guest->packets->size - sent < PORT_SOCKET_ROOM / 2)
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

/* ---- programs that the guest names, on a disk that does not answer ---- */

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
		cmocka_unit_test(test_a_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
