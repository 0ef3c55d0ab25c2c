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

struct stack_filter {
	const struct filter *filter;	/* borrowed, as all of these; to be set before the first call */
	const struct stacks *stacks;
	struct symbols *symbols;
	const char *kernel;		/* as in the query's inputs */
	struct budget *budget;
	uint16_t *marks;		/* by function: a bit for each term that fits it, and two more; 0: unknown */
	uint32_t count;			/* of `marks` */
	uint32_t unread;		/* how many of them wait for their function's file to be read */
};

/* Frees what was remembered; to be called also when the filter changes. */
void stack_filter_clear(struct stack_filter *filter);

/* True: a file has been read, so that what has passed may not be right any more. What was remembered is forgotten. */
bool stack_filter_changed(struct stack_filter *filter);

/* True if there is no such term: all stacks pass. */
bool stack_filter_is_empty(const struct stack_filter *filter);

/*
 * True if the stack passes. `functions`: by node. `leaf`: the stack; or STACKS_NONE, and the stack is the function
 * `only`.
 */
bool stack_filter_passes(struct stack_filter *filter, const uint32_t *functions, uint32_t leaf, uint32_t only);

#endif
