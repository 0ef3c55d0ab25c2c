/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/profiler.h"
#include "agent/names/symbols.h"
#include "agent/session/session.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "command.h"
#include "live_guest.h"

enum {
	STEP_MS = 20,
	FORCE_MS = 10000,		/* longest wait until QEMU has translated anew */
	NAMES_MS = 60000,		/* longest wait for the kernel's names, and for where it runs */
};

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

/* True also where nothing can be told: the kernel is no Linux. */
static bool are_told(const struct live_guest *guest, char missing[GUEST_MISSING])
{
	const struct symbols *symbols = guest->epoch->inputs.symbols;

	return kernel_watch_has_told(guest->epoch->watch, missing, GUEST_MISSING) ||
		(symbols_kernel_is_placed(symbols) && !session_reads_names(guest->session) &&
		!symbols_linux_kernel(symbols));
}

bool guest_await_places(struct live_guest *guest, char missing[GUEST_MISSING], char **error)
{
	uint64_t deadline = util_now() + (uint64_t)NAMES_MS * NS_PER_MS;

	while (!are_told(guest, missing) && !guest_is_gone(guest) && util_now() < deadline && !command_stopped() &&
			session_epoch(guest->session) == guest->epoch)
		guest_step(guest);
	if (command_stopped())
		return util_fail(error, "nothing traced: interrupted; start it again");
	if (guest_is_gone(guest) || session_epoch(guest->session) != guest->epoch)
		return util_fail(error, "nothing traced: the guest has gone or restarted; start it again");
	return are_told(guest, missing) || util_fail(error, "nothing traced: in %d s no names of the kernel's "
		"functions were found, or not where it runs; name its file by --kernel", NAMES_MS / 1000);
}

bool guest_await_force(struct live_guest *guest, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)FORCE_MS * NS_PER_MS;
	bool good;

	do {
		free(*error);
		*error = NULL;
		good = guest_ask(guest, "function", NULL, error);
	} while (!good && util_now() < deadline && !command_stopped() && !guest_is_gone(guest));
	return good;
}
