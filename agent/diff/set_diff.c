/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/samples/sample_set.h"
#include "set_diff.h"

struct making {
	struct set_diff *diff;
	struct hash hash;
	uint32_t *row_of;		/* of each function of the present set: HASH_NONE: not looked up yet */
	uint64_t sums;			/* seen so far, in both sets */
};

/* HASH_NONE: no memory. */
static uint32_t row_named(struct making *making, const char *name)
{
	struct set_diff *diff = making->diff;
	uint64_t hash = hash_text(&making->hash, name);
	uint32_t at = 0, position;
	struct diff_row *rows;

	while ((position = hash_next(&making->hash, hash, &at)) != HASH_NONE)
		if (strcmp(diff->rows[position].name, name) == 0)
			return position;
	rows = budget_array(diff->budget, diff->rows, diff->count, &diff->room, sizeof(*rows));
	if (!rows)
		return HASH_NONE;
	diff->rows = rows;
	if (!hash_add(&making->hash, hash, diff->count))
		return HASH_NONE;
	rows[diff->count] = (struct diff_row) { .name = name };
	return diff->count++;
}

/* Adds a sum to a function, once. */
static bool add_to_function(struct making *making, const struct sample_set *set, uint32_t function,
	const struct set_sum *sum)
{
	uint32_t *at = &making->row_of[function];
	struct diff_row *row;
	struct portion *portion;

	if (*at == HASH_NONE)
		*at = row_named(making, set->functions[function].name);
	if (*at == HASH_NONE)
		return false;
	row = &making->diff->rows[*at];
	portion = set == making->diff->before ? &row->before : &row->after;
	if (row->seen == making->sums)
		return true;
	row->seen = making->sums;
	portion->weight += sum->weight;
	portion->samples += sum->samples;
	return true;
}

static bool add_sum(struct making *making, const struct sample_set *set, const struct set_sum *sum)
{
	making->sums++;
	for (uint32_t at = sum->stack; at != SET_NONE; at = set->stacks[at].parent) {
		const struct set_location *location = &set->locations[set->stacks[at].location];

		for (uint32_t i = 0; i < location->count; i++) {
			if (!add_to_function(making, set, set->lines[location->first + i].function, sum))
				return false;
			if (!making->diff->total)
				return true;
		}
	}
	return true;
}

static bool add_set(struct making *making, const struct sample_set *set)
{
	struct budget *budget = making->diff->budget;
	size_t size = set->function_count * sizeof(*making->row_of);
	bool good;

	making->row_of = budget_resize(budget, NULL, 0, size);
	if (!making->row_of)
		return false;
	memset(making->row_of, 0xff, size);
	good = true;
	for (uint32_t i = 0; good && i < set->sum_count; i++)
		good = add_sum(making, set, &set->sums[i]);
	budget_free(budget, making->row_of, size);
	return good;
}

/* The largest change first; then what may be no chance; then by name. */
static int compare(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	double size_a = fabs(a->change.share), size_b = fabs(b->change.share);

	if (size_a != size_b)
		return size_a < size_b ? 1 : -1;
	if (a->change.chance != b->change.chance)
		return a->change.chance ? 1 : -1;
	return strcmp(a->name, b->name);
}

bool set_diff_make(struct set_diff *diff, const struct sample_set *before, const struct sample_set *after, bool total,
	struct budget *budget)
{
	struct making making = { .diff = diff };
	bool good;

	*diff = (struct set_diff) { .before = before, .after = after, .total = total, .budget = budget };
	hash_init(&making.hash, budget);
	good = add_set(&making, before) && add_set(&making, after);
	hash_clear(&making.hash);
	for (uint32_t i = 0; i < diff->count; i++) {
		struct diff_row *row = &diff->rows[i];

		row->before.whole = before->weight;
		row->before.all = before->samples;
		row->after.whole = after->weight;
		row->after.all = after->samples;
		row->change = change_of(row->after, row->before);
	}
	if (diff->count)
		qsort(diff->rows, diff->count, sizeof(*diff->rows), compare);
	return good;
}

void set_diff_clear(struct set_diff *diff)
{
	budget_free(diff->budget, diff->rows, diff->room * sizeof(*diff->rows));
	*diff = (struct set_diff) { 0 };
}

const struct diff_row *set_diff_grown(const struct set_diff *diff, double points)
{
	for (uint32_t i = 0; i < diff->count; i++) {
		const struct change *change = &diff->rows[i].change;

		if (!change->chance && 100 * change->share > points)
			return &diff->rows[i];
	}
	return NULL;
}
