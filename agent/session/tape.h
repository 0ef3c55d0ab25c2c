/* SPDX-License-Identifier: MIT */
/*
 * A recording of the packets that a session gets from now on. A session may have several tapes. The ingest thread makes
 * all calls. The session must outlive the tape.
 */
#ifndef TAPE_H
#define TAPE_H

#include <stdbool.h>

#include "agent/wire/recording_writer.h"

struct session;
struct tape;

/*
 * Records into the folder of the options, which recording_folder has made. If a boot is known, its guest is asked for
 * the meta events again.
 */
struct tape *tape_new(struct session *session, const struct recording_options *options);

bool tape_failed(const struct tape *tape);	/* nothing more is recorded; tape_close will say why */
struct recording_sums tape_sums(const struct tape *tape);	/* what was recorded so far */

/* Stops recording. True: the end is still being written. */
bool tape_writes(struct tape *tape);

/* Waits until all is on the disk, and frees the tape. False with `error` set when something was not written. */
bool tape_close(struct tape *tape, char **error);
void tape_leave(struct tape *tape);		/* frees it and does not wait for the end; NULL is allowed */

#endif
