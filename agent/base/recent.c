/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "recent.h"
#include "util.h"

/* An id may be in one set of slots only. If the set is full, its oldest id makes room. */
enum { WAYS = 8, SET_BITS = 14, SETS = RECENT_SLOTS / WAYS };

_Static_assert(SETS == 1 << SET_BITS, "the sets fill the slots");

struct slot {
	uint32_t id;
	uint32_t met;			/* the clock when it was last met; 0: never used */
};

struct recent {
	struct slot slots[RECENT_SLOTS];
	uint32_t clock;			/* counts meetings; it may wrap, for only differences matter */
};

struct recent *recent_new(void)
{
	return util_alloc(sizeof(struct recent));
}

void recent_free(struct recent *recent)
{
	free(recent);
}

/* The first slot of an id's set. */
static uint32_t set_of(uint32_t id)
{
	return ((id ^ id >> SET_BITS ^ id >> 2 * SET_BITS) & (SETS - 1)) * WAYS;
}

static void meet(struct recent *recent, uint32_t slot)
{
	recent->clock++;
	recent->slots[slot].met = recent->clock ? recent->clock : ++recent->clock;
}

uint32_t recent_find(struct recent *recent, uint32_t id)
{
	uint32_t first = set_of(id);

	for (uint32_t slot = first; slot < first + WAYS; slot++) {
		if (recent->slots[slot].met && recent->slots[slot].id == id) {
			meet(recent, slot);
			return slot;
		}
	}
	return RECENT_NONE;
}

static uint32_t age(const struct recent *recent, uint32_t slot)
{
	uint32_t met = recent->slots[slot].met;

	return met ? recent->clock - met : UINT32_MAX;
}

uint32_t recent_have(struct recent *recent, uint32_t id, bool *fresh)
{
	uint32_t slot = recent_find(recent, id), first = set_of(id);

	*fresh = slot == RECENT_NONE;
	if (!*fresh)
		return slot;
	slot = first;
	for (uint32_t other = first + 1; other < first + WAYS; other++)
		if (age(recent, other) > age(recent, slot))
			slot = other;
	recent->slots[slot].id = id;
	meet(recent, slot);
	return slot;
}
