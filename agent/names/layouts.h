/* SPDX-License-Identifier: MIT */
/*
 * Address spaces, told apart by what is mapped in them: processes that run the same program share
 * one, so that a thousand runs of it give one set of stacks. A space never changes; a process that
 * maps another object goes over to another space. Ids are dense, start at 0 and stand for ever.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct layouts;
struct mapping;
struct objects;

enum {
	LAYOUTS_MAX = 1 << 17,		/* spaces; what comes later is in LAYOUTS_UNKNOWN */
	LAYOUTS_ENTRIES_MAX = 4 << 20,	/* mappings in all of them together */
	LAYOUTS_ENTRIES_EACH = 512,	/* more in one: left over from processes that ended */
	LAYOUTS_PRIVATE_MAX = 4096,	/* of processes that were sampled and not told of so far */
};

#define LAYOUTS_UNKNOWN 0u		/* the space of which nothing will ever be known */

struct layouts *layouts_new(const struct objects *objects, struct budget *budget);
void layouts_free(struct layouts *layouts);

/*
 * A mapping (an id of objects.h) comes into a process, or into the kernel (EVENT_KERNEL), in the
 * place of what it overlaps. True: an earlier answer of layouts_find may be different now.
 */
bool layouts_map(struct layouts *layouts, uint32_t process, uint32_t mapping);

/*
 * The space that a process is in now; EVENT_KERNEL is its own. One of which nothing was told yet
 * gets a space to itself, which is named when something is.
 */
uint32_t layouts_space(struct layouts *layouts, uint32_t process);

uint64_t layouts_refused(const struct layouts *layouts);	/* of these: there was no memory */

/* What is at an address, or came there next; good until the next objects_map. NULL: nothing. */
const struct mapping *layouts_find(const struct layouts *layouts, uint32_t space, uint64_t address);

/* A standing remark when a limit was reached, "" if none. */
const char *layouts_note(const struct layouts *layouts);

#endif
