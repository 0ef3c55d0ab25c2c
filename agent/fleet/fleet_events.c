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
#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "fleet.h"
#include "fleet_state.h"

static const struct event_request *events_asked(const struct fleet *fleet)
{
	return &fleet->requests[FLEET_EVENTS].events;
}

/* Its newest answer, if that is about such rows and its clock is known; NULL: there is none. */
static const struct event_table *events_part(const struct fleet *fleet, size_t index)
{
	const struct fleet_machine *machine = &fleet->machines[index];
	const struct event_table *part = machine->events;

	return part && part->now && machine->vitals && part->by == events_asked(fleet)->by ? part : NULL;
}

/* ---- names ---- */

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
	if (by == EVENT_BY_CODE)
		util_print(row->title, sizeof(row->title), "(%s)%s%s", name, title[0] ? " " : "", title);
	else
		util_print(row->title, sizeof(row->title), "%s%s%s", name, title[0] ? " " : "", title);
}

static bool is_same(const struct event_row *row, const struct event_row *other)
{
	return row->kind == other->kind && row->number == other->number && row->part == other->part &&
		strcmp(row->called, other->called) == 0 && strcmp(row->title, other->title) == 0;
}

/* ---- rows ---- */

#define NOWHERE 0xffffffffu

struct sum {
	struct fleet *fleet;
	struct event_table *table;
	struct hash by_row;
	uint32_t row_room, slow_room;
	bool differ;			/* kernels do */
};

/* NOWHERE: there is no memory for it. */
static uint32_t place_of(struct sum *sum, const struct event_row *row)
{
	struct event_table *table = sum->table;
	struct budget *budget = table->pages.budget;
	uint64_t hash = hash_pair(&sum->by_row, hash_mix(row->number, row->kind), row->part);
	uint32_t at = 0, place, machines = table->machine_count;
	struct event_row *rows;
	struct event_latencies *latencies;
	struct event_share *shares;

	while ((place = hash_next(&sum->by_row, hash, &at)) != HASH_NONE)
		if (is_same(&table->rows[place], row))
			return place;
	place = table->count;
	rows = budget_array(budget, table->rows, place, &sum->row_room, sizeof(*rows));
	table->rows = rows ? rows : table->rows;
	latencies = budget_array(budget, table->latencies, place, &table->latency_room, sizeof(*latencies));
	table->latencies = latencies ? latencies : table->latencies;
	shares = budget_array(budget, table->shares, (place + 1) * machines - 1, &table->share_room, sizeof(*shares));
	table->shares = shares ? shares : table->shares;
	if (!rows || !latencies || !shares || !hash_add(&sum->by_row, hash, place))
		return NOWHERE;
	rows[place] = (struct event_row) { .kind = row->kind, .number = row->number, .part = row->part,
		.latencies = place, .shares = place * machines, .longest_of = EVENT_NONE, .oldest_of = EVENT_NONE };
	memcpy(rows[place].called, row->called, sizeof(row->called));
	memcpy(rows[place].title, row->title, sizeof(row->title));
	memset(&latencies[place], 0, sizeof(*latencies));
	memset(&shares[place * machines], 0, machines * sizeof(*shares));
	return table->count++;
}

static uint64_t most(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

/* Which of its spans were the longest and the oldest of all; of single events, the last one. */
static void meet_longest(struct sum *sum, size_t index, const struct event_row *row, struct event_row *to)
{
	const struct fleet_machine *machine = &sum->fleet->machines[index];
	uint64_t longest = fleet_time(sum->fleet, machine, row->longest);

	if (row->max > to->max || (row->max == to->max && longest > to->longest)) {
		to->longest = longest;
		to->longest_of = row->longest_of;
		to->longest_on = row->longest_on;
		to->longest_in = (uint8_t)index;
	}
	if (row->open && (!to->open || row->oldest_ns > to->oldest_ns)) {
		to->oldest = fleet_time(sum->fleet, machine, row->oldest);
		to->oldest_ns = row->oldest_ns;
		to->oldest_of = row->oldest_of;
		to->oldest_on = row->oldest_on;
		to->oldest_in = (uint8_t)index;
	}
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
	struct event_share *share;
	uint32_t place;

	rename_row(&row, part->by, sum->fleet->names[index], index, sum->differ);
	place = place_of(sum, &row);
	table->refused += place == NOWHERE;
	if (place == NOWHERE)
		return;
	to = &table->rows[place];
	meet_longest(sum, index, &row, to);
	add_sums(&to->is, &row.is);
	add_sums(&to->was, &row.was);
	to->lost += row.lost;
	to->open += row.open;
	for (int i = 0; i < EVENT_TREND; i++)
		to->trend[i] += row.trend[i];
	for (int i = 0; i < EVENT_OVER; i++)
		to->over[over_of(table, part, i)] += row.over[i];
	share = &table->shares[to->shares + index];
	share->count += row.count;			/* it may have several numbers of one name */
	share->total += row.total;
	share->p99 = most(share->p99, row.p99);
	of = &table->latencies[to->latencies];
	if (!latencies_merge(&of->now, &table->pages, &part->latencies[row.latencies].now, &part->pages) ||
			!latencies_merge(&of->was, &table->pages, &part->latencies[row.latencies].was, &part->pages))
		table->refused++;
}

/* ---- the slowest of a row ---- */

/*
 * The machine's own rows of which the fleet is asked for the slowest: it may have several numbers of one name. They are
 * put into the request, the heaviest first, as far as they have room. Returns how many there are.
 */
static uint32_t slow_rows_of(const struct fleet *fleet, size_t index, struct event_request *own)
{
	const struct event_request *asked = events_asked(fleet);
	const struct event_table *part = events_part(fleet, index);
	bool differ = fleet_kernels_differ(fleet);
	uint32_t count = 0;

	for (uint32_t i = 0; asked->slow && part && i < part->count; i++) {
		struct event_row row;

		if (part->rows[i].kind != asked->slow_kind)
			continue;
		row = part->rows[i];
		rename_row(&row, part->by, fleet->names[index], index, differ);
		if (row.number != asked->slow_numbers[0] || row.part != asked->slow_part)
			continue;
		if (count < SLOW_NAMES) {
			own->slow_numbers[count] = part->rows[i].number;
			own->slow_part = part->rows[i].part;
			own->slow = count + 1;
		}
		count++;
	}
	return count;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The numbers are sorted: the question stays the same while the order of the rows changes. */
uint32_t fleet_ask_slow(const struct fleet *fleet, size_t index, struct event_request *request)
{
	uint64_t kind = request->slow_kind;
	uint32_t count;

	request->slow = request->slow_kind = request->slow_part = 0;
	memset(request->slow_numbers, 0, sizeof(request->slow_numbers));
	count = slow_rows_of(fleet, index, request);
	request->slow_kind = count ? kind : 0;
	qsort(request->slow_numbers, request->slow, sizeof(*request->slow_numbers), by_value);
	return count;
}

/* The part is about one of these rows. */
static bool is_of_slow(const struct event_table *part, const struct event_request *own)
{
	for (uint32_t i = 0; i < own->slow; i++)
		if (part->slow_told && part->slow_of.kind == own->slow_kind &&
				part->slow_of.number == own->slow_numbers[i] && part->slow_of.part == own->slow_part)
			return true;
	return false;
}

static void add_slow(struct sum *sum, size_t index, const struct event_table *part)
{
	const struct fleet_machine *machine = &sum->fleet->machines[index];
	struct event_request own = *events_asked(sum->fleet);
	const char *name = sum->fleet->names[index];
	struct event_table *table = sum->table;
	uint32_t count = fleet_ask_slow(sum->fleet, index, &own);

	if (!count)
		return;
	table->slow_more += count > SLOW_NAMES ? count - SLOW_NAMES : 0;
	if (!is_of_slow(part, &own)) {
		table->slow_told = false;	/* its answer to that is still to come */
		return;
	}
	for (uint32_t i = 0; i < part->slow_count; i++) {
		struct slow_row *to, *slow = budget_array(table->pages.budget, table->slow, table->slow_count,
			&sum->slow_room, sizeof(*slow));

		table->refused += !slow;
		if (!slow)
			return;
		table->slow = slow;
		to = &slow[table->slow_count++];
		*to = part->slow[i];
		to->of = table->slow_of;
		to->machine = (uint32_t)index;
		to->begin = fleet_time(sum->fleet, machine, to->begin);
		to->end = fleet_time(sum->fleet, machine, to->end);
		if (part->slow[i].title[0])
			util_print(to->title, sizeof(to->title), "%s %s", name, part->slow[i].title);
		else
			util_print(to->title, sizeof(to->title), "%s cpu %" PRIu32, name, to->cpu);
	}
}

static int by_duration(const void *left, const void *right)
{
	const struct slow_row *a = left, *b = right;
	uint64_t one = a->end - a->begin, other = b->end - b->begin;

	return one != other ? one < other ? 1 : -1 : (a->begin > b->begin) - (a->begin < b->begin);
}

/* ---- the whole ---- */

static void events_add_books(struct sum *sum, size_t index, const struct event_table *part)
{
	const struct fleet_machine *machine = &sum->fleet->machines[index];
	struct event_table *table = sum->table;
	size_t used = strlen(table->filters);

	table->now = table->to;
	if (part->to - part->from > table->to - table->from)
		table->from = table->to - (part->to - part->from);
	if (part->compared && part->base_to - part->base_from >= table->base_to - table->base_from) {
		table->base_to = fleet_time(sum->fleet, machine, part->base_to);
		table->base_from = table->base_to - (part->base_to - part->base_from);
	}
	table->kept_from = most(table->kept_from, fleet_time(sum->fleet, machine, part->kept_from));
	table->exact_from = most(table->exact_from, fleet_time(sum->fleet, machine, part->exact_from));
	table->slow_from = most(table->slow_from, fleet_time(sum->fleet, machine, part->slow_from));
	table->open_known = table->open_known && part->open_known;
	table->compared = table->compared || part->compared;
	table->uncompared |= part->compared ? 0 : 1u << index;
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
	table->hidden += part->hidden;
	if (part->filters[0])
		util_print(table->filters + used, sizeof(table->filters) - used, "%s%s: %s", used ? "; " : "",
			sum->fleet->names[index], part->filters);
}

/* Where the last machine's range ends: a window may lie in the past. */
static uint64_t end_of(const struct fleet *fleet, uint64_t now)
{
	uint64_t end = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct event_table *part = events_part(fleet, i);

		end = part ? most(end, fleet_time(fleet, &fleet->machines[i], part->to)) : end;
	}
	return end ? end : now - fleet->origin;
}

struct event_table *fleet_events(struct fleet *fleet, uint64_t now)
{
	const struct event_request *asked = events_asked(fleet);
	struct event_table *table = util_alloc(sizeof(*table));
	struct sum sum = { .fleet = fleet, .table = table, .differ = fleet_kernels_differ(fleet) };

	table->answer = (struct answer) { .kind = &event_table_kind, .begun = true };
	table->pages.budget = fleet->budget;
	table->machine_count = (uint32_t)fleet->count;
	table->by = (enum event_by)asked->by;
	table->from = table->to = end_of(fleet, now);
	table->open_known = true;
	table->slow_told = asked->slow;
	table->slow_of = (struct slow_of) { (enum span_kind)asked->slow_kind, asked->slow_numbers[0],
		asked->slow_part };
	hash_init(&sum.by_row, fleet->budget);
	for (size_t i = 0; i < fleet->count; i++)
		if (events_part(fleet, i))
			events_add_books(&sum, i, events_part(fleet, i));
	for (size_t i = 0; i < fleet->count; i++) {
		const struct event_table *part = events_part(fleet, i);

		for (uint32_t k = 0; part && k < part->count; k++)
			add_row(&sum, i, part, &part->rows[k]);
		if (part)
			add_slow(&sum, i, part);
	}
	event_rows_finish(table);
	table->rows = budget_trim(fleet->budget, table->rows, sum.row_room * sizeof(*table->rows),
		table->count * sizeof(*table->rows));
	if (table->slow_count)
		qsort(table->slow, table->slow_count, sizeof(*table->slow), by_duration);
	table->slow_count = table->slow_count < SLOWEST ? table->slow_count : SLOWEST;
	table->slow = budget_trim(fleet->budget, table->slow, sum.slow_room * sizeof(*table->slow),
		table->slow_count * sizeof(*table->slow));
	hash_clear(&sum.by_row);
	return table;
}
