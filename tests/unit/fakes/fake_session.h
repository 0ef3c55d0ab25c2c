/* SPDX-License-Identifier: MIT */
/* A session that remembers what it was asked, in the place of the real one. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include <stdbool.h>

#include "agent/session/session.h"
#include "tui/screen/feed.h"
#include "tui/screen/snapshot.h"

struct session {
	struct picture *next;
	struct session_message message;
	struct session_wish wish, snapped;	/* the newest; that of the newest snapshot */
	int wishes, runs, snapshots;
	bool ran_on, marked;
	int plays;
	struct play played;			/* the newest */
	bool running;			/* as the picture given last has it */
	char path[SNAPSHOT_NAME], root[48];
};

struct feed fake_feed(struct session *session);		/* of it alone */

#endif
