/* SPDX-License-Identifier: MIT */
/*
 * What threads do now, or did at the end of a range that is past, by the guest's trace events: as words, and as a list
 * of all of which that is known.
 */
#ifndef THREAD_NOW_H
#define THREAD_NOW_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trace/pairs.h"
#include "answer.h"
#include "event_table.h"

struct epoch;
struct thread_states;

enum { THREAD_NOW = 1024, THREAD_BRIEF = 96, THREAD_TITLE = 96 };	/* bytes */

/*
 * "lock log 51ms, journal/10"; "on cpu1 3ms"; "sleep 2.3s, syscall read"; "not known: events lost"; "": not known for
 * another reason.
 */
void thread_now_brief(const struct epoch *epoch, const struct thread_states *states, uint64_t thread,
	char brief[THREAD_BRIEF]);

/*
 * "sleeps for 2.3s in syscall read; woken last by pulse/5"; of one that waits for a lock, the whole chain of those who
 * hold one and wait for the next. `next`: who holds the lock, or woke it. "": not known; of `now`, only where no events
 * were lost that could tell it.
 */
void thread_now(const struct epoch *epoch, const struct thread_states *states, uint64_t thread, char now[THREAD_NOW],
	char next[THREAD_TITLE]);

/* For so many ns it has waited at this time, for a lock, a wake or a CPU; 0: it does not, or that is not known. */
uint64_t thread_now_waits(const struct pairs_thread *is, uint64_t at);

struct thread_row {
	uint32_t thread;
	char title[THREAD_TITLE];
	struct pairs_thread is;
	uint64_t waits;			/* thread_now_waits */
	char call[EVENT_CALLED], lock[EVENT_CALLED];	/* of `is`; "": none, or they have no name */
	char now[THREAD_NOW];
};

/* Its request is a `struct request`; of the excerpt's filter, threads and processes count. */
struct thread_list {
	struct answer answer;
	uint64_t at;			/* guest ns: that moment; 0: no trace event has told anything */
	bool forgot;			/* spans of that time were forgotten: nothing is told */
	bool stopped;			/* it is the last one of the range at which anything was told: tracing ended */
	uint64_t refused;		/* threads for which there was no memory */
	uint32_t count;
	struct thread_row *rows;	/* those that wait longest first */
};

extern const struct answer_kind thread_list_kind;

#endif
