/* SPDX-License-Identifier: MIT */
/*
 * What the guest's trace events say happened and took time in a range: a row for each system call, interrupt and
 * softirq, by its number, for the waits for each lock and its holds, for each other kind of wait, and for each other
 * pair of events and single event; or for each of these and each part (enum event_by). A span belongs to the range in
 * which it ended. Of the excerpt's filter, its CPUs, threads and processes count; interrupts and softirqs are of no
 * thread. The answer about a range that is past is partial while events of it are still to come. With a baseline, rows
 * that are only there have a count of 0.
 */
#ifndef EVENT_TABLE_H
#define EVENT_TABLE_H

#include <stdint.h>

#include "agent/trace/latencies.h"
#include "agent/trace/span.h"
#include "answer.h"
#include "slow_rows.h"

enum {
	EVENT_TREND = 60,		/* seconds, the newest last */
	EVENT_TITLE = 96, EVENT_CALLED = SLOW_CALLED,	/* bytes of texts */
	EVENT_TEXT = EVENT_TITLE + EVENT_CALLED + SPAN_TEXT,
	EVENT_BARS = 40,		/* of a histogram: bar i has durations from 2^i ns on, the last one all above */
	EVENT_OVER = 40,		/* parts of the range, for a row's spans over time */
	EVENT_FRAMES = 3,		/* functions of a place in the code */
};

/*
 * A name has one row; or one for each thread or process, each CPU where it began, or each place in the code there. By
 * lock, only locks have rows: each for its waits, and for its holds.
 */
#define EVENT_NO_PART (SLOW_ALL - 1)	/* of no thread; or its stack was not told */
#define EVENT_NO_OWNER UINT64_C(0xfffffffe)	/* of threads whose process is not known */
enum event_by { EVENT_BY_NAME, EVENT_BY_THREAD, EVENT_BY_PROCESS, EVENT_BY_CPU, EVENT_BY_LOCK, EVENT_BY_CODE,
	EVENT_BYS };

/* Compared as bytes: it has no padding. */
struct event_request {
	struct request request;
	uint64_t by;			/* enum event_by */
	/* Of which rows the slowest spans are told: of so many of the heaviest (SLOW_NAMES at most); or of so many: */
	uint64_t slow_heaviest, slow;
	uint64_t slow_kind, slow_part, slow_numbers[SLOW_NAMES];	/* as in struct event_row */
};

struct event_sums {			/* of spans whose end is known; the others are of these */
	/* ns; percentiles within 3 %, as `max` of old spans that are not among the 32 longest; 0 of a single event */
	uint64_t count, total, max, p50, p99;
};

struct event_row {			/* what each span changes comes first: there may be very many rows */
	enum span_kind kind;		/* not SPAN_THREAD */
	uint64_t number;		/* as in struct trace_span */
	uint64_t part;			/* thread, process or CPU; a hash of the functions; EVENT_NO_PART; SLOW_ALL */
	union {
		struct event_sums is;	/* the same, by name: */
		struct { uint64_t count, total, max, p50, p99; };
	};
	uint64_t longest;		/* guest ns: the end of a span that took `max`, or the last single event; */
	uint32_t longest_of, longest_on;	/* its thread, EVENT_NONE: none; its CPU */
	uint64_t lost;			/* those whose end was lost: they have no duration */
	uint32_t over[EVENT_OVER];	/* spans by when in the range they ended */
	uint32_t trend[EVENT_TREND];	/* spans that ended in each of the last seconds up to the range's end */
	/* Those that have begun, and have not ended at the range's end, as far as events tell; 0: or not known. */
	uint64_t open;
	uint64_t oldest, oldest_ns;	/* guest ns: when the first of them began; how long that had been */
	uint32_t oldest_of, oldest_on;	/* its thread and CPU, as of the longest one */
	struct event_sums was;		/* in the baseline; 0 if there is none */
	uint32_t bars[EVENT_BARS];	/* spans by duration */
	uint32_t latencies;		/* the same, finer: its place among the table's */
	uint32_t shares;		/* of many machines: from this one on of the table's, one for each machine */
	uint8_t longest_in, oldest_in;	/* likewise: on which of them these were */
	char called[EVENT_CALLED];	/* the number; "": it has no name */
	char title[EVENT_TITLE];	/* of the part; "": of all, or of none */
};

struct event_latencies {		/* of a row's spans, in the range and in the baseline */
	struct latencies now, was;
};

struct event_share {			/* of a row over many machines: what one of them has of it */
	uint64_t count, total, p99;
};

struct event_table {
	struct answer answer;
	uint64_t now;			/* guest ns; 0: the guest has not told of itself */
	/* Guest ns: the range, as far as spans are kept: after `kept_from`; before `exact_from` it ends with slots. */
	uint64_t from, to;
	uint64_t kept_from;		/* guest ns: some older spans were forgotten; 0: none were */
	uint64_t exact_from;		/* likewise: older ones are summed up, by seconds or longer slots */
	enum event_by by;		/* as it was asked */
	bool open_known;		/* spans that were under way at `to` are not summed up yet */
	bool compared;			/* there is a baseline, of which anything is kept: */
	uint64_t base_from, base_to;	/* its range, guest ns, as `from` and `to` */
	bool forgot, base_forgot;	/* the range that is asked for, the baseline, begins before `kept_from` */
	bool traced;			/* the guest traces something of which there can be rows now */
	uint64_t events;		/* trace events that came, of all kinds, in all */
	uint64_t lost;			/* trace events that did not come, though they were written */
	uint64_t unmatched;		/* beginnings without an end, and ends without a beginning; not for a loss */
	uint64_t left_out;		/* calls and other events that the guest's filters have left out */
	char filters[1025];		/* these, as a control line has them */
	uint64_t late;			/* events that came too late to stand in their place */
	uint64_t refused;		/* spans that found no room in memory */
	uint32_t count, hidden;		/* rows; those that the filter's names do not show, and that are left out */
	struct event_row *rows;		/* heaviest total first */
	struct event_latencies *latencies;
	uint32_t latency_room;
	struct latency_pages pages;	/* of these; its budget is that of all arrays here */
	/* Of many machines (fleet.h): how many; by bits, who traces nothing, has no baseline. Times are the fleet's. */
	uint32_t machine_count, untraced, uncompared;
	struct event_share *shares;
	uint32_t share_room;
	/* `slow` has spans that ended from then on, guest ns; before `exact_from`, only the longest of their minute. */
	uint64_t slow_from;
	bool slow_forgot;		/* some of the range that ended before were forgotten */
	uint32_t slow_more;		/* of many machines: so many numbers of that name are not among these */
	bool slow_told;			/* `slow` is of this row, as it was asked, or of this and others: */
	struct slow_of slow_of;
	uint32_t slow_count;
	struct slow_row *slow;		/* slow_rows_find */
};

/* Tells the rows' bars and percentiles, leaves out those that have nothing in the range, and sorts the others. */
void event_rows_finish(struct event_table *table);

/* "syscall 39", "syscall getpid"; "main/4: syscall getpid"; "disk"; "lock inode < mutex_lock < log". Returns `text`. */
const char *event_row_text(const struct event_row *row, enum event_by by, char text[EVENT_TEXT]);

/*
 * What the guest calls the number of such a span, or of a lock the kernel's variable: "rtnl_mutex", "init_mm+0x70"; of
 * another event its name, too: "block write". "": it has no name. Returns `text`.
 */
const char *event_called(const struct epoch *epoch, enum span_kind kind, uint64_t number, char text[EVENT_CALLED]);

/* "syscall read", "lock inode", "block write": its name with its kind; without a name as span_text. Returns `text`. */
enum { EVENT_NAME = SLOW_NAME };
const char *event_name(const struct epoch *epoch, enum span_kind kind, uint64_t number, char text[EVENT_NAME]);

/* The terms of a filter that count for spans: those about CPUs, threads and processes. */
struct filter event_filter(const struct filter *filter);
/* So many others, without those about machines. `names`: those that choose rows by their names count, too. */
uint32_t event_filter_ignores(const struct filter *filter, bool names);
bool events_are_traced(const struct epoch *epoch);	/* the guest traces anything */

extern const struct answer_kind event_table_kind;

#endif
