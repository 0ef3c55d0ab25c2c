/* SPDX-License-Identifier: MIT */
/*
 * What makes a reader's next, similar question about a tree cheap. As in window.h: each of the newest slices has its
 * sums, which are made anew only when the slice has changed, and one more has those of all slices before them. Sums
 * are by place (tree/places.h), so they are few. When a place is opened, sums that have stacks below it are old: each
 * call makes some of them anew, the newest slices first. Until all are made, the places below have too little; the
 * place itself, and all others, have what they should.
 */
#ifndef TREE_SUMS_H
#define TREE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/places.h"
#include "agent/query/tree/tree_rows.h"
#include "agent/wire/event.h"
#include "window.h"

struct tree_sum {
	uint32_t key;			/* of places.h */
	struct place_weight sum;
};

struct tree_part {			/* the sums of one slice, or of a stretch of them */
	struct stretch stretch;
	bool counted;			/* it is in the sum over the range */
	uint64_t serial;		/* a new one at each change */
	uint64_t version;		/* of the places: nothing below a place that was opened later is told apart */
	uint64_t weight, samples, mode[MODES], time;	/* of all that passed the filter, in the tree or not */
	struct tree_sum *sums;
	uint32_t count, room;
};

struct tree_sums {			/* of one order, for one reader; starts as { 0 } */
	struct places places;
	uint64_t renewed;		/* the window's for which the parts were made */
	struct tree_part *recent;	/* of one slice each, in order of time; the last of them is the span's last */
	size_t recent_count;
	struct tree_part past;		/* from span.first to the first recent one; end 0: empty */
	struct tree_part coming;	/* `past` as it is made anew, as far as that is done */
	bool behind;			/* some parts are old still: the next call goes on, */
	bool lacks;			/* and so it does where parts of the range are lacking */
	uint64_t serial;
	uint64_t walked;		/* counts of runs, in all calls so far */
	uint32_t kept;			/* places when its first answer that lacked nothing was made; 0: none was */
	struct place_weight *own, *inner;	/* by place: the sum over the range, of the parts that are counted */
	uint32_t room;			/* of both */
	struct tree_trends {		/* made anew second by second, where a slice has changed (query_tree.c) */
		uint64_t wanted;	/* a hash of what they were found for; 0: of nothing */
		uint64_t end;		/* the second behind the last one of each trend */
		uint64_t marks[TREE_SECONDS];	/* by second: of the slices that it was made of; 0: of none */
		uint32_t count;
		uint32_t places[TREE_TRENDS];	/* in growing order */
		uint64_t (*seconds)[TREE_SECONDS];	/* of each total; TREE_TRENDS; NULL: none */
	} trends;
};

void tree_sums_clear(struct tree_sums *sums);	/* { 0 } again, but for what the caller had set in `places` */

/*
 * Sums the range of the window, which has looked (window_look). `trends`: also the slices before the range, as far as
 * trends need them. Sets `behind` and `lacks`. `hasty`: only the newest slices, as far as there is time (question.h).
 * False: there is no memory, or stop was set; then call tree_sums_clear.
 */
bool tree_sums_update(struct tree_sums *sums, struct window *window, bool trends, bool hasty);

uint64_t tree_sums_weight(const struct tree_sums *sums, const struct window *window);	/* of the whole range */

/* Adds the whole of the range to the tree: weight, samples, modes, time. */
void tree_sums_tell(const struct tree_sums *sums, const struct window *window, struct tree *tree);

#endif
