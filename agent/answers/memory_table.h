/* SPDX-License-Identifier: MIT */
/*
 * What the guest's allocators have given out and not taken back at the end of a range: a row for each allocator and
 * each place in the code that has asked it; or for each allocator. No row adds up what two allocators have given out:
 * what one has from another is in both. The functions with which all stacks of an allocator begin, two at most, are its
 * own, and no part of the place.
 *
 * Changes are known by seconds of guest time, so a range begins with one, and ends with one unless nothing came after
 * it. Objects are of no thread and no CPU: of the excerpt's filter its names count alone. With a baseline, rows tell
 * what lived at its end.
 */
#ifndef MEMORY_TABLE_H
#define MEMORY_TABLE_H

#include <stdint.h>

#include "agent/guest/call_text.h"
#include "agent/trace/allocations.h"
#include "answer.h"

enum {
	MEMORY_TREND = 60,		/* seconds, the newest last */
	MEMORY_FRAMES = 3,		/* functions of a place */
	MEMORY_OWN = 2,			/* the allocator's own, at most */
	MEMORY_STACKS = 16,		/* of a row that is asked about, the heaviest */
	MEMORY_ALLOCATORS = 16,		/* whose totals are told */
	MEMORY_CALLED = 32, MEMORY_TITLE = 192, MEMORY_TEXT = MEMORY_CALLED + MEMORY_TITLE + 4,	/* bytes of texts */
};
#define MEMORY_ALL UINT64_MAX		/* the site of a row by allocator */
#define MEMORY_NO_SITE (MEMORY_ALL - 1)	/* no stack was told */
enum memory_by { MEMORY_BY_SITE, MEMORY_BY_ALLOCATOR, MEMORY_BYS };

/* Compared as bytes: it has no padding. */
struct memory_request {
	struct request request;
	uint64_t by;			/* enum memory_by */
	uint64_t stacks;		/* 1: the stacks of the row with this allocator and site, too */
	uint64_t allocator, site;
};

struct budget;

struct memory_live {
	uint64_t objects, bytes;
};

struct memory_row {
	uint32_t allocator;
	uint64_t site;			/* a hash of the functions, or as above */
	struct memory_live is, was;	/* at the end of the range, and of the baseline; 0 if there is none */
	uint64_t peak;			/* bytes: the most that lived at the end of a second of the range */
	uint64_t given, taken;		/* objects, in the range */
	uint64_t given_bytes, taken_bytes;
	uint64_t trend[MEMORY_TREND];	/* bytes that lived at the end of each of the last seconds */
	uint64_t oldest;		/* guest ns: when the oldest that lives was given out; 0: none, or unknown */
	uint64_t unsure;		/* bytes of `is` that may have been freed unseen; see `sure_from` */
	char called[MEMORY_CALLED];	/* the allocator: "slab", "allocator 3" */
	char title[MEMORY_TITLE];	/* the place: "node_new < tree_insert < ..."; "": none */
};

struct memory_stack {
	struct memory_live is;		/* at the end of the range, if that is `ages`; else now */
	char text[STACK_TEXT];		/* "slab_alloc < node_new < ..."; "": not told */
};

struct memory_total {			/* of an allocator, all of its rows */
	uint32_t allocator;
	struct memory_live is;
	char called[MEMORY_CALLED];
};

struct memory_table {
	struct answer answer;
	uint64_t now;			/* guest ns; 0: the guest has not told of itself */
	uint64_t from, to;		/* guest ns: the range, as far as changes are known */
	uint64_t kept_from;		/* guest ns: changes before are not known; 0: all are */
	bool forgot, base_forgot;	/* the range that is asked for, the baseline, begins, ends before that */
	bool compared;			/* there is a baseline that is known */
	bool ages;			/* nothing has changed since the range's end: `oldest` and `unsure` are known */
	enum memory_by by;
	bool traced;			/* the guest traces its allocators now */
	bool located;			/* some row has a place in the code, or there are none */
	struct allocation_counts counts;	/* of all that came */
	uint64_t sure_from;		/* what lived before may have been freed unseen; 0: nothing is in doubt */
	uint64_t events, lost;		/* trace events of all kinds: that came, and that did not */
	char filters[1025];		/* those of the guest, as a control line has them */
	uint32_t count, hidden;		/* rows; those that the filter's names do not show */
	struct memory_row *rows;	/* the most bytes first */
	uint32_t total_count, totals_left_out;
	struct memory_total totals[MEMORY_ALLOCATORS];
	bool stacks_told;		/* of this row, as it was asked: */
	uint32_t stacks_allocator;
	uint64_t stacks_site;
	uint32_t stack_count, stacks_left_out;
	struct memory_stack *stacks;	/* MEMORY_STACKS at most, the most bytes first */
	uint32_t refused;		/* rows that found no room */
	/* Of many machines (fleet.h): how many; by bits, who traces nothing. Times are the fleet's. */
	uint32_t machine_count, untraced;
	struct budget *budget;		/* of the rows */
};

void memory_rows_sort(struct memory_table *table);		/* the most bytes first */
void memory_total_add(struct memory_table *table, const struct memory_total *total);	/* to its allocator's */

/* "slab: node_new < tree_insert"; "slab"; "slab: no stack was told". Returns `text`. */
const char *memory_row_text(const struct memory_row *row, char text[MEMORY_TEXT]);

extern const struct answer_kind memory_table_kind;

#endif
