/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/profiler.h"
#include "agent/session/session.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "command.h"
#include "live_guest.h"

enum { STEP_MS = 20 };

struct guest_answer {
	bool there, ok;			/* it has come; the guest obeyed */
	char *text;
};

static void answered(void *context, bool ok, const char *text)
{
	struct guest_answer *answer = context;

	answer->there = true;
	answer->ok = ok;
	answer->text = util_copy(text, strlen(text));
}

void guest_step(struct live_guest *guest)
{
	command_step(guest->session, guest->service, STEP_MS);
	command_tell_failures(guest->session);
	fflush(stdout);
}

static bool await_answer(struct live_guest *guest, struct guest_answer *answer, char **error)
{
	while (!answer->there && !command_stopped())
		guest_step(guest);
	session_forget(guest->session, answer);
	if (!answer->there)
		return util_fail(error, "no answer: interrupted; ask again");
	if (!answer->ok)
		*error = util_copy(answer->text, strlen(answer->text));
	return answer->ok;
}

bool guest_ask(struct live_guest *guest, const char *line, char **text, char **error)
{
	struct guest_answer answer = { 0 };
	bool good;

	session_ask(guest->session, line, &(struct command_sink) { .context = &answer, .answered = answered });
	good = await_answer(guest, &answer, error);
	if (good && text)
		*text = answer.text;
	else
		free(answer.text);
	return good;
}

bool guest_profile(struct live_guest *guest, bool on, char **error)
{
	struct guest_answer answer = { 0 };
	bool good;

	session_profile(guest->session, on, &(struct command_sink) { .context = &answer, .answered = answered });
	good = await_answer(guest, &answer, error);
	free(answer.text);
	return good;
}

bool guest_is_gone(const struct live_guest *guest)
{
	enum vm_state vm = session_source(guest->session).vm;

	return vm == VM_GONE || (vm == VM_UNKNOWN && session_link(guest->session) == LINK_LOST);
}

static bool is_told(const struct live_guest *guest)
{
	const struct epoch *epoch = session_epoch(guest->session);

	return session_link(guest->session) == LINK_UP && epoch && epoch->known && epoch->status_known;
}

bool guest_await(struct live_guest *guest, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)GUEST_CONNECT_MS * NS_PER_MS;

	while (!is_told(guest) && !guest_is_gone(guest) && util_now() < deadline && !command_stopped())
		guest_step(guest);
	guest->epoch = session_epoch(guest->session);
	if (is_told(guest))
		return true;
	if (command_stopped())
		return util_fail(error, "nothing traced: interrupted; start it again");
	if (guest_is_gone(guest))
		return util_fail(error, "nothing traced: the VM is gone; start it again");
	return util_fail(error, "the guest has told nothing of itself in %d s: %s", GUEST_CONNECT_MS / 1000,
		session_source(guest->session).vm == VM_PAUSED ? state_words_of_vm(VM_PAUSED)->trouble :
		session_words(guest->session)->trouble);
}
