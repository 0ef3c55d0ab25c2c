/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "counts.h"

bool same_key(const struct store_key *a, const struct store_key *b)
{
	return a->stack == b->stack && who_same(&a->who, &b->who);
}

static void gather(struct counts *counts, const struct run *run, const struct who_table *whos)
{
	struct run_reader reader = run_read(run);
	struct run_count count;

	counts->list = realloc(counts->list,
		(counts->count + run->counts + 1) * sizeof(*counts->list));
	assert_non_null(counts->list);
	while (run_next(&reader, &count)) {
		struct counted *counted = &counts->list[counts->count++];

		assert_true(count.who < who_table_count(whos));
		*counted = (struct counted) {
			.key = { .stack = count.stack, .who = who_table_list(whos)[count.who] },
			.samples = count.samples, .weight = count.weight,
		};
	}
}

static int compare_who(const struct who *a, const struct who *b)
{
	uint64_t left = (uint64_t)a->process << 32 | a->thread, right = (uint64_t)b->process << 32 | b->thread;

	if (left != right)
		return left < right ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->mode != b->mode)
		return a->mode < b->mode ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

static int by_key(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	if (a->key.stack != b->key.stack)
		return a->key.stack < b->key.stack ? -1 : 1;
	return compare_who(&a->key.who, &b->key.who);
}

struct counts counts_of(const struct slice *slice, const struct who_table *whos)
{
	struct counts counts = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < slice->run_count; i++)
		gather(&counts, slice->runs[i], whos);
	if (counts.count)
		qsort(counts.list, counts.count, sizeof(*counts.list), by_key);
	for (size_t i = 0; i < counts.count; i++) {
		struct counted *last = kept ? &counts.list[kept - 1] : NULL;

		if (last && same_key(&last->key, &counts.list[i].key)) {
			last->samples += counts.list[i].samples;
			last->weight += counts.list[i].weight;
		} else {
			counts.list[kept++] = counts.list[i];
		}
	}
	counts.count = kept;
	return counts;
}

uint64_t weight_of(const struct slice *slice)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < slice->run_count; i++) {
		struct run_reader reader = run_read(slice->runs[i]);
		struct run_count count;

		while (run_next(&reader, &count))
			weight += count.weight;
	}
	return weight;
}

size_t count_of(const struct slice *slice, const struct who_table *whos)
{
	struct counts counts = counts_of(slice, whos);

	free(counts.list);
	return counts.count;
}
