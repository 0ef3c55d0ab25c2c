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
