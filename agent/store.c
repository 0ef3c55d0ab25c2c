#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "hash.h"
#include "store.h"
#include "util.h"

#define SECOND 1000000000ull

/*
 * Time is cut into cells: fine ones near "now", coarse ones behind, and one for all that is older.
 * A slice is a cell in which something was; cells of one grid nest in those of the next, so a slice
 * is merged by finding its cell again. What is older than `ancient` is one cell, from 0.
 */
static const struct grid {
	uint64_t width;
	uint64_t reach;			/* from now into the past */
} grids[] = {
	{ STORE_SLICE_NS, 120 * SECOND },
	{ SECOND, 600 * SECOND },
	{ 10 * SECOND, 7200 * SECOND },
	{ 60 * SECOND, 86400 * SECOND },
};
enum { GRIDS = sizeof(grids) / sizeof(grids[0]) };

struct part {				/* a slice as it is kept */
	uint64_t begin, end, version;
	struct store_count *counts;
	uint32_t count, room;
	struct hash by_key;
	struct store_cpu *cpus;
	uint32_t cpu_count;
};

struct store {
	struct budget *budget;
	uint64_t now;
	uint64_t limits[GRIDS];		/* what ends at or before limits[i] is too old for grid i */
	uint64_t ancient;
	uint64_t version;
	uint64_t given_up;
	size_t entries;			/* counts and CPUs of all parts */
	struct part **parts;		/* in order of time */
	size_t part_count, part_room;
	struct part *last;		/* touched last, or NULL */
};

struct store *store_new(struct budget *budget)
{
	struct store *store = util_alloc(sizeof(*store));

	store->budget = budget;
	return store;
}

static void part_free(struct store *store, struct part *part)
{
	hash_clear(&part->by_key);
	budget_free(store->budget, part->counts, part->room * sizeof(*part->counts));
	budget_free(store->budget, part->cpus, part->cpu_count * sizeof(*part->cpus));
	free(part);
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->part_count; i++)
		part_free(store, store->parts[i]);
	free(store->parts);
	free(store);
}

/* ---- one part ---- */

static bool same_key(const struct store_key *a, const struct store_key *b)
{
	return a->stack == b->stack && a->thread == b->thread && a->process == b->process
		&& a->cpu == b->cpu && a->mode == b->mode;
}

static uint64_t key_hash(const struct part *part, const struct store_key *key)
{
	return hash_pair(&part->by_key, (uint64_t)key->thread << 32 | key->stack,
		(uint64_t)key->mode << 48 | (uint64_t)key->cpu << 32 | key->process);
}

static struct store_count *find_count(const struct part *part, const struct store_key *key,
	uint64_t hash)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&part->by_key, hash, &at)) != HASH_NONE)
		if (same_key(&part->counts[position].key, key))
			return &part->counts[position];
	return NULL;
}

/* NULL: there is no room for it. */
static struct store_count *add_count(struct store *store, struct part *part,
	const struct store_key *key, uint64_t hash)
{
	struct store_count *counts = budget_array(store->budget, part->counts, part->count,
		&part->room, sizeof(*counts));

	if (!counts)
		return NULL;
	part->counts = counts;
	if (!hash_add(&part->by_key, hash, part->count))
		return NULL;
	part->counts[part->count] = (struct store_count){ .key = *key };
	store->entries++;
	return &part->counts[part->count++];
}

/* False: there is no room for it. */
static bool have_cpu(struct store *store, struct part *part, uint32_t cpu)
{
	uint32_t more = cpu + 1 - part->cpu_count;
	struct store_cpu *cpus;

	if (cpu < part->cpu_count)
		return true;
	cpus = budget_resize(store->budget, part->cpus, part->cpu_count * sizeof(*cpus),
		(cpu + 1) * sizeof(*cpus));
	if (!cpus)
		return false;
	memset(cpus + part->cpu_count, 0, more * sizeof(*cpus));
	part->cpus = cpus;
	part->cpu_count = cpu + 1;
	store->entries += more;
	return true;
}

/* `from` is emptied into `to` and freed. */
static void merge(struct store *store, struct part *to, struct part *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		const struct store_count *count = &from->counts[i];
		uint64_t hash = key_hash(to, &count->key);
		struct store_count *sum = find_count(to, &count->key, hash);

		if (!sum)
			sum = add_count(store, to, &count->key, hash);
		if (!sum) {
			store->given_up += count->weight;
			continue;
		}
		sum->samples += count->samples;
		sum->weight += count->weight;
	}
	if (from->cpu_count)
		have_cpu(store, to, from->cpu_count - 1);
	for (uint32_t i = 0; i < from->cpu_count && i < to->cpu_count; i++) {
		for (int mode = 0; mode < MODES; mode++)
			to->cpus[i].mode[mode] += from->cpus[i].mode[mode];
		to->cpus[i].missed += from->cpus[i].missed;
	}
	if (from->version > to->version)
		to->version = from->version;
	store->entries -= from->count + from->cpu_count;
	part_free(store, from);
}

/* A part that will hardly grow again keeps no room for it. */
static void settle(struct store *store, struct part *part)
{
	budget_give(store->budget, (part->room - part->count) * sizeof(*part->counts));
	part->counts = util_grow(part->counts, part->count, sizeof(*part->counts));
	part->room = part->count;
}

/* ---- cells ---- */

static uint64_t align_down(uint64_t time, uint64_t width)
{
	return time - time % width;
}

static void find_cell(const struct store *store, uint64_t time, uint64_t *begin, uint64_t *end)
{
	size_t grid = 0;

	*begin = 0;
	*end = store->ancient;
	if (time < store->ancient)
		return;
	while (grid < GRIDS - 1 && time < store->limits[grid])
		grid++;
	*begin = align_down(time, grids[grid].width);
	*end = *begin + grids[grid].width;
	if (*begin < store->ancient)
		*begin = store->ancient;
}

/* Puts each part into the cell that it belongs to now; those of one cell become one. */
static void regroup(struct store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->part_count; i++) {
		struct part *part = store->parts[i], *last = kept ? store->parts[kept - 1] : NULL;
		uint64_t begin, end;

		find_cell(store, part->begin, &begin, &end);
		if (last && last->begin == begin)
			merge(store, last, part);
		else
			store->parts[kept++] = part;
		store->parts[kept - 1]->begin = begin;
		store->parts[kept - 1]->end = end;
	}
	store->part_count = kept;
	store->last = NULL;
}

/* The limits lie on the next grid's lines, so that a cell grows old as a whole. */
static void set_limits(struct store *store)
{
	uint64_t newest = store->limits[0];

	for (size_t i = 0; i < GRIDS; i++) {
		uint64_t old = store->now > grids[i].reach ? store->now - grids[i].reach : 0;

		store->limits[i] = align_down(old, grids[i + 1 < GRIDS ? i + 1 : i].width);
	}
	if (store->limits[GRIDS - 1] > store->ancient)
		store->ancient = store->limits[GRIDS - 1];
	if (store->limits[0] != newest)
		regroup(store);
}

void store_advance(struct store *store, uint64_t now)
{
	if (now > INT64_MAX)
		now = INT64_MAX;
	if (now <= store->now)
		return;
	store->now = now;
	store->version++;
	set_limits(store);
}

uint64_t store_now(const struct store *store)
{
	return store->now;
}

uint64_t store_version(const struct store *store)
{
	return store->version;
}

/* ---- parts in order ---- */

/* Where the first part stands that ends after this time. */
static size_t position_of(const struct store *store, uint64_t time)
{
	size_t low = 0, high = store->part_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (store->parts[middle]->end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct part *insert_part(struct store *store, size_t position, uint64_t time)
{
	struct part *part = util_alloc(sizeof(*part));

	find_cell(store, time, &part->begin, &part->end);
	hash_init(&part->by_key, store->budget);
	if (store->part_count == store->part_room) {
		store->part_room = 2 * store->part_room + 64;
		store->parts = util_grow(store->parts, store->part_room, sizeof(*store->parts));
	}
	memmove(store->parts + position + 1, store->parts + position,
		(store->part_count - position) * sizeof(*store->parts));
	store->parts[position] = part;
	store->part_count++;
	if (position)
		settle(store, store->parts[position - 1]);
	return part;
}

static struct part *part_at(struct store *store, uint64_t time)
{
	struct part *part;
	size_t position;

	if (time > INT64_MAX)
		time = INT64_MAX;
	store_advance(store, time);
	part = store->last;
	if (part && time >= part->begin && time < part->end)
		return part;
	position = position_of(store, time);
	part = position < store->part_count ? store->parts[position] : NULL;
	if (!part || time < part->begin)
		part = insert_part(store, position, time);
	store->last = part;
	return part;
}

/* ---- the limit ---- */

static void drop_oldest(struct store *store)
{
	struct part *part = store->parts[0];

	for (uint32_t i = 0; i < part->count; i++)
		store->given_up += part->counts[i].weight;
	store->entries -= part->count + part->cpu_count;
	part_free(store, part);
	store->part_count--;
	memmove(store->parts, store->parts + 1, store->part_count * sizeof(*store->parts));
}

/*
 * The two oldest parts become one, which holds each key once; a part that is half of everything is
 * let go. False: there is nothing but the newest part.
 */
static bool make_room(struct store *store)
{
	struct part *oldest = store->parts[0];

	if (store->part_count < 2)
		return false;
	store->last = NULL;
	if (oldest->count + oldest->cpu_count > STORE_ENTRIES_MAX / 2 || store->part_count == 2) {
		drop_oldest(store);
		return true;
	}
	store->ancient = store->parts[1]->end;
	regroup(store);
	return true;
}

/* What others may need before the store is asked again is left to them. */
static bool is_short(const struct store *store)
{
	return budget_left(store->budget) < budget_share(store->budget, 8);
}

/* The part for a time, with room for so many entries; NULL when there can be none. */
static struct part *part_with_room(struct store *store, uint64_t time, uint32_t entries)
{
	while (store->entries + entries > STORE_ENTRIES_MAX || is_short(store))
		if (!make_room(store))
			break;
	return store->entries + entries > STORE_ENTRIES_MAX ? NULL : part_at(store, time);
}

/* ---- what comes in ---- */

static struct store_count *take_key(struct store *store, struct part **part, uint64_t time,
	const struct store_key *key)
{
	uint64_t hash = key_hash(*part, key);
	struct store_count *count = find_count(*part, key, hash);

	if (count && key->cpu < (*part)->cpu_count)
		return count;
	*part = part_with_room(store, time, key->cpu + 2u);
	if (!*part)
		return NULL;
	if (!have_cpu(store, *part, key->cpu))
		return NULL;
	hash = key_hash(*part, key);
	count = find_count(*part, key, hash);
	return count ? count : add_count(store, *part, key, hash);
}

void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight)
{
	struct part *part = part_at(store, time);
	struct store_count *count = NULL;

	if (key->cpu < EVENT_CPUS && key->mode < MODES)
		count = take_key(store, &part, time, key);
	if (!count) {
		store->given_up += weight;
		return;
	}
	count->samples++;
	count->weight += weight;
	part->cpus[key->cpu].mode[key->mode] += weight;
	part->version = ++store->version;
}

void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks)
{
	struct part *part = cpu < EVENT_CPUS ? part_with_room(store, time, cpu + 1) : NULL;

	if (!part || !have_cpu(store, part, cpu)) {
		store->given_up += ticks;
		return;
	}
	part->cpus[cpu].missed += ticks;
	part->version = ++store->version;
}

size_t store_slices(const struct store *store)
{
	return store->part_count;
}

struct slice store_slice(const struct store *store, size_t index)
{
	const struct part *part = store->parts[index];

	return (struct slice){
		.begin = part->begin, .end = part->end, .version = part->version,
		.counts = part->counts, .count = part->count,
		.cpus = part->cpus, .cpu_count = part->cpu_count,
	};
}

uint64_t store_given_up(const struct store *store)
{
	return store->given_up;
}
