/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "canvas_dump.h"

static const struct cell *row_of(const struct canvas *canvas, int row)
{
	return canvas->cells + (size_t)row * (size_t)canvas->columns;
}

static int used_columns(const struct canvas *canvas, int row)
{
	int used = canvas->columns;

	while (used > 0 && row_of(canvas, row)[used - 1].code == ' ')
		used--;
	return used;
}

char *canvas_dump(const struct canvas *canvas)
{
	size_t most = (size_t)canvas->rows * (canvas->columns * CELL_BYTES + 1) + 1;
	char *text = util_alloc(most), *to = text;
	char bytes[CELL_BYTES];

	for (int row = 0; row < canvas->rows; row++) {
		int used = used_columns(canvas, row);

		for (int column = 0; column < used; column++) {
			const struct cell *cell = &row_of(canvas, row)[column];

			if (cell->code - 1 < 127)	/* most are, and the rest is slow */
				*to++ = (char)cell->code;
			else
				to = stpcpy(to, canvas_utf8(cell, bytes));
		}
		*to++ = '\n';
	}
	return text;
}
