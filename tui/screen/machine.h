/* SPDX-License-Identifier: MIT */
/*
 * One of the machines that a ktop shows. Its session has two readers: the machine's own screen, and the screen over
 * all. A reader asks its own questions while its screen is shown. If neither is shown, only the mark of the machine's
 * tab is asked for. Words of a filter about machines are for the screens: a session gets none of them. The screen's
 * thread makes all calls.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/answers/vitals.h"
#include "agent/session/session.h"
#include "feed.h"

enum reader { READER_OWN, READER_ALL, READERS };	/* its own screen; the screen over all */

struct machine_question {		/* one question of a reader */
	struct subscription *subscription;	/* NULL: not shown, or nothing was asked yet */
	struct request *request;	/* the last one; NULL: nothing is asked */
	struct answer *answer;		/* not taken yet; NULL: none */
	bool awaited;			/* no answer to the last request has come yet */
};

struct machine {
	struct session *session;	/* borrowed */
	struct wakeup *wakeup;		/* borrowed; wakes the screen's thread */
	const char *label;		/* borrowed; its name while the VM's is not known; NULL: none */
	char name[48];			/* "1 web": its number, and the VM's name or the label */
	unsigned number;

	/* from its newest vitals */
	bool known, running;
	enum kept_wish kept;
	enum link_state link;
	enum vm_state vm;
	uint64_t lost;

	enum kept_wish asked;		/* what the user asked of the profiler, until the outcome is told */
	struct machine_question readers[READERS][FEED_QUESTIONS];
	struct subscription *marks;	/* vitals for the tab's mark */
	bool marks_asked;		/* they are asked for: no reader asks for the vitals */
};

/*
 * `number`: of its tab, from 1. The wakeup is sent when an answer waits. Session, label and wakeup must outlive the
 * machine.
 */
void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label, struct wakeup *wakeup);
void machine_clear(struct machine *machine);	/* ends its subscriptions, and frees what it holds */

/* Takes the session's answers. True: a mark has changed, or a reader has a new answer. */
bool machine_step(struct machine *machine);

void machine_ask(struct machine *machine, enum reader reader, enum feed_question question,
	const struct request *request);		/* NULL: asks nothing, for now */
void machine_look_away(struct machine *machine, enum reader reader);	/* its screen is no longer shown */
/* The newest answer, owned by the caller; NULL: none since the last call. */
struct answer *machine_answer(struct machine *machine, enum reader reader, enum feed_question question);

/* As session_snapshot. */
void machine_snapshot(struct machine *machine, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice);
void machine_run_profiler(struct machine *machine, bool on);
bool machine_runs(const struct machine *machine);	/* the profiler: as last asked for, else as is known */
bool machine_message(struct machine *machine, struct session_message *message);	/* the next; false: none */

#endif
