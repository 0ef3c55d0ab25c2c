#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hash.h"
#include "util.h"

enum { SLOTS_MIN = 16 };

void hash_init(struct hash *hash)
{
	*hash = (struct hash){ 0 };
	if (getrandom(&hash->seed, sizeof(hash->seed), GRND_NONBLOCK) != sizeof(hash->seed))
		hash->seed = util_now() ^ (uintptr_t)hash;
}

void hash_clear(struct hash *hash)
{
	free(hash->slots);
	*hash = (struct hash){ .seed = hash->seed };
}

static void place(struct hash *hash, struct hash_slot slot)
{
	uint32_t at = slot.tag;

	while (hash->slots[at & (hash->size - 1)].position != HASH_NONE)
		at++;
	hash->slots[at & (hash->size - 1)] = slot;
}

static void grow(struct hash *hash)
{
	struct hash_slot *old = hash->slots;
	uint32_t old_size = hash->size;

	hash->size = old_size ? 2 * old_size : SLOTS_MIN;
	hash->slots = util_grow(NULL, hash->size, sizeof(*hash->slots));
	memset(hash->slots, 0xff, hash->size * sizeof(*hash->slots));
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].position != HASH_NONE)
			place(hash, old[i]);
	free(old);
}

void hash_add(struct hash *hash, uint64_t value, uint32_t position)
{
	if (4ull * (hash->used + 1) > 3ull * hash->size)
		grow(hash);
	place(hash, (struct hash_slot){ .tag = (uint32_t)value, .position = position });
	hash->used++;
}
