/* SPDX-License-Identifier: MIT */
/* Why a table is empty, and what to do about it. */
#ifndef EMPTINESS_H
#define EMPTINESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/canvas.h"

struct filter;
struct keys;
struct scope;
struct table;
struct vitals;

struct emptiness {
	const char *why, *what_to_do;
};

/*
 * `table`: may be NULL. In the result, `why` is NULL if the table has rows, and not of idle time alone (unless the
 * filter asks for idle time). `what_to_do` names keys as keys_text takes them. Both are string constants.
 */
struct emptiness emptiness(const struct vitals *vitals, const struct table *table,
	const struct scope *scope);

/* Why a view of one function is empty: nothing has run it; or, `itself`, only what it calls. */
struct emptiness emptiness_of_function(const struct scope *scope, bool itself);

/* The same for new samples: why none come, even if the table shows old ones. */
struct emptiness emptiness_of_news(const struct vitals *vitals);

/* Why a view of trace events is empty: the guest traces nothing. */
struct emptiness emptiness_of_traces(const struct vitals *vitals);

/* Over many machines: the first machine that the filter names and that is none of them; NULL: there is none. */
const char *emptiness_stray(const struct vitals *vitals, const struct filter *filter);

/* Draws it at the top of the area; nothing if there is no cause. */
void emptiness_draw(struct emptiness empty, struct canvas *canvas, struct area area, const struct keys *keys);

#endif
