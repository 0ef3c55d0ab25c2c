/* SPDX-License-Identifier: MIT */
/* A question: about which epoch, which range of time, with which filter. */
#ifndef QUESTION_H
#define QUESTION_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct stacks;
struct store;
struct symbols;
struct threads;

struct query_inputs {			/* of one epoch; borrowed */
	struct budget *budget;
	struct store *store;
	struct stacks *stacks;
	struct symbols *symbols;
	struct threads *threads;
};

/*
 * CPU, thread and mode decide which samples pass, and so what 100 % is. The pattern only chooses the rows
 * that are shown, as people expect of a top. Shares, callers and stacks do not depend on it.
 */
struct filter {
	char pattern[128];		/* part of a function's name (pattern.h); "": all */
	uint32_t cpu;			/* EVENT_NONE: all */
	char thread[64];		/* as threads_match wants it; "": all */
	unsigned modes;			/* bits 1 << enum mode; 0: all */
};

enum kept_callers { CALLERS_NONE, CALLERS_ONE, CALLERS_ALL };

struct question {
	/*
	 * ns of guest time, rounded to whole slices (span.h). `to` = UINT64_MAX: until now, so that the
	 * window moves.
	 */
	uint64_t from, to;
	struct filter filter;
	enum kept_callers callers;	/* whose edges are kept for query_callers; for others it takes longer */
	uint32_t callee;		/* with CALLERS_ONE: the function whose callers are kept */
	bool inlined;			/* inlined functions are frames of a stack, where they are known */
	uint32_t reader;		/* from query_reader_new; or QUERY_ANYBODY */
};

#endif
