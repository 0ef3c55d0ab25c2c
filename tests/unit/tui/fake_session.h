/* SPDX-License-Identifier: MIT */
/* A stand-in for the real session. It remembers what it was asked. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include <stdbool.h>

#include "agent/answers/annotation.h"
#include "agent/answers/call_tree.h"
#include "agent/answers/event_table.h"
#include "agent/answers/function_page.h"
#include "agent/answers/heat_map.h"
#include "agent/answers/memory_table.h"
#include "agent/answers/timeline.h"
#include "agent/session/session.h"
#include "tests/unit/fakes/answers.h"
#include "tui/screen/screen.h"
#include "tui/screen/tabs.h"

struct fake_wanted {			/* of both questions */
	uint64_t window_ns, zero_ns, until_ns;
	int64_t back_ns;
	bool moved;
	struct filter filter;
	enum group_by by;
	struct baseline base;
	enum vitals_cpus cpus;
	uint32_t visible[FUNCTION_ROWS];
	size_t visible_count;
	uint32_t selected;
	bool callers, ran;
};

union fake_request {			/* of any kind that a screen asks */
	struct request request;
	struct vitals_request vitals;
	struct function_request functions;
	struct call_tree_request tree;
	struct function_page_request page;
	struct annotation_request annotation;
	struct heat_request heat;
	struct event_request events;
	struct timeline_request timeline;
	struct memory_request memory;
};

struct session {
	struct answers *next;		/* what of it was taken is NULL */
	struct session_message message;
	struct fake_wanted wanted, snapped;	/* the newest; that of the newest snapshot */
	int wants, runs, snapshots;
	int subscriptions;		/* how many there are; of these, how many ask now: */
	int asking_vitals, asking_functions, asking_line;
	bool ran_on, marked;
	int plays, marks, keeps, autopsies;
	char mark[128], function[128];	/* the newest; the name of the last that was to be traced */
	struct play played;			/* the newest */
	bool running;			/* as in the answers that were given last */
	char path[SNAPSHOT_NAME], root[48];
	const struct set_format *set;	/* of the newest snapshot; NULL: it is folded */
	size_t format;			/* of fake_feed's snapshots */

	const struct answer_kind *viewed;	/* asked for last, besides vitals and time line; NULL: nothing */
	const struct vitals *took_vitals;	/* the last that a screen took, not for marks; a test clears it */
	const struct function_table *took_functions;	/* likewise; the screen may not have kept it */
	enum group_by took_by;
	uint64_t took_boot;
	bool took_begun;

	struct call_tree_request tree;	/* the newest request for one; `kind` NULL: none */
	struct function_page_request page;	/* likewise */
	struct annotation_request annotation;	/* likewise */
	struct heat_request heat;	/* likewise */
	struct event_request events;	/* likewise */
	struct timeline_request timeline;	/* likewise */
	struct memory_request memory;	/* likewise */
	struct time_line_request line;	/* likewise */
	struct subscription *feed[FEED_QUESTIONS];	/* of fake_feed */
	union fake_request asked[FEED_QUESTIONS];	/* likewise */
};

void fake_keep(struct fake_wanted *wanted, const struct request *request);	/* what it asks */
struct feed fake_feed(struct session *session);		/* of it alone */
struct excerpt fake_excerpt(const struct session *session);	/* as a screen has asked for it last */
void fake_give(struct session *session, const struct moment *moment);	/* real answers to all that it was asked */
void fake_end(struct session *session);			/* what it was given, and its feed */

#endif
