/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/kernel_names.h"
#include "agent/names/symbols.h"
#include "agent/source/source.h"
#include "session_state.h"

/*
 * What the user gave is read before anything is connected: what is wrong with it is said then. A recording
 * says nothing twice: its kernel's names are read before it is.
 */
bool session_awaits_names(const struct session *session)
{
	if (session->given)
		return !session->named;
	return session_play_state(session).there && session->names && kernel_names_reading(session->names);
}

/* Without a file of the user's: of the image that QMP tells of. */
static void follow_names(struct session *session)
{
	const char *path = session->source->table->facts(session->source).kernel;

	if (session->given || !path || (session->names &&
			strcmp(kernel_names_path(session->names), path) == 0))
		return;
	kernel_names_free(session->names);
	session->names = kernel_names_new(path, session->budget);
}

/* To the present boot. False: it has none, or not yet, and it is said why. */
bool session_give_names(struct session *session)
{
	struct epoch *epoch = session->epoch;
	bool given;

	follow_names(session);
	given = session->names && !kernel_names_error(session->names) &&
		kernel_names_give(session->names, epoch->inputs.symbols);
	if (given) {
		epoch->remark[0] = epoch->refused[0] = '\0';
	} else if (session->names && kernel_names_error(session->names)) {
		symbols_drop_kernel(epoch->inputs.symbols);	/* what was there before */
		util_print(epoch->remark, sizeof(epoch->remark), "no names: %s",
			kernel_names_error(session->names));
	} else if (session->names) {
		util_print(epoch->remark, sizeof(epoch->remark),
			"the kernel's names are being read from %s", kernel_names_path(session->names));
	}
	epoch->starved = epoch->starved || (session->names && kernel_names_starved(session->names));
	return given;
}

/* What came behind the boot's first words: the guest says them again. */
void session_step_names(struct session *session)
{
	struct epoch *epoch = session->epoch;

	follow_names(session);
	if (epoch && symbols_step(epoch->inputs.symbols, &epoch->starved))
		session->changed = true;
	if (!session->names || !kernel_names_step(session->names))
		return;
	session->named = session->named || !kernel_names_error(session->names);
	session->changed = true;
	if (!epoch || !session_give_names(session))
		return;
	session_introduce(session);
	session_greet(session);
}
