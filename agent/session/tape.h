/* SPDX-License-Identifier: MIT */
/*
 * A recording of what a session gets from here on. A session may have several. To be made and ended
 * by the thread that drives the session; the session outlives it.
 */
#ifndef TAPE_H
#define TAPE_H

#include <stdbool.h>

#include "agent/wire/record.h"

struct session;
struct tape;

/* Into a folder of record_folder. The guest is asked to tell all of itself again, if it has told. */
struct tape *tape_new(struct session *session, const struct record_options *options);

bool tape_failed(const struct tape *tape);	/* nothing more is recorded: tape_close says why */
struct record_sums tape_sums(const struct tape *tape);

/* Nothing more is taken: is its end still in work? */
bool tape_writes(struct tape *tape);

/* Waits until all is on the disk, and frees. False with `error` set when anything was not written. */
bool tape_close(struct tape *tape, char **error);
void tape_leave(struct tape *tape);		/* frees, and leaves its end in work. NULL: nothing */

#endif
