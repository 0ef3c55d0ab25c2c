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
