/* SPDX-License-Identifier: MIT */
/*
 * Which row of the table a function, or whoever ran a sample, belongs to (enum group_by). Rows have the ids of
 * functions. So a row that is no function of the guest, such as a file or a thread, gets an id from symbols_group.
 * One owner.
 */
#ifndef GROUPING_H
#define GROUPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"
#include "question.h"

struct budget;
struct stacks;
struct symbols;
struct threads;
struct who;

struct grouping {
	enum group_by by;
	const struct stacks *stacks;	/* borrowed, as the next three */
	struct symbols *symbols;
	struct threads *threads;
	struct budget *budget;
	uint32_t *rows;			/* by function, for lines by node: its row; FUNCTION_NONE: not asked for yet */
	uint32_t count;			/* of `rows` */
	uint32_t unread;		/* how many of `rows` wait for their file or line to be read */
	uint64_t read;			/* GROUP_LINE: symbols_lines_read when the first of `rows` was asked for */
};

/* Their names, as people type them; those that an option takes, in the order of enum group_by. */
extern const char *const group_words[GROUPS];
#define GROUP_CHOICES "function|line|file|object|process|thread|comm|cpu|mode"

/* The titles of the two columns that name a row; "": such rows have no object. */
struct group_heads {
	const char *name, *object;
};
extern const struct group_heads group_heads[GROUPS];

void grouping_clear(struct grouping *grouping);		/* forgets all rows */

/* True: a sample has one row, which its CPU, mode, thread or process decides. False: its stack has many. */
bool grouping_is_by_who(enum group_by by);

/* True: the names of threads and processes decide about rows. */
bool grouping_has_threads(enum group_by by);

/* True: query_ran tells the function that a row ran most, or in which its line is. */
bool grouping_has_ran(enum group_by by);

/*
 * The row of a frame: a node of the stacks, and the function there. Until a worker has read its file or line, that is
 * the row "[not read yet]".
 */
uint32_t grouping_frame(struct grouping *grouping, uint32_t node, uint32_t function);

/*
 * The source file of a function, as its row is called: "mm/page.c". NULL: not known yet, this call asks a worker for
 * it. "": there is none.
 */
enum { GROUPING_FILE = 512 };
const char *grouping_file(struct symbols *symbols, uint32_t function, char text[GROUPING_FILE]);

/*
 * The row of whoever ran a sample, which is not idle time. Only if grouping_is_by_who. `context`: as in filter_passes;
 * the modes need it.
 */
uint32_t grouping_who(struct grouping *grouping, const struct who *who, enum context context);

/*
 * Writes the words of a filter (filter.h) that only the samples of the row with this name pass. "": there are no
 * such words. `machine`: of a row over many machines, the machine's name, which begins with its number; else NULL.
 * Returns `words`.
 */
const char *grouping_filter(enum group_by by, const char *name, const char *machine, char *words, size_t size);
const char *grouping_machine_filter(const char *machine, char *words, size_t size);	/* all of the machine */

/* True: over many machines, each has rows of its own, whose objects are its name. */
bool grouping_is_of_machine(enum group_by by);

/*
 * True: files or lines have been read, so that earlier rows are not right any more. They are forgotten. Lines come one
 * by one: it waits for half of those that are missing.
 */
bool grouping_changed(struct grouping *grouping);

#endif
