/* SPDX-License-Identifier: MIT */
/*
 * What is on a function's page: its title; and the body, in parts: CPUs, modes, lines, processes, threads, callers,
 * callees. With a baseline, each share has its change since.
 */
#ifndef PAGE_BODY_H
#define PAGE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"
#include "tui/terminal/canvas.h"

struct function_page;

/* What a row is about: one of the table's rows, a process, or a call. */
enum page_row_kind {
	PAGE_ROW_CPU, PAGE_ROW_MODE, PAGE_ROW_LINE, PAGE_ROW_PROCESS, PAGE_ROW_THREAD, PAGE_ROW_CALLER, PAGE_ROW_CALLEE,
};

struct page_row {			/* a row that can be chosen, in which is searched */
	enum page_row_kind kind;
	uint64_t key;			/* names the row in each answer of the boot */
	const char *name;		/* borrowed from the answer */
	uint32_t function;		/* of a call, or of a row of a table */
	int row, column, width;		/* of the body, from its first row and column on */
};

struct page_rows {			/* `count` of them, as a drawing has drawn them; starts as { 0 } */
	struct page_row *rows;
	size_t count, room;
};

struct page_look {
	const struct function_page *page;
	bool machines;			/* it is about many machines */
	const char *match;		/* names with this are marked; "": none */
};

/* The function itself, which is the top of both orders. NULL: nothing has run it, or no answer has come. */
const struct tree_row *page_body_top(const struct function_page *page, enum tree_order order);

/* Two rows: "page_alloc  mm/page.c:120  kernel  0x1234", and its shares of all with its trend. The page has its top. */
void page_body_title(struct canvas *canvas, struct place place, const struct page_look *look);

/* Draws the body from its row `top` on, and tells its rows. Returns how many lines it has in all. */
int page_body_draw(struct canvas *canvas, struct area area, int top, const struct page_look *look,
	struct page_rows *rows);

/* The row with this key; SIZE_MAX: there is none. */
size_t page_rows_find(const struct page_rows *rows, uint64_t key);

/*
 * The row nearest to a place: in lines first, then in columns, among the lines `from` to `to` and the columns from
 * `left` to before `right`. SIZE_MAX: there is none.
 */
struct page_reach {
	int from, to, left, right;
};
size_t page_rows_near(const struct page_rows *rows, struct page_reach reach, int row, int column);

/* The columns of the part of the body in which the row is: one of its halves, or all. */
struct page_reach page_rows_half(struct area area, const struct page_row *row);

#endif
