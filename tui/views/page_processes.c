/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/function_page.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "page_processes.h"

/* The process of that name, made once. There are no more of them than threads. */
static struct page_process *have(struct page_processes *all, struct hash *index, const char *name,
	const struct table *table)
{
	uint64_t hash = hash_text(index, name);
	uint32_t at = 0, position;

	while ((position = hash_next(index, hash, &at)) != HASH_NONE)
		if (strcmp(all->list[position].name, name) == 0)
			return &all->list[position];
	hash_add(index, hash, (uint32_t)all->count);
	all->list[all->count] = (struct page_process) {
		.name = name, .now = { .whole = table->weight, .all = table->samples },
	};
	if (table->base)
		all->list[all->count].base = (struct portion) {
			.whole = table->base->weight, .all = table->base->samples };
	return &all->list[all->count++];
}

static void add(struct page_process *to, const struct table *table, const struct row *row)
{
	to->now.weight += row->self;
	to->now.samples += row->samples;
	if (!table->base || !row->base)
		return;
	to->base.weight += table->base->rows[row->base - 1].self;
	to->base.samples += table->base->rows[row->base - 1].samples;
}

static int heavier(const void *left, const void *right)
{
	const struct page_process *a = left, *b = right;

	if (a->now.weight != b->now.weight)
		return a->now.weight < b->now.weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

struct page_processes page_processes_new(const struct function_page *page)
{
	const struct table *table = page->tables[PAGE_THREADS]->table;
	struct page_processes all = { .count = 0 };
	struct hash index;

	if (!table)
		return all;
	all.list = util_alloc((table->count + 1) * sizeof(*all.list));
	hash_init(&index, NULL);
	for (size_t i = 0; i < table->count; i++)
		add(have(&all, &index, symbols_get(page->answer.symbols, table->rows[i].function)->object, table),
			table, &table->rows[i]);
	hash_clear(&index);
	qsort(all.list, all.count, sizeof(*all.list), heavier);
	return all;
}

void page_processes_clear(struct page_processes *processes)
{
	free(processes->list);
	*processes = (struct page_processes) { .list = NULL };
}
