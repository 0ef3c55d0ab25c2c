/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "allocations.h"
#include "kernel-hook/wire.h"
#include "trace_order.h"

enum { OBJECTS_LEAST = 1 << 10, OBJECTS_PART = 8, OTHERS_PART = 32 };
enum { ORIGINS_MOST = 1 << 16 };	/* an answer has a row for each: with more it would take too long */
enum { BORN_UNIT = 20 };		/* the time of an object is kept in units of 2^20 ns: for 52 days */
enum { AT_NUMBER = 1, AT_ADDRESS, AT_BYTES };	/* the values of both events */

struct object {				/* in a table of open addressing: it is behind no empty place of its hash */
	uint64_t address, bytes;
	uint32_t born;
	uint32_t origin;		/* plus 1; 0: the place is empty */
};

struct allocations {
	struct budget *budget;
	uint64_t seed;			/* of the objects' hashes: addresses come from the guest */
	struct object *objects;
	uint64_t object_count, object_room;	/* room: a power of 2, or 0 */
	bool full;			/* a larger table was refused; it may be asked for again once it has room */
	struct origin *origins;
	uint32_t origin_count, origin_room;
	struct hash by_origin;
	struct allocation_change *changes;
	uint32_t change_count, change_room;
	uint64_t forgotten, from;	/* changes; the second from which on all are there */
	uint64_t last, sure_from;
	struct allocation_counts counts;
};

struct allocations *allocations_new(struct budget *budget)
{
	struct allocations *allocations = util_alloc(sizeof(*allocations));

	allocations->budget = budget;
	hash_init(&allocations->by_origin, budget);
	allocations->seed = allocations->by_origin.seed;
	return allocations;
}

void allocations_free(struct allocations *allocations)
{
	struct budget *budget = allocations ? allocations->budget : NULL;

	if (!allocations)
		return;
	budget_free(budget, allocations->objects, allocations->object_room * sizeof(*allocations->objects));
	budget_free(budget, allocations->origins, allocations->origin_room * sizeof(*allocations->origins));
	budget_free(budget, allocations->changes, allocations->change_room * sizeof(*allocations->changes));
	hash_clear(&allocations->by_origin);
	free(allocations);
}

/* ---- origins ---- */

static uint32_t find_origin(const struct allocations *allocations, uint64_t hash, uint32_t allocator, uint32_t stack)
{
	uint32_t at = 0, position;

	while ((position = hash_next(&allocations->by_origin, hash, &at)) != HASH_NONE)
		if (allocations->origins[position].allocator == allocator &&
				allocations->origins[position].stack == stack)
			break;
	return position;
}

/* HASH_NONE: there is no room. */
static uint32_t have_origin(struct allocations *allocations, uint32_t allocator, uint32_t stack)
{
	uint64_t hash = hash_pair(&allocations->by_origin, allocator, stack);
	uint32_t found = find_origin(allocations, hash, allocator, stack);
	size_t share = budget_share(allocations->budget, OTHERS_PART) / sizeof(struct origin);
	size_t most = share < ORIGINS_MOST ? share : ORIGINS_MOST;
	struct origin *origins;

	if (found != HASH_NONE)
		return found;
	if (stack && allocations->origin_count >= most)
		return HASH_NONE;
	origins = budget_array(allocations->budget, allocations->origins, allocations->origin_count,
		&allocations->origin_room, sizeof(*origins));
	allocations->origins = origins ? origins : allocations->origins;
	if (!origins || !hash_add(&allocations->by_origin, hash, allocations->origin_count))
		return HASH_NONE;
	origins[allocations->origin_count] = (struct origin) { .allocator = allocator, .stack = stack };
	return allocations->origin_count++;
}

/* ---- changes ---- */

/* The older half, in whole seconds: all but the newest, if that is more. */
static void forget_changes(struct allocations *allocations)
{
	struct allocation_change *changes = allocations->changes;
	uint32_t gone = allocations->change_count / 2;

	while (gone < allocations->change_count && changes[gone].second == changes[gone - 1].second)
		gone++;
	allocations->from = changes[gone - 1].second + 1ull;
	allocations->forgotten += gone;
	allocations->change_count -= gone;
	memmove(changes, changes + gone, allocations->change_count * sizeof(*changes));
}

/* That of the origin in this second; NULL: there is no memory for it. */
static struct allocation_change *change_of(struct allocations *allocations, uint32_t of, uint32_t second)
{
	struct origin *origin = &allocations->origins[of];
	size_t most = budget_share(allocations->budget, OTHERS_PART) / sizeof(struct allocation_change);
	struct allocation_change *changes;

	if (origin->change > allocations->forgotten) {
		changes = &allocations->changes[origin->change - allocations->forgotten - 1];
		if (changes->second == second)
			return changes;
	}
	if (allocations->change_count > 1 && allocations->change_count >= most)
		forget_changes(allocations);
	changes = budget_array(allocations->budget, allocations->changes, allocations->change_count,
		&allocations->change_room, sizeof(*changes));
	if (!changes) {
		allocations->from = second + 1ull;
		allocations->forgotten += allocations->change_count;
		allocations->change_count = 0;
		return NULL;
	}
	allocations->changes = changes;
	changes[allocations->change_count] = (struct allocation_change) { .origin = of, .second = second };
	origin->change = allocations->forgotten + ++allocations->change_count;
	return &changes[allocations->change_count - 1];
}

/* ---- objects ---- */

/* By both: a guest may give out one address by any number of allocators. */
static uint64_t place_of(const struct allocations *allocations, uint32_t allocator, uint64_t address)
{
	return hash_mix(hash_mix(address ^ allocations->seed, UINT64_C(0x9e3779b97f4a7c15)), allocator) &
		(allocations->object_room - 1);
}

static uint64_t home_of(const struct allocations *allocations, const struct object *object)
{
	return place_of(allocations, allocations->origins[object->origin - 1].allocator, object->address);
}

static void put_object(struct allocations *allocations, const struct object *object)
{
	uint64_t at = home_of(allocations, object);

	while (allocations->objects[at].origin)
		at = (at + 1) & (allocations->object_room - 1);
	allocations->objects[at] = *object;
}

/* At least a quarter of the table stays empty. False: it has no room for one more. */
static bool have_room(struct allocations *allocations)
{
	uint64_t room = allocations->object_room ? 2 * allocations->object_room : OBJECTS_LEAST;
	struct object *old = allocations->objects, *objects;
	size_t old_room = allocations->object_room;

	if (4 * (allocations->object_count + 1) <= 3 * allocations->object_room)
		return true;
	if (allocations->full || room > budget_share(allocations->budget, OBJECTS_PART) / sizeof(*objects))
		return false;
	objects = budget_resize(allocations->budget, NULL, 0, room * sizeof(*objects));
	allocations->full = !objects;
	if (!objects)
		return false;
	memset(objects, 0, room * sizeof(*objects));
	allocations->objects = objects;
	allocations->object_room = room;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].origin)
			put_object(allocations, &old[i]);
	budget_free(allocations->budget, old, old_room * sizeof(*old));
	return true;
}

/* NULL: no such object is known to live. */
static struct object *find_object(const struct allocations *allocations, uint32_t allocator, uint64_t address)
{
	struct object *object;

	if (!allocations->object_room)
		return NULL;
	for (uint64_t at = place_of(allocations, allocator, address);; at = (at + 1) & (allocations->object_room - 1)) {
		object = &allocations->objects[at];
		if (!object->origin)
			return NULL;
		if (object->address == address && allocations->origins[object->origin - 1].allocator == allocator)
			return object;
	}
}

/* Moves those behind it that would not be found across an empty place (Knuth 3, section 6.4, algorithm R). */
static void drop_object(struct allocations *allocations, struct object *object)
{
	uint64_t mask = allocations->object_room - 1, empty = (uint64_t)(object - allocations->objects);

	for (uint64_t at = (empty + 1) & mask; allocations->objects[at].origin; at = (at + 1) & mask) {
		uint64_t home = home_of(allocations, &allocations->objects[at]);

		if (((at - home) & mask) < ((at - empty) & mask))
			continue;
		allocations->objects[empty] = allocations->objects[at];
		empty = at;
	}
	allocations->objects[empty].origin = 0;
	allocations->object_count--;
	allocations->full = false;
}

/* ---- events ---- */

static void end_object(struct allocations *allocations, struct object *object, uint32_t second)
{
	struct origin *origin = &allocations->origins[object->origin - 1];
	struct allocation_change *change = change_of(allocations, object->origin - 1, second);

	origin->objects--;
	origin->bytes -= object->bytes;
	if (change) {
		change->taken++;
		change->taken_bytes += object->bytes;
	}
	allocations->counts.taken++;
	drop_object(allocations, object);
}

static void begin_object(struct allocations *allocations, const struct trace_event *event, uint32_t second)
{
	uint32_t allocator = (uint32_t)event->values[AT_NUMBER], of = HASH_NONE;
	uint64_t bytes = event->values[AT_BYTES], born = event->time >> BORN_UNIT;
	struct allocation_change *change;

	if (have_room(allocations)) {
		of = have_origin(allocations, allocator, event->stack);
		allocations->counts.merged += of == HASH_NONE;
		of = of == HASH_NONE ? have_origin(allocations, allocator, 0) : of;
	}
	if (of == HASH_NONE) {
		allocations->counts.unkept++;
		allocations->counts.unkept_bytes += bytes;
		return;
	}
	put_object(allocations, &(struct object) { .address = event->values[AT_ADDRESS], .bytes = bytes,
		.born = born < UINT32_MAX ? (uint32_t)born : UINT32_MAX, .origin = of + 1 });
	allocations->object_count++;
	allocations->counts.given++;
	allocations->origins[of].objects++;
	allocations->origins[of].bytes += bytes;
	change = change_of(allocations, of, second);
	if (change) {
		change->given++;
		change->given_bytes += bytes;
	}
}

void allocations_add(struct allocations *allocations, const struct trace_event *event)
{
	uint64_t seconds = event->time / NS_PER_SECOND;
	uint32_t second = seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
	bool gives = event->id == KTOP_EVENT_memory_alloc;
	struct object *object = find_object(allocations, (uint32_t)event->values[AT_NUMBER],
		event->values[AT_ADDRESS]);

	allocations->last = event->time;
	allocations->counts.reused += gives && object;
	allocations->counts.unmatched += !gives && !object;
	if (object)
		end_object(allocations, object, second);
	if (gives)
		begin_object(allocations, event, second);
}

void allocations_gap(struct allocations *allocations, uint64_t time)
{
	allocations->sure_from = time > allocations->sure_from ? time : allocations->sure_from;
}

/* ---- what is told ---- */

uint64_t allocations_sure_from(const struct allocations *allocations)
{
	return allocations->sure_from;
}

uint64_t allocations_last(const struct allocations *allocations)
{
	return allocations->last;
}

struct allocation_counts allocations_counts(const struct allocations *allocations)
{
	return allocations->counts;
}

uint32_t allocations_origins(const struct allocations *allocations, const struct origin **origins)
{
	*origins = allocations->origins;
	return allocations->origin_count;
}

uint64_t allocations_from(const struct allocations *allocations)
{
	return allocations->from;
}

void allocations_changes(const struct allocations *allocations,
	void (*each)(void *context, const struct allocation_change *change), void *context)
{
	for (uint32_t i = allocations->change_count; i-- > 0;)
		each(context, &allocations->changes[i]);
}

void allocations_live(const struct allocations *allocations,
	void (*each)(void *context, uint32_t origin, uint64_t bytes, uint64_t born, bool sure), void *context)
{
	uint64_t sure = allocations->sure_from >> BORN_UNIT;

	for (uint64_t i = 0; i < allocations->object_room; i++) {
		const struct object *object = &allocations->objects[i];

		if (object->origin)
			each(context, object->origin - 1, object->bytes, (uint64_t)object->born << BORN_UNIT,
				object->born >= sure);
	}
}
