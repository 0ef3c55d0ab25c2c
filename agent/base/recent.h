/* SPDX-License-Identifier: MIT */
/*
 * The ids that were met of late, each with a slot for what is known of it. A guest starts threads
 * and processes without end and does not say which have ended, so that an id which was neither told
 * nor asked for in a long time makes room for a new one.
 */
#ifndef RECENT_H
#define RECENT_H

#include <stdbool.h>
#include <stdint.h>

struct recent;

#define RECENT_NONE 0xffffffffu

enum { RECENT_SLOTS = 1 << 17 };	/* ids that follow on each other share them evenly */

struct recent *recent_new(void);
void recent_free(struct recent *recent);

/* The slot of an id, below RECENT_SLOTS; RECENT_NONE when it was not met or is forgotten. */
uint32_t recent_find(struct recent *recent, uint32_t id);

/* The same, and made when there is none: then `fresh` is true, and what was kept there is void. */
uint32_t recent_have(struct recent *recent, uint32_t id, bool *fresh);

#endif
