/* SPDX-License-Identifier: MIT */
/* Goes through those counts of a run that pass a filter: by their stacks, and by who ran them. */
#ifndef MATCH_H
#define MATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/store/run.h"
#include "agent/wire/event.h"
#include "stop.h"

struct budget;
struct filter;
struct grouping;
struct stacks;
struct symbols;
struct threads;

/*
 * The part of a filter that looks at stacks: object:, file:, under:, and functions by their names. Remembers which
 * terms fit a function, for its names never change. Until a worker has read its source file, it is of no file. One
 * owner.
 */
enum { STACK_PASSES = 1 << 15 };	/* among the marks of a node: the stack passes of which it is the leaf */

struct stack_filter {
	const struct filter *filter;	/* borrowed, as all of these; to be set before the first call */
	const struct stacks *stacks;
	struct symbols *symbols;
	const char *kernel;		/* as in the query's inputs */
	struct budget *budget;
	uint16_t *marks;		/* by function: a bit for each term that fits it, and two more; 0: unknown */
	uint32_t count;			/* of `marks` */
	uint16_t *by_node;		/* the marks from there up, and STACK_PASSES; NULL: no such term */
	uint32_t node_count, node_room;	/* of these */
	uint32_t unread;		/* how many of them wait for their function's file to be read */
};

/* Frees what was remembered; to be called also when the filter changes. */
void stack_filter_clear(struct stack_filter *filter);

/* True: a file has been read, so that what has passed may not be right any more. What was remembered is forgotten. */
bool stack_filter_changed(struct stack_filter *filter);

/* Looks at the stacks that are new: nodes below `count`, whose functions these are. */
void stack_filter_meet(struct stack_filter *filter, const uint32_t *functions, uint32_t count);

/* Does a stack that was met pass? And one that is this function alone? */
static inline bool stack_filter_passes(const struct stack_filter *filter, uint32_t stack)
{
	return !filter->by_node || (stack < filter->node_count && filter->by_node[stack] & STACK_PASSES);
}

/*
 * What a filter and a grouping make of those who ran samples, by their numbers. Names decide that, so it is remembered.
 * Starts as { 0 }, with `budget`.
 */
struct whos {
	struct budget *budget;
	const struct who *list;		/* whose numbers these are */
	uint8_t *passes;		/* bits 1 << context in which it passes; 0: unknown; see match.c */
	uint32_t *rows;			/* by number and context; FUNCTION_NONE: unknown; NULL: all are */
	uint32_t count;			/* of numbers; a multiple of 1024 */
};

void whos_clear(struct whos *whos);	/* also when filter, grouping or names of threads change */

/* To be called before counts with these numbers are read. Another list: all is forgotten. */
void whos_meet(struct whos *whos, const struct who *list, uint32_t count);

struct match {			/* what decides; all borrowed */
	const struct filter *filter;
	struct stack_filter *stack_filter;	/* of the same filter */
	struct threads *threads;
	const uint32_t *functions;	/* by node; see node_functions */
	const uint8_t *contexts;	/* by node; NULL: no one asks for modes within the kernel's */
	struct whos *whos;		/* of this filter and grouping; it has met all */
	struct grouping *grouping;
	uint32_t idle, unknown;		/* the functions for idle time, and for samples without a stack */
	const atomic_bool *stop;	/* once set, the rest is left out; NULL: never */
};

struct match_reader {
	const struct match *match;
	struct run_reader reader;
	bool all;			/* everything passes, in any context */
	bool idle;			/* idle time passes, if its who does */
	bool begun, stack_passes;	/* `stack` is set; it passes */
	enum context context;		/* of `stack`; UNTOLD: no one asks */
	uint32_t stack;			/* of the last count that was looked at */
};

/* `run` may be NULL for match_admits alone. Both are borrowed. */
struct match_reader match_begin(const struct match *match, const struct run *run);

/* For match_admits alone: looks at a stack that differs from the last one; finds out about somebody. */
void match_look(struct match_reader *reader, uint32_t stack);
uint8_t match_ask(const struct match *match, uint32_t who);

/* The row of whoever ran the last count (grouping_who); idle time has its own. */
uint32_t match_row(const struct match_reader *reader, uint32_t who);

/* Does a sample of this stack pass, of this number of who? */
static inline bool match_admits(struct match_reader *reader, uint32_t stack, uint32_t who)
{
	uint8_t passes;

	if (reader->all)
		return true;
	passes = reader->match->whos->passes[who];
	passes = passes ? passes : match_ask(reader->match, who);
	if (!reader->begun || stack != reader->stack)
		match_look(reader, stack);
	if (!(passes >> reader->context & 1))
		return false;
	return reader->match->whos->list[who].mode == MODE_IDLE ? reader->idle : reader->stack_passes;
}

/* Reads the next count that passes, and who ran it. One of idle time has no stack. False: no more, or stop was set. */
static inline bool match_next(struct match_reader *reader, struct run_count *count, const struct who **who)
{
	while (run_next(&reader->reader, count) && !stop_at(reader->match->stop, reader->reader.left)) {
		if (!match_admits(reader, count->stack, count->who))
			continue;
		*who = &reader->match->whos->list[count->who];
		return true;
	}
	return false;
}

/* ---- the function of each node ---- */

/*
 * The function of every node of a call tree: looked up once, and again when symbols change; and whether its caller can
 * be one. And for those who ask, where in the kernel each node is.
 */

struct node_functions {			/* starts as { 0 } */
	uint32_t *functions;		/* by node; the tree has paid for the memory (stacks.c) */
	uint32_t count;			/* of nodes with a function */
	uint64_t generation;		/* of the symbols that they are from */
	uint8_t *contexts;		/* by node: enum context, never UNTOLD; paid for likewise */
	uint32_t context_count;		/* of nodes with a context */
	uint8_t *outermost;		/* by node: 1: no function above it is the same; paid for likewise */
	uint32_t outermost_count;
	uint8_t *begun;			/* by function: the context that it begins, plus 1; 0: not asked yet */
	uint32_t begun_count;
	uint64_t renamed;		/* grows when the function or caller of a node is another one than before */
};

void node_functions_clear(struct node_functions *nodes);

/*
 * Looks up what is new, and cuts nodes off from callers that cannot be any (symbols_returning). If `stop` was set, the
 * result is not complete: call node_functions_forget.
 */
void node_functions_update(struct node_functions *nodes, struct stacks *stacks, struct symbols *symbols,
	const atomic_bool *stop);

/*
 * The context of each node, by its functions (contexts.h), as far as these were looked up. Valid until the next change.
 * If `stop` was set: likewise.
 */
const uint8_t *node_functions_contexts(struct node_functions *nodes, const struct stacks *stacks,
	const struct symbols *symbols, const atomic_bool *stop);

/* By node: 1: its function is not above it; else 0. So recursion counts once. Valid until the next change. */
const uint8_t *node_functions_outermost(struct node_functions *nodes, const struct stacks *stacks);

/* Makes the next node_functions_update look everything up anew. */
void node_functions_forget(struct node_functions *nodes);

#endif
