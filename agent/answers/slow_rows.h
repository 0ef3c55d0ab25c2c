/* SPDX-License-Identifier: MIT */
/*
 * The spans of a name that took longest in a range of time, and what their threads did meanwhile. Those of which rows
 * are kept (span_rows.h) are the longest of all; before these begin, the longest of those that were kept of each minute
 * (slowest.h). Only these, too, have what calls and pairs of other events tell: arguments and a result, or fields.
 */
#ifndef SLOW_ROWS_H
#define SLOW_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/guest/call_text.h"
#include "agent/trace/slowest.h"

struct epoch;

enum { SLOW_NAMES = 64 };		/* of one question, at most */
/* Bytes of texts. */
enum { SLOW_TITLE = 64, SLOW_CALLED = 48, SLOW_NAME = SLOW_CALLED + SPAN_TEXT, SLOW_WAITED = 160, SLOW_PARTS = 512 };

#define SLOW_ALL UINT64_MAX
struct slow_of {			/* whose: as a row of event_table.h */
	enum span_kind kind;
	uint64_t number;
	uint64_t part;			/* SLOW_ALL: all */
};

struct slow_row {
	struct slow_of of;
	char called[SLOW_CALLED];	/* as in struct event_row */
	uint64_t begin, end;		/* guest ns */
	uint32_t thread, cpu;		/* EVENT_NONE: of no thread */
	uint32_t machine;		/* of many: on which it was, by its place among them */
	char title[SLOW_TITLE];		/* of the thread */
	/* Of its time, ns in which the thread ran, interrupts among them, slept, was blocked, and waited for a CPU. */
	uint64_t ran, slept, blocked, ready;
	uint64_t unknown;		/* what is left of its time */
	uint64_t locked;		/* beside these: it waited for a lock, asleep or spinning */
	uint64_t lock, lock_ns;		/* the number of the lock for which it waited longest, and how long; 0: none */
	char lock_name[SLOW_NAME];	/* "lock inode"; "": none */
	uint32_t holder;		/* who held that in the longest of these waits; EVENT_NONE: not known */
	char holder_title[SLOW_TITLE];
	/* While it waited for a CPU, that one ran this thread longest, for so long; EVENT_NONE: it was idle. */
	uint32_t ahead;
	uint64_t ahead_ns;		/* 0: not known, or it did not wait */
	char ahead_title[SLOW_TITLE];
	struct slow_named {		/* likewise, of interrupts and softirqs, whose time is also that of a thread */
		enum span_kind kind;
		uint64_t number, ns;
		char name[SLOW_NAME];	/* "irq disk" */
	} handler;
	struct slow_named request;	/* of its own requests of block devices while it took so long: "block read" */
	char stack[STACK_TEXT];		/* of the kernel where it began: "mutex_lock < log_add"; "": not told */
	/* "read(file=3) = 256", "disk(block=7) = error=0", "read(...) = ?" if that was not kept; "": another kind */
	char call[CALL_TEXT];
};

struct slow_question {
	const struct slow_of *of;	/* SLOW_NAMES at most */
	uint32_t count;
	uint64_t from, to;		/* guest ns: those that ended in this time */
	bool (*passes)(void *context, const struct span_row *row);
	uint64_t (*part)(void *context, const struct span_row *row);
	void *context;
};

/*
 * SLOWEST rows at most for each of `of`, in its order, and of each the longest first. The rows are of the epoch's
 * budget; the names in them that are not titles of threads are not filled. Returns how many there are; without memory,
 * 0 and *full.
 */
uint32_t slow_rows_find(const struct epoch *epoch, const struct slow_question *question, struct slow_row **rows,
	bool *full);

/*
 * What it waited for most: "lock inode 60%, writer/7", "sleep 97%", "blocked 80%, block read", "cpu 12%, busy/3"; "ran
 * 99%", "not known".
 */
const char *slow_row_waited(const struct slow_row *row, char text[SLOW_WAITED]);
/*
 * All of it: "ran 3%, slept 95%, waited for a CPU 1%; waited for lock inode 60%, held by writer/7; meanwhile the CPU
 * ran busy/3 for 90%; irq disk ran for 4%; its block read was under way for 90%".
 */
const char *slow_row_parts(const struct slow_row *row, char text[SLOW_PARTS]);

#endif
