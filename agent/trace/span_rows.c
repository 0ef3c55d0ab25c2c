/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "span_rows.h"

enum { BLOCK_ROWS = 2048, BUDGET_PART = 16, LOCK_NAMES = SPAN_NAMES / 2, EVENT_NAMES = 64, EVENT_IDS = 1 << 16 };

struct block {
	uint64_t first, last;		/* the earliest beginning and the latest end in it */
	uint32_t count;
	struct span_row rows[BLOCK_ROWS];
};

struct span_rows {
	struct budget *budget;
	struct block **blocks;		/* in order of arrival; the last one is written */
	uint32_t count, room;
	struct span_name names[SPAN_NAMES];
	uint32_t name_count, lock_count;	/* of all; of locks */
	uint8_t numbers[EVENT_IDS];	/* names of pairs and single events, by the id of their kind */
	struct hash by_name;
	uint64_t from, refused;
};

struct span_rows *span_rows_new(struct budget *budget)
{
	struct span_rows *rows = util_alloc(sizeof(*rows));

	rows->budget = budget;
	hash_init(&rows->by_name, budget);
	return rows;
}

void span_rows_free(struct span_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t i = 0; i < rows->count; i++)
		budget_free(rows->budget, rows->blocks[i], sizeof(struct block));
	hash_clear(&rows->by_name);
	free(rows->blocks);
	free(rows);
}

static void drop_oldest(struct span_rows *rows)
{
	rows->from = rows->blocks[0]->last + 1 > rows->from ? rows->blocks[0]->last + 1 : rows->from;
	budget_free(rows->budget, rows->blocks[0], sizeof(struct block));
	rows->count--;
	memmove(rows->blocks, rows->blocks + 1, rows->count * sizeof(struct block *));
}

/* The block that has room for one more. NULL: there is no memory. */
static struct block *have_block(struct span_rows *rows)
{
	size_t most = budget_share(rows->budget, BUDGET_PART) / sizeof(struct block);
	struct block *block = rows->count ? rows->blocks[rows->count - 1] : NULL;

	if (block && block->count < BLOCK_ROWS)
		return block;
	if (rows->count > 1 && rows->count >= most)
		drop_oldest(rows);
	block = budget_resize(rows->budget, NULL, 0, sizeof(*block));
	if (!block && rows->count) {			/* others need the memory: the oldest rows go early */
		drop_oldest(rows);
		block = budget_resize(rows->budget, NULL, 0, sizeof(*block));
	}
	if (!block)
		return NULL;
	if (rows->count == rows->room) {
		rows->room = 2 * rows->room + 16;
		rows->blocks = util_grow(rows->blocks, rows->room, sizeof(struct block *));
	}
	block->count = 0;
	block->first = UINT64_MAX;
	block->last = 0;
	rows->blocks[rows->count++] = block;
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
		.waker = interrupt ? span->woken_on : (uint32_t)other,
		.stack = span->stack, .cpu = span->cpu & (EVENT_CPUS - 1), .lost = span->lost, .interrupt = interrupt,
	};
}

uint32_t span_rows_add(struct span_rows *rows, const struct trace_span *span)
{
	uint32_t name = name_of(rows, span->kind, span->number);
	struct block *block = name < SPAN_NAMES ? have_block(rows) : NULL;

	if (!block) {
		rows->refused++;
		return name;
	}
	block->rows[block->count] = span_row_of(span);
	block->rows[block->count++].name = name & (2 * SPAN_NAMES - 1);
	block->first = span->begin < block->first ? span->begin : block->first;
	block->last = span->end > block->last ? span->end : block->last;
	return name;
}

uint64_t span_rows_refused(const struct span_rows *rows)
{
	return rows->refused;
}

uint64_t span_rows_from(const struct span_rows *rows)
{
	return rows->from;
}

uint64_t span_rows_first(const struct span_rows *rows)
{
	uint64_t first = rows->count ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < rows->count; i++)
		first = rows->blocks[i]->first < first ? rows->blocks[i]->first : first;
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
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct block *block = rows->blocks[i];

		if (block->last < from || block->first >= to)
			continue;
		for (uint32_t k = 0; k < block->count; k++)
			if (block->rows[k].end >= from && block->rows[k].end - block->rows[k].duration < to)
				each(context, &block->rows[k]);
	}
}
