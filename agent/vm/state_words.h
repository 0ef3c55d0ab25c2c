/* SPDX-License-Identifier: MIT */
/*
 * The words for the states of a VM, and of the link to its guest, on the screen and in messages. Each state
 * has its words only here.
 */
#ifndef STATE_WORDS_H
#define STATE_WORDS_H

#include "agent/vm/qmp/qmp.h"
#include "link.h"

struct state_words {
	const char *name;		/* "port taken", "VM paused": for the header */
	const char *brief;		/* "taken", "paused": for a tab */

	/* Why nothing is seen, and what to do, in sentences; "{quit}" stands for a key. NULL: there is no reason. */
	const char *why, *what_to_do;

	/* For the end of a message: what is wrong, and what to do. NULL: nothing is wrong with the link or the VM. */
	const char *trouble;
};

/* `name` and `brief`, the same whoever samples, are there with BY_HOOK. LINK_UP with BY_PLUGIN, BY_STUB: it is off. */
const struct state_words *state_words_of_link(enum link_state state, enum link_by by);
const struct state_words *state_words_of_vm(enum vm_state state);

#endif
