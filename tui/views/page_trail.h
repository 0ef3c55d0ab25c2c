/* SPDX-License-Identifier: MIT */
/*
 * The pages of functions through which one came to the page that is shown, each with the row under its cursor. A page
 * is opened from another view, or from the page before it. From each, a step into another view may be made.
 */
#ifndef PAGE_TRAIL_H
#define PAGE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/frame/view.h"

enum { PAGE_TRAIL = 16 };		/* pages that are kept; of more, the first ones are forgotten */

struct page_step {
	struct view_chosen of;		/* the function */
	uint64_t row;			/* the key of the row under the cursor; 0: the cursor is at the top */
	uint64_t number;		/* of the step; no other has it */
	char sign;			/* it calls the function of the page before ('<'), or not ('>') */
	bool first;			/* it was opened from another view */
	bool left;			/* a step into another view was made from it */
};

struct page_trail {			/* starts as { 0 } */
	struct page_step steps[PAGE_TRAIL];
	int count;
	uint64_t newest;
};

/* The page that is shown; NULL: there is none. */
struct page_step *page_trail_here(struct page_trail *trail);

/* A page is opened. From another view, it takes the place of those that were left by going back. */
void page_trail_open(struct page_trail *trail, struct view_chosen of, bool first, char sign);

/* Back to the page before. False: this one was opened from another view. */
bool page_trail_back(struct page_trail *trail);

/* A step into another view: returns its number, for page_trail_return. That is without effect if it is forgotten. */
uint64_t page_trail_leave(struct page_trail *trail);
void page_trail_return(struct page_trail *trail, uint64_t number);

#endif
