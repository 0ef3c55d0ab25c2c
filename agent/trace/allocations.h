/* SPDX-License-Identifier: MIT */
/*
 * What the guest's allocators have given out and not taken back, by its events memory_alloc and memory_free: the
 * objects that live, and, for each origin (allocator and stack), how much of it lives and how that changed in each
 * second. Objects that were given out before, or whose event is missing, are not known. Used by one thread.
 *
 * An object is known by its allocator and its address. One that is given out again lives anew: its end is missing. An
 * end without a beginning is counted, and changes nothing. Objects take an 8th of the budget at most, origins and
 * seconds a 32nd each. An object that finds no room is counted, and is in nothing else. An origin without room is that
 * of its allocator alone. The oldest seconds go.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct allocations;
struct budget;
struct trace_event;

struct origin {
	uint32_t allocator;		/* its number */
	uint32_t stack;			/* as in struct trace_span */
	uint64_t objects, bytes;	/* that live */
	uint64_t change;		/* allocations.c: 1 + the number of its newest change; 0: it has none */
};

struct allocation_change {		/* of an origin's objects in a second */
	uint32_t origin;		/* its place among all */
	uint32_t second;		/* of guest time */
	uint32_t given, taken;		/* objects */
	uint64_t given_bytes, taken_bytes;
};
_Static_assert(sizeof(struct allocation_change) == 32, "there is one for each origin and second");

struct allocation_counts {		/* of all that came */
	uint64_t given, taken;		/* objects whose life began, ended */
	uint64_t unmatched;		/* ends without a beginning */
	uint64_t reused;		/* objects whose end is missing: their address was given out again */
	uint64_t unkept, unkept_bytes;	/* given out, and no room was left to follow them */
	uint64_t merged;		/* their stack found no room */
};

struct allocations *allocations_new(struct budget *budget);
void allocations_free(struct allocations *allocations);	/* NULL is allowed */

/* Takes a memory_alloc or memory_free. They come in order of time. */
void allocations_add(struct allocations *allocations, const struct trace_event *event);

/* Events may be missing before this time: what lived until then may have been freed unseen. */
void allocations_gap(struct allocations *allocations, uint64_t time);
uint64_t allocations_sure_from(const struct allocations *allocations);	/* the latest gap; 0: there was none */

uint64_t allocations_last(const struct allocations *allocations);	/* guest ns of the newest event; 0: none */
struct allocation_counts allocations_counts(const struct allocations *allocations);
uint32_t allocations_origins(const struct allocations *allocations, const struct origin **origins);

/* Changes are known from this second on; all older ones are in what lives alone. 0: all are known. */
uint64_t allocations_from(const struct allocations *allocations);

/* Gives the changes, the newest second first. An origin has one in a second, if any. */
void allocations_changes(const struct allocations *allocations,
	void (*each)(void *context, const struct allocation_change *change), void *context);

/* Gives each object that lives, in any order. `sure`: no gap has come since it was born, to the millisecond. */
void allocations_live(const struct allocations *allocations,
	void (*each)(void *context, uint32_t origin, uint64_t bytes, uint64_t born, bool sure), void *context);

#endif
