/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "page_trail.h"

struct page_step *page_trail_here(struct page_trail *trail)
{
	return trail->count ? &trail->steps[trail->count - 1] : NULL;
}

void page_trail_open(struct page_trail *trail, struct view_chosen of, bool first, char sign)
{
	while (first && trail->count && !page_trail_here(trail)->left)
		trail->count--;
	if (trail->count == PAGE_TRAIL)
		memmove(trail->steps, trail->steps + 1, (size_t)--trail->count * sizeof(*trail->steps));
	trail->steps[trail->count++] = (struct page_step) {
		.of = of, .first = first, .sign = sign, .number = ++trail->newest,
	};
}

bool page_trail_back(struct page_trail *trail)
{
	if (trail->count < 2 || page_trail_here(trail)->first)
		return false;
	trail->count--;
	return true;
}

uint64_t page_trail_leave(struct page_trail *trail)
{
	page_trail_here(trail)->left = true;
	return page_trail_here(trail)->number;
}

void page_trail_return(struct page_trail *trail, uint64_t number)
{
	int count = trail->count;

	while (count && trail->steps[count - 1].number != number)
		count--;
	if (!count)
		return;
	trail->count = count;
	page_trail_here(trail)->left = false;
}
