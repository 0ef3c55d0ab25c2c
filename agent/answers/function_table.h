/* SPDX-License-Identifier: MIT */
/*
 * The table of an excerpt's functions. For the visible rows it also has trend and source line; for the function under
 * the cursor, its callers and what is inlined in it. Only what the request names is computed.
 */
#ifndef FUNCTION_TABLE_H
#define FUNCTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/query.h"
#include "answer.h"
#include "thread_now.h"

enum { FUNCTION_ROWS = 256 };

struct function_request {
	struct request request;
	uint32_t visible[FUNCTION_ROWS];	/* ids of the functions whose trend and line are wanted */
	size_t visible_count;
	uint32_t selected;		/* id of the function under the cursor; FUNCTION_NONE: none */
	bool callers;			/* its callers and inlined functions are wanted */
	bool ran;			/* the function that each visible row ran most is wanted (query_ran) */
};

struct function_row {			/* what a visible row has besides the table's row */
	uint32_t function;
	uint64_t trend[TABLE_TREND];
	const char *line;		/* source line; NULL: not known yet */
	struct caller ran;		/* as query_ran tells it; weight 0: not asked for, or none */
	char now[THREAD_BRIEF];		/* as the table's `now`, in a few words */
};

struct function_share {			/* one machine's share of the selected function */
	uint64_t total;			/* the function's total on this machine */
	struct epoch *epoch;		/* held: it owns texts of the answer */
};

struct function_table {
	struct answer answer;
	char kernel[64];		/* the guest's kernel; "": not known, or many machines */
	struct filter filter;		/* the request's */
	enum group_by by;		/* likewise: what the rows are */
	struct table *table;		/* not sorted; NULL until the guest has told of itself */
	struct function_row *visible;	/* visible_count of them, those of the request that exist */
	size_t visible_count;
	bool tells_now;			/* rows are threads, and of some it is known what they do */
	uint32_t selected;		/* as in the request; FUNCTION_NONE if there is no such function */
	bool tells_selected;		/* `now` and `next` are about it */
	enum function_time {		/* of what threads do: at which time; */
		FUNCTION_NOW,
		FUNCTION_THEN,		/* the range's end, which is past, */
		FUNCTION_BEFORE,	/* or shortly before it: events up to there are still to come */
	} time;
	char now[THREAD_NOW];		/* what the selected thread does, or did; "": not known */
	char next[THREAD_TITLE];	/* who holds the lock for which it waits, or woke it; "": not known, */
	bool lost;			/* since trace events were lost */
	struct caller callers[8];	/* of the selected function */
	size_t caller_count;
	struct caller inlined[4];	/* the functions that are inlined in it */
	size_t inlined_count;
	uint64_t inlined_of;		/* its weight */
	struct function_share *machines;	/* machine_count of them, in the order of the tabs; NULL: one machine */
	size_t machine_count;
};

extern const struct answer_kind function_table_kind;	/* until the guest tells of itself, it has no table */

#endif
