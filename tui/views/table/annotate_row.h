/* SPDX-License-Identifier: MIT */
/* A row of the view Annotate: its heat, and a source line or an instruction with the jumps beside it. */
#ifndef ANNOTATE_ROW_H
#define ANNOTATE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/terminal/canvas.h"

struct annotation;
struct jumps;
struct listing_row;

struct annotate_look {
	const struct annotation *annotation;	/* it has a listing, of which the row is */
	const struct jumps *jumps;
	const char *match;		/* the pattern that is marked; "": none */
};

/* The annotation has a function. */
void annotate_row_heads(struct canvas *canvas, struct place place, const struct annotation *annotation);
void annotate_row_draw(struct canvas *canvas, struct place place, const struct listing_row *row,
	const struct annotate_look *look);

double annotate_row_percent(uint64_t part, uint64_t whole);	/* of nothing, 0 */

/* "[inlined list_pop, list.h:40]", "[list.h:40]"; "": the row's code stands in its line. Returns `text`. */
enum { ANNOTATE_PLACE = 256 };
const char *annotate_row_place(const struct annotation *annotation, const struct listing_row *row,
	char text[ANNOTATE_PLACE]);

#endif
