/* SPDX-License-Identifier: MIT */
/*
 * The rows of a set, summed up in bins of equal time, part by part of the tree of cells. The bins are as fine as the
 * rows and BINS_ENTRIES allow.
 */
#ifndef BINS_H
#define BINS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_set;

enum { BINS_MOST = 500, BINS_ENTRIES = 400 << 10 };

struct bin_entry {
	uint32_t bin, part;
	uint64_t weight, samples;
};

struct bins {
	uint64_t from, width;		/* guest ns */
	uint32_t bins;
	uint32_t count;
	struct bin_entry *entries;	/* by bin */
};

/*
 * Fills the bins; they start as { 0 }, and stay so if the set has no rows, or `stop` became true. `part_of_sum`: as
 * cells_add_set has left it. False with `error` set: "why; what to do".
 */
bool bins_fill(struct bins *bins, const struct sample_set *set, const uint32_t *part_of_sum, uint32_t parts,
	const atomic_bool *stop, char **error);
void bins_clear(struct bins *bins);

#endif
