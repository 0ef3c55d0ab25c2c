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
	const char *kernel;		/* the guest's kernel, for tree_name; NULL: not known */
	struct store *store;
	struct store *waits, *wakes;	/* likewise of waits (filter.h): time off the CPU, in us, where it ended */
	struct stacks *stacks;
	struct symbols *symbols;
	struct threads *threads;
};

enum filter_by {			/* what a term of a filter looks at */
	FILTER_FUNCTION,		/* the name of a row's function */
	FILTER_CPU, FILTER_MODE, FILTER_THREAD, FILTER_COMM, FILTER_PROCESS,	/* who ran the sample */
	FILTER_OBJECT, FILTER_FILE,	/* the object of the function that was running; its source file */
	FILTER_UNDER,			/* the functions of the stack */
	FILTER_MACHINE,			/* the machine: a query knows none, so filter_at_machine takes these out */
	FILTER_WORDS_END,		/* no word stands for what follows: */
	FILTER_HAS = FILTER_WORDS_END,	/* the functions of the stack, by their tree_name */
	FILTER_RUNNING,			/* the function that was running, likewise */
	FILTER_BYS,
};

enum {
	FILTER_WORDS_MOST = 8,		/* as people type them */
	FILTER_TERMS = 12, FILTER_TEXT = 512,	/* with those of a report's options */
};

struct filter_term {
	enum filter_by by;
	uint32_t negated;		/* 0 or 1; a filter has no padding, for requests are compared as bytes */
	unsigned modes;			/* FILTER_MODE: bits 1 << mode, as in contexts.h */
	uint32_t text;			/* where its alternatives begin, in the filter's text */
};

/*
 * A sample passes if all terms hold. This decides what 100 % is. Only the terms of FILTER_FUNCTION do not look at
 * samples: they choose the rows that are shown, as people expect of a top. Shares, callers and stacks do not depend on
 * them. Made by filter.h; { 0 } lets everything pass.
 */
struct filter {
	uint32_t count, used;		/* of `terms` and `text` */
	struct filter_term terms[FILTER_TERMS];
	char text[FILTER_TEXT];		/* a term's alternatives: each ended by 0, the last one by two */
};

/* What a row of the table stands for. */
enum group_by {
	GROUP_FUNCTION,			/* a function: self is where it ran, total where it is in the stack */
	GROUP_LINE,			/* a source line: of the code that ran, or of a call in the stack; likewise */
	GROUP_FILE, GROUP_OBJECT,	/* the source file, or the object, of functions: likewise */
	/* who ran the sample: self equals total. GROUP_COMM: all threads of one name */
	GROUP_PROCESS, GROUP_THREAD, GROUP_COMM, GROUP_CPU, GROUP_MODE,
	GROUPS,
};

struct question {
	/*
	 * ns of guest time, rounded to whole slices (span_find). `to` = UINT64_MAX: until now, so that the
	 * window moves.
	 */
	uint64_t from, to;
	bool fine;			/* the range has slices of its own (store_pin): query_round has set this */
	struct filter filter;
	enum group_by by;		/* idle time is the row [idle] in all */
	/* query_callers is asked about all functions; where `by` is a thread, process or line, query_ran is asked. */
	bool callers;
	bool inlined;			/* inlined functions are frames of a stack, where they are known */
	bool threads;			/* query_stacks: the stacks of each thread are apart */
	bool lines;			/* query_unread: source lines are wanted, too */
	uint32_t reader;		/* from query_reader_new; or QUERY_ANYBODY */
};

#endif
