/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/budget.h"
#include "latencies.h"

/* The counts of a page; NULL: all are 0. */
static const uint32_t *page_of(const struct latencies *latencies, const struct latency_pages *pages, uint32_t page)
{
	return latencies->pages[page] ? pages->list[latencies->pages[page] - 1].counts : NULL;
}

/* The same, to be changed; NULL: there is no memory. */
static uint32_t *have_page(struct latencies *latencies, struct latency_pages *pages, uint32_t page)
{
	struct latency_page *list;

	if (!latencies->pages[page]) {
		list = budget_array(pages->budget, pages->list, pages->count, &pages->room, sizeof(*list));
		latencies->refused = latencies->refused || !list;
		if (!list)
			return NULL;
		pages->list = list;
		memset(&list[pages->count], 0, sizeof(*list));
		latencies->pages[page] = ++pages->count;
	}
	return pages->list[latencies->pages[page] - 1].counts;
}

static void add_count(uint32_t *to, uint64_t count)
{
	*to = count < UINT32_MAX - *to ? *to + (uint32_t)count : UINT32_MAX;
}

bool latencies_add(struct latencies *latencies, struct latency_pages *pages, uint64_t ns, uint64_t count)
{
	uint32_t bucket = latencies_bucket(ns), *counts = have_page(latencies, pages, bucket / LATENCY_FINE);

	if (counts)
		add_count(&counts[bucket % LATENCY_FINE], count);
	return counts;
}

bool latencies_merge(struct latencies *latencies, struct latency_pages *pages, const struct latencies *from,
	const struct latency_pages *their_pages)
{
	latencies->refused = latencies->refused || from->refused;
	for (uint32_t page = 0; page < LATENCY_PAGES; page++) {
		const uint32_t *counts = page_of(from, their_pages, page);
		uint32_t *to = counts ? have_page(latencies, pages, page) : NULL;

		if (counts && !to)
			return false;
		for (uint32_t i = 0; counts && i < LATENCY_FINE; i++)
			add_count(&to[i], counts[i]);
	}
	return true;
}

/* The middle of a bucket, ns. */
static uint64_t middle(uint32_t page, uint32_t fine)
{
	unsigned shift = page > 1 ? page - 1 : 0;

	return ((uint64_t)((page ? LATENCY_FINE : 0) + fine) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static uint64_t page_count(const struct latencies *latencies, const struct latency_pages *pages, uint32_t page)
{
	const uint32_t *counts = page_of(latencies, pages, page);
	uint64_t count = 0;

	for (uint32_t i = 0; counts && i < LATENCY_FINE; i++)
		count += counts[i];
	return count;
}

uint64_t latencies_percentile(const struct latencies *latencies, const struct latency_pages *pages, uint64_t max,
	unsigned part)
{
	uint64_t left = 0;
	uint32_t page = 0, at = 0;

	for (uint32_t i = 0; i < LATENCY_PAGES; i++)
		left += page_count(latencies, pages, i);
	if (!left || latencies->refused)
		return 0;
	left = (left * part + 99) / 100;
	for (uint64_t count; (count = page_count(latencies, pages, page)) < left; page++)
		left -= count;
	for (const uint32_t *counts = page_of(latencies, pages, page); counts[at] < left; at++)
		left -= counts[at];
	return middle(page, at) < max ? middle(page, at) : max;
}

void latencies_bars(const struct latencies *latencies, const struct latency_pages *pages, uint32_t *bars,
	unsigned count)
{
	for (uint32_t page = 0; page < LATENCY_PAGES; page++) {
		const uint32_t *counts = page_of(latencies, pages, page);

		for (uint32_t i = 0; counts && i < LATENCY_FINE; i++) {
			unsigned bar = latencies_log(middle(page, i));

			add_count(&bars[bar < count ? bar : count - 1], counts[i]);
		}
	}
}

void latency_pages_clear(struct latency_pages *pages)
{
	budget_free(pages->budget, pages->list, pages->room * sizeof(*pages->list));
	*pages = (struct latency_pages) { .budget = pages->budget };
}
