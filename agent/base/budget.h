/* SPDX-License-Identifier: MIT */
/*
 * Memory that everything shares which grows with what comes from outside: counted before it is
 * taken. Who is refused gives something up, and counts that. Any thread.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BUDGET_LEAST_MIB = 64, BUDGET_MOST_MIB = 1 << 20, BUDGET_MIB = 512,
	BUDGET_BASE = 24 << 20,		/* the program itself, and all that does not grow */
};

struct budget;				/* NULL: one without a limit */

/*
 * For the whole process. Large blocks go back to the system from then on when they are freed, so
 * that what was given back is there for others.
 */
struct budget *budget_new(size_t mib);
struct budget *budget_hold(struct budget *budget);
void budget_release(struct budget *budget);	/* freed with the last holder */

bool budget_take(struct budget *budget, size_t bytes);	/* false: that much is not left */
void budget_charge(struct budget *budget, size_t bytes);	/* what is bounded elsewhere */
void budget_give(struct budget *budget, size_t bytes);
size_t budget_left(const struct budget *budget);

/* How often it has refused: who compares it with what it was knows that something was given up. */
uint64_t budget_refused(const struct budget *budget);

/* A part of the limit, for what never gives back: so that it cannot take all. */
size_t budget_share(const struct budget *budget, size_t divisor);

/*
 * As realloc, from `old` to `size` bytes, with room for both at a time while it copies. NULL: that
 * much is not left, here or in the system, and `memory` stays as it is.
 */
void *budget_resize(struct budget *budget, void *memory, size_t old, size_t size);

/* As realloc to fewer bytes: always possible. */
void *budget_trim(struct budget *budget, void *memory, size_t old, size_t size);

/*
 * The array, moved if need be so that it has room for one element behind the `count` first ones;
 * *room elements are paid for. NULL: that much is not left, and the array stays as it is.
 */
void *budget_array(struct budget *budget, void *array, size_t count, uint32_t *room, size_t size);
void budget_free(struct budget *budget, void *memory, size_t size);

#endif
