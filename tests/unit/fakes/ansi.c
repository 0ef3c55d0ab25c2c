/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "ansi.h"
#include "tui/terminal/canvas.h"

/* Colours are numbered: first those of ECMA-48, from BRIGHT on their bright ones, then the 256 of xterm. */
enum { BRIGHT = 8 };

static void write_colour(FILE *to, int base, int colour)
{
	if (colour >= 2 * BRIGHT)
		fprintf(to, ";%d;5;%d", base + 8, colour);
	else if (colour >= BRIGHT)
		fprintf(to, ";%d", base + 60 + colour - BRIGHT);
	else if (colour >= 0)
		fprintf(to, ";%d", base + colour);
}

static void write_look(FILE *to, struct look look)
{
	fputs("\033[0", to);
	if (look.attributes & LOOK_BOLD)
		fputs(";1", to);
	if (look.attributes & LOOK_DIM)
		fputs(";2", to);
	if (look.attributes & LOOK_UNDERLINE)
		fputs(";4", to);
	if (look.attributes & LOOK_REVERSE)
		fputs(";7", to);
	write_colour(to, 30, look.fore);
	write_colour(to, 40, look.back);
	fputc('m', to);
}

char *ansi_text(const struct canvas *canvas, enum depth depth)
{
	char *text = NULL, bytes[CELL_BYTES];
	size_t size;
	FILE *to = util_text_open(&text, &size);

	for (int row = 0; row < canvas->rows; row++) {
		struct cell last = { .code = 0 };

		for (int column = 0; column < canvas->columns; column++) {
			const struct cell *cell = canvas_cell(canvas, row, column);

			if (column == 0 || cell->style != last.style || cell->right != last.right ||
					cell->halves != last.halves)
				write_look(to, cell->halves ? theme_halves(&theme_standard, cell->style, cell->right) :
					theme_look(&theme_standard, depth, cell->style));
			last = *cell;
			fputs(canvas_utf8(cell, bytes), to);
		}
		fputs("\033[0m\n", to);
	}
	return util_text_close(to, &text);
}
