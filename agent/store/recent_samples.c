/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "arrivals.h"
#include "recent_samples.h"

struct slot {
	uint64_t number;		/* of time; its place is this number modulo RECENT_SLOTS */
	uint64_t version;		/* 0: no sample has come */
	uint64_t mode[MODES];
	struct run **runs;
	uint32_t run_count, run_room;
};

enum { USED_WORDS = (RECENT_SLOTS + 63) / 64 };

struct recent_samples {
	struct budget *budget;
	struct slot *slots;		/* RECENT_SLOTS */
	uint64_t used[USED_WORDS];	/* a bit for each slot: samples have come */
	uint64_t newest;		/* the highest number that came; it and those before it are RECENT_SLOTS */
	uint64_t whole_from;		/* slots before this number are bare, or gone */
	uint64_t version;
	size_t bytes, bytes_most;	/* of all runs */
	struct arrivals *arrivals;	/* the slice number of each is the place of its slot */
	uint64_t oldest_arrival;	/* the lowest number of a slot that has arrivals; UINT64_MAX: there are none */
};

_Static_assert((int)RECENT_SLOTS <= (int)ARRIVALS_SLICES, "each slot has a number there");

struct recent_samples *recent_samples_new(struct budget *budget)
{
	struct recent_samples *recent = util_alloc(sizeof(*recent));
	size_t share = budget_share(budget, 64);

	recent->budget = budget;
	recent->slots = util_alloc(RECENT_SLOTS * sizeof(*recent->slots));
	recent->bytes_most = share < RECENT_BYTES ? share : RECENT_BYTES;
	recent->arrivals = arrivals_new();
	recent->oldest_arrival = UINT64_MAX;
	return recent;
}

static struct slot *slot_of(const struct recent_samples *recent, uint64_t number)
{
	return &recent->slots[number % RECENT_SLOTS];
}

/* Only the sums are left. */
static void strip(struct recent_samples *recent, struct slot *slot)
{
	for (uint32_t i = 0; i < slot->run_count; i++) {
		recent->bytes -= slot->runs[i]->size;
		run_free(slot->runs[i]);
	}
	free(slot->runs);
	slot->runs = NULL;
	slot->run_count = slot->run_room = 0;
}

void recent_samples_free(struct recent_samples *recent)
{
	if (!recent)
		return;
	for (size_t i = 0; i < RECENT_SLOTS; i++)
		strip(recent, &recent->slots[i]);
	arrivals_free(recent->arrivals);
	free(recent->slots);
	free(recent);
}

static uint64_t oldest_slot(const struct recent_samples *recent)
{
	return recent->newest >= RECENT_SLOTS ? recent->newest - RECENT_SLOTS + 1 : 0;
}

/*
 * The lowest number of a used slot in this range, whose ends are of slots that are kept; `to`: there is none. A guest
 * may leap in time with each sample, so ktop looks at many slots at once.
 */
static uint64_t next_used(const struct recent_samples *recent, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint32_t place = from % RECENT_SLOTS, bit = place % 64, left = RECENT_SLOTS - place;
		uint64_t word = recent->used[place / 64] >> bit;

		if (word) {
			from += (uint32_t)__builtin_ctzll(word);
			break;
		}
		from += left < 64 - bit ? left : 64 - bit;
	}
	return from < to ? from : to;
}

static void set_used(struct recent_samples *recent, uint64_t number, bool used)
{
	uint32_t place = number % RECENT_SLOTS;
	uint64_t bit = 1ull << place % 64;

	recent->used[place / 64] = (recent->used[place / 64] & ~bit) | (used ? bit : 0);
}

/* Strips all slots before this number. */
static void strip_before(struct recent_samples *recent, uint64_t number)
{
	for (uint64_t at = recent->whole_from; (at = next_used(recent, at, number)) < number; at++)
		strip(recent, slot_of(recent, at));
	if (recent->whole_from < number)
		recent->whole_from = number;
}

/* Without memory for a run, its slot is stripped with all that are older. So a slot has all its samples, or none. */
static void take_run(void *context, uint32_t place, struct run *run, uint64_t weight)
{
	struct recent_samples *recent = context;
	struct slot *slot = &recent->slots[place];

	(void)weight;
	if (!run)
		strip_before(recent, slot->number + 1);
	if (!run || slot->number < recent->whole_from) {
		run_free(run);
		return;
	}
	if (slot->run_count == slot->run_room) {
		slot->run_room = 2 * slot->run_room + 2;
		slot->runs = util_grow(slot->runs, slot->run_room, sizeof(*slot->runs));
	}
	slot->runs[slot->run_count++] = run;
	recent->bytes += run->size;
}

void recent_samples_settle(struct recent_samples *recent)
{
	arrivals_drain(recent->arrivals, recent->budget, take_run, recent);
	recent->oldest_arrival = UINT64_MAX;
	while (recent->bytes > recent->bytes_most)
		strip_before(recent, next_used(recent, recent->whole_from, recent->newest + 1) + 1);
}

/* Slots whose time has gone are emptied. */
static void advance(struct recent_samples *recent, uint64_t newest)
{
	uint64_t kept = newest >= RECENT_SLOTS ? newest - RECENT_SLOTS + 1 : 0;
	uint64_t gone = kept < recent->newest + 1 ? kept : recent->newest + 1;

	if (recent->oldest_arrival < kept)
		recent_samples_settle(recent);
	for (uint64_t at = oldest_slot(recent); (at = next_used(recent, at, gone)) < gone; at++) {
		strip(recent, slot_of(recent, at));
		*slot_of(recent, at) = (struct slot) { .version = 0 };
		set_used(recent, at, false);
	}
	recent->newest = newest;
	if (recent->whole_from < kept)
		recent->whole_from = kept;
}

void recent_samples_add(struct recent_samples *recent, uint64_t time, uint32_t stack, const struct who *who,
	uint32_t weight)
{
	uint64_t number = time / RECENT_NS;
	struct slot *slot;

	if (number > recent->newest)
		advance(recent, number);
	if (number < oldest_slot(recent))
		return;
	slot = slot_of(recent, number);
	slot->number = number;
	set_used(recent, number, true);
	slot->mode[who->mode] += weight;
	slot->version = ++recent->version;
	if (number < recent->whole_from)
		return;
	if (arrivals_full(recent->arrivals))
		recent_samples_settle(recent);
	if (number < recent->oldest_arrival)
		recent->oldest_arrival = number;
	arrivals_add(recent->arrivals, (uint32_t)(number % RECENT_SLOTS), stack, who, weight);
}

bool recent_samples_has(const struct recent_samples *recent, uint64_t number)
{
	return number >= recent->whole_from;
}

struct recent_slot recent_samples_get(const struct recent_samples *recent, uint64_t number)
{
	const struct slot *slot = slot_of(recent, number);
	struct recent_slot got = { .version = 0 };

	if (slot->number != number || !slot->version)
		return got;
	got = (struct recent_slot) {
		.version = slot->version, .bare = number < recent->whole_from,
		.runs = slot->runs, .run_count = slot->run_count,
	};
	memcpy(got.mode, slot->mode, sizeof(got.mode));
	return got;
}
