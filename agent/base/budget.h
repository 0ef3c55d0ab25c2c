/* SPDX-License-Identifier: MIT */
/*
 * The memory that the whole process shares for everything that grows with outside data. It is charged to the
 * budget before it is allocated; what is charged is also called paid for. A caller that is refused gives
 * something up, and counts that. Any thread.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BUDGET_LEAST_MIB = 64, BUDGET_MOST_MIB = 1 << 20,	/* the bounds of --memory */
	BUDGET_MIB = 512,		/* its default */
	BUDGET_BASE = 28 << 20,		/* bytes: the program itself, and all that does not grow; charged at once */
};

struct budget;				/* NULL: no limit */

/*
 * Makes the budget of the process. Also tells malloc to return large blocks to the system when they are
 * freed. So memory that is given back to the budget is free in the system, too.
 */
struct budget *budget_new(size_t mib);
struct budget *budget_hold(struct budget *budget);
void budget_release(struct budget *budget);	/* the last holder frees it */

bool budget_take(struct budget *budget, size_t bytes);	/* false: not that much is left */
/* Charges without a check: for memory that is bounded elsewhere. */
void budget_charge(struct budget *budget, size_t bytes);
void budget_give(struct budget *budget, size_t bytes);
size_t budget_left(const struct budget *budget);	/* bytes; SIZE_MAX: there is no limit */

/* How often the budget has refused. A caller that sees it grow knows that something was given up. */
uint64_t budget_refused(const struct budget *budget);

/*
 * Returns the limit divided by `divisor`, in bytes: the most for something that never gives memory back, so
 * that it cannot take everything. SIZE_MAX: there is no limit.
 */
size_t budget_share(const struct budget *budget, size_t divisor);

/*
 * Like realloc, from `old` to `size` bytes. While it copies, both count. NULL: not that much is left, here
 * or in the system, and `memory` is unchanged.
 */
void *budget_resize(struct budget *budget, void *memory, size_t old, size_t size);

/* Like realloc to fewer bytes. Never fails. */
void *budget_trim(struct budget *budget, void *memory, size_t old, size_t size);

/*
 * Returns the array, which may have moved, with room for at least one element more than `count`. *room: the
 * elements that it has room for, all charged. `size`: bytes of an element. NULL: not that much is left, and
 * the array is unchanged.
 */
void *budget_array(struct budget *budget, void *array, size_t count, uint32_t *room, size_t size);

/* Frees memory for which `size` bytes are charged. */
void budget_free(struct budget *budget, void *memory, size_t size);

#endif
