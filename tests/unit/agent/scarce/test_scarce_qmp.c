/* SPDX-License-Identifier: MIT */
/* Memory is refused while ktop speaks QMP: to a machine that has the port, and to one into which it is plugged. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/session/session.h"
#include "agent/source/live.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_machine.h"
#include "tests/unit/fakes/fake_qmp.h"
#include "tests/unit/fakes/scratch.h"
#include "scarce.h"
#include "scenes.h"

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
	const struct live_options live = {
		.qmp = scratch_path("qmp"), .no_plug = !plug, .choice = plug ? LINK_HOOK : LINK_AUTO,
	};
	const struct session_options options = { .symbols = scene_names(), .patient = true };
	char *error = NULL;

	fixture->session = session_new(live_new(&live), &options, &error);
	if (!fixture->session)
		fail_msg("%s", error);
}

/* Steps until the guest has told of itself; the session tries again what fails. */
static void connect_by_qmp(void *context)
{
	char *port = util_format("%s", scratch_path("port")), *text = util_format("\"return\": "
		"[{\"label\": \"c\", \"filename\": \"disconnected:unix:%s,server=on\"}]", port);
	const struct fake_answer script[] = {
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
	struct answers *answers;
	pid_t server;

	(void)context;
	scarce_pause(true);
	server = serve(&(struct fake_script) { .greeting = fake_greeting, .answers = script },
		scratch_path("qmp"));
	unlink(port);
	fixture.guest = fake_guest_new(port);
	scarce_pause(false);
	begin_qmp(&fixture, false);
	scene_live(&fixture);
	scarce_end();

	fake_guest_sample(fixture.guest, 0, 7, HOT, CALLER);
	answers = fixture_answers(&fixture);
	assert_int_equal(scene_self(answers, "hot"), 7);
	answers_free(answers);
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
		scene_end_if_failed(fixture.session);
	}
	session_leave(fixture.session, util_now() + 1000 * NS_PER_MS);
	scarce_end();
	assert_null(session_stays(fixture.session));
	session_free(fixture.session);
	dismiss(server);
}

int main(int count, char **arguments)
{
	static const struct scene scenes[] = {
		{ "connecting by QMP", connect_by_qmp },
		{ "plugging in", plug_in },
	};

	return scenes_main(scenes, sizeof(scenes) / sizeof(scenes[0]), count, arguments);
}
