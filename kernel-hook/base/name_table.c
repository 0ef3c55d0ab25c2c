/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "name_table.h"
#include "ring.h"

/* How many groups of marks a table of so many rows has. */
static uint32_t groups(uint32_t rows)
{
	return rows < 4 ? 1 : rows / 4;
}

uint64_t ktop_table_memory(uint32_t rows)
{
	return rows * (sizeof(struct ktop_row) + sizeof(uint32_t)) +
		groups(rows) * sizeof(struct ktop_marks);
}

void ktop_table_init(struct ktop_table *table, void *memory, uint32_t rows, uint16_t event)
{
	uint32_t *buckets = (uint32_t *)((struct ktop_row *)memory + rows);

	__builtin_memset(memory, 0, ktop_table_memory(rows));
	*table = (struct ktop_table) {
		.rows = memory,
		.buckets = buckets,
		.marks = (struct ktop_marks *)(buckets + rows),
		.size = rows,
		.event = event,
	};
}

/* Multiplicative hashing (Knuth): the factor is 2^32 divided by the golden ratio. */
static uint32_t *bucket(const struct ktop_table *table, uint32_t id)
{
	return &table->buckets[(id * 2654435761u >> 8) & (table->size - 1)];
}

/* `link`: a row's index plus 1; 0 ends a chain. */
static struct ktop_row *chained(const struct ktop_table *table, uint32_t link)
{
	return link ? &table->rows[link - 1] : NULL;
}

static struct ktop_row *find(const struct ktop_table *table, struct ktop_key key)
{
	struct ktop_row *row = chained(table, *bucket(table, key.id));

	while (row && (row->key.id != key.id || row->key.at != key.at))
		row = chained(table, row->chain);
	return row;
}

static void unchain(struct ktop_table *table, struct ktop_row *row)
{
	uint32_t *link = bucket(table, row->key.id);

	while (chained(table, *link) != row)
		link = &chained(table, *link)->chain;
	*link = row->chain;
}

/* Takes the next row after the hand that may be reused. There is at least one. */
static struct ktop_row *reuse(struct ktop_table *table)
{
	struct ktop_row *row;

	do {
		row = &table->rows[table->hand];
		table->hand = (table->hand + 1) & (table->size - 1);
	} while (!row->exited);
	unchain(table, row);
	return row;
}

/* Finds the row of a key, or takes a new or reused one for it. NULL: all rows are in use. */
static struct ktop_row *place(struct ktop_table *table, struct ktop_key key)
{
	struct ktop_row *row = find(table, key);

	if (row)
		return row;
	if (table->used < table->size)
		row = &table->rows[table->used];
	else if (table->exited)
		row = reuse(table);
	else
		return NULL;
	row->key = key;
	row->chain = *bucket(table, key.id);
	*bucket(table, key.id) = (uint32_t)(row - table->rows) + 1;
	if (row == &table->rows[table->used])
		__atomic_store_n(&table->used, table->used + 1, __ATOMIC_RELAXED);
	return row;
}

static void write_row(struct ktop_row *row, const void *payload, uint32_t size)
{
	uint64_t words[KTOP_ROW_WORDS] = { 0 };

	__builtin_memcpy(words, payload, size);
	__atomic_store_n(&row->sequence, row->sequence + 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < KTOP_ROW_WORDS; i++)
		__atomic_store_n(&row->words[i], words[i], __ATOMIC_RELEASE);	/* pair 5 */
	__atomic_store_n(&row->size, size, __ATOMIC_RELEASE);			/* pair 5 */
	__atomic_store_n(&row->sequence, row->sequence + 1, __ATOMIC_RELEASE);	/* pair 5 */
}

/* Notes that rows of this id found no place, or that they lack none any more. A full group ignores it. */
static void mark(struct ktop_table *table, uint32_t id, bool missing)
{
	struct ktop_marks *marks = &table->marks[(id * 2654435761u >> 16) % groups(table->size)];
	uint32_t at = 0;

	while (at < marks->count && marks->ids[at] != id)
		at++;
	if ((at < marks->count) == missing || at == KTOP_MARKS)
		return;
	if (missing)
		marks->ids[marks->count++] = id;
	else
		marks->ids[at] = marks->ids[--marks->count];
	__atomic_store_n(&table->missing, table->missing + (missing ? 1 : -1u), __ATOMIC_RELAXED);
}

void ktop_table_refuse(struct ktop_table *table, uint32_t id)
{
	ktop_count(&table->lost, 1);
	mark(table, id, true);
}

bool ktop_table_agrees(const struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size)
{
	const struct ktop_row *row = find(table, key);
	uint64_t words[KTOP_ROW_WORDS] = { 0 };
	bool same = row == NULL || row->size == size;

	__builtin_memcpy(words, payload, size);
	for (uint32_t i = 0; row && i < KTOP_ROW_WORDS; i++)
		same &= row->words[i] == words[i];
	return same;
}

bool ktop_table_put(struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size)
{
	struct ktop_row *row = place(table, key);

	if (row == NULL) {
		ktop_table_refuse(table, key.id);
		return false;
	}
	mark(table, key.id, false);
	if (row->exited)
		__atomic_store_n(&table->exited, table->exited - 1, __ATOMIC_RELAXED);
	row->exited = false;
	write_row(row, payload, size);
	__atomic_store_n(&table->changes, table->changes + 1, __ATOMIC_RELEASE);	/* pair 8 */
	return true;
}

void ktop_table_exit(struct ktop_table *table, uint32_t id)
{
	struct ktop_row *row = chained(table, *bucket(table, id));

	mark(table, id, false);
	for (; row; row = chained(table, row->chain)) {
		if (row->key.id != id || row->exited)
			continue;
		row->exited = true;
		__atomic_store_n(&table->exited, table->exited + 1, __ATOMIC_RELAXED);
	}
}

struct ktop_table_fill ktop_table_fill(const struct ktop_table *table)
{
	return (struct ktop_table_fill) {
		.used = __atomic_load_n(&table->used, __ATOMIC_RELAXED) -
			__atomic_load_n(&table->exited, __ATOMIC_RELAXED),
		.missing = __atomic_load_n(&table->missing, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&table->lost, __ATOMIC_RELAXED),
	};
}

void ktop_table_restart(struct ktop_table *table)
{
	for (uint32_t i = 0; i < table->size; i++)
		table->rows[i].sent = 0;
	table->cursor = 0;
}

/*
 * Copies a row to `to` and its sequence to `has`. Returns the size of the payload; 0: the row still has the sequence
 * `had`, or it is being written.
 */
static uint32_t read_row(const struct ktop_row *row, uint32_t had, uint64_t *to, uint32_t *has)
{
	uint32_t sequence = __atomic_load_n(&row->sequence, __ATOMIC_ACQUIRE);	/* pair 5 */
	uint32_t size;

	if (sequence == had || sequence % 2 != 0)
		return 0;
	for (uint32_t i = 0; i < KTOP_ROW_WORDS; i++) {
		uint64_t word = __atomic_load_n(&row->words[i], __ATOMIC_ACQUIRE);	/* pair 5 */

		__builtin_memcpy(to + i, &word, sizeof(word));
	}
	size = __atomic_load_n(&row->size, __ATOMIC_ACQUIRE);			/* pair 5 */
	if (__atomic_load_n(&row->sequence, __ATOMIC_RELAXED) != sequence)
		return 0;
	*has = sequence;
	return size;
}

uint32_t ktop_table_read(const struct ktop_table *table, uint32_t index, void *to)
{
	uint32_t sequence;

	return read_row(&table->rows[index], 0, to, &sequence);
}

uint32_t ktop_table_next(struct ktop_table *table, void *to)
{
	uint32_t changes = __atomic_load_n(&table->changes, __ATOMIC_ACQUIRE);	/* pair 8 */
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);

	if (table->cursor >= used && changes != table->seen) {
		table->seen = changes;
		table->cursor = 0;
	}
	while (table->cursor < used) {
		struct ktop_row *row = &table->rows[table->cursor++];
		uint32_t size = read_row(row, row->sent, to, &row->sent);

		if (size)
			return size;
	}
	return 0;
}
