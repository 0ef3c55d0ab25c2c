/* SPDX-License-Identifier: MIT */
/* What a question about slots of time is about: the samples that pass a filter, and those of one function. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct match;
struct query_reader;
struct question;
struct run;

/* Which stacks contain a function. */
struct holders {			/* starts as { 0 } */
	uint8_t *nodes;			/* by node: 1 if its function, or one above it, is the wanted one */
	uint32_t count, room;		/* of nodes */
	bool found;			/* `function` is the wanted one: a stack has it */
	uint32_t function;
	bool scarce;			/* there was no memory for all: the rest counts as without the function */
};

struct subject {			/* `budget` is to be set; all else starts as 0 */
	struct budget *budget;		/* borrowed */
	uint64_t renewed;		/* of the window: when it grows, names or filter have changed */
	uint64_t of;			/* the tree_name of a function; 0: none */
	bool plain;			/* everything passes, and no function is wanted */
	struct holders holders;
};

void subject_clear(struct subject *subject);

/*
 * Takes filter and function of a new question. False: what was summed under the last one is of no use, since names,
 * filter or function are others.
 */
bool subject_follow(struct subject *subject, struct query_reader *reader, const struct question *question, uint64_t of,
	const char *kernel);

/* Adds the weights of the samples that pass; to `part` those with the function in their stack, except idle time. */
void subject_add(const struct subject *subject, const struct match *match, const struct run *run,
	uint64_t mode[MODES], uint64_t *part);

#endif
