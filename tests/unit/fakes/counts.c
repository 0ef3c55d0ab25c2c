/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "counts.h"

bool same_key(const struct store_key *a, const struct store_key *b)
{
	return a->stack == b->stack && who_compare(&a->who, &b->who) == 0;
}

static void gather(struct counts *counts, const struct run *run)
{
	struct run_reader reader = run_read(run);
	struct run_count count;

	counts->list = realloc(counts->list,
		(counts->count + run->counts + 1) * sizeof(*counts->list));
	assert_non_null(counts->list);
	while (run_next(&reader, &count)) {
		struct counted *counted = &counts->list[counts->count++];

		assert_in_range(count.who, 0, run->who_count - 1);
		*counted = (struct counted) {
			.key = { .stack = count.stack, .who = run->who[count.who] },
			.samples = count.samples, .weight = count.weight,
		};
	}
}

static int by_key(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;

	if (a->key.stack != b->key.stack)
		return a->key.stack < b->key.stack ? -1 : 1;
	return who_compare(&a->key.who, &b->key.who);
}

struct counts counts_of(const struct slice *slice)
{
	struct counts counts = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < slice->run_count; i++)
		gather(&counts, slice->runs[i]);
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
	struct counts counts = counts_of(slice);
	uint64_t weight = 0;

	for (size_t i = 0; i < counts.count; i++)
		weight += counts.list[i].weight;
	free(counts.list);
	return weight;
}

size_t count_of(const struct slice *slice)
{
	struct counts counts = counts_of(slice);

	free(counts.list);
	return counts.count;
}
