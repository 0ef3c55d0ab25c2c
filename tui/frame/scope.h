/* SPDX-License-Identifier: MIT */
/* Which part of the profile a screen shows: the window, its beginning and end, the filter. */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answers/answer.h"

/* ---- away ---- */

/* The remarks that the user has put away. Remarks that differ only in their numbers are the same remark. */

enum { AWAY_MOST = 32 };

struct away {				/* starts as { 0 } */
	uint64_t marks[AWAY_MOST];	/* hashes of the remarks, without their digits */
	size_t count;
};

bool away_has(const struct away *away, const char *remark);
void away_put(struct away *away, const char *remark);	/* ignored if there are AWAY_MOST already */

/* ---- scope ---- */

/* Sizes of texts in bytes, with their terminating zeros; SCOPE_STEPS: the most steps deeper that are kept. */
enum { SCOPE_FILTER = 160, SCOPE_STEPS = 4, SCOPE_WORDS = 48, SCOPE_MATCH = 128 };

struct scope_place {			/* where a step deeper begins */
	int view;			/* as the screen numbers them */
	uint64_t row;			/* as the view does */
};

struct scope_step {
	struct scope_place from;
	enum group_by by;
	char filter_text[SCOPE_FILTER];
	char words[SCOPE_WORDS];	/* what it added to the filter, as far as it fits */
};

struct scope {
	uint64_t window_ns;		/* 0: all */
	uint64_t zero_ns;		/* guest time before which nothing counts; 0: none */
	uint64_t until_ns;		/* guest time at which the window was frozen, or first moved; 0: live */
	int64_t back_ns;		/* with until_ns: it ends so long before that; negative: after it */
	bool moved;			/* with until_ns: somebody chose where it lies, so the zero does not count */
	bool chosen;			/* and its width with it, as a range, */
	uint64_t live_ns;		/* which was this before: that of the live window */
	struct baseline base;		/* all shows its change since then; until_ns 0: there is none */
	bool no_idle;			/* the row of idle time is hidden */
	struct away away;		/* remarks that were put away (header_dismiss) */
	struct filter filter;
	char filter_text[SCOPE_FILTER];	/* the filter as it was typed; "": none */
	uint64_t filtered;		/* grows with each change of the filter, also with one that was taken back */
	char match[SCOPE_MATCH];	/* the pattern that is searched and marked; "": none */
	enum group_by by;		/* what a row of the view's table is */
	struct scope_step steps[SCOPE_STEPS];	/* `depth` of them: from the first one to where we are */
	uint32_t depth;
};

enum { SCOPE_WINDOW = 24 };
enum { SCOPE_SECONDS = 10 };		/* the window, until another one is chosen */

void scope_init(struct scope *scope);		/* the last SCOPE_SECONDS, live, without a filter */
void scope_next_window(struct scope *scope);	/* the next longer of 1 s, 10 s, 60 s, all; after "all", the shortest */
const char *scope_window(const struct scope *scope, char text[SCOPE_WINDOW]);	/* "10s", "all" */
bool scope_window_named(const char *name, uint64_t *window_ns);	/* false: no window has this name */

/* ---- where the window lies ---- */

uint64_t scope_until(const struct scope *scope);	/* guest time; 0: it is live */
/* The window always ends now, and is as wide as before a range was chosen. */
void scope_live(struct scope *scope);

/* What there is to look at: times of the guest. `end` is now. */
struct scope_kept {
	uint64_t begin, end;
};

/*
 * Moves the window by half its width, back or on in time. SCOPE_FIRST: it begins with what is kept, and stays.
 * SCOPE_LIVE: it has come to the end, so it is live. SCOPE_WHOLE: it is all, and cannot be moved.
 */
enum scope_move { SCOPE_MOVED, SCOPE_FIRST, SCOPE_LIVE, SCOPE_WHOLE };
enum scope_move scope_move(struct scope *scope, bool on, struct scope_kept kept);

/*
 * The next wider or narrower window. One that was moved keeps its middle, as far as there is room; only such a one is
 * narrower than 250 ms.
 */
void scope_widen(struct scope *scope, bool wider, struct scope_kept kept);

void scope_choose(struct scope *scope, uint64_t from, uint64_t to, struct scope_kept kept);	/* this range */

/* Where a window that was moved lies: "10s at 12:31:40", "10s at 12:31:40.25", or "0.25s at 12:31:40.00". */
enum { SCOPE_PLACE = 64 };
const char *scope_place(uint64_t from, uint64_t to, char text[SCOPE_PLACE]);

/*
 * Takes a filter as it is typed (filter.h). False with "why; what to do" in `error`, in fresh memory; then
 * nothing has changed.
 */
bool scope_filter(struct scope *scope, const char *text, char **error);
void scope_filter_again(struct scope *scope, const struct scope *before);	/* as it was then */

void scope_next_group(struct scope *scope);	/* rows by the next of enum group_by; after the last, by function */

/*
 * One step deeper: adds these words to the filter, and shows functions. False with "why; what to do" in `error`, in
 * fresh memory; then nothing has changed. scope_close takes the last step back, and tells where it began; false: there
 * was none.
 */
bool scope_open(struct scope *scope, struct scope_place from, const char *words, char **error);
bool scope_close(struct scope *scope, struct scope_place *from);

/* What is shown now becomes the baseline. `end`: where the answer that is shown ends. */
void scope_mark(struct scope *scope, uint64_t end);

/* Fills the excerpt of a request, which the caller has set to zero. */
void scope_excerpt(const struct scope *scope, struct excerpt *excerpt);

/* A time of an answer as HH:MM:SS: guest time, or that of the day (answer.h). */
enum { SCOPE_TIME = 32 };
const char *scope_time(uint64_t ns, char text[SCOPE_TIME]);

#endif
