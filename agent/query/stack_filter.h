/* SPDX-License-Identifier: MIT */
/*
 * The part of a filter that looks at stacks: object:, file:, under:, and functions by their names. Remembers which
 * terms fit a function, for its names never change. Until a worker has read its source file, it is of no file. One
 * owner.
 */
#ifndef STACK_FILTER_H
#define STACK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct filter;
struct stacks;
struct symbols;

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

/* The functions of nodes from this one on are others now. */
void stack_filter_follow(struct stack_filter *filter, uint32_t changed);

/* Does a stack that was met pass? And one that is this function alone? */
static inline bool stack_filter_passes(const struct stack_filter *filter, uint32_t stack)
{
	return !filter->by_node || (stack < filter->node_count && filter->by_node[stack] & STACK_PASSES);
}

bool stack_filter_passes_alone(struct stack_filter *filter, uint32_t function);

#endif
