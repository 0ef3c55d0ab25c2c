/* SPDX-License-Identifier: MIT */
/*
 * What the states of a VM and of the link to its guest are called, on the screen and in messages: each state has
 * its words here alone.
 */
#ifndef STATE_WORDS_H
#define STATE_WORDS_H

#include "agent/vm/qmp/qmp.h"
#include "link.h"

struct state_words {
	const char *name;		/* "port taken", "VM paused": for the header */
	const char *brief;		/* "taken", "paused": for a tab */

	/* Why nothing is to be seen, and what to do, in sentences; {names} of keys are in them. NULL: no reason. */
	const char *why, *what_to_do;

	/* For the end of a message: what is wrong, and what to do. NULL: nothing is, as far as this tells. */
	const char *trouble;
};

const struct state_words *state_words_of_link(enum link_state state);
const struct state_words *state_words_of_vm(enum vm_state state);

#endif
