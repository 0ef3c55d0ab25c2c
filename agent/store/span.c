/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "span.h"
#include "store.h"

/* The first slice whose middle is at or after the time (by_middle), or that ends after it. */
static size_t search(const struct store *store, uint64_t time, bool by_middle)
{
	size_t low = 0, high = store_slices(store);

	while (low < high) {
		size_t at = low + (high - low) / 2;
		struct slice slice = store_slice(store, at);
		uint64_t middle = slice.begin + (slice.end - slice.begin) / 2;

		if (by_middle ? middle < time : slice.end <= time)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

struct span span_find(const struct store *store, uint64_t from, uint64_t to)
{
	struct span span = { .first = search(store, from, true), .end = store_slices(store) };

	if (to != UINT64_MAX)
		span.end = search(store, to, true);
	if (span.end < span.first)
		span.end = span.first;
	return span;
}

size_t span_after(const struct store *store, uint64_t time)
{
	return search(store, time, false);
}
