/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "stacks.h"

/* ---- recent stacks ---- */

/*
 * A cache in front of the tree. It finds the leaf node of a recent stack by the words of the sample, as
 * they come from the wire, without a walk through the tree. It may forget a stack; then the tree is asked.
 *
 * Frames are not compared. A print of 128 bits stands for them, made by NH (Black and others, UMAC, 1999)
 * under secret random keys. Two different samples have the same print with a probability of at most 2^-64.
 * Another key chooses the set, so a look-up compares six prints that are independent of that choice. Take a
 * guest that sends ten million samples a second for ten years, of whatever words: the chance that a single
 * one is charged to a wrong stack is about 1 in 1,000. Comparing the frames would read as many words from
 * memory as stacks have frames, and avoiding that is most of what the cache saves.
 */

enum {
	CACHE_BYTES = 4 << 20,		/* at most; also at most a 64th of the budget */
	WAYS = 3,
	HEAD_KEYS = 2, WALK_KEYS = 64,	/* two words for the head; then the two walks */
	RANDOM_PIECE = 256,		/* getrandom gives as many bytes in one piece */
};

/* One line of the processor's cache; `oldest` is the place that is used next. */
struct set {
	struct print {
		uint64_t low, high;
	} prints[WAYS];
	uint32_t nodes[WAYS];		/* node + 1; 0: empty */
	uint32_t oldest;
};

_Static_assert(sizeof(struct set) == 64, "a set is a line");

enum { PAIR = 2 * sizeof(struct set) };		/* two sets that help each other out */

/* Without random numbers it keeps nothing. Without memory it keeps nothing until there is some again. */
struct stack_cache {
	struct budget *budget;
	bool keyed;			/* there were random numbers */
	uint64_t set_key;		/* independent of `keys` */
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
	uint32_t count = CACHE_BYTES / sizeof(struct set);

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

static void stack_cache_init(struct stack_cache *cache, struct budget *budget)
{
	cache->budget = budget;
	cache->keyed = fill_random(cache->keys, sizeof(cache->keys)) &&
		fill_random(&cache->set_key, sizeof(cache->set_key));
	make_sets(cache);
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
static inline void cache_add_walk(struct sums *sums, const uint64_t *keys, const void *frames,
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
	return (uint64_t)space << 32 | (uint64_t)sample->called << 19 | (uint64_t)sample->user_exact << 18 |
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

/* Also fetches the memory in which the print will be looked up. */
static void stack_cache_print(const struct stack_cache *cache, const struct sample *sample, uint32_t space,
	struct stack_print *print)
{
	const uint64_t *kernel_keys = cache->keys + HEAD_KEYS, *user_keys = kernel_keys + WALK_KEYS;
	struct sums sums = { 0 };

	add(&sums, cache->keys, head(sample, space), sample->exact);
	cache_add_walk(&sums, kernel_keys, sample->kernel, sample->kernel_count);
	cache_add_walk(&sums, user_keys, sample->user, sample->user_count);
	print->low = (uint64_t)sums.products;
	print->high = (uint64_t)(sums.products >> 64);
	print->spread = spread_of(cache, sums.words);
	if (cache->count) {			/* not by a function of its own: gcc takes one that only fetches out */
		__builtin_prefetch(set_of(cache, print->spread));
		__builtin_prefetch(next_to(cache, print->spread));
	}
}

/* ---- the sets ---- */

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

/* The node that was kept for the print. STACKS_NONE: none was, or it is forgotten. */
static uint32_t stack_cache_find(const struct stack_cache *cache, const struct stack_print *print)
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

/* Keeps the node of a print that was not found. If all its places are taken, an older print is forgotten. */
static void stack_cache_keep(struct stack_cache *cache, const struct stack_print *print, uint32_t node)
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

/* ---- stacks ---- */

/*
 * A node's hash is made from its caller's hash and its own frame, from the root down. So a leaf's hash is
 * that of its whole stack, and one index serves both as the table of stacks and as the list of each node's
 * callees.
 */
struct stacks {
	struct budget *budget;
	struct node *nodes;		/* STACKS_NODES_MAX; the system backs the pages in use */
	uint32_t count, room, most;	/* nodes; nodes that are paid for; nodes at most */
	uint64_t refused;
	struct hash by_hash;
	struct stack_cache cache;
};

enum {
	FRAMES_MAX = 128,		/* in both walks of a sample */
	STEP = 1 << 14,			/* so many nodes are paid for at once */
	NODE_COST = sizeof(struct node) + sizeof(uint32_t) + 2,	/* a node; what match.h has of it */
	/* the budget divided by this is the number of nodes that a quarter of it pays for, with their index */
	NODE_SHARE = 4 * (NODE_COST + 4 * sizeof(struct hash_slot)),
};

struct path {				/* one stack, root first; its parents are not set */
	uint32_t depth;
	struct node frames[FRAMES_MAX];
	uint64_t hashes[FRAMES_MAX];
};

struct stacks *stacks_new(struct budget *budget)
{
	struct stacks *stacks = util_alloc(sizeof(*stacks));
	size_t most = budget_share(budget, NODE_SHARE);

	stacks->budget = budget;
	stacks->most = most < STACKS_NODES_MAX ? (uint32_t)most : STACKS_NODES_MAX;
	stacks->nodes = util_alloc(STACKS_NODES_MAX * sizeof(*stacks->nodes));
	hash_init(&stacks->by_hash, budget);
	stack_cache_init(&stacks->cache, budget);
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	if (stacks->cache.count)
		budget_free(stacks->budget, stacks->cache.memory, bytes_of(stacks->cache.count));
	hash_clear(&stacks->by_hash);
	free(stacks->nodes);
	budget_give(stacks->budget, (size_t)stacks->room * NODE_COST);
	free(stacks);
}

/*
 * Adds the frames of one walk to the path, root first. A return address may be the first address of the next function:
 * the call stands before it.
 */
static void add_walk(struct path *path, uint32_t space, const void *frames, uint32_t count,
	uint64_t exact, bool cut)
{
	uint32_t root = path->depth;

	for (uint32_t i = count; i-- > 0 && path->depth < FRAMES_MAX;) {
		uint64_t address = sample_frame(frames, i);
		bool returned = address && !(i < 64 && exact >> i & 1);

		path->frames[path->depth++] = (struct node) {
			.address = address - returned, .space = space, .returned = i && returned,
		};
	}
	if (cut && path->depth > root)
		path->frames[root].cut = path->frames[root].walk_cut = true;
}

static void make_path(struct path *path, const struct stack_key *key)
{
	const struct sample *sample = key->sample;
	bool user_exact = sample->user_exact || sample->kernel_count == 0;

	path->depth = 0;
	add_walk(path, key->space, sample->user, sample->user_count, user_exact,
		sample->user_cut);
	add_walk(path, EVENT_KERNEL, sample->kernel, sample->kernel_count, sample->exact | !sample->called,
		sample->kernel_cut);
}

static void make_hashes(const struct stacks *stacks, struct path *path)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < path->depth; i++) {
		const struct node *frame = &path->frames[i];

		hash = hash_pair(&stacks->by_hash, hash + frame->address, hash + frame->space);
		path->hashes[i] = hash;
		hash_fetch(&stacks->by_hash, hash);
	}
}

static bool same_frame(const struct node *a, const struct node *b)
{
	return a->address == b->address && a->space == b->space && a->walk_cut == b->walk_cut &&
		a->returned == b->returned;
}

/* Fetches all the nodes that a look-up from the root down will compare. */
static void fetch_nodes(const struct stacks *stacks, const struct path *path)
{
	for (uint32_t i = 0; i < path->depth; i++) {
		uint32_t at = 0, node = hash_next(&stacks->by_hash, path->hashes[i], &at);

		if (node != HASH_NONE)
			__builtin_prefetch(&stacks->nodes[node]);
	}
}

/* Is there room for one more node? Pays for more if need be. */
static bool have_room(struct stacks *stacks)
{
	if (stacks->count >= stacks->most)
		return false;
	if (stacks->count == stacks->room && budget_take(stacks->budget, STEP * NODE_COST))
		stacks->room += STEP;
	return stacks->count < stacks->room;
}

/* The child of a node; makes it if there is none. STACKS_NONE: there is no room. */
static uint32_t child(struct stacks *stacks, uint32_t parent, const struct node *frame,
	uint64_t hash)
{
	uint32_t at = 0, node;

	while ((node = hash_next(&stacks->by_hash, hash, &at)) != STACKS_NONE)
		if (stacks->nodes[node].walked == parent && same_frame(&stacks->nodes[node], frame))
			return node;
	node = stacks->count;
	if (!have_room(stacks) || !hash_add(&stacks->by_hash, hash, node))
		return STACKS_NONE;
	stacks->nodes[node] = *frame;
	stacks->nodes[node].parent = stacks->nodes[node].walked = parent;
	stacks->count++;
	return node;
}

/* Interns by the tree, without the cache. */
static uint32_t intern(struct stacks *stacks, const struct stack_key *key)
{
	struct path path;
	uint32_t node = STACKS_NONE;

	make_path(&path, key);
	make_hashes(stacks, &path);
	fetch_nodes(stacks, &path);
	for (uint32_t i = 0; i < path.depth; i++) {
		node = child(stacks, node, &path.frames[i], path.hashes[i]);
		if (node == STACKS_NONE) {
			stacks->refused++;
			break;
		}
	}
	return node;
}

void stacks_key(const struct stacks *stacks, const struct sample *sample, uint32_t space,
	struct stack_key *key)
{
	key->sample = sample;
	key->space = space;
	stack_cache_print(&stacks->cache, sample, space, &key->print);
}

uint32_t stacks_intern(struct stacks *stacks, const struct stack_key *key)
{
	uint32_t node;

	if (key->sample->kernel_count + key->sample->user_count == 0)
		return STACKS_NONE;
	node = stack_cache_find(&stacks->cache, &key->print);
	if (node != STACKS_NONE)
		return node;
	node = intern(stacks, key);
	if (node != STACKS_NONE)
		stack_cache_keep(&stacks->cache, &key->print, node);
	return node;
}

bool stacks_cut_off(struct stacks *stacks, uint32_t id, bool off)
{
	struct node *node = &stacks->nodes[id];
	uint32_t parent = node->walked;

	while (off && parent != STACKS_NONE && stacks->nodes[parent].space == node->space)
		parent = stacks->nodes[parent].walked;
	node->cut = off || node->walk_cut;
	if (parent == node->parent)
		return false;
	node->parent = parent;
	return true;
}

uint32_t stacks_nodes(const struct stacks *stacks)
{
	return stacks->count;
}

const struct node *stacks_list(const struct stacks *stacks)
{
	return stacks->nodes;
}

struct node stacks_node(const struct stacks *stacks, uint32_t node)
{
	return stacks->nodes[node];
}

uint64_t stacks_refused(const struct stacks *stacks)
{
	return stacks->refused;
}
