/* SPDX-License-Identifier: MIT */
/*
 * What is on a function's page: its title; and the body, in parts: CPUs, lines, processes, threads, callers, callees.
 * With a baseline, each share has its change since.
 */
#ifndef PAGE_BODY_H
#define PAGE_BODY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/query/tree/tree.h"
#include "tui/terminal/canvas.h"

struct function_page;

struct page_name {			/* a name on the page, in which is searched */
	const char *name;		/* borrowed from the answer */
	int row;			/* of the body */
};

struct page_names {			/* `count` of them, as a drawing has drawn them; starts as { 0 } */
	struct page_name *names;
	size_t count, room;
};

struct page_look {
	const struct function_page *page;
	bool machines;			/* it is about many machines */
	const char *match;		/* names with this are marked; "": none */
};

/* The function itself, which is the top of both orders. NULL: nothing has run it, or no answer has come. */
const struct tree_row *page_body_top(const struct function_page *page, enum tree_order order);

/* Two rows: "page_alloc  kernel  0x1234", and its shares of all with its trend. The page must have its top. */
void page_body_title(struct canvas *canvas, struct place place, const struct page_look *look);

/* Draws the body from its row `top` on, and tells its names. Returns how many rows it has in all. */
int page_body_draw(struct canvas *canvas, struct area area, int top, const struct page_look *look,
	struct page_names *names);

#endif
