/* SPDX-License-Identifier: MIT */
/* The page of a row of Events: its slowest spans, and what they waited for. Part of the view. */
#ifndef SLOW_PAGE_H
#define SLOW_PAGE_H

#include <stdbool.h>

#include "agent/answers/event_table.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"

struct view_moment;

struct slow_page {			/* starts as { 0 } */
	bool open;
	struct slow_of of;		/* the row */
	char name[EVENT_TEXT];		/* event_row_text of it */
	struct list list;
	struct area rows;		/* of the last drawing */
	char searched[EVENT_TITLE + SLOW_WAITED + CALL_TEXT];	/* the text of the row that was named last */
};

void slow_page_open(struct slow_page *page, const struct event_row *row, enum event_by by);
void slow_page_ask(const struct slow_page *page, struct event_request *request);

/* Why there is nothing to draw. `table`: the newest answer, or NULL. */
struct emptiness slow_page_empty(const struct slow_page *page, const struct event_table *table);

/* `match`: the pattern that is searched and marked. */
void slow_page_draw(struct slow_page *page, const struct event_table *table, const char *match, struct canvas *canvas,
	struct area area);

bool slow_page_act(struct slow_page *page, const struct event_table *table, enum action action);
void slow_page_click(struct slow_page *page, const struct event_table *table, int row);
bool slow_page_search(struct slow_page *page, const struct event_table *table, const char *pattern,
	enum list_search where);
bool slow_page_moment(const struct slow_page *page, const struct event_table *table, struct view_moment *moment);

#endif
