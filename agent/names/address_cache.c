/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "address_cache.h"
#include "function.h"

enum { SLOTS_MIN = 1 << 12, SLOTS_MAX = 1 << 20 };	/* powers of two; at most half full */

struct slot {
	uint64_t address;
	uint32_t space;
	uint32_t function;		/* FUNCTION_NONE: empty */
};

struct address_cache {
	struct slot *slots;
	size_t room, count;
	struct hash seed;		/* only its seed is used: the guest chooses the addresses */
	struct budget *budget;
};

struct address_cache *address_cache_new(struct budget *budget)
{
	struct address_cache *cache = util_alloc(sizeof(*cache));

	cache->budget = budget;
	hash_init(&cache->seed, NULL);
	cache->room = SLOTS_MIN;
	cache->slots = util_grow(NULL, cache->room, sizeof(*cache->slots));
	budget_charge(budget, cache->room * sizeof(*cache->slots));
	address_cache_clear(cache);
	return cache;
}

void address_cache_free(struct address_cache *cache)
{
	if (!cache)
		return;
	budget_free(cache->budget, cache->slots, cache->room * sizeof(*cache->slots));
	free(cache);
}

void address_cache_clear(struct address_cache *cache)
{
	memset(cache->slots, 0xff, cache->room * sizeof(*cache->slots));
	cache->count = 0;
}

static size_t place_of(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	return (size_t)hash_pair(&cache->seed, address, space);
}

void address_cache_fetch(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	__builtin_prefetch(&cache->slots[place_of(cache, space, address) & (cache->room - 1)]);
}

/* The pair's slot, or the empty slot where it belongs. */
static struct slot *find_slot(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	size_t at = place_of(cache, space, address);

	for (;; at++) {
		struct slot *slot = &cache->slots[at & (cache->room - 1)];

		if (slot->function == FUNCTION_NONE ||
			(slot->address == address && slot->space == space))
			return slot;
	}
}

uint32_t address_cache_find(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	return find_slot(cache, space, address)->function;
}

static bool grow(struct address_cache *cache)
{
	struct slot *old = cache->slots, *slots;
	size_t room = cache->room;

	slots = room < SLOTS_MAX ? budget_resize(cache->budget, NULL, 0, 2 * room * sizeof(*slots)) :
		NULL;
	if (!slots)
		return false;
	cache->slots = slots;
	cache->room = 2 * room;
	address_cache_clear(cache);
	for (size_t i = 0; i < room; i++) {
		if (old[i].function != FUNCTION_NONE)
			address_cache_add(cache, old[i].space, old[i].address, old[i].function);
	}
	budget_free(cache->budget, old, room * sizeof(*old));
	return true;
}

void address_cache_add(struct address_cache *cache, uint32_t space, uint64_t address,
	uint32_t function)
{
	if (cache->count >= cache->room / 2 && !grow(cache))
		address_cache_clear(cache);
	*find_slot(cache, space, address) =
		(struct slot) { .address = address, .space = space, .function = function };
	cache->count++;
}
