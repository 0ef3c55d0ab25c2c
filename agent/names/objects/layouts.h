/* SPDX-License-Identifier: MIT */
/*
 * Address spaces, told apart by what is mapped in them. Processes that run the same program share a space,
 * so that a thousand runs of it give one set of stacks. A space never changes: a process that maps another
 * object moves to another space. Ids are dense, start at 0 and stay valid.
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
	LAYOUTS_MAX = 1 << 17,		/* spaces; later ones are LAYOUTS_UNKNOWN */
	LAYOUTS_ENTRIES_MAX = 4 << 20,	/* mappings in all spaces together */
	/* mappings in one space; with more, some are left over from ended processes, so it keeps only the newest */
	LAYOUTS_ENTRIES_EACH = 512,
	LAYOUTS_PRIVATE_MAX = 4096,	/* spaces of processes that were sampled before anything was told of them */
};

#define LAYOUTS_UNKNOWN 0u		/* the space for which no mapping will ever be told */

struct layouts *layouts_new(const struct objects *objects, struct budget *budget);
void layouts_free(struct layouts *layouts);

/*
 * Maps an object (an id of objects.h) into a process, or into the kernel (EVENT_KERNEL), in place of what
 * it overlaps. Returns true if an earlier answer of layouts_find may be different now.
 */
bool layouts_map(struct layouts *layouts, uint32_t process, uint32_t mapping);

/*
 * The space that a process is in now; EVENT_KERNEL has its own. A process without mappings so far gets a
 * space to itself, which gets names once something is mapped.
 */
uint32_t layouts_space(struct layouts *layouts, uint32_t process);

uint64_t layouts_refused(const struct layouts *layouts);	/* how often there was no memory for a space */

/*
 * The mapping at an address of a space, even if it was told only afterwards. Valid until the next
 * objects_map. NULL: nothing.
 */
const struct mapping *layouts_find(const struct layouts *layouts, uint32_t space, uint64_t address);

/* That at an index from 0 on, in order of address. NULL: there is no more. */
const struct mapping *layouts_get(const struct layouts *layouts, uint32_t space, uint32_t index);

/* A remark if a limit was reached; "" if none was. */
const char *layouts_note(const struct layouts *layouts);

#endif
