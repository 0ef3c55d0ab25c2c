/* SPDX-License-Identifier: MIT */
/*
 * A recording of the packets that a session gets from now on. A session may have several captures. The ingest thread
 * makes all calls. The session must outlive the capture.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdbool.h>

#include "agent/wire/recording_writer.h"

struct session;
struct capture;

/*
 * Records into the folder of the options, which recording_folder has made. If a boot is known, its guest is asked for
 * the meta events again.
 */
struct capture *capture_new(struct session *session, const struct recording_options *options);

bool capture_failed(const struct capture *capture);	/* nothing more is recorded; capture_close will say why */
struct recording_sums capture_sums(const struct capture *capture);	/* what was recorded so far */

/* Stops recording. True: the end is still being written. */
bool capture_writes(struct capture *capture);

/* Waits until all is on the disk, and frees the capture. False with `error` set when something was not written. */
bool capture_close(struct capture *capture, char **error);
void capture_leave(struct capture *capture);		/* frees it and does not wait for the end; NULL is allowed */

#endif
