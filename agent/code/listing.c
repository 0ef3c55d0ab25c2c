/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "listing.h"

struct listing *listing_hold(struct listing *listing)
{
	if (listing)
		atomic_fetch_add_explicit(&listing->holders, 1, memory_order_relaxed);
	return listing;
}

static void listing_free(struct listing *listing)
{
	for (uint32_t i = 0; listing->lines && i < listing->line_count; i++)
		free(listing->lines[i]);
	for (size_t i = 0; i < listing->place_count; i++) {
		free(listing->places[i].function);
		free(listing->places[i].file);
	}
	free(listing->lines);
	free(listing->places);
	free(listing->instructions);
	free(listing->texts);
	free(listing->callees);
	free(listing->file);
	free(listing->name);
	free(listing);
}

void listing_release(struct listing *listing)
{
	if (listing && atomic_fetch_sub_explicit(&listing->holders, 1, memory_order_acq_rel) == 1)
		listing_free(listing);
}

uint32_t listing_find(const struct listing *listing, uint64_t address)
{
	size_t low = 0, high = listing->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (listing->instructions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - listing->instructions[low - 1].address >= listing->instructions[low - 1].size)
		return LISTING_NONE;
	return (uint32_t)low - 1;
}

const char *listing_line(const struct listing *listing, uint32_t line)
{
	if (!listing->lines || line < listing->first || line - listing->first >= listing->line_count)
		return NULL;
	return listing->lines[line - listing->first];
}
