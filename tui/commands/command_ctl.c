/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/service/control_client.h"
#include "agent/session/session.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "command.h"

enum {
	STEP_MS = 50,			/* longest wait of a step */
	CONNECT_MS = 15000,		/* longest wait for the guest to tell of itself */
	ANSWER_MS = 25000,		/* longest wait for a live ktop's answer: it may wait for the guest itself */
};

struct ctl_answer {				/* the guest's */
	bool there, ok;			/* it has come; the guest obeyed */
	char *text;
};

static void answered(void *context, bool ok, const char *text)
{
	struct ctl_answer *answer = context;

	answer->there = true;
	answer->ok = ok;
	answer->text = util_copy(text, strlen(text));
}

/* Prints the answer, or the error, and frees it. Returns the exit status. */
static int finish(bool ok, char *text)
{
	if (!ok)
		return command_fail(text);
	command_print(stdout, text);
	return COMMAND_DONE;
}

static int ask_live(const char *live, char *const *words, size_t count)
{
	char **asked = util_alloc((count + 1) * sizeof(*asked)), *answer, *error = NULL;
	struct control_question question;
	char name[] = "ctl";
	bool ok = false;
	size_t size;

	asked[0] = name;
	memcpy(asked + 1, words, count * sizeof(*asked));
	question = (struct control_question) { .words = asked, .count = count + 1,
		.deadline = util_now() + (uint64_t)ANSWER_MS * NS_PER_MS };
	answer = control_client_ask(live, &question, &ok, &size, &error);
	free(asked);
	return answer ? finish(ok, answer) : command_fail(error);
}

/* Without a hook, whoever samples from outside answers in its place. */
static void tell_who(struct session *session)
{
	enum sampler sampler = session_epoch(session)->status.sampler;

	if (sampler == SAMPLER_STUB)
		command_tell(util_format("no hook has answered: QEMU's gdb stub did; a kernel with the hook answers "
			"for itself"));
	else if (sampler == SAMPLER_OUTSIDE)
		command_tell(util_format("no hook has answered: the plugin in QEMU did; a kernel with the hook answers "
			"for itself"));
}

static int ask_guest(struct session *session, const char *line)
{
	struct ctl_answer answer = { 0 };
	const struct command_sink sink = { .context = &answer, .answered = answered };
	uint64_t deadline = util_now() + (uint64_t)CONNECT_MS * NS_PER_MS;

	while (session_link(session) != LINK_UP && session_source(session).vm != VM_GONE && util_now() < deadline &&
			!command_stopped())
		session_step(session, STEP_MS);
	if (session_source(session).vm == VM_GONE)
		return command_fail(util_format("not sent: the VM is gone; start it again"));
	if (session_link(session) != LINK_UP && command_stopped())
		return command_fail(util_format("not sent: interrupted; ask again"));
	if (session_link(session) != LINK_UP)
		return command_fail(util_format("the guest has told nothing of itself in %d s: %s",
			CONNECT_MS / 1000, session_source(session).vm == VM_PAUSED ?
			state_words_of_vm(VM_PAUSED)->trouble :
			session_words(session)->trouble));
	session_ask(session, line, &sink);
	while (!answer.there && !command_stopped())
		session_step(session, STEP_MS);
	session_forget(session, &answer);
	if (!answer.there)
		return command_fail(util_format("no answer: interrupted; ask again"));
	tell_who(session);
	return finish(answer.ok, answer.text);
}

static int attach(const struct attach_options *options, char *const *words, size_t count)
{
	struct session *session;
	char *error = NULL, *line, *live;
	int status;

	command_hold_signals();
	session = command_attach_to(options, &(struct command_wait) { .ns = CONNECT_MS * NS_PER_MS }, NULL, &error);
	if (!session) {
		live = command_overtaken(options, &error);
		status = live ? ask_live(live, words, count) : command_fail(error);
		free(live);
		return status;
	}
	line = util_join(words, count, " ");
	status = ask_guest(session, line);
	free(line);
	command_detach(session);
	return status;
}

static int run(char *const *words, size_t count)
{
	struct attach_options options = { .live.qmp = NULL };
	uint32_t given = 0;
	const struct option_set set = { .rows = command_attach, .into = &options, .given = &given };
	char *error = NULL, *live;
	size_t used;
	int status;

	if (!options_parse(words, count, &set, 1, &used, &error))
		return command_usage(&command_ctl, error);
	if (used == count)
		return command_usage(&command_ctl, util_format("nothing to send: no words for the "
			"guest were given"));
	live = control_client_find(command_socket(&options.live));
	if (live)
		status = command_not_beside(&set, 1) ? COMMAND_USAGE :
			ask_live(live, words + used, count - used);
	else if (command_socket(&options.live))
		status = attach(&options, words + used, count - used);
	else
		status = command_which(&command_ctl);
	free(live);
	return status;
}

const struct command command_ctl = {
	.name = "ctl",
	.words = "[options] WORDS...",
	.help = "Sends a control line to the guest's hook, prints its answer; `help` lists them.",
	.options = { { "Which VM (default: that of the only live ktop):", command_attach } },
	.run = run,
};
