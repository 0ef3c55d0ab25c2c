/* SPDX-License-Identifier: MIT */
/*
 * The ids of threads or processes that were met recently, each with a slot number: the caller keeps what it
 * knows of an id in an array, at that index. A guest starts threads and processes without end, and does not
 * say which have ended. So an id that was not met in a long time makes room for a new one.
 */
#ifndef RECENT_H
#define RECENT_H

#include <stdbool.h>
#include <stdint.h>

struct recent;

#define RECENT_NONE 0xffffffffu

enum { RECENT_SLOTS = 1 << 17 };	/* consecutive ids share them evenly */

struct recent *recent_new(void);
void recent_free(struct recent *recent);

/* The slot of an id, below RECENT_SLOTS; it counts as met now. RECENT_NONE: never met, or forgotten. */
uint32_t recent_find(struct recent *recent, uint32_t id);

/* The same, but gives the id a slot if it has none. `*fresh`: it is new, and what the slot held is void. */
uint32_t recent_have(struct recent *recent, uint32_t id, bool *fresh);

#endif
