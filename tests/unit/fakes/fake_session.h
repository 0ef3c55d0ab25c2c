/* SPDX-License-Identifier: MIT */
/* A stand-in for the real session. It remembers what it was asked. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include <stdbool.h>

#include "agent/session/session.h"
#include "picture.h"
#include "tui/screen/feed.h"
#include "tui/screen/snapshot.h"

struct fake_wanted {			/* of both questions */
	uint64_t window_ns, zero_ns, until_ns;
	struct filter filter;
	enum vitals_cpus cpus;
	uint32_t visible[FUNCTION_ROWS];
	size_t visible_count;
	uint32_t selected;
	bool callers;
};

struct session {
	struct picture *next;		/* what of it was taken is NULL */
	struct session_message message;
	struct fake_wanted wanted, snapped;	/* the newest; that of the newest snapshot */
	int wants, runs, snapshots;
	int subscriptions;		/* how many there are; of these, how many ask now: */
	int asking_vitals, asking_functions;
	bool ran_on, marked;
	int plays;
	struct play played;			/* the newest */
	bool running;			/* as in the picture that was given last */
	char path[SNAPSHOT_NAME], root[48];

	const struct vitals *took_vitals;	/* the last that a screen took, not for marks; a test clears it */
	const struct function_table *took_functions;	/* likewise */

	struct subscription *feed[FEED_QUESTIONS];	/* of fake_feed */
	struct function_request asked[FEED_QUESTIONS];	/* likewise; of the larger kind */
};

void fake_keep(struct fake_wanted *wanted, const struct request *request);	/* what it asks */
struct feed fake_feed(struct session *session);		/* of it alone */
struct excerpt fake_excerpt(const struct session *session);	/* as a screen has asked for it last */
void fake_end(struct session *session);			/* what it was given, and its feed */

#endif
