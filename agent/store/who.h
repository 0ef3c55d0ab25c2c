/* SPDX-License-Identifier: MIT */
/*
 * Who ran samples. Each that differs has a number, from 0, in order of arrival; the first ones are those whose thread
 * and CPU are forgotten. A table only grows. When a store gives numbers away, it makes a new table, and whoever holds
 * the old one still reads it. Used by one thread; who only reads a list may do so in any.
 */
#ifndef WHO_H
#define WHO_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct who_table;

struct who {
	uint32_t process, thread;	/* EVENT_KERNEL, EVENT_NONE and WHO_NO_CPU: forgotten */
	uint16_t cpu;
	uint8_t mode;			/* enum mode */
	uint8_t context;		/* enum context; UNTOLD unless the mode is MODE_KERNEL */
};

enum {
	WHO_NO_CPU = 0xffff,
	WHO_FORGOTTEN = CONTEXTS + MODES - 1,	/* below: each context of the kernel's mode, and each other mode */
	WHO_MOST = 1 << 20,			/* numbers */
};
#define WHO_NONE 0xffffffffu
_Static_assert(MODE_KERNEL == 0, "the other modes come after it");

struct who_table *who_table_new(struct budget *budget, uint32_t most);	/* at most so many numbers; WHO_MOST */
struct who_table *who_table_hold(struct who_table *table);
void who_table_release(struct who_table *table);	/* the last holder frees it; NULL is allowed */

/* The number of whoever this is, which is new if need be. WHO_NONE: there is none left. */
uint32_t who_table_number(struct who_table *table, const struct who *who);

uint32_t who_table_count(const struct who_table *table);
bool who_table_is_full(const struct who_table *table);	/* somebody got no number, since all are in use */
const struct who *who_table_list(const struct who_table *table);	/* by number; it never moves */

bool who_same(const struct who *a, const struct who *b);

/* The number of this mode and context when the rest is forgotten. */
static inline uint32_t who_forgotten(const struct who *who)
{
	return who->mode == MODE_KERNEL ? who->context : CONTEXTS + who->mode - 1u;
}

#endif
