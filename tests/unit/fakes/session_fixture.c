/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/lease.h"
#include "agent/session/session.h"
#include "agent/source/live.h"
#include "fake_guest.h"
#include "scratch.h"
#include "session_fixture.h"

const char fixture_names[] =
	"0000000000001000 T _start\n0000000000001100 T main_loop\n0000000000001200 T hot\n"
	"0000000000001300 T cold\n0000000000001400 T _end\n";

static struct fixture begin(struct live_options live, const struct session_options *extra)
{
	static int number;
	struct fixture fixture = { .number = number++ };
	struct session_options options = extra ? *extra : (struct session_options) { 0 };
	char *name = util_format("port%d", fixture.number), *error = NULL;

	fixture.port = util_copy(scratch_path(name), strlen(scratch_path(name)));
	fixture.guest = fake_guest_new(fixture.port);
	if (!options.kernel && !options.symbols)
		options.symbols = scratch_text("names", fixture_names);
	live.port = fixture.port;
	fixture.session = session_new(live_new(&live), &options, &error);
	if (!fixture.session)
		fail_msg("%s", error);
	free(name);
	return fixture;
}

struct fixture fixture_begin(const struct session_options *extra)
{
	return begin((struct live_options) { 0 }, extra);
}

struct fixture fixture_begin_qmp(const char *qmp)
{
	return begin((struct live_options) { .qmp = qmp }, NULL);
}

struct fixture fixture_begin_own(const char *qmp, char *(*ended)(void *context, bool *well), void *context)
{
	return begin((struct live_options) { .qmp = qmp, .ended = ended, .ended_context = context }, NULL);
}

void fixture_end(struct fixture *fixture)
{
	session_free(fixture->session);
	fake_guest_free(fixture->guest);
	free(fixture->port);
}

void fixture_step(struct fixture *fixture)
{
	fake_guest_step(fixture->guest);
	session_step(fixture->session, FIXTURE_STEP_MS);
	usleep(FIXTURE_STEP_MS * 1000);
}

static void tell_reply(void *context, bool ok, const char *text)
{
	struct session *session = context;

	if (ok)
		lease_line_obeyed(session_lease(session), text);
	session_say(session, !ok, text);
}

void fixture_command(struct fixture *fixture, const char *line)
{
	const struct command_sink reply = { .context = fixture->session, .answered = tell_reply };

	session_ask(fixture->session, line, &reply);
}

void fixture_await_link(struct fixture *fixture, enum link_state wanted)
{
	for (int i = 0; i < FIXTURE_STEPS && session_link(fixture->session) != wanted; i++)
		fixture_step(fixture);
	assert_int_equal(session_link(fixture->session), wanted);
}

void fixture_await_line(struct fixture *fixture, const char *line)
{
	for (int i = 0; i < FIXTURE_STEPS; i++) {
		if (fake_guest_got(fixture->guest, line))
			return;
		fixture_step(fixture);
	}
	fail_msg("no line %s, but %s", line, fixture->guest->lines);
}

void fixture_await_message(struct fixture *fixture, bool failed, const char *part)
{
	struct session_message message;

	for (int i = 0; i < FIXTURE_STEPS; i++) {
		fixture_step(fixture);
		if (!session_message(fixture->session, &message))
			continue;
		if (!strstr(message.text, part) || message.failed != failed)
			fail_msg("not %s, but %s", part, message.text);
		return;
	}
	fail_msg("no message %s", part);
}

static struct answer *await_answer(struct fixture *fixture, struct subscription *subscription)
{
	struct answer *answer = NULL;

	for (int i = 0; i < FIXTURE_STEPS && !answer; i++) {
		fixture_step(fixture);
		answer = subscription_take(subscription);
	}
	assert_non_null(answer);
	return answer;
}

/* Asks as a new reader does, so that the answer comes at once. */
struct answers *fixture_answers(struct fixture *fixture)
{
	const struct vitals_request vitals = answers_vitals_request();
	const struct function_request functions = answers_function_request();
	struct subscription *readers[2];
	struct answers *answers;

	for (int i = 0; i < 5; i++)
		fixture_step(fixture);
	for (int i = 0; i < 2; i++) {
		readers[i] = session_subscribe(fixture->session, NULL, NULL);
		subscription_ask(readers[i], i ? &functions.request : &vitals.request);
	}
	answers = answers_new(await_answer(fixture, readers[0]), NULL);
	answers->functions = (struct function_table *)await_answer(fixture, readers[1]);
	subscription_leave(readers[0]);
	subscription_leave(readers[1]);
	return answers;
}

void fixture_tell_all(struct fixture *fixture)
{
	fake_guest_facts(fixture->guest, NULL, 0);
	fake_guest_status(fixture->guest, false);
	fake_guest_counts(fixture->guest);
	fake_guest_reply(fixture->guest, true, "hello");
	fixture_await_link(fixture, LINK_UP);
}

void fixture_bring_up(struct fixture *fixture)
{
	fixture_await_line(fixture, "hello");
	fixture_tell_all(fixture);
}
