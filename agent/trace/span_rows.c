/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "latencies.h"
#include "span_rows.h"

enum { BLOCK_ROWS = 2048, BUDGET_PART = 16, LOCK_NAMES = SPAN_NAMES / 2, EVENT_NAMES = 64, EVENT_IDS = 1 << 16 };

enum {
	SUMS_PART = 12,			/* of the budget */
	AT_ONCE = 8,			/* this part of the blocks is summed up when there is no room for another */
	COARSER = 8,			/* so many slots become one */
	WIDENINGS = 2, WIDENED = 64,	/* at once: so many times, so many blocks, which takes some ten milliseconds */
};
#define SLOT NS_PER_SECOND
#define SLOT_MOST (COARSER * COARSER * COARSER * COARSER * SLOT)	/* somewhat more than an hour */

struct block {
	uint64_t begun;			/* the earliest beginning in it */
	uint64_t first, last;		/* the earliest and the latest end */
	uint64_t slot;			/* of sums, ns; 0: it has rows */
	uint32_t count;
	union {
		struct span_row rows[BLOCK_ROWS];
		struct span_sum sums[BLOCK_ROWS];
	};
};

struct blocks {				/* the oldest first; the last one is written */
	struct block **list;
	uint32_t count, room;
	uint64_t from;			/* some that ended before are not in them any more; 0: none */
};

struct span_rows {
	struct budget *budget;
	struct blocks rows, sums;
	struct span_name names[SPAN_NAMES];
	uint32_t name_count, lock_count;	/* of all; of locks */
	uint8_t numbers[EVENT_IDS];	/* names of pairs and single events, by the id of their kind */
	struct hash by_name;
	uint64_t refused;
};

struct span_rows *span_rows_new(struct budget *budget)
{
	struct span_rows *rows = util_alloc(sizeof(*rows));

	rows->budget = budget;
	hash_init(&rows->by_name, budget);
	return rows;
}

static void remove_blocks(struct blocks *blocks, uint32_t first, uint32_t count)
{
	if (!count)
		return;
	blocks->count -= count;
	memmove(blocks->list + first, blocks->list + first + count, (blocks->count - first) * sizeof(struct block *));
}

static void drop_blocks(struct span_rows *rows, struct blocks *blocks, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++)
		budget_free(rows->budget, blocks->list[i], sizeof(struct block));
	remove_blocks(blocks, first, count);
}

/* The rows of a block are no rows any more. */
static void forget_rows(struct span_rows *rows, uint32_t at)
{
	uint64_t from = rows->rows.list[at]->last + 1;

	rows->rows.from = from > rows->rows.from ? from : rows->rows.from;
}

void span_rows_free(struct span_rows *rows)
{
	if (!rows)
		return;
	drop_blocks(rows, &rows->rows, 0, rows->rows.count);
	drop_blocks(rows, &rows->sums, 0, rows->sums.count);
	hash_clear(&rows->by_name);
	free(rows->rows.list);
	free(rows->sums.list);
	free(rows);
}

/* An empty block behind the others. NULL: there is no memory. */
static struct block *add_block(struct span_rows *rows, struct blocks *blocks, uint64_t slot)
{
	struct block *block = budget_resize(rows->budget, NULL, 0, sizeof(*block));

	if (!block)
		return NULL;
	if (blocks->count == blocks->room) {
		blocks->room = 2 * blocks->room + 16;
		blocks->list = util_grow(blocks->list, blocks->room, sizeof(struct block *));
	}
	block->count = 0;
	block->slot = slot;
	block->begun = block->first = UINT64_MAX;
	block->last = 0;
	return blocks->list[blocks->count++] = block;
}

static void *have_place(struct block *block, uint64_t begin, uint64_t end)
{
	block->begun = begin < block->begun ? begin : block->begun;
	block->first = end < block->first ? end : block->first;
	block->last = end > block->last ? end : block->last;
	return &block->rows[block->count++];
}

/* ---- sums ---- */

struct summing {
	struct span_rows *rows;
	struct blocks made;
	uint16_t *buckets;		/* of each sum in `made`: latencies_bucket, how long each of its spans took */
	uint32_t count, room;
	struct hash by_key;
	uint64_t slot, begin;		/* ns; where that of the last one begins */
	bool full;			/* there is no memory for more */
};

struct summed {				/* what comes to the sums */
	struct span_sum sum;
	uint64_t slot;			/* where its slot begins */
	uint16_t bucket;		/* 0 of threads on CPUs: nobody asks that */
	uint64_t begin, hash;
};
_Static_assert(LATENCY_PAGES << LATENCY_FINE_BITS < UINT16_MAX, "a bucket fits");

static void find_key(struct summing *summing, struct summed *next)
{
	const struct span_sum *sum = &next->sum;
	bool on_cpu = summing->rows->names[sum->name].kind == SPAN_THREAD;

	if (sum->end - summing->begin >= summing->slot)
		summing->begin = sum->end / summing->slot * summing->slot;
	next->slot = summing->begin;
	next->bucket = (uint16_t)(on_cpu ? 0 : latencies_bucket(sum->count == 1 ? sum->total :
		sum->total / sum->count));
	next->hash = hash_pair(&summing->by_key, (uint64_t)sum->name << 32 | sum->thread,
		(uint64_t)sum->cpu << 32 | sum->stack);
	next->hash = hash_mix(next->hash ^ next->slot, (uint64_t)next->bucket << 1 | sum->lost);
	hash_fetch(&summing->by_key, next->hash);
}

static void add_sum(struct summing *summing, const struct summed *next)
{
	const struct span_sum *sum = &next->sum;
	struct blocks *made = &summing->made;
	struct block *block = made->count ? made->list[made->count - 1] : NULL;
	uint32_t at = 0, position;
	uint16_t *buckets;

	while ((position = hash_next(&summing->by_key, next->hash, &at)) != HASH_NONE) {
		struct block *other = made->list[position / BLOCK_ROWS];
		struct span_sum *same = &other->sums[position % BLOCK_ROWS];

		if (same->end - next->slot >= summing->slot || summing->buckets[position] != next->bucket ||
				sum->name != same->name || sum->thread != same->thread || sum->cpu != same->cpu ||
				sum->stack != same->stack || sum->lost != same->lost ||
				same->count > UINT32_MAX - sum->count)
			continue;
		same->count += sum->count;
		same->total += sum->total;
		same->end = sum->end > same->end ? sum->end : same->end;
		other->begun = next->begin < other->begun ? next->begin : other->begun;
		other->last = sum->end > other->last ? sum->end : other->last;
		return;
	}
	if (!block || block->count == BLOCK_ROWS)
		block = add_block(summing->rows, made, summing->slot);
	buckets = budget_array(summing->rows->budget, summing->buckets, summing->count, &summing->room,
		sizeof(*buckets));
	summing->buckets = buckets ? buckets : summing->buckets;
	summing->full = !block || !buckets || !hash_add(&summing->by_key, next->hash, summing->count);
	if (summing->full)
		return;
	buckets[summing->count++] = next->bucket;
	*(struct span_sum *)have_place(block, next->begin, sum->end) = *sum;
}

/* Many at a time, so that the memory in which they are looked up is fetched at the same time. */
static void sum_block(struct summing *summing, const struct block *block)
{
	struct summed next[32];
	uint32_t at = 0;

	while (at < block->count && !summing->full) {
		uint32_t count = 0;

		for (; count < sizeof(next) / sizeof(*next) && at < block->count; count++, at++) {
			const struct span_row *row = &block->rows[at];

			if (block->slot)
				next[count] = (struct summed) { .sum = block->sums[at], .begin = block->begun };
			else
				next[count] = (struct summed) { .begin = row->end - row->duration, .sum = {
					.end = row->end, .total = row->lost ? 0 : row->duration, .count = 1,
					.thread = row->thread, .stack = row->stack, .name = row->name, .cpu = row->cpu,
					.lost = row->lost } };
			find_key(summing, &next[count]);
		}
		for (uint32_t i = 0; i < count && !summing->full; i++)
			add_sum(summing, &next[i]);
	}
}

/* It is gone, and with it whatever ended in its slots. */
static void note_loss(struct blocks *sums, const struct block *block)
{
	uint64_t slot = block->slot ? block->slot : SLOT, end = (block->last / slot + 1) * slot;

	sums->from = end > sums->from ? end : sums->from;
}

/*
 * Sums up blocks that stand in a row, the oldest first; each is freed then. Those of rows go, and their sums come
 * behind all others; those of sums are replaced. What finds no memory is gone.
 */
static void sum_up(struct span_rows *rows, struct blocks *from, uint32_t first, uint32_t count, uint64_t slot)
{
	struct summing summing = { .rows = rows, .slot = slot };
	struct blocks *sums = &rows->sums, *made = &summing.made;
	uint32_t at = from == sums ? first : sums->count;

	hash_init(&summing.by_key, rows->budget);
	for (uint32_t i = first; i < first + count; i++) {
		summing.full = false;
		sum_block(&summing, from->list[i]);
		if (summing.full)
			note_loss(sums, from->list[i]);
		budget_free(rows->budget, from->list[i], sizeof(struct block));
	}
	hash_clear(&summing.by_key);
	budget_free(rows->budget, summing.buckets, summing.room * sizeof(*summing.buckets));
	remove_blocks(from, first, count);
	if (!made->count)
		return;
	sums->room = sums->count + made->count;
	sums->list = util_grow(sums->list, sums->room, sizeof(struct block *));
	memmove(sums->list + at + made->count, sums->list + at, (sums->count - at) * sizeof(struct block *));
	memcpy(sums->list + at, made->list, made->count * sizeof(struct block *));
	sums->count += made->count;
	free(made->list);
}

/* The oldest go, with all others of their last slot, which is not whole any more; that may be a wider one. */
static void forget_sums(struct span_rows *rows)
{
	struct blocks *sums = &rows->sums;

	do {
		note_loss(sums, sums->list[0]);
		drop_blocks(rows, sums, 0, 1);
	} while (sums->count && sums->list[0]->last / sums->list[0]->slot * sums->list[0]->slot < sums->from);
}

/*
 * The oldest slots of the width that has the most blocks become wider ones, together with what is in the same slots
 * already: but none that is wider than the sums are old, since that would tell nothing any more. False: there are none.
 */
static bool widen_slots(struct span_rows *rows, uint64_t now)
{
	struct blocks *sums = &rows->sums;
	uint32_t most = 0, at = 0, first;
	uint64_t slot;

	for (uint32_t begin = 0, end; begin < sums->count; begin = end) {
		slot = sums->list[begin]->slot;
		for (end = begin; end < sums->count && sums->list[end]->slot == slot; end++)
			;
		if (slot < SLOT_MOST && end - begin > most && now - sums->list[begin]->first >= COARSER * slot) {
			most = end - begin;
			at = begin;
		}
	}
	if (!most)
		return false;
	most = most < WIDENED ? most : WIDENED;
	slot = COARSER * sums->list[at]->slot;
	for (first = at; first && sums->list[first - 1]->slot == slot &&
			sums->list[first - 1]->last / slot >= sums->list[at]->first / slot; first--)
		;
	sum_up(rows, sums, first, at + most - first, slot);
	return true;
}

/* Sums up the oldest rows. When the sums fill their part of the memory, their slots widen; at last the oldest go. */
static void make_sums(struct span_rows *rows)
{
	size_t most = budget_share(rows->budget, SUMS_PART) / sizeof(struct block);
	uint64_t now = rows->rows.list[rows->rows.count - 1]->last;
	uint32_t count = rows->rows.count / AT_ONCE + 1;

	for (uint32_t i = 0; i < count; i++)
		forget_rows(rows, i);
	sum_up(rows, &rows->rows, 0, count, SLOT);
	for (int i = 0; i < WIDENINGS && rows->sums.count > most && widen_slots(rows, now); i++)
		;
	while (rows->sums.count > most)
		forget_sums(rows);
}

/* ---- rows ---- */

/* The block that has room for one more. NULL: there is no memory. */
static struct block *have_block(struct span_rows *rows)
{
	size_t most = budget_share(rows->budget, BUDGET_PART) / sizeof(struct block);
	struct block *block = rows->rows.count ? rows->rows.list[rows->rows.count - 1] : NULL;

	if (block && block->count < BLOCK_ROWS)
		return block;
	if (rows->rows.count > 1 && rows->rows.count >= most)
		make_sums(rows);
	block = add_block(rows, &rows->rows, 0);
	if (!block && (rows->sums.count || rows->rows.count)) {	/* others need the memory: the oldest go early */
		if (rows->sums.count) {
			forget_sums(rows);
		} else {
			forget_rows(rows, 0);
			note_loss(&rows->sums, rows->rows.list[0]);
			drop_blocks(rows, &rows->rows, 0, 1);
		}
		block = add_block(rows, &rows->rows, 0);
	}
	return block;
}

/* Of locks, and of the numbers of one event, there may be any number: those beyond share one name. */
static uint64_t shared_number(const struct span_rows *rows, enum span_kind kind, uint64_t number)
{
	if ((kind == SPAN_LOCK || kind == SPAN_HOLD) && rows->lock_count >= LOCK_NAMES)
		return SPAN_OTHERS;
	if (span_is_other(kind) && rows->numbers[SPAN_EVENT(number)] >= EVENT_NAMES && (uint32_t)number != UINT32_MAX)
		return SPAN_NUMBER(SPAN_EVENT(number), SPAN_OTHER_NUMBERS);
	return number;
}

/* SPAN_NAMES: there is none left. */
static uint32_t name_of(struct span_rows *rows, enum span_kind kind, uint64_t number)
{
	uint64_t hash = hash_pair(&rows->by_name, number, kind);
	uint64_t shared = shared_number(rows, kind, number);
	uint32_t at = 0, position;

	while ((position = hash_next(&rows->by_name, hash, &at)) != HASH_NONE)
		if (rows->names[position].number == number && rows->names[position].kind == kind)
			return position;
	if (shared != number)
		return name_of(rows, kind, shared);
	if (rows->name_count == SPAN_NAMES || !hash_add(&rows->by_name, hash, rows->name_count))
		return SPAN_NAMES;
	rows->lock_count += kind == SPAN_LOCK || kind == SPAN_HOLD;
	if (span_is_other(kind) && rows->numbers[SPAN_EVENT(number)] < EVENT_NAMES)
		rows->numbers[SPAN_EVENT(number)]++;
	rows->names[rows->name_count] = (struct span_name) { .kind = kind, .number = number };
	return rows->name_count++;
}

struct span_row span_row_of(const struct trace_span *span)
{
	bool woken = span->kind == SPAN_READY && span->number == READY_WOKEN;
	bool interrupt = woken && span->waker == EVENT_NONE;
	uint64_t other = span->kind == SPAN_LOCK ? span->holder : woken ? span->waker : EVENT_NONE;

	return (struct span_row) {
		.end = span->end, .duration = span->end - span->begin, .thread = (uint32_t)span->thread,
		.waker = interrupt ? span->woken_on % EVENT_CPUS + SPAN_NAMES * EVENT_CPUS : (uint32_t)other,
		.stack = span->stack, .cpu = span->cpu & (EVENT_CPUS - 1), .lost = span->lost, .interrupt = interrupt,
	};
}

uint32_t span_rows_add(struct span_rows *rows, const struct trace_span *span)
{
	uint32_t name = name_of(rows, span->kind, span->number);
	struct block *block = name < SPAN_NAMES ? have_block(rows) : NULL;
	struct span_row *row;

	if (!block) {
		rows->refused++;
		return name;
	}
	row = have_place(block, span->begin, span->end);
	*row = span_row_of(span);
	row->name = name & (2 * SPAN_NAMES - 1);
	if (row->interrupt && span->woken_in_kind != SPAN_THREAD)
		row->waker = span_row_cpu(row) + EVENT_CPUS * name_of(rows, span->woken_in_kind, span->woken_in);
	return name;
}

uint64_t span_rows_refused(const struct span_rows *rows)
{
	return rows->refused;
}

uint64_t span_rows_from(const struct span_rows *rows)
{
	return rows->rows.from;
}

uint64_t span_rows_first(const struct span_rows *rows)
{
	uint64_t first = rows->rows.count ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < rows->rows.count; i++)
		first = rows->rows.list[i]->begun < first ? rows->rows.list[i]->begun : first;
	for (uint32_t i = 0; i < rows->sums.count; i++)
		first = rows->sums.list[i]->begun < first ? rows->sums.list[i]->begun : first;
	return first;
}

uint32_t span_rows_names(const struct span_rows *rows, const struct span_name **names)
{
	*names = rows->names;
	return rows->name_count;
}

void span_rows_read(const struct span_rows *rows, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct span_row *row), void *context)
{
	for (uint32_t i = 0; i < rows->rows.count; i++) {
		const struct block *block = rows->rows.list[i];

		if (block->last < from || block->begun >= to)
			continue;
		for (uint32_t k = 0; k < block->count; k++)
			if (block->rows[k].end >= from && block->rows[k].end - block->rows[k].duration < to)
				each(context, &block->rows[k]);
	}
}

/* The width of the slot of sums in which a time is, wider ones first; 1: it is in none, since its spans are rows. */
static uint64_t slot_at(const struct span_rows *rows, uint64_t time)
{
	for (uint32_t i = 0; i < rows->sums.count && time < rows->rows.from; i++) {
		const struct block *block = rows->sums.list[i];

		if (block->first / block->slot <= time / block->slot && block->last / block->slot >= time / block->slot)
			return block->slot;
	}
	return 1;
}

/* Where the slot ends; its part that is rows does not count to it. */
static uint64_t slot_end(const struct span_rows *rows, uint64_t begin, uint64_t slot)
{
	return begin < rows->rows.from && begin + slot > rows->rows.from ? rows->rows.from : begin + slot;
}

uint64_t span_rows_sums_from(const struct span_rows *rows)
{
	uint64_t from = rows->sums.from < rows->rows.from ? rows->sums.from : rows->rows.from;
	uint64_t slot = slot_at(rows, from), begin = from / slot * slot;

	return begin < from ? slot_end(rows, begin, slot) : from;
}

/* Moves a time to the nearest end of its slot. */
static uint64_t nearest(const struct span_rows *rows, uint64_t time)
{
	uint64_t slot = slot_at(rows, time), begin = time / slot * slot, end = slot_end(rows, begin, slot);

	return time - begin < (end - begin + 1) / 2 ? begin : end;
}

void span_rows_cover(const struct span_rows *rows, uint64_t *from, uint64_t *to)
{
	uint64_t begin = nearest(rows, *from), end = nearest(rows, *to);

	if (begin >= end && *from < *to) {
		uint64_t slot = slot_at(rows, *from);

		begin = *from / slot * slot;
		end = slot_end(rows, begin, slot);
	}
	*from = begin;
	*to = end;
}

void span_rows_read_sums(const struct span_rows *rows, uint64_t from, uint64_t to,
	void (*each)(void *context, const struct span_sum *sum, uint64_t slot), void *context)
{
	for (uint32_t i = 0; i < rows->sums.count; i++) {
		const struct block *block = rows->sums.list[i];

		if (block->last < from || block->begun >= to)
			continue;
		for (uint32_t k = 0; k < block->count; k++)
			if (block->sums[k].end >= from)
				each(context, &block->sums[k], block->slot);
	}
}
