/* SPDX-License-Identifier: MIT */
/* What the two parts of a digest share: digest.c keeps the sums and edges, digest_slices.c adds to them. */
#ifndef DIGEST_PARTS_H
#define DIGEST_PARTS_H

#include <stdint.h>

#include "digest.h"

/* So many of a slice's CPUs are told apart. */
static inline uint32_t digest_cpus_told(uint32_t cpu_count)
{
	return cpu_count < 64 * DIGEST_WORDS_MAX ? cpu_count : 64 * DIGEST_WORDS_MAX;
}

/* The places become those of this digest: another one may have been added to before. */
void digest_set_places(const struct digest *digest, struct digest_places *places);

/* Adds a sum without weight, of a function that has none. Sums that were returned before may move. */
struct digest_sum *digest_add_sum(struct digest *digest, struct digest_places *places, uint32_t function);

/* The function's sum, which is added if there is none. */
static inline struct digest_sum *digest_have_sum(struct digest *digest, struct digest_places *places, uint32_t function)
{
	uint32_t place = function < places->count ? places->list[function] : 0;

	if (place < digest->sum_count && digest->sums[place].function == function)
		return &digest->sums[place];
	return digest_add_sum(digest, places, function);
}

/* The edge of this pair; a new one has no weight. NULL: there is no room for it. */
struct digest_edge *digest_have_edge(struct digest *digest, struct digest_places *places, uint32_t callee,
	uint32_t caller);

void digest_free_edges(struct digest *digest);
void digest_free_selfs(struct digest *digest);	/* they are made anew when they are asked for */

#endif
