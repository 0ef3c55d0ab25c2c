/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "stack_cache.h"

enum {
	WAYS = 3,
	HEAD_KEYS = 2, WALK_KEYS = 64,	/* two words for the head; then the two walks */
	RANDOM_PIECE = 256,		/* getrandom gives as many bytes in one piece */
};

struct print {
	uint64_t low, high;
};

/* One line of the processor's cache; `oldest` is the place that is used next. */
struct set {
	struct print prints[WAYS];
	uint32_t nodes[WAYS];		/* node + 1; 0: empty */
	uint32_t oldest;
};

_Static_assert(sizeof(struct set) == 64, "a set is a line");

enum { PAIR = 2 * sizeof(struct set) };		/* two sets that help each other out */

struct stack_cache {
	struct budget *budget;
	bool keyed;			/* there were random numbers */
	uint64_t set_key;		/* independent of `keys`, see stack_cache.h */
	uint64_t keys[HEAD_KEYS + 2 * WALK_KEYS];
	uint32_t count;			/* of sets: a power of two, or 0 */
	void *memory;
	struct set *sets;		/* in `memory`, aligned to pairs */
};

static bool fill_random(void *memory, size_t size)
{
	for (size_t at = 0; at < size; at += RANDOM_PIECE) {
		size_t piece = size - at < RANDOM_PIECE ? size - at : RANDOM_PIECE;

		if (getrandom((uint8_t *)memory + at, piece, GRND_NONBLOCK) != (ssize_t)piece)
			return false;
	}
	return true;
}

/* With one pair more than is used, so that the first set can be aligned. */
static size_t bytes_of(uint32_t count)
{
	return (size_t)count * sizeof(struct set) + PAIR;
}

static uint32_t count_for(const struct budget *budget)
{
	uint32_t count = STACK_CACHE_BYTES / sizeof(struct set);

	while (count * sizeof(struct set) > budget_share(budget, 64))
		count /= 2;
	return count;
}

/* calloc: the system backs only the pages that are used. */
static bool make_sets(struct stack_cache *cache)
{
	uint32_t count = count_for(cache->budget);

	if (!cache->keyed || !budget_take(cache->budget, bytes_of(count)))
		return false;
	cache->memory = calloc(1, bytes_of(count));
	if (!cache->memory) {
		budget_give(cache->budget, bytes_of(count));
		return false;
	}
	cache->sets = (struct set *)(((uintptr_t)cache->memory + PAIR - 1) / PAIR * PAIR);
	cache->count = count;
	return true;
}

struct stack_cache *stack_cache_new(struct budget *budget)
{
	struct stack_cache *cache = util_alloc(sizeof(*cache));

	cache->budget = budget;
	cache->keyed = fill_random(cache->keys, sizeof(cache->keys)) &&
		fill_random(&cache->set_key, sizeof(cache->set_key));
	make_sets(cache);
	return cache;
}

void stack_cache_free(struct stack_cache *cache)
{
	if (!cache)
		return;
	if (cache->count)
		budget_free(cache->budget, cache->memory, bytes_of(cache->count));
	free(cache);
}

/* ---- NH: the sum of the products of each pair of words, with their keys added ---- */

struct sums {
	unsigned __int128 products;
	uint64_t words;
};

static inline void add(struct sums *sums, const uint64_t *keys, uint64_t a, uint64_t b)
{
	sums->products += (unsigned __int128)(a + keys[0]) * (b + keys[1]);
	sums->words += a + b;
}

/* A last word without a partner is paired with 0. The number of frames is in the head. */
static inline void add_walk(struct sums *sums, const uint64_t *keys, const void *frames,
	uint32_t count)
{
	uint32_t i = 0;

	for (; i + 1 < count; i += 2)
		add(sums, keys + i, sample_frame(frames, i), sample_frame(frames, i + 1));
	if (i < count)
		add(sums, keys + i, sample_frame(frames, i), 0);
}

/* All but frames and `exact`, in one word. */
static uint64_t head(const struct sample *sample, uint32_t space)
{
	return (uint64_t)space << 32 | (uint64_t)sample->user_exact << 18 |
		(uint64_t)sample->user_cut << 17 | (uint64_t)sample->kernel_cut << 16 |
		sample->user_count << 8 | sample->kernel_count;
}

/* Made from the sum of the words alone, whatever their order: stacks with the same sum share a set. */
static uint32_t spread_of(const struct stack_cache *cache, uint64_t words)
{
	return (uint32_t)hash_mix(words, cache->set_key);
}

/* The set that a print belongs to. The cache must have sets. */
static struct set *set_of(const struct stack_cache *cache, uint32_t spread)
{
	return &cache->sets[spread & (cache->count - 1)];
}

/* The other set of the pair: it takes a stack that finds its own set full. */
static struct set *next_to(const struct stack_cache *cache, uint32_t spread)
{
	return set_of(cache, spread ^ 1);
}

void stack_cache_print(const struct stack_cache *cache, const struct sample *sample,
	uint32_t space, struct stack_print *print)
{
	const uint64_t *kernel_keys = cache->keys + HEAD_KEYS, *user_keys = kernel_keys + WALK_KEYS;
	struct sums sums = { 0 };

	add(&sums, cache->keys, head(sample, space), sample->exact);
	add_walk(&sums, kernel_keys, sample->kernel, sample->kernel_count);
	add_walk(&sums, user_keys, sample->user, sample->user_count);
	print->low = (uint64_t)sums.products;
	print->high = (uint64_t)(sums.products >> 64);
	print->spread = spread_of(cache, sums.words);
}

/* ---- the sets ---- */

void stack_cache_fetch(const struct stack_cache *cache, const struct stack_print *print)
{
	if (!cache->count)
		return;
	__builtin_prefetch(set_of(cache, print->spread));
	__builtin_prefetch(next_to(cache, print->spread));
}

/* Returns node + 1, or 0: not there. Does not branch on the place, which no processor could predict. */
static inline uint32_t find_in(const struct set *set, const struct stack_print *print)
{
	uint32_t node = 0;

	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t differ = (set->prints[i].low ^ print->low) |
			(set->prints[i].high ^ print->high);

		node |= set->nodes[i] & -(uint32_t)(differ == 0);
	}
	return node;
}

uint32_t stack_cache_find(const struct stack_cache *cache, const struct stack_print *print)
{
	uint32_t node;

	if (cache->count == 0)
		return STACKS_NONE;
	node = find_in(set_of(cache, print->spread), print);
	if (!node)
		node = find_in(next_to(cache, print->spread), print);
	return node - 1;
}

static bool is_full(const struct set *set)
{
	return set->nodes[set->oldest] != 0;
}

void stack_cache_keep(struct stack_cache *cache, const struct stack_print *print, uint32_t node)
{
	struct set *set;

	if (cache->count == 0 && !make_sets(cache))
		return;
	set = set_of(cache, print->spread);
	if (is_full(set) && !is_full(next_to(cache, print->spread)))
		set = next_to(cache, print->spread);
	set->prints[set->oldest] = (struct print) { print->low, print->high };
	set->nodes[set->oldest] = node + 1;
	set->oldest = (set->oldest + 1) % WAYS;
}
