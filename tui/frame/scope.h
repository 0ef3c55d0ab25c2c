/* SPDX-License-Identifier: MIT */
/* Which part of the profile a screen shows: the window, its beginning and end, the filter. */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/query.h"
#include "away.h"

struct excerpt;

struct scope {
	uint64_t window_ns;		/* 0: all */
	uint64_t zero_ns;		/* guest time before which nothing counts; 0: none */
	uint64_t until_ns;		/* guest time at which the window is frozen; 0: live */
	bool no_idle;			/* the row of idle time is hidden */
	struct away away;		/* remarks that were put away (header_dismiss) */
	struct filter filter;
	char filter_text[160];		/* the filter as it was typed; "": none */
};

enum { SCOPE_WINDOW = 16 };

void scope_init(struct scope *scope);		/* the last 10 s, live, without a filter */
void scope_next_window(struct scope *scope);	/* the next longer window; after "all", the shortest */
const char *scope_window(const struct scope *scope, char text[SCOPE_WINDOW]);	/* "10s", "all" */
bool scope_window_named(const char *name, uint64_t *window_ns);	/* false: no window has this name */

/*
 * Takes a filter as it is typed (filter_words.h). False with "why; what to do" in `error`, in fresh memory; then
 * nothing has changed.
 */
bool scope_filter(struct scope *scope, const char *text, char **error);

/* Fills the excerpt of a request, which the caller has set to zero. */
void scope_excerpt(const struct scope *scope, struct excerpt *excerpt);

/* Guest time as HH:MM:SS. */
enum { SCOPE_TIME = 32 };
const char *scope_time(uint64_t ns, char text[SCOPE_TIME]);

#endif
