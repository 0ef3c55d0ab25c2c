/* SPDX-License-Identifier: MIT */
/*
 * An index by hash over things that are kept elsewhere in a dense array: gives the positions whose
 * hash agrees, and the caller compares. Seeded at random, since the keys come from the guest.
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
	struct budget *budget;
	struct hash_slot *slots;
	uint32_t size;			/* a power of two, a quarter of it empty at least; or 0 */
	uint32_t used;
};

void hash_init(struct hash *hash, struct budget *budget);
void hash_clear(struct hash *hash);	/* frees what it holds, keeps the seed */

/*
 * A position must not be added twice. At most 2^30 of them. False: there is no room left in the
 * budget for it.
 */
bool hash_add(struct hash *hash, uint64_t value, uint32_t position);

/* The high half of a product folded on the low one: hard to steer without knowing the seed. */
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

/* This value will be asked for soon: has the memory fetched. */
static inline void hash_fetch(const struct hash *hash, uint64_t value)
{
	if (hash->size)
		__builtin_prefetch(&hash->slots[(uint32_t)value & (hash->size - 1)]);
}

/* Each position under this value: `at` starts at 0; HASH_NONE ends it. */
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

#endif
