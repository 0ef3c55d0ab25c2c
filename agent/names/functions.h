/* SPDX-License-Identifier: MIT */
/*
 * The functions that have been met, by dense ids. They never move: functions_get is for any thread
 * that was handed the id; all else is for one owner.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct debug_object;
struct function;
struct functions;

/* At most, and a quarter of the budget: with its rows in pictures each may come to 1 KiB. */
enum { FUNCTIONS_MAX = 4 << 20, FUNCTIONS_COST = 1 << 10 };

/* Where a function's line is to be read. */
struct origin {
	const struct debug_object *object;	/* NULL: nowhere */
	const char *line;		/* NULL: not known yet */
	bool asked;
	bool starved;			/* it is "" for want of memory */
};

struct functions *functions_new(struct budget *budget);
void functions_free(struct functions *functions);

/* Takes the function's name (fresh memory). All for which there is no room is one "[unknown]". */
uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct debug_object *object);

bool functions_is_rest(const struct functions *functions, uint32_t id);	/* that one */

/* True: memory was short for some. They are about to be added again, and not refused any more. */
bool functions_retry(struct functions *functions);

uint64_t functions_refused(const struct functions *functions);	/* that are the "[unknown]" */
size_t functions_count(const struct functions *functions);
const struct function *functions_get(const struct functions *functions, uint32_t id);

/* The owner's part of a function. */
struct origin *functions_origin(struct functions *functions, uint32_t id);

/*
 * Takes the function's line (fresh memory), once; NULL: there was no memory to read it. False: there
 * is none for it, and it is "", until it is to be asked for again.
 */
bool functions_set_line(struct functions *functions, uint32_t id, char *line);
void functions_retry_lines(struct functions *functions);

#endif
