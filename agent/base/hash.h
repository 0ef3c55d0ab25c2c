/* SPDX-License-Identifier: MIT */
/*
 * A hash index over things that the caller keeps in a dense array. It returns the positions whose hash
 * agrees; the caller compares. The seed is random, since keys come from the guest.
 */
#ifndef HASH_H
#define HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

#define HASH_NONE 0xffffffffu

struct hash_slot {
	uint32_t tag;			/* low bits of the hash */
	uint32_t position;		/* HASH_NONE: empty */
};

struct hash {
	uint64_t seed;
	struct budget *budget;		/* NULL: no limit */
	struct hash_slot *slots;
	uint32_t size;			/* a power of two, at least a quarter of it empty; or 0 */
	uint32_t used;
};

void hash_init(struct hash *hash, struct budget *budget);	/* takes no memory yet */
void hash_clear(struct hash *hash);	/* frees the slots, keeps the seed */

/* Adds a position, which must not be in the index yet. At most 2^30 of them. False: the budget has no room. */
bool hash_add(struct hash *hash, uint64_t value, uint32_t position);

/* XORs the two halves of a product. If a secret is in the words, nobody can choose words that collide. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * (b << 1 | 1);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash value of two words. */
static inline uint64_t hash_pair(const struct hash *hash, uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash->seed, b ^ (hash->seed >> 7) ^ 0x9e3779b97f4a7c15u);
}

/* The hash value of a text. */
static inline uint64_t hash_text(const struct hash *hash, const char *text)
{
	uint64_t value = 0;

	for (; *text; text++)
		value = hash_pair(hash, value, value + (unsigned char)*text);
	return value;
}

/* Prefetches the memory for a value that will be looked up soon. */
static inline void hash_fetch(const struct hash *hash, uint64_t value)
{
	if (hash->size)
		__builtin_prefetch(&hash->slots[(uint32_t)value & (hash->size - 1)]);
}

/* Returns each position under this value in turn. `*at` starts at 0. HASH_NONE: there is no more. */
static inline uint32_t hash_next(const struct hash *hash, uint64_t value, uint32_t *at)
{
	while (hash->size) {
		uint32_t index = ((uint32_t)value + (*at)++) & (hash->size - 1);
		const struct hash_slot *slot = &hash->slots[index];

		if (slot->position == HASH_NONE || slot->tag == (uint32_t)value)
			return slot->position;
	}
	return HASH_NONE;
}

/* ---- recent ids ---- */

/*
 * The ids of threads or processes that were met recently, each with a slot number: the caller keeps what it
 * knows of an id in an array, at that index. A guest starts threads and processes without end, and does not
 * say which have ended. So an id that was not met in a long time makes room for a new one.
 */

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
