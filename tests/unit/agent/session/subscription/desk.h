/* SPDX-License-Identifier: MIT */
/*
 * A desk at which readers ask. The kind of question is made up. Time passes while an answer is made, and while nothing
 * is due.
 */
#ifndef DESK_H
#define DESK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/session/subscription.h"

struct wakeup;
struct epoch;

enum {
	READERS = 24,
	PAUSE_MS = 100,			/* between two answers to a question whose reader is alone */
};

struct desk {
	struct mailbox *mailbox;
	struct subscriptions *all;
	struct subscription *readers[READERS];
	struct wakeup *wakeups[READERS];
	uint64_t news;
	struct epoch *present;		/* the present boot; NULL: none was seen yet */
	uint64_t spent;			/* what each answer spends of the thread's processor time, in ns */
	bool partial;			/* all answers are */
	bool empty;			/* all answers are without samples */
	void (*making)(struct desk *desk);	/* called while an answer is made; may be NULL */

	uint32_t made[READERS];		/* answers */
	uint64_t answering;		/* ns that all answers took */
	struct {
		const struct epoch *epoch;
		bool past;
	} about[READERS];		/* the boot that each reader's last answer is about */
	atomic_int living;		/* answers that exist; atomic: readers free theirs in threads of their own */
};

/* The only desk, with so many readers. */
struct desk *desk_open(size_t readers);
void desk_close(struct desk *desk);

void desk_ask(struct desk *desk, uint32_t reader, uint32_t cost_us);	/* a question whose answer takes that long */

/* Acts as the ingest thread: answers for a turn, once a reader is due. There is always something new. */
void desk_serve(struct desk *desk);

/* Takes an answer, and checks that it is this reader's. */
void desk_take(struct desk *desk, uint32_t reader);
bool desk_woken(const struct desk *desk, uint32_t reader);	/* an answer waits for this reader */

#endif
