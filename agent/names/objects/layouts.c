/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "layouts.h"
#include "objects.h"

/* In place of a layout's `next`: no layout follows it yet; several do. */
#define NONE 0xffffffffu
#define MANY 0xfffffffeu

enum { FIRST_ROOM = 32 };		/* layouts */

struct layout {
	uint32_t first, count;		/* in `entries` */
	uint32_t next;			/* the layout that followed, with one mapping more; NONE, or MANY */
	uint32_t last, seen;		/* the end of that chain; valid while `seen` equals `followed` */
};

struct layouts {
	const struct objects *objects;
	struct budget *budget;
	struct layout *list;
	uint32_t count, room;
	uint32_t followed;		/* changes whenever a `next` changes; starts at 1 */
	uint32_t privates;		/* spaces of processes that nothing was told of so far */
	uint32_t *entries;		/* mappings; those of one layout are in order of address */
	uint32_t entry_count, entry_room;
	struct hash by_entries;
	struct recent *processes;
	uint32_t *spaces;		/* by slot of `processes` */
	uint32_t kernel;		/* the kernel's layout: its space is EVENT_KERNEL */
	uint64_t refused;		/* how often there was no memory for a sample's space */
	bool full;
};

/* The mappings of a layout that is being made. */
struct draft {
	uint32_t count;
	uint32_t entries[LAYOUTS_ENTRIES_EACH + 1];
};

static bool have_room(struct layouts *layouts, uint32_t entries)
{
	size_t room = 2 * (size_t)layouts->entry_room + LAYOUTS_ENTRIES_EACH;
	struct layout *list = budget_array(layouts->budget, layouts->list, layouts->count,
		&layouts->room, sizeof(*list));
	uint32_t *all;

	if (!list)
		return false;
	layouts->list = list;
	if (layouts->entry_count + entries <= layouts->entry_room)
		return true;
	all = budget_resize(layouts->budget, layouts->entries,
		layouts->entry_room * sizeof(*all), room * sizeof(*all));
	if (!all)
		return false;
	layouts->entries = all;
	layouts->entry_room = (uint32_t)room;
	return true;
}

/* LAYOUTS_UNKNOWN: there is no room. */
static uint32_t add_layout(struct layouts *layouts, const struct draft *draft)
{
	uint32_t first = layouts->entry_count;

	if (!have_room(layouts, draft->count))
		return LAYOUTS_UNKNOWN;
	if (draft->count)
		memcpy(layouts->entries + first, draft->entries, draft->count * sizeof(uint32_t));
	layouts->entry_count += draft->count;
	layouts->list[layouts->count] =
		(struct layout) { .first = first, .count = draft->count, .next = NONE };
	return layouts->count++;
}

/*
 * LAYOUTS_UNKNOWN is also the empty layout: all processes start in it, so no single one can follow it. It
 * is made whatever the budget says, for a boot may begin while the one before still has all the memory.
 */
struct layouts *layouts_new(const struct objects *objects, struct budget *budget)
{
	struct layouts *layouts = util_alloc(sizeof(*layouts));
	const struct draft empty = { .count = 0 };

	layouts->objects = objects;
	layouts->budget = budget;
	layouts->followed = 1;
	hash_init(&layouts->by_entries, budget);
	layouts->processes = recent_new();
	layouts->spaces = util_alloc(RECENT_SLOTS * sizeof(*layouts->spaces));
	layouts->room = FIRST_ROOM;
	layouts->list = util_alloc(layouts->room * sizeof(*layouts->list));
	budget_charge(budget, layouts->room * sizeof(*layouts->list));
	layouts->kernel = add_layout(layouts, &empty);
	layouts->list[LAYOUTS_UNKNOWN].next = MANY;
	return layouts;
}

void layouts_free(struct layouts *layouts)
{
	if (!layouts)
		return;
	hash_clear(&layouts->by_entries);
	recent_free(layouts->processes);
	free(layouts->spaces);
	budget_free(layouts->budget, layouts->entries,
		layouts->entry_room * sizeof(*layouts->entries));
	budget_free(layouts->budget, layouts->list, layouts->room * sizeof(*layouts->list));
	free(layouts);
}

const char *layouts_note(const struct layouts *layouts)
{
	return layouts->full ? "too many different address spaces: functions of later programs have no names" : "";
}

/* ---- interning ---- */

static uint64_t draft_hash(const struct layouts *layouts, const struct draft *draft)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < draft->count; i++)
		hash = hash_pair(&layouts->by_entries, hash, hash + draft->entries[i]);
	return hash;
}

static bool is_draft(const struct layouts *layouts, uint32_t id, const struct draft *draft)
{
	const struct layout *layout = &layouts->list[id];

	return layout->count == draft->count && memcmp(layouts->entries + layout->first,
		draft->entries, draft->count * sizeof(uint32_t)) == 0;
}

/* The draft must not be empty. */
static uint32_t intern(struct layouts *layouts, const struct draft *draft)
{
	uint64_t hash = draft_hash(layouts, draft);
	uint32_t at = 0, id;

	while ((id = hash_next(&layouts->by_entries, hash, &at)) != HASH_NONE)
		if (is_draft(layouts, id, draft))
			return id;
	if (layouts->count == LAYOUTS_MAX ||
		draft->count > LAYOUTS_ENTRIES_MAX - layouts->entry_count) {
		layouts->full = true;
		return LAYOUTS_UNKNOWN;
	}
	id = add_layout(layouts, draft);
	if (id != LAYOUTS_UNKNOWN)
		hash_add(&layouts->by_entries, hash, id);	/* without room in the index, it is not shared */
	return id;
}

/* Drafts the layout with the new mapping in place of what it overlaps, in order of address. */
static void make_draft(const struct layouts *layouts, uint32_t id, uint32_t mapping,
	struct draft *draft)
{
	const struct layout *layout = &layouts->list[id];
	const struct mapping *new = objects_get(layouts->objects, mapping);
	bool placed = false;

	draft->count = 0;
	for (uint32_t i = 0; i < layout->count; i++) {
		uint32_t entry = layouts->entries[layout->first + i];
		const struct mapping *old = objects_get(layouts->objects, entry);

		if (!placed && old->end > new->start) {
			draft->entries[draft->count++] = mapping;
			placed = true;
		}
		if (old->end <= new->start || old->start >= new->end)
			draft->entries[draft->count++] = entry;
	}
	if (!placed)
		draft->entries[draft->count++] = mapping;
	if (draft->count > LAYOUTS_ENTRIES_EACH)
		*draft = (struct draft) { .count = 1, .entries = { mapping } };
}

/* ---- processes ---- */

static uint32_t *space_of(struct layouts *layouts, uint32_t process)
{
	bool fresh;
	uint32_t slot;

	if (process == EVENT_KERNEL)
		return &layouts->kernel;
	slot = recent_have(layouts->processes, process, &fresh);
	if (fresh)
		layouts->spaces[slot] = LAYOUTS_UNKNOWN;
	return &layouts->spaces[slot];
}

/*
 * Samples taken before a mapping was told get their names from the layout that follows, as long as only one
 * follows. Each layout of such a chain has one mapping more than the one before, so the chain ends.
 */
static bool follow(struct layouts *layouts, struct layout *old, uint32_t next)
{
	if (old->next == next || old->next == MANY)
		return false;
	old->next = old->next == NONE ? next : MANY;
	layouts->followed++;
	return true;
}

bool layouts_map(struct layouts *layouts, uint32_t process, uint32_t mapping)
{
	uint32_t *space = space_of(layouts, process), old = *space;
	struct draft draft;

	make_draft(layouts, old, mapping, &draft);
	*space = intern(layouts, &draft);
	if (*space == old)
		return false;
	if (old != LAYOUTS_UNKNOWN && layouts->list[old].count == 0)
		layouts->privates--;
	if (process == EVENT_KERNEL)
		return true;
	return *space != LAYOUTS_UNKNOWN && draft.count == layouts->list[old].count + 1 &&
		follow(layouts, &layouts->list[old], *space);
}

/* Leaves half of the room to processes whose mappings are told in time. */
uint32_t layouts_space(struct layouts *layouts, uint32_t process)
{
	const struct draft empty = { .count = 0 };
	uint32_t *space;

	if (process == EVENT_KERNEL)
		return EVENT_KERNEL;
	space = space_of(layouts, process);
	if (*space == LAYOUTS_UNKNOWN && layouts->privates < LAYOUTS_PRIVATE_MAX &&
		layouts->count < LAYOUTS_MAX / 2) {
		*space = add_layout(layouts, &empty);
		layouts->privates += *space != LAYOUTS_UNKNOWN;
		layouts->refused += *space == LAYOUTS_UNKNOWN;
	}
	return *space;
}

uint64_t layouts_refused(const struct layouts *layouts)
{
	return layouts->refused;
}

/* ---- looking up ---- */

static const struct mapping *search(const struct layouts *layouts, const struct layout *layout,
	uint64_t address)
{
	uint32_t low = 0, high = layout->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct mapping *mapping = objects_get(layouts->objects,
			layouts->entries[layout->first + middle]);

		if (address >= mapping->start && address < mapping->end)
			return mapping;
		if (address < mapping->start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* The end of a layout's chain: it has all mappings of the layouts before it. */
static uint32_t last_of(const struct layouts *layouts, uint32_t space)
{
	struct layout *list = layouts->list;
	uint32_t last = space, next;

	while (list[last].next < layouts->count && list[last].seen != layouts->followed)
		last = list[last].next;
	if (list[last].seen == layouts->followed)
		last = list[last].last;
	for (; space != last && list[space].seen != layouts->followed; space = next) {
		next = list[space].next;
		list[space].last = last;
		list[space].seen = layouts->followed;
	}
	return last;
}

/* NULL: there is no such space. */
static const struct layout *layout_of(const struct layouts *layouts, uint32_t space)
{
	if (space != EVENT_KERNEL && space >= layouts->count)
		return NULL;
	return &layouts->list[space == EVENT_KERNEL ? layouts->kernel : last_of(layouts, space)];
}

const struct mapping *layouts_find(const struct layouts *layouts, uint32_t space, uint64_t address)
{
	const struct layout *layout = layout_of(layouts, space);

	return layout ? search(layouts, layout, address) : NULL;
}

const struct mapping *layouts_get(const struct layouts *layouts, uint32_t space, uint32_t index)
{
	const struct layout *layout = layout_of(layouts, space);

	if (!layout || index >= layout->count)
		return NULL;
	return objects_get(layouts->objects, layouts->entries[layout->first + index]);
}
