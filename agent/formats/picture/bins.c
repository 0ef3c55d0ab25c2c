/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/base/budget.h"
#include "agent/samples/sample_set.h"
#include "bins.h"

enum { LEVELS = 8, NOWHERE = 0xffff };	/* each level has half as many bins as the one before */

struct bin_sum {
	uint64_t weight, samples;
};

struct filling {
	struct bins *bins;
	const struct sample_set *set;
	const uint32_t *part_of_sum;
	uint32_t parts;
	const atomic_bool *stop;
	uint64_t last;			/* the time of the last row */
	uint16_t *seen;			/* by part and level: the last bin that had it */
	uint64_t counts[LEVELS];	/* entries at each level */
	struct bin_sum *sums;		/* of each part in the bin that is being filled */
	uint32_t *touched;		/* the parts that it has */
	uint32_t touched_count;
	uint32_t bin;
};

/* Calls `take` for each row. False: not all could be read, or it was stopped, or `take` has returned false. */
static bool each_row(struct filling *filling, bool (*take)(struct filling *filling, const struct set_row *row))
{
	const struct set_rows_table *table = filling->set->rows;
	struct set_rows *rows = table->open(filling->set->rows_context);
	struct set_row row;
	bool ok = true;

	while (ok && table->next(rows, &row))
		ok = take(filling, &row) && !(filling->stop && *filling->stop);
	ok = ok && !table->failed(rows);
	table->close(rows);
	return ok;
}

static bool take_ends(struct filling *filling, const struct set_row *row)
{
	if (!filling->last)
		filling->bins->from = row->time;
	filling->last = row->time;
	return true;
}

static uint64_t bin_of(const struct filling *filling, const struct set_row *row)
{
	return row->time < filling->bins->from ? 0 : (row->time - filling->bins->from) / filling->bins->width;
}

static bool take_count(struct filling *filling, const struct set_row *row)
{
	uint16_t *seen = &filling->seen[LEVELS * filling->part_of_sum[row->sum]];
	uint64_t bin = bin_of(filling, row);

	for (unsigned level = 0; level < LEVELS; level++, bin /= 2)
		if (seen[level] != bin) {
			seen[level] = (uint16_t)bin;
			filling->counts[level]++;
		}
	return true;
}

static void flush(struct filling *filling)
{
	for (uint32_t i = 0; i < filling->touched_count; i++) {
		uint32_t part = filling->touched[i];

		filling->bins->entries[filling->bins->count++] = (struct bin_entry) {
			.bin = filling->bin,
			.part = part,
			.weight = filling->sums[part].weight,
			.samples = filling->sums[part].samples,
		};
		filling->sums[part] = (struct bin_sum) { 0 };
	}
	filling->touched_count = 0;
}

static bool take_weight(struct filling *filling, const struct set_row *row)
{
	uint64_t bin = bin_of(filling, row);
	uint32_t part = filling->part_of_sum[row->sum];

	if (bin != filling->bin)
		flush(filling);
	filling->bin = (uint32_t)bin;
	if (!row->weight)
		return true;
	if (!filling->sums[part].weight)
		filling->touched[filling->touched_count++] = part;
	filling->sums[part].weight += row->weight;
	filling->sums[part].samples += row->samples;
	return true;
}

/* The next of 1, 2, 5, 10, 20, 50, ... */
static uint64_t rounded(uint64_t ns)
{
	uint64_t step = 1;

	for (unsigned i = 1; step < ns; i++)
		step = i % 3 == 2 ? step / 2 * 5 : step * 2;
	return step;
}

static void choose_width(struct filling *filling)
{
	uint64_t finest = (filling->last - filling->bins->from) / BINS_MOST + 1;

	if (finest < filling->set->facts.grain)
		finest = filling->set->facts.grain;
	filling->bins->width = rounded(finest);
	filling->bins->from -= filling->bins->from % filling->bins->width;
}

static bool fill(struct filling *filling)
{
	struct bins *bins = filling->bins;
	unsigned level = 0;

	if (!each_row(filling, take_ends))
		return false;
	choose_width(filling);
	memset(filling->seen, 0xff, LEVELS * sizeof(*filling->seen) * filling->parts);
	if (!each_row(filling, take_count))
		return false;
	while (level + 1 < LEVELS && filling->counts[level] > BINS_ENTRIES)
		level++;
	bins->entries = calloc(filling->counts[level] + 1, sizeof(*bins->entries));
	if (!bins->entries)
		return false;
	bins->width <<= level;
	bins->bins = (uint32_t)((filling->last - bins->from) / bins->width) + 1;
	if (!each_row(filling, take_weight))
		return false;
	flush(filling);
	return true;
}

bool bins_fill(struct bins *bins, const struct sample_set *set, const uint32_t *part_of_sum, uint32_t parts,
	const atomic_bool *stop, char **error)
{
	struct filling filling = {
		.bins = bins, .set = set, .part_of_sum = part_of_sum, .parts = parts, .stop = stop,
		.seen = calloc((size_t)parts + 1, LEVELS * sizeof(uint16_t)),
		.sums = calloc((size_t)parts + 1, sizeof(struct bin_sum)),
		.touched = calloc((size_t)parts + 1, sizeof(uint32_t)),
	};
	size_t size = (size_t)parts * (LEVELS * sizeof(uint16_t) + sizeof(struct bin_sum) + sizeof(uint32_t));
	bool paid = budget_take(set->budget, size);
	bool ok = !set->rows || (paid && filling.seen && filling.sums && filling.touched && fill(&filling));

	budget_give(set->budget, paid ? size : 0);
	free(filling.seen);
	free(filling.sums);
	free(filling.touched);
	if (ok)
		return true;
	bins_clear(bins);
	if (stop && *stop)
		return true;
	return util_fail(error, "the samples' times could not be read, or no memory is left; "
		"look at the disk of the temporary folder, or choose a shorter range");
}

void bins_clear(struct bins *bins)
{
	free(bins->entries);
	*bins = (struct bins) { 0 };
}
