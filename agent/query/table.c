/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/change.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "table.h"

static size_t row_size(const struct table *table)
{
	return sizeof(*table->rows) + table->words * sizeof(*table->cpus);
}

/* For a table that is not sorted yet: row i then has the i-th part of `cpus`. */
static void resize(struct table *table, size_t room)
{
	budget_charge(table->budget, room * row_size(table));
	budget_give(table->budget, table->room * row_size(table));
	table->room = room;
	table->rows = util_grow(table->rows, room, sizeof(*table->rows));
	table->cpus = util_grow(table->cpus, room * table->words, sizeof(*table->cpus));
	for (size_t i = 0; i < table->count; i++)
		table->rows[i].cpus = table->cpus + i * table->words;
}

struct table *table_new(struct budget *budget, size_t room, uint32_t words)
{
	struct table *table = util_alloc(sizeof(*table));

	table->budget = budget;
	table->words = words;
	resize(table, room);
	return table;
}

struct row *table_add(struct table *table, uint32_t function)
{
	struct row *row;

	if (table->count == table->room)
		resize(table, 2 * table->room + 256);
	row = &table->rows[table->count];
	*row = (struct row) {
		.function = function, .cpus = table->cpus + table->count * table->words,
	};
	memset(row->cpus, 0, table->words * sizeof(*row->cpus));
	table->count++;
	return row;
}

void table_shrink(struct table *table)
{
	resize(table, table->count);
}

/* ---- the baseline ---- */

void table_add_base(struct table *table)
{
	table->base = util_alloc(sizeof(*table->base));
}

struct row_base *table_base_of(struct table *table, struct row *row)
{
	struct table_base *base = table->base;

	if (!row->base) {
		if (base->count == base->room) {
			size_t room = 2 * base->room + 256;

			budget_charge(table->budget, (room - base->room) * sizeof(*base->rows));
			base->rows = util_grow(base->rows, room, sizeof(*base->rows));
			base->room = room;
		}
		base->rows[base->count++] = (struct row_base) { 0 };
		row->base = (uint32_t)base->count;
	}
	return &base->rows[row->base - 1];
}

static uint32_t highest_of(const struct table *table)
{
	uint32_t highest = 0;

	for (size_t i = 0; i < table->count; i++)
		highest = table->rows[i].function > highest ? table->rows[i].function : highest;
	return highest;
}

void table_compare(struct table *table, const struct table *with)
{
	uint32_t own = highest_of(table), other = highest_of(with);
	/* By function: 1 + its row in this table. */
	uint32_t *places = util_alloc(((size_t)(own > other ? own : other) + 1) * sizeof(*places));

	table_add_base(table);
	table->base->from = with->from;
	table->base->to = with->to;
	table->base->weight = with->weight;
	table->base->samples = with->samples;
	table->base->time = with->time;
	for (size_t i = 0; i < table->count; i++)
		places[table->rows[i].function] = (uint32_t)i + 1;
	for (size_t i = 0; i < with->count; i++) {
		const struct row *from = &with->rows[i];
		uint32_t place = places[from->function];
		struct row *row = place ? &table->rows[place - 1] : table_add(table, from->function);

		*table_base_of(table, row) = (struct row_base) { from->self, from->total, from->samples };
	}
	table_shrink(table);
	free(places);
}

static struct row_base base_of(const struct table *table, const struct row *row)
{
	return row->base ? table->base->rows[row->base - 1] : (struct row_base) { 0 };
}

struct change table_self_change(const struct table *table, const struct row *row)
{
	struct row_base base = base_of(table, row);

	return change_of((struct portion) { row->self, table->weight, row->samples, table->samples },
		(struct portion) { base.self, table->base->weight, base.samples, table->base->samples });
}

/* Only the samples of the self are counted, so those of the total follow from its share. */
static struct portion total_of(uint64_t total, uint64_t weight, uint64_t samples)
{
	return (struct portion) { total, weight, (uint64_t)(change_share(total, weight) * (double)samples), samples };
}

struct change table_total_change(const struct table *table, const struct row *row)
{
	return change_of(total_of(row->total, table->weight, table->samples),
		total_of(base_of(table, row).total, table->base->weight, table->base->samples));
}

static void free_base(struct table *table)
{
	if (!table->base)
		return;
	budget_give(table->budget, table->base->room * sizeof(*table->base->rows));
	free(table->base->rows);
	free(table->base);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free_base(table);
	budget_give(table->budget, table->room * row_size(table));
	free(table->rows);
	free(table->cpus);
	free(table);
}

const char *table_cpus(const struct table *table, const struct row *row, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned cpu = 0, last; cpu < 64 * table->words; cpu = last + 1) {
		char part[32];
		int length;

		for (last = cpu; table_has_cpu(table, row, last) && table_has_cpu(table, row, last + 1);)
			last++;
		if (!table_has_cpu(table, row, cpu))
			continue;
		length = snprintf(part, sizeof(part), "%s%u", used ? "," : "", cpu);
		if (last > cpu)
			length += snprintf(part + length, sizeof(part) - (size_t)length, "%s%u",
				last > cpu + 1 ? "-" : ",", last);
		if (used + (size_t)length + 2 > size) {
			snprintf(text + used, size - used, "+");
			break;
		}
		memcpy(text + used, part, (size_t)length + 1);
		used += (size_t)length;
	}
	return text;
}

/* ---- the order of rows ---- */

/* A row as it is sorted. */
struct key {
	uint64_t number;		/* the column's; of texts and CPUs: none */
	uint64_t self, total;
	const struct function *function;
	uint32_t id, row;
};

struct sorting {
	const struct table *table;
	/* NULL: by the column's number */
	int (*by)(const struct table *table, const struct key *a, const struct key *b);
	enum table_column column;
	bool invert, named;
};

/* In 1/2^52: any two that a screen tells apart differ. */
static uint64_t size_of_change(const struct table *table, const struct row *row)
{
	double share = table->base ? table_self_change(table, row).share : 0;

	return (uint64_t)((share < 0 ? -share : share) * (double)(UINT64_C(1) << 52));
}

static uint64_t value_of(const struct table *table, const struct row *row, enum table_column column)
{
	switch (column) {
	case COLUMN_CHANGE:
		return size_of_change(table, row);
	case COLUMN_SELF:
		return row->self;
	case COLUMN_TOTAL:
		return row->total;
	case COLUMN_KERNEL:
		return row->kernel;
	case COLUMN_USER:
		return row->user;
	case COLUMN_WAITS:
		return row->waits;
	default:
		return row->samples;
	}
}

static int larger_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* The lowest CPU in which they differ decides: {0} {0,1} {0,2} {1}. */
static int by_cpu(const struct table *table, const struct key *a, const struct key *b)
{
	const struct row *left = &table->rows[a->row], *right = &table->rows[b->row];

	for (unsigned cpu = 0; cpu < 64 * table->words; cpu++) {
		unsigned next = cpu + 1;
		bool first = table_has_cpu(table, left, cpu);
		const struct row *other = first ? right : left;

		if (first == table_has_cpu(table, right, cpu))
			continue;
		while (next < 64 * table->words && !table_has_cpu(table, other, next))
			next++;
		return first == (next < 64 * table->words) ? -1 : 1;
	}
	return 0;
}

static int by_function(const struct table *table, const struct key *a, const struct key *b)
{
	(void)table;
	return strcmp(a->function->name, b->function->name);
}

static int by_object(const struct table *table, const struct key *a, const struct key *b)
{
	(void)table;
	return strcmp(a->function->object, b->function->object);
}

/* Lines come late, and for the visible rows alone; the linker keeps the order of the sources. */
static int by_source(const struct table *table, const struct key *a, const struct key *b)
{
	int order = by_object(table, a, b);

	return order ? order : -larger_first(a->function->address, b->function->address);
}

/* How a column of texts or CPUs is ordered; NULL: it is ordered by its number. */
static int (*const orders[TABLE_COLUMNS])(const struct table *table, const struct key *a,
	const struct key *b) = {
	[COLUMN_CPU] = by_cpu, [COLUMN_FUNCTION] = by_function, [COLUMN_OBJECT] = by_object,
	[COLUMN_SOURCE] = by_source,
};

static int by_name(const struct sorting *sorting, const struct key *a, const struct key *b)
{
	int order = by_function(sorting->table, a, b);

	return order ? order : by_source(sorting->table, a, b);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct key *a = left, *b = right;
	int result = sorting->by ? sorting->by(sorting->table, a, b) : larger_first(a->number, b->number);

	if (result)
		return sorting->invert ? -result : result;
	if (a->self != b->self)
		return larger_first(a->self, b->self);
	if (a->total != b->total)
		return larger_first(a->total, b->total);
	result = sorting->named ? by_name(sorting, a, b) : 0;
	return result ? result : (a->id > b->id) - (a->id < b->id);
}

static struct key key_of(const struct sorting *sorting, const struct symbols *symbols, uint32_t at)
{
	const struct row *row = &sorting->table->rows[at];

	return (struct key) {
		.number = sorting->by ? 0 : value_of(sorting->table, row, sorting->column),
		.self = row->self, .total = row->total, .id = row->function, .row = at,
		.function = sorting->by || sorting->named ? symbols_get(symbols, row->function) : NULL,
	};
}

/* The row of key i comes to place i. A second array of rows would cost more than the sorting. Spoils the keys. */
static void put_in_order(struct row *rows, struct key *keys, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct row first = rows[i];
		uint32_t at = i, from;

		for (; (from = keys[at].row) != i; at = from) {
			rows[at] = rows[from];
			keys[at].row = at;
		}
		rows[at] = first;
		keys[at].row = at;
	}
}

static void sort(struct sorting *sorting, struct table *table, const struct symbols *symbols)
{
	struct key *keys = util_grow(NULL, table->count, sizeof(*keys));

	for (uint32_t i = 0; i < table->count; i++)
		keys[i] = key_of(sorting, symbols, i);
	if (table->count)
		qsort_r(keys, table->count, sizeof(*keys), compare, sorting);
	put_in_order(table->rows, keys, table->count);
	free(keys);
}

void table_sort(struct table *table, const struct symbols *symbols, enum table_column column,
	bool invert)
{
	struct sorting sorting = { .table = table, .by = orders[column], .column = column, .invert = invert };

	sort(&sorting, table, symbols);
}

void table_sort_named(struct table *table, const struct symbols *symbols, enum table_column column)
{
	struct sorting sorting = { .table = table, .by = orders[column], .column = column, .named = true };

	sort(&sorting, table, symbols);
}

/* ---- only the first rows: two times a second and more often, of all functions ---- */

enum { FIRST_MOST = 1024 };		/* more than a screen shows; for even more, all are sorted */

/* Finds the first `count` rows, in order. There are more. */
static void find_first(struct sorting *sorting, struct key *first, size_t count)
{
	for (uint32_t i = 0; i < sorting->table->count; i++) {
		struct key one = key_of(sorting, NULL, i);
		size_t at = i < count ? i : count;

		if (at == count && compare(&one, &first[--at], sorting) > 0)
			continue;
		for (; at > 0 && compare(&one, &first[at - 1], sorting) < 0; at--)
			first[at] = first[at - 1];
		first[at] = one;
	}
}

/* The rows that are found change places with those at the front. */
static void put_first(struct row *rows, struct key *found, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct row row = rows[i];
		uint32_t from = found[i].row;

		rows[i] = rows[from];
		rows[from] = row;
		for (size_t k = i + 1; k < count; k++)
			if (found[k].row == i)
				found[k].row = from;
	}
}

size_t table_sort_first(struct table *table, const struct symbols *symbols, enum table_column column, bool invert,
	size_t count)
{
	struct sorting sorting = { .table = table, .column = column, .invert = invert };
	struct key found[FIRST_MOST];

	if (orders[column] || count > FIRST_MOST || count >= table->count / 2) {
		table_sort(table, symbols, column, invert);
		return table->count;
	}
	if (!count)
		return 0;
	find_first(&sorting, found, count);
	put_first(table->rows, found, count);
	return count;
}
