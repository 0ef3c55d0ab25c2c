/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "who.h"

enum { STEP = 1 << 10 };		/* so many are paid for at once */

struct who_table {
	struct budget *budget;
	unsigned holders;
	struct who *list;		/* WHO_MOST; the system backs the pages in use */
	uint32_t count, room, most;	/* room: those that are paid for */
	bool full;
	struct hash by_who;
};

struct who_table *who_table_new(struct budget *budget, uint32_t most)
{
	struct who_table *table = util_alloc(sizeof(*table));

	table->budget = budget;
	table->holders = 1;
	table->most = most;
	table->list = util_alloc(WHO_MOST * sizeof(*table->list));
	hash_init(&table->by_who, budget);
	for (uint32_t i = 0; i < WHO_FORGOTTEN; i++)
		table->list[table->count++] = (struct who) {
			.process = EVENT_KERNEL, .thread = EVENT_NONE, .cpu = WHO_NO_CPU,
			.mode = i < CONTEXTS ? MODE_KERNEL : (uint8_t)(i - CONTEXTS + 1),
			.context = i < CONTEXTS ? (uint8_t)i : CONTEXT_UNTOLD,
		};
	return table;
}

struct who_table *who_table_hold(struct who_table *table)
{
	table->holders++;
	return table;
}

void who_table_release(struct who_table *table)
{
	if (!table || --table->holders)
		return;
	budget_give(table->budget, table->room * sizeof(*table->list));
	hash_clear(&table->by_who);
	free(table->list);
	free(table);
}

bool who_same(const struct who *a, const struct who *b)
{
	return a->thread == b->thread && a->process == b->process && a->cpu == b->cpu && a->mode == b->mode &&
		a->context == b->context;
}

static bool have_room(struct who_table *table)
{
	table->full = table->count >= table->most;
	if (table->full)
		return false;
	if (table->count >= table->room && budget_take(table->budget, STEP * sizeof(*table->list)))
		table->room += STEP;
	return table->count < table->room;
}

uint32_t who_table_number(struct who_table *table, const struct who *who)
{
	uint64_t task = (uint64_t)who->process << 32 | who->thread;
	uint64_t rest = (uint64_t)who->cpu << 16 | (uint64_t)who->mode << 8 | who->context;
	uint64_t value = hash_pair(&table->by_who, task, rest);
	uint32_t at = 0, number;

	if (who->thread == EVENT_NONE && who->cpu == WHO_NO_CPU && who->process == EVENT_KERNEL)
		return who_forgotten(who);
	while ((number = hash_next(&table->by_who, value, &at)) != HASH_NONE)
		if (who_same(&table->list[number], who))
			return number;
	if (!have_room(table) || !hash_add(&table->by_who, value, table->count))
		return WHO_NONE;
	table->list[table->count] = *who;
	return table->count++;
}

uint32_t who_table_count(const struct who_table *table)
{
	return table->count;
}

bool who_table_is_full(const struct who_table *table)
{
	return table->full;
}

const struct who *who_table_list(const struct who_table *table)
{
	return table->list;
}
