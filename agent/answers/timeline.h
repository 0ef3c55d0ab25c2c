/* SPDX-License-Identifier: MIT */
/*
 * What each CPU and each thread did in a range of time, out of the guest's trace events. The range is cut into columns,
 * and a cell tells the state that took most of its column. First come the CPUs, then the threads: the one in focus,
 * those that it woke or was woken by, those that ran on its CPUs, and the busiest of all others. Of the excerpt's
 * filter, CPUs hide rows of CPUs; threads and processes hide rows of threads. A range that is live ends with the
 * newest event that has its place. The answer about a range that is past is partial while events of it are still to
 * come.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trace/span.h"
#include "answer.h"
#include "slow_rows.h"

enum {
	TIMELINE_COLUMNS = 512, TIMELINE_CPUS = 128, TIMELINE_THREADS = 128,	/* at most */
	TIMELINE_SPANS = 1 << 18,
	TIMELINE_TITLE = 64, TIMELINE_CALLED = SLOW_NAME, TIMELINE_PLACE = 192,	/* bytes of texts */
	TIMELINE_FRAMES = 3,		/* functions of a place in the code */
};

/* Compared as bytes: it has no padding. */
struct timeline_request {
	struct request request;
	uint64_t columns;		/* 1 to TIMELINE_COLUMNS */
	uint64_t each;			/* a column has so many ns, if that is enough; 0: there are as many columns */
	uint64_t rows;			/* that there is room for: the busiest CPUs and threads; 0: for all */
	uint64_t focus;			/* a thread; EVENT_NONE: none */
	/* Of which row a moment is told: 1: that of this CPU, 0: of this thread; EVENT_NONE: of none */
	uint64_t of_cpu, of;
	uint64_t at;			/* that moment, guest ns; 0: the end of the range */
	uint64_t focus_machine, machine;	/* of many machines: whose thread `focus` is; and `of` */
	uint64_t spans;			/* 1: the spans of the rows, too */
};

enum timeline_state {
	TIMELINE_UNKNOWN,
	TIMELINE_RUN, TIMELINE_INTERRUPT, TIMELINE_IDLE,	/* the last two: of CPUs */
	TIMELINE_READY, TIMELINE_SLEEP, TIMELINE_BLOCKED,	/* of threads, as the kinds of span.h */
	TIMELINE_LOCK,			/* of threads: it waits for a lock, whether it sleeps or spins */
	TIMELINE_STATES,
};
extern const char *const timeline_words[TIMELINE_STATES];	/* for programs */

struct timeline_cell {
	uint8_t state;			/* enum timeline_state */
	/* Of a lock; of the call or kernel's own pair that a thread was in, the last one begun; of an interrupt. */
	uint16_t name;			/* 0: none */
	uint32_t who;			/* the thread that a CPU ran longest, the CPU on which a thread ran */
};

struct timeline_row {
	bool is_cpu;
	uint32_t number;		/* of the CPU or thread */
	uint32_t machine;		/* of many machines: whose, by its place among them */
	struct timeline_cell *cells;	/* one for each column */
};

struct timeline_thread {		/* one that is named anywhere in the answer */
	uint32_t machine, thread;
	char title[TIMELINE_TITLE];
};

struct timeline_span {
	enum span_kind kind;
	uint16_t name;			/* of a call, an interrupt, a lock; of others: their words */
	uint32_t thread, cpu;		/* as in struct trace_span */
	uint32_t waker;			/* of a wake to run: who woke it, or on which CPU; of a lock: its holder */
	uint16_t handler;		/* of a wake by an interrupt: its name; 0: not known */
	bool interrupt, lost;		/* as in struct span_row, as is: */
	uint32_t stack;
	bool open;			/* it is still under way: `end` is how far that is known */
	uint64_t begin, end;		/* guest ns; all of it, not only what is in the range */
	uint64_t total;			/* many such spans took so much of the time between these; 0: it is one */
};

struct timeline_moment {		/* what a row did at a time */
	uint64_t machine, of_cpu, of, time;	/* as they were asked for; the time is one of the range */
	bool is_known, is_inside, is_in_pair, waits;	/* `now`; `inside`; `pair`; `lock` */
	struct timeline_span now;	/* what the thread did; which thread the CPU ran */
	struct timeline_span inside;	/* the call that the thread was in; the interrupt that the CPU was in */
	struct timeline_span pair;	/* the pair of events of the kernel's own that the thread was in */
	struct timeline_span lock;	/* for which the thread waited, with who held that then (or EVENT_NONE); */
	bool held_last;			/* or with who held it last meanwhile */
	uint32_t holds;			/* so many locks; of these, `hold` was the last one that it had taken */
	struct timeline_span hold;
	uint64_t before, after;		/* its last event before, its next one behind; 0: none is kept */
	bool woken;			/* `wake` ended the thread's sleep, this one or the last one: */
	struct timeline_span wake;	/* it begins with the wake */
	/* "mutex_lock < wait_for < log_run": where it left its CPU, waits, took the lock, was woken; "": not told */
	char left_at[TIMELINE_PLACE], waits_at[TIMELINE_PLACE], took_at[TIMELINE_PLACE], woken_at[TIMELINE_PLACE];
};

struct timeline {
	struct answer answer;
	uint64_t now;			/* guest ns; 0: the guest has not told of itself */
	uint64_t from, to;		/* guest ns: the range; a column has `each` ns, the last one may have fewer */
	uint64_t each;
	uint64_t kept_from;		/* guest ns: some older spans were forgotten; 0: none were */
	uint64_t exact_from;		/* likewise: older ones are summed up, for cells alone */
	bool traced;			/* the guest traces something of which there can be rows now */
	/* No span of the range tells what a thread does: switches are not traced. Of many machines: bits of such. */
	uint32_t stateless;
	uint64_t events, lost, unmatched, late, refused;	/* as in struct event_table */
	uint32_t columns, count;
	struct timeline_cell *cells;	/* of all rows */
	struct timeline_row *rows;	/* CPUs by number, then threads, those that matter most first */
	uint32_t cpus_more, threads_more;	/* those that have no row, for want of room */
	uint32_t thread_count;
	struct timeline_thread *threads;	/* by machine and number */
	uint32_t name_count;
	char (*names)[TIMELINE_CALLED];	/* "read", or "syscall 39"; the first one is "" */
	struct timeline_moment moment;
	uint64_t span_count, spans_more;	/* those beyond are left out */
	struct timeline_span *spans;	/* if they were asked for: by their ends, those under way last */
	/* Of many machines (fleet.h): how many; which of them trace nothing, by bits. Times are the fleet's. */
	uint32_t machine_count, untraced;
	struct budget *budget;		/* of all arrays here */
};

/* Divides its range into columns: so many, or fewer of `each` ns. */
void timeline_columns(struct timeline *timeline, uint64_t columns, uint64_t each);

/* "idle" of EVENT_NONE. `machine`: as in struct timeline_row. */
const char *timeline_title(const struct timeline *timeline, uint64_t machine, uint32_t thread);

extern const struct answer_kind timeline_kind;

#endif
