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

enum filter_by {			/* what a term of a filter looks at */
	FILTER_FUNCTION,		/* the name of a row's function */
	FILTER_CPU, FILTER_MODE, FILTER_THREAD, FILTER_PROCESS,	/* who ran the sample */
	FILTER_OBJECT,			/* the object of the function that was running */
	FILTER_UNDER,			/* the functions of the stack */
	FILTER_BYS,
};

enum {
	FILTER_WORDS_MOST = 8,		/* as people type them */
	FILTER_TERMS = 12, FILTER_TEXT = 512,	/* with those of a report's options */
};

struct filter_term {
	enum filter_by by;
	uint32_t negated;		/* 0 or 1; a filter has no padding, for requests are compared as bytes */
	unsigned modes;			/* FILTER_MODE: bits 1 << enum mode */
	uint32_t text;			/* where its alternatives begin, in the filter's text */
};

/*
 * A sample passes if all terms hold. This decides what 100 % is. Only the terms of FILTER_FUNCTION do not look at
 * samples: they choose the rows that are shown, as people expect of a top. Shares, callers and stacks do not depend on
 * them. Made by filter_words.h; { 0 } lets everything pass.
 */
struct filter {
	uint32_t count, used;		/* of `terms` and `text` */
	struct filter_term terms[FILTER_TERMS];
	char text[FILTER_TEXT];		/* a term's alternatives: each ended by 0, the last one by two */
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
