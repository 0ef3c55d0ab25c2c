/* SPDX-License-Identifier: MIT */
/*
 * Memory over all machines: rows with the same allocator and place are one. Where kernels differ, and of code without a
 * name, each machine keeps its own row, with its name. A row's allocator is a hash of its name then. Its peak is the
 * sum of the machines' peaks, which need not have been at one time.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/memory_table.h"
#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

#define NOWHERE 0xffffffffu

struct sum {
	struct fleet *fleet;
	struct memory_table *table;
	struct hash by_row;
	uint32_t room;
	bool differ;			/* kernels do */
};

static const struct memory_request *memory_asked(const struct fleet *fleet)
{
	return &fleet->requests[FLEET_MEMORY].memory;
}

/* Its newest answer, if that is about such rows and its clock is known; NULL: there is none. */
static const struct memory_table *memory_part(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct memory_table *part = machine->memory;

	return part && part->now && machine->vitals && part->by == memory_asked(fleet)->by ? part : NULL;
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash_mix(hash ^ (unsigned char)*text, UINT64_C(0x9e3779b97f4a7c15));
	return hash;
}

/* Names and numbers it as the fleet does. `name`: the machine's. */
static struct memory_row rename_row(const struct memory_row *own, const char *name, size_t index, bool differ)
{
	struct memory_row row = *own;

	row.allocator = (uint32_t)hash_of(row.called);
	if (row.site >= MEMORY_NO_SITE || !(differ || strstr(row.title, "[unknown]")))
		return row;
	row.site = hash_mix(row.site ^ (index + 1) << 48, UINT64_C(0x9e3779b97f4a7c15)) >> 1;
	util_print(row.title, sizeof(row.title), "(%s) %s", name, own->title);
	return row;
}

/* NOWHERE: there is no memory for it. */
static uint32_t place_of(struct sum *sum, const struct memory_row *row)
{
	struct memory_table *table = sum->table;
	uint64_t hash = hash_pair(&sum->by_row, row->allocator, row->site);
	uint32_t at = 0, place;
	struct memory_row *rows;

	while ((place = hash_next(&sum->by_row, hash, &at)) != HASH_NONE)
		if (table->rows[place].allocator == row->allocator && table->rows[place].site == row->site)
			return place;
	rows = budget_array(table->budget, table->rows, table->count, &sum->room, sizeof(*rows));
	table->rows = rows ? rows : table->rows;
	if (!rows || !hash_add(&sum->by_row, hash, table->count))
		return NOWHERE;
	rows[table->count] = (struct memory_row) { .allocator = row->allocator, .site = row->site };
	memcpy(rows[table->count].called, row->called, MEMORY_CALLED);
	memcpy(rows[table->count].title, row->title, MEMORY_TITLE);
	return table->count++;
}

static void add_live(struct memory_live *to, const struct memory_live *from)
{
	to->objects += from->objects;
	to->bytes += from->bytes;
}

static void add_row(struct sum *sum, size_t index, const struct memory_row *own)
{
	const struct memory_row row = rename_row(own, sum->fleet->names[index], index, sum->differ);
	uint32_t place = place_of(sum, &row);
	struct memory_row *to;
	uint64_t oldest = fleet_time(sum->fleet, &sum->fleet->machines[index], row.oldest);

	sum->table->refused += place == NOWHERE;
	if (place == NOWHERE)
		return;
	to = &sum->table->rows[place];
	add_live(&to->is, &row.is);
	add_live(&to->was, &row.was);
	to->peak += row.peak;
	to->given += row.given;
	to->taken += row.taken;
	to->given_bytes += row.given_bytes;
	to->taken_bytes += row.taken_bytes;
	to->unsure += row.unsure;
	to->oldest = oldest && (!to->oldest || oldest < to->oldest) ? oldest : to->oldest;
	for (int i = 0; i < MEMORY_TREND; i++)
		to->trend[i] += row.trend[i];
}

static void add_counts(struct allocation_counts *to, const struct allocation_counts *from)
{
	to->given += from->given;
	to->taken += from->taken;
	to->unmatched += from->unmatched;
	to->reused += from->reused;
	to->unkept += from->unkept;
	to->unkept_bytes += from->unkept_bytes;
	to->merged += from->merged;
}

static void add_books(struct sum *sum, size_t index, const struct memory_table *part)
{
	const struct fleet_machine *machine = &sum->fleet->machines[index];
	struct memory_table *table = sum->table;
	uint64_t to = fleet_time(sum->fleet, machine, part->to);
	uint64_t sure = fleet_time(sum->fleet, machine, part->sure_from);
	uint64_t kept = fleet_time(sum->fleet, machine, part->kept_from);
	size_t used = strlen(table->filters);

	table->to = table->now = to > table->to ? to : table->to;
	table->from = part->to - part->from < table->to ? table->to - (part->to - part->from) : 0;
	table->kept_from = kept > table->kept_from ? kept : table->kept_from;
	table->sure_from = sure > table->sure_from ? sure : table->sure_from;
	table->forgot = table->forgot || part->forgot;
	table->base_forgot = table->base_forgot || part->base_forgot;
	table->compared = table->compared || part->compared;
	table->ages = table->ages && part->ages;
	table->traced = table->traced || part->traced;
	table->untraced |= part->traced ? 0 : 1u << index;
	table->located = table->located || part->located;
	table->answer.partial = table->answer.partial || part->answer.partial;
	add_counts(&table->counts, &part->counts);
	table->events += part->events;
	table->lost += part->lost;
	table->hidden += part->hidden;
	table->refused += part->refused;
	for (uint32_t i = 0; i < part->total_count; i++) {
		struct memory_total total = part->totals[i];

		total.allocator = (uint32_t)hash_of(total.called);
		memory_total_add(table, &total);
	}
	if (part->filters[0])
		util_print(table->filters + used, sizeof(table->filters) - used, "%s%s: %s", used ? "; " : "",
			sum->fleet->names[index], part->filters);
}

/* ---- the stacks of a row ---- */

/* The machine's own row that is asked about; NULL: it has none. */
static const struct memory_row *own_row(const struct fleet *fleet, size_t index)
{
	const struct memory_table *part = memory_part(fleet, index);
	const struct memory_request *asked = memory_asked(fleet);
	bool differ = fleet_kernels_differ(fleet);

	for (uint32_t i = 0; asked->stacks && part && i < part->count; i++) {
		const struct memory_row row = rename_row(&part->rows[i], fleet->names[index], index, differ);

		if (row.allocator == asked->allocator && row.site == asked->site)
			return &part->rows[i];
	}
	return NULL;
}

void fleet_ask_memory(const struct fleet *fleet, size_t index, struct memory_request *request)
{
	const struct memory_row *row = own_row(fleet, index);

	request->stacks = row != NULL;
	request->allocator = row ? row->allocator : 0;
	request->site = row ? row->site : 0;
}

static int more_first(const void *left, const void *right)
{
	const struct memory_stack *a = left, *b = right;

	return (a->is.bytes < b->is.bytes) - (a->is.bytes > b->is.bytes);
}

static void add_stacks(struct sum *sum, size_t index, const struct memory_table *part)
{
	const struct memory_row *row = own_row(sum->fleet, index);
	struct memory_table *table = sum->table;
	uint32_t count = table->stack_count;

	if (!row || !part->stacks_told || part->stacks_allocator != row->allocator || part->stacks_site != row->site)
		return;
	table->stacks = util_grow(table->stacks, count + part->stack_count + 1, sizeof(*table->stacks));
	memcpy(table->stacks + count, part->stacks, part->stack_count * sizeof(*table->stacks));
	count += part->stack_count;
	qsort(table->stacks, count, sizeof(*table->stacks), more_first);
	table->stack_count = count < MEMORY_STACKS ? count : MEMORY_STACKS;
	table->stacks_left_out += part->stacks_left_out + count - table->stack_count;
}

/* ---- the whole ---- */

struct memory_table *fleet_memory(struct fleet *fleet, uint64_t now)
{
	const struct memory_request *asked = memory_asked(fleet);
	struct memory_table *table = util_alloc(sizeof(*table));
	struct sum sum = { .fleet = fleet, .table = table, .differ = fleet_kernels_differ(fleet) };

	table->answer = (struct answer) { .kind = &memory_table_kind, .begun = true };
	table->budget = fleet->budget;
	table->machine_count = (uint32_t)fleet->count;
	table->by = (enum memory_by)asked->by;
	table->ages = true;
	table->stacks_told = asked->stacks;
	table->stacks_allocator = (uint32_t)asked->allocator;
	table->stacks_site = asked->site;
	hash_init(&sum.by_row, fleet->budget);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct memory_table *part = memory_part(fleet, i);

		for (uint32_t k = 0; part && k < part->count; k++)
			add_row(&sum, i, &part->rows[k]);
		if (part) {
			add_books(&sum, i, part);
			add_stacks(&sum, i, part);
		}
	}
	table->now = table->now ? table->now : now - fleet->origin;
	table->to = table->to ? table->to : table->now;
	memory_rows_sort(table);
	table->rows = budget_trim(fleet->budget, table->rows, sum.room * sizeof(*table->rows),
		table->count * sizeof(*table->rows));
	hash_clear(&sum.by_row);
	return table;
}
