/* SPDX-License-Identifier: MIT */
/*
 * Events over all machines: rows with the same name are one. What is of one machine alone keeps its own row, with the
 * machine's name: threads, processes and CPUs, a lock that has no name, and where kernels differ, numbers without a
 * name and places in the code. A row's number is a hash of its name then, since machines may number it differently.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/event_table.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

static const struct event_request *asked_of(const struct fleet *fleet)
{
	return &fleet->requests[FLEET_EVENTS].events;
}

/* Its newest answer, if that is about such rows; NULL: there is none. */
static const struct event_table *part_of(const struct fleet *fleet, size_t index)
{
	const struct event_table *part = fleet->machines[index].events;

	return part && part->now && part->by == asked_of(fleet)->by ? part : NULL;
}

/* ---- names ---- */

static bool kernels_differ(const struct fleet *fleet)
{
	const char *first = NULL;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct vitals *vitals = fleet->machines[i].vitals;

		if (!vitals || !part_of(fleet, i))
			continue;
		if (first && strcmp(first, vitals->kernel) != 0)
			return true;
		first = vitals->kernel;
	}
	return false;
}

/* A number that its machine's kernel has given, and no name. */
static bool is_unnamed(const struct event_row *row)
{
	return !row->called[0] && span_role(row->kind) != ROLE_NONE;
}

static bool is_of_machine(const struct event_row *row, enum event_by by, bool differ)
{
	bool lock = row->kind == SPAN_LOCK || row->kind == SPAN_HOLD;

	if (by == EVENT_BY_CODE && row->part != EVENT_NO_PART && (differ || strstr(row->title, "[unknown]")))
		return true;
	return (is_unnamed(row) && (differ || lock)) || (by != EVENT_BY_CODE && row->part < EVENT_NO_PART);
}

/* Names and numbers it as the fleet does. `name`: the machine's. */
static void rename_row(struct event_row *row, enum event_by by, const char *name, size_t index, bool differ)
{
	bool own = is_of_machine(row, by, differ);
	char title[EVENT_TITLE], text[SPAN_TEXT];
	uint64_t hash = own ? index + 1 : 0;

	if (is_unnamed(row)) {
		const char *called = span_text(row->kind, row->number, text);

		util_print(row->called, sizeof(row->called), "%s",
			span_is_other(row->kind) ? called : called + strlen(span_words[row->kind]) + 1);
	}
	for (const char *c = row->called; *c; c++)
		hash = hash_mix(hash ^ (unsigned char)*c, UINT64_C(0x9e3779b97f4a7c15));
	row->number = row->called[0] ? hash : row->number;
	if (!own)
		return;
	if (row->part < EVENT_NO_PART)
		row->part = hash_mix(row->part ^ (index + 1) << 48, UINT64_C(0x9e3779b97f4a7c15)) >> 1;
	memcpy(title, row->title, sizeof(title));
	if (by == EVENT_BY_CODE && title[0])
		util_print(row->title, sizeof(row->title), "%s (%s)", title, name);
	else
		util_print(row->title, sizeof(row->title), "%s%s%s", name, title[0] ? " " : "", title);
}

static bool is_same(const struct event_row *row, const struct event_row *other)
{
	return row->kind == other->kind && row->number == other->number && row->part == other->part &&
		strcmp(row->called, other->called) == 0 && strcmp(row->title, other->title) == 0;
}

/* ---- rows ---- */

struct sum {
	struct fleet *fleet;
	struct event_table *table;
	struct hash by_row;
	uint32_t rooms[2];		/* of rows and slow rows, in elements */
	bool differ;			/* kernels do */
};

/* Grown memory is zero. */
static void *grow(void *array, uint32_t count, uint32_t more, uint32_t *room, size_t size)
{
	uint32_t before = *room;

	if (count + more <= before)
		return array;
	*room = 2 * (count + more);
	array = util_grow(array, *room, size);
	memset((char *)array + before * size, 0, (*room - before) * size);
	return array;
}

static uint32_t place_of(struct sum *sum, const struct event_row *row)
{
	struct event_table *table = sum->table;
	uint64_t hash = hash_pair(&sum->by_row, hash_mix(row->number, row->kind), row->part);
	uint32_t at = 0, place;

	while ((place = hash_next(&sum->by_row, hash, &at)) != HASH_NONE)
		if (is_same(&table->rows[place], row))
			return place;
	table->rows = grow(table->rows, table->count, 1, &sum->rooms[0], sizeof(*table->rows));
	place = table->count++;
	table->rows[place] = (struct event_row) { .kind = row->kind, .number = row->number, .part = row->part,
		.latencies = place, .shares = place * table->machine_count,
		.longest_of = EVENT_NONE, .oldest_of = EVENT_NONE };
	memcpy(table->rows[place].called, row->called, sizeof(row->called));
	memcpy(table->rows[place].title, row->title, sizeof(row->title));
	table->latencies = grow(table->latencies, place, 1, &table->latency_room, sizeof(*table->latencies));
	table->shares = util_grow(table->shares, sum->rooms[0] * table->machine_count, sizeof(*table->shares));
	for (uint32_t i = 0; i < table->machine_count; i++)
		table->shares[table->rows[place].shares + i] = (struct event_share) { 0 };
	hash_add(&sum->by_row, hash, place);
	return place;
}

static uint64_t most(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static void add_sums(struct event_sums *to, const struct event_sums *sums)
{
	to->count += sums->count;
	to->total += sums->total;
	to->max = most(to->max, sums->max);
}

/* The part of the sum's range in which a part of the machine's lies: that may be shorter, and ends with it. */
static int over_of(const struct event_table *table, const struct event_table *part, int of)
{
	double whole = (double)(table->to - table->from);
	double length = whole > 0 ? (double)(part->to - part->from) / whole : 0;

	return EVENT_OVER - 1 - (int)((EVENT_OVER - 1 - of) * length);
}

static void add_row(struct sum *sum, size_t index, const struct event_table *part, const struct event_row *own)
{
	struct event_table *table = sum->table;
	struct event_row row = *own, *to;
	struct event_latencies *of;
	uint32_t place;

	rename_row(&row, part->by, sum->fleet->names[index], index, sum->differ);
	place = place_of(sum, &row);
	to = &table->rows[place];
	add_sums(&to->is, &row.is);
	add_sums(&to->was, &row.was);
	to->lost += row.lost;
	to->open += row.open;
	to->oldest_ns = most(to->oldest_ns, row.oldest_ns);
	for (int i = 0; i < EVENT_TREND; i++)
		to->trend[i] += row.trend[i];
	for (int i = 0; i < EVENT_OVER; i++)
		to->over[over_of(table, part, i)] += row.over[i];
	table->shares[to->shares + index] = (struct event_share) { row.count, row.total, row.p99 };
	of = &table->latencies[to->latencies];
	latencies_merge(&of->now, &table->pages, &part->latencies[row.latencies].now, &part->pages);
	latencies_merge(&of->was, &table->pages, &part->latencies[row.latencies].was, &part->pages);
}

/* ---- the slowest of a row ---- */

/* The machine's own row of which the fleet is asked for the slowest; NULL: it has none. */
static const struct event_row *slow_row_of(const struct fleet *fleet, size_t index)
{
	const struct event_request *asked = asked_of(fleet);
	const struct event_table *part = part_of(fleet, index);
	bool differ = kernels_differ(fleet);

	for (uint32_t i = 0; asked->slow && part && i < part->count; i++) {
		struct event_row row = part->rows[i];

		rename_row(&row, part->by, fleet->names[index], index, differ);
		if (row.kind == asked->slow_kind && row.number == asked->slow_number && row.part == asked->slow_part)
			return &part->rows[i];
	}
	return NULL;
}

void fleet_ask_slow(const struct fleet *fleet, size_t index, struct event_request *request)
{
	const struct event_row *row = slow_row_of(fleet, index);

	request->slow = row != NULL;
	request->slow_kind = row ? row->kind : 0;
	request->slow_number = row ? row->number : 0;
	request->slow_part = row ? row->part : 0;
}

static void add_slow(struct sum *sum, size_t index, const struct event_table *part)
{
	const struct event_row *row = slow_row_of(sum->fleet, index);
	struct event_table *table = sum->table;

	if (!row)
		return;
	if (!part->slow_told || part->slow_of.kind != row->kind || part->slow_of.number != row->number ||
			part->slow_of.part != row->part) {
		table->slow_told = false;	/* its answer to that is still to come */
		return;
	}
	table->slow = grow(table->slow, table->slow_count, part->slow_count, &sum->rooms[1], sizeof(*table->slow));
	for (uint32_t i = 0; i < part->slow_count; i++) {
		struct slow_row *to = &table->slow[table->slow_count++];

		*to = part->slow[i];
		to->of = table->slow_of;
		to->begin += table->to - part->to;
		to->end += table->to - part->to;
		util_print(to->title, sizeof(to->title), "%s %s", sum->fleet->names[index], part->slow[i].title);
	}
}

static int by_duration(const void *left, const void *right)
{
	const struct slow_row *a = left, *b = right;
	uint64_t one = a->end - a->begin, other = b->end - b->begin;

	return one != other ? one < other ? 1 : -1 : (a->begin > b->begin) - (a->begin < b->begin);
}

/* ---- the whole ---- */

/* The machine's time as one of the fleet's: both have their ranges' ends at once. 0, which means none, stays 0. */
static uint64_t fleet_time(const struct event_table *table, const struct event_table *part, uint64_t time)
{
	return time ? table->to - part->to + time : 0;
}

static void add_books(struct sum *sum, size_t index, const struct event_table *part)
{
	struct event_table *table = sum->table;
	size_t used = strlen(table->filters);

	table->now = table->to;
	if (part->to - part->from > table->to - table->from)
		table->from = table->to - (part->to - part->from);
	if (part->compared && part->base_to - part->base_from >= table->base_to - table->base_from) {
		table->base_to = table->to - (part->to - part->base_to);
		table->base_from = table->base_to - (part->base_to - part->base_from);
	}
	table->kept_from = most(table->kept_from, fleet_time(table, part, part->kept_from));
	table->exact_from = most(table->exact_from, fleet_time(table, part, part->exact_from));
	table->slow_from = most(table->slow_from, fleet_time(table, part, part->slow_from));
	table->open_known = table->open_known && part->open_known;
	table->compared = table->compared || part->compared;
	table->forgot = table->forgot || part->forgot;
	table->base_forgot = table->base_forgot || part->base_forgot;
	table->slow_forgot = table->slow_forgot || part->slow_forgot;
	table->answer.partial = table->answer.partial || part->answer.partial;
	table->traced = table->traced || part->traced;
	table->untraced |= part->traced ? 0 : 1u << index;
	table->events += part->events;
	table->lost += part->lost;
	table->unmatched += part->unmatched;
	table->left_out += part->left_out;
	table->late += part->late;
	table->refused += part->refused;
	if (part->filters[0])
		util_print(table->filters + used, sizeof(table->filters) - used, "%s%s: %s", used ? "; " : "",
			sum->fleet->names[index], part->filters);
}

struct event_table *fleet_events(struct fleet *fleet, uint64_t now)
{
	const struct event_request *asked = asked_of(fleet);
	struct event_table *table = util_alloc(sizeof(*table));
	struct sum sum = { .fleet = fleet, .table = table, .differ = kernels_differ(fleet) };

	table->answer = (struct answer) { .kind = &event_table_kind, .begun = true };
	table->machine_count = (uint32_t)fleet->count;
	table->by = (enum event_by)asked->by;
	table->from = table->to = now - fleet->origin;
	table->open_known = true;
	table->slow_told = asked->slow;
	table->slow_of = (struct slow_of) { (enum span_kind)asked->slow_kind, asked->slow_number, asked->slow_part };
	hash_init(&sum.by_row, NULL);
	for (size_t i = 0; i < fleet->count; i++)
		if (part_of(fleet, i))
			add_books(&sum, i, part_of(fleet, i));
	for (size_t i = 0; i < fleet->count; i++) {
		const struct event_table *part = part_of(fleet, i);

		for (uint32_t k = 0; part && k < part->count; k++)
			add_row(&sum, i, part, &part->rows[k]);
		if (part)
			add_slow(&sum, i, part);
	}
	event_rows_finish(table);
	if (table->slow_count)
		qsort(table->slow, table->slow_count, sizeof(*table->slow), by_duration);
	table->slow_count = table->slow_count < SLOWEST ? table->slow_count : SLOWEST;
	hash_clear(&sum.by_row);
	return table;
}
