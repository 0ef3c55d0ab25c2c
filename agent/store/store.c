/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "arrivals.h"
#include "cells.h"
#include "cpus.h"
#include "recent_samples.h"
#include "store.h"

/* A slice as it is kept: a cell in which there was a sample. */
struct part {
	struct cell cell;
	uint64_t version;
	/* In the newest parts as they came; else each has less than half the counts of the one before, with memory. */
	struct run **runs;
	uint32_t run_count, run_room;
	uint64_t merged;		/* how often runs became others */
	uint64_t counts;		/* of all runs */
	uint64_t least;			/* counts that were left when it last forgot who */
	uint64_t timed, time;		/* the weight whose period was known, and the ns that it stands for */
	struct cpus cpus;
};

/*
 * In the newest parts, runs are kept as they come, so that who has read some of them finds the rest behind them: in
 * so many parts, and so many runs and counts of each. Whoever reads twice a second finds the runs of two parts. The
 * counts bound what is merged at once when time goes on: a flood in one slice is merged as it comes.
 */
enum { PARTS_APART = 4, RUNS_APART = 32, COUNTS_APART = 1 << 15 };

struct store {
	struct budget *budget;
	uint64_t now;
	struct cells cells;
	uint64_t version;
	uint64_t period;		/* ns, of samples that come now; 0: not known */
	uint64_t first_period;		/* the first one known, which also counts for what came before it */
	uint64_t counts, counts_max;	/* of all parts */
	uint64_t given_up, forgotten;
	struct part **parts;		/* in order of time */
	size_t part_count, part_room;
	struct part *last;		/* the part that was used last; NULL: none */
	size_t last_position;
	struct arrivals *arrivals;	/* the slice number of each is the position of its part */
	struct recent_samples *recent;
};

struct store *store_new(struct budget *budget, uint64_t counts_max)
{
	struct store *store = util_alloc(sizeof(*store));

	store->budget = budget;
	store->counts_max = counts_max;
	store->arrivals = arrivals_new();
	store->recent = recent_samples_new(budget);
	return store;
}

struct store *store_new_alone(struct budget *budget)
{
	struct store *store = util_alloc(sizeof(*store));

	store->budget = budget;
	store->counts_max = STORE_COUNTS_MAX;
	store->arrivals = arrivals_new();
	return store;
}

static void part_free(struct store *store, struct part *part)
{
	for (uint32_t i = 0; i < part->run_count; i++)
		run_free(part->runs[i]);
	store->counts -= part->counts;
	free(part->runs);
	cpus_clear(&part->cpus, store->budget);
	free(part);
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->part_count; i++)
		part_free(store, store->parts[i]);
	arrivals_free(store->arrivals);
	recent_samples_free(store->recent);
	free(store->parts);
	free(store);
}

/* ---- one part ---- */

static void count(struct store *store, struct part *part, int64_t more)
{
	part->counts += (uint64_t)more;
	store->counts += (uint64_t)more;
}

/* Merges the last two runs. False: there is no room, and they stay. */
static bool merge_last(struct store *store, struct part *part)
{
	struct run **last = &part->runs[part->run_count - 2];
	struct run *run = run_merge(store->budget, last[0], last[1]);

	if (!run)
		return false;
	count(store, part, (int64_t)run->counts - last[0]->counts - last[1]->counts);
	run_free(last[0]);
	run_free(last[1]);
	last[0] = run;
	part->run_count--;
	part->merged++;
	return true;
}

static void add_run(struct store *store, struct part *part, struct run *run)
{
	if (part->run_count == part->run_room) {
		part->run_room = 2 * part->run_room + 2;
		part->runs = util_grow(part->runs, part->run_room, sizeof(struct run *));
	}
	part->runs[part->run_count++] = run;
	count(store, part, run->counts);
}

/*
 * Merges runs of similar size. So a count is merged no more often than its part's size doubles, however
 * small the pieces are in which samples come.
 */
static void push_run(struct store *store, struct part *part, struct run *run)
{
	add_run(store, part, run);
	while (part->run_count > 1) {
		struct run **last = &part->runs[part->run_count - 2];

		if (last[0]->counts / 2 > last[1]->counts || !merge_last(store, part))
			return;
	}
}

/* Merges runs that were kept as they came. */
static void push_all(struct store *store, struct part *part)
{
	uint32_t run_count = part->run_count;

	part->run_count = 0;
	for (uint32_t i = 0; i < run_count; i++) {
		count(store, part, -(int64_t)part->runs[i]->counts);
		push_run(store, part, part->runs[i]);
	}
}

/* Moves all of `from` into `to`, and frees it. */
static void merge(struct store *store, struct part *to, struct part *from)
{
	push_all(store, to);
	for (uint32_t i = 0; i < from->run_count; i++) {
		count(store, from, -(int64_t)from->runs[i]->counts);
		push_run(store, to, from->runs[i]);
	}
	from->run_count = 0;
	cpus_merge(&to->cpus, &from->cpus);
	to->timed += from->timed;
	to->time += from->time;
	if (from->version > to->version)
		to->version = from->version;
	part_free(store, from);
}

static uint64_t weight_of(const struct run *run)
{
	struct run_reader reader = run_read(run);
	struct run_count count;
	uint64_t weight = 0;

	while (run_next(&reader, &count))
		weight += count.weight;
	return weight;
}

/* The weight whose thread and CPU are known. */
static uint64_t weight_with_who(const struct run *run)
{
	struct run_reader reader = run_read(run);
	struct run_count count;
	uint64_t weight = 0;

	while (run_next(&reader, &count))
		if (run->who[count.who].cpu != WHO_NO_CPU)
			weight += count.weight;
	return weight;
}

/* ---- arrivals into parts ---- */

static bool may_stay_apart(const struct store *store, uint32_t position, const struct run *run)
{
	const struct part *part = store->parts[position];

	return position + PARTS_APART >= store->part_count && part->run_count < RUNS_APART &&
		part->counts + run->counts <= COUNTS_APART;
}

static void push_with_all(struct store *store, struct part *part, struct run *run)
{
	push_all(store, part);
	push_run(store, part, run);
}

static void take_run(void *context, uint32_t position, struct run *run, uint64_t weight)
{
	struct store *store = context;
	struct part *part = store->parts[position];

	if (!run)
		store->given_up += weight;
	else if (may_stay_apart(store, position, run))
		add_run(store, part, run);
	else
		push_with_all(store, part, run);
}

static void drain(struct store *store)
{
	arrivals_drain(store->arrivals, store->budget, take_run, store);
}

/* ---- cells ---- */

/* Puts each part into the cell that it belongs to now; parts of the same cell are merged. */
static void regroup(struct store *store)
{
	size_t kept = 0;

	drain(store);
	for (size_t i = 0; i < store->part_count; i++) {
		struct part *part = store->parts[i], *last = kept ? store->parts[kept - 1] : NULL;
		struct cell cell = cells_at(&store->cells, part->cell.begin);

		if (last && last->cell.begin == cell.begin)
			merge(store, last, part);
		else
			store->parts[kept++] = part;
		store->parts[kept - 1]->cell = cell;
	}
	store->part_count = kept;
	store->last = NULL;
}

void store_advance(struct store *store, uint64_t now)
{
	if (now > INT64_MAX)
		now = INT64_MAX;
	if (now <= store->now)
		return;
	store->now = now;
	store->version++;
	if (cells_advance(&store->cells, now))
		regroup(store);
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

/* The position of the first part that ends after this time. */
static size_t position_of(const struct store *store, uint64_t time)
{
	size_t low = 0, high = store->part_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (store->parts[middle]->cell.end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct part *insert_part(struct store *store, size_t position, uint64_t time)
{
	struct part *part = util_alloc(sizeof(*part));

	if (position < store->part_count)
		drain(store);
	part->cell = cells_at(&store->cells, time);
	if (store->part_count == store->part_room) {
		store->part_room = 2 * store->part_room + 64;
		store->parts = util_grow(store->parts, store->part_room, sizeof(*store->parts));
	}
	memmove(store->parts + position + 1, store->parts + position,
		(store->part_count - position) * sizeof(*store->parts));
	store->parts[position] = part;
	store->part_count++;
	if (store->part_count > PARTS_APART)
		push_all(store, store->parts[store->part_count - PARTS_APART - 1]);
	return part;
}

/* Finds the part for a time, or makes it. It is store->last then. */
static struct part *find_part(struct store *store, uint64_t time)
{
	struct part *part;
	size_t position;

	if (time > INT64_MAX)
		time = INT64_MAX;
	store_advance(store, time);
	position = position_of(store, time);
	part = position < store->part_count ? store->parts[position] : NULL;
	if (!part || time < part->cell.begin)
		part = insert_part(store, position, time);
	store->last = part;
	store->last_position = position;
	return part;
}

/* Mostly the part that was used last. */
static inline struct part *part_at(struct store *store, uint64_t time)
{
	struct part *last = store->last;

	if (last && time <= store->now && time >= last->cell.begin && time < last->cell.end)
		return last;
	return find_part(store, time);
}

/* ---- the limit ---- */

static void drop_oldest(struct store *store)
{
	struct part *part = store->parts[0];

	for (uint32_t i = 0; i < part->run_count; i++)
		store->given_up += weight_of(part->runs[i]);
	part_free(store, part);
	store->part_count--;
	memmove(store->parts, store->parts + 1, store->part_count * sizeof(*store->parts));
}

/*
 * The oldest part forgets who ran its stacks. False: there is no room for that, or it would gain little: the part
 * has not doubled since it last did so.
 */
static bool forget_oldest(struct store *store)
{
	struct part *part = store->parts[0];

	if (part->counts <= 2 * part->least)
		return false;
	for (uint32_t i = part->run_count; i-- > 0;) {		/* the smallest first */
		struct run *run = run_forget(store->budget, part->runs[i]);

		if (!run)
			return false;
		store->forgotten += weight_with_who(part->runs[i]);
		count(store, part, (int64_t)run->counts - part->runs[i]->counts);
		run_free(part->runs[i]);
		part->runs[i] = run;
		part->merged++;
	}
	while (part->run_count > 1 && merge_last(store, part))
		;
	part->least = part->counts;
	return true;
}

static void merge_oldest(struct store *store)
{
	store->cells.ancient = store->parts[1]->cell.end;
	regroup(store);
}

/*
 * Merges the two oldest parts, so that each key is there once. If the oldest has half of all counts, it
 * forgets who instead; if it has done that already, it is dropped. False: all is in one part.
 */
static bool make_room(struct store *store)
{
	store->last = NULL;
	store->version++;		/* positions of parts change */
	if (store->part_count < 2)
		return false;
	if (store->parts[0]->counts <= store->counts / 2 && store->part_count > 2)
		merge_oldest(store);
	else if (!forget_oldest(store))
		drop_oldest(store);
	return true;
}

/* Leaves room for what others may need before the store is asked again. */
static bool is_over(const struct store *store)
{
	return store->counts > store->counts_max ||
		budget_left(store->budget) < budget_share(store->budget, 6);
}

void store_settle(struct store *store)
{
	drain(store);
	while (is_over(store) && make_room(store))
		;
}

/* The part for a time and a CPU, after making room if need be. NULL: there is none, or the CPU is damaged. */
static inline struct part *part_with_room(struct store *store, uint64_t time, uint32_t cpu,
	struct cpu_sums **sums)
{
	struct part *part;

	if (arrivals_full(store->arrivals))
		store_settle(store);
	part = part_at(store, time);
	*sums = cpus_get(&part->cpus, cpu);
	if (!*sums && is_over(store)) {
		store_settle(store);
		part = part_at(store, time);
	}
	if (store->counts > store->counts_max || cpu >= EVENT_CPUS)
		return NULL;
	if (!*sums)
		*sums = cpus_have(&part->cpus, cpu, store->budget);
	return *sums ? part : NULL;
}

/* ---- what comes in ---- */

void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight)
{
	struct cpu_sums *sums;
	struct part *part = part_with_room(store, time, key->who.cpu, &sums);

	if (!part || key->who.mode >= MODES || key->who.context >= CONTEXTS) {
		store->given_up += weight;
		return;
	}
	arrivals_add(store->arrivals, (uint32_t)store->last_position, key->stack, &key->who, weight);
	if (store->recent)
		recent_samples_add(store->recent, time, key->stack, &key->who, weight);
	sums->mode[key->who.mode] += weight;
	part->timed += store->period ? weight : 0;
	part->time += weight * store->period;
	part->version = ++store->version;
}

void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks)
{
	struct cpu_sums *sums;
	struct part *part = part_with_room(store, time, cpu, &sums);

	if (!part) {
		store->given_up += ticks;
		return;
	}
	sums->missed += ticks;
	part->version = ++store->version;
}

void store_period(struct store *store, uint64_t ns)
{
	store->period = ns;
	store->first_period = store->first_period ? store->first_period : ns;
}

size_t store_slices(const struct store *store)
{
	return store->part_count;
}

struct slice store_slice(const struct store *store, size_t index)
{
	const struct part *part = store->parts[index];

	return (struct slice) {
		.begin = part->cell.begin, .end = part->cell.end, .version = part->version,
		.runs = part->runs, .run_count = part->run_count, .merged = part->merged,
		.period = part->timed ? part->time / part->timed : store->first_period,
		.cpus = &part->cpus,
	};
}

struct recent_samples *store_recent(const struct store *store)
{
	return store->recent;
}

uint64_t store_given_up(const struct store *store)
{
	return store->given_up;
}

uint64_t store_forgotten(const struct store *store)
{
	return store->forgotten;
}
