/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "budget.h"
#include "hash.h"
#include "util.h"

enum { SLOTS_MIN = 16 };

void hash_init(struct hash *hash, struct budget *budget)
{
	*hash = (struct hash) { .budget = budget };
	if (getrandom(&hash->seed, sizeof(hash->seed), GRND_NONBLOCK) != sizeof(hash->seed))
		hash->seed = util_now() ^ (uintptr_t)hash;
}

void hash_clear(struct hash *hash)
{
	budget_free(hash->budget, hash->slots, hash->size * sizeof(*hash->slots));
	*hash = (struct hash) { .seed = hash->seed, .budget = hash->budget };
}

static void place(struct hash *hash, struct hash_slot slot)
{
	uint32_t at = slot.tag;

	while (hash->slots[at & (hash->size - 1)].position != HASH_NONE)
		at++;
	hash->slots[at & (hash->size - 1)] = slot;
}

static bool grow(struct hash *hash, uint32_t size)
{
	struct hash_slot *old = hash->slots, *slots;
	uint32_t old_size = hash->size;

	slots = budget_resize(hash->budget, NULL, 0, size * sizeof(*slots));
	if (!slots)
		return false;
	hash->slots = slots;
	hash->size = size;
	memset(hash->slots, 0xff, hash->size * sizeof(*hash->slots));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].position != HASH_NONE)
			place(hash, old[i]);
	budget_free(hash->budget, old, old_size * sizeof(*old));
	return true;
}

static bool is_short(const struct hash *hash, uint32_t count)
{
	return 4ull * count > 3ull * hash->size;
}

bool hash_add(struct hash *hash, uint64_t value, uint32_t position)
{
	if (is_short(hash, hash->used + 1) && !grow(hash, hash->size ? 2 * hash->size : SLOTS_MIN))
		return false;
	place(hash, (struct hash_slot) { .tag = (uint32_t)value, .position = position });
	hash->used++;
	return true;
}

/* ---- recent ids ---- */

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
