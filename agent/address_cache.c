#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "address_cache.h"
#include "symbols.h"
#include "util.h"

enum { SLOTS_MIN = 1 << 12, SLOTS_MAX = 1 << 20 };	/* powers of two; at most half full */

struct slot {
	uint64_t address;
	uint32_t space;
	uint32_t function;		/* SYMBOLS_NONE: empty */
};

struct address_cache {
	struct slot *slots;
	size_t room, count;
};

static void set_room(struct address_cache *cache, size_t room)
{
	cache->slots = util_grow(cache->slots, room, sizeof(*cache->slots));
	cache->room = room;
	address_cache_clear(cache);
}

struct address_cache *address_cache_new(void)
{
	struct address_cache *cache = util_alloc(sizeof(*cache));

	set_room(cache, SLOTS_MIN);
	return cache;
}

void address_cache_free(struct address_cache *cache)
{
	if (!cache)
		return;
	free(cache->slots);
	free(cache);
}

void address_cache_clear(struct address_cache *cache)
{
	memset(cache->slots, 0xff, cache->room * sizeof(*cache->slots));
	cache->count = 0;
}

/* The pair's slot, or the empty one where it would go. */
static struct slot *find_slot(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32);

	for (;; at++) {
		struct slot *slot = &cache->slots[at & (cache->room - 1)];

		if (slot->function == SYMBOLS_NONE
			|| (slot->address == address && slot->space == space))
			return slot;
	}
}

uint32_t address_cache_find(const struct address_cache *cache, uint32_t space, uint64_t address)
{
	return find_slot(cache, space, address)->function;
}

static void grow(struct address_cache *cache)
{
	struct slot *old = cache->slots;
	size_t room = cache->room;

	cache->slots = NULL;
	set_room(cache, 2 * room);
	for (size_t i = 0; i < room; i++) {
		if (old[i].function != SYMBOLS_NONE)
			address_cache_add(cache, old[i].space, old[i].address, old[i].function);
	}
	free(old);
}

void address_cache_add(struct address_cache *cache, uint32_t space, uint64_t address,
	uint32_t function)
{
	if (cache->count >= cache->room / 2 && cache->room < SLOTS_MAX)
		grow(cache);
	else if (cache->count >= cache->room / 2)
		address_cache_clear(cache);
	*find_slot(cache, space, address) =
		(struct slot){ .address = address, .space = space, .function = function };
	cache->count++;
}
