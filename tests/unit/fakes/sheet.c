/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "canvas_dump.h"
#include "golden.h"
#include "sheet.h"
#include "stage.h"

static const struct size { int rows, columns; } sizes[] = {
	{ 24, 80 }, { 40, 120 }, { 60, 200 }, { 10, 40 }, { 5, 20 },
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

static const char letters[STYLES + 1] = ".dTGWBkuiHwhsmKLp";	/* in the order of enum style */

static char *drawn(struct stage *stage, struct size size, bool unicode)
{
	stage_resize(stage, size.rows, size.columns, unicode);
	return canvas_dump(stage->canvas);
}

static void write_screens(FILE *to, struct stage *stage)
{
	for (int i = 0; i < SIZES; i++) {
		char *text = drawn(stage, sizes[i], true);

		fprintf(to, "---- %dx%d\n%s", sizes[i].columns, sizes[i].rows, text);
		free(text);
	}
}

static void write_ascii(FILE *to, struct stage *stage, struct size size)
{
	char *unicode = drawn(stage, size, true), *ascii = drawn(stage, size, false);
	const char *left = unicode, *right = ascii;

	for (int row = 0; row < size.rows; row++) {
		size_t wanted = strcspn(left, "\n"), length = strcspn(right, "\n");

		if (wanted != length || memcmp(left, right, length) != 0)
			fprintf(to, "%2d|%.*s\n", row, (int)length, right);
		for (size_t i = 0; i < length; i++)
			assert_in_range(right[i], ' ', '~');
		left += wanted + 1;
		right += length + 1;
	}
	free(unicode);
	free(ascii);
}

/* "12d4.": twelve dim cells, four plain ones, and plain ones to the end of the row. '>' is the cursor's style. */
static char *row_styles(const struct canvas *canvas, int row)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int from = 0;

	for (int column = 1; column <= canvas->columns; column++) {
		uint8_t style = canvas_cell(canvas, row, from)->style;

		if (column < canvas->columns && canvas_cell(canvas, row, column)->style == style)
			continue;
		if (style != STYLE_TEXT || column < canvas->columns)
			fprintf(to, "%s%d%c", style & STYLE_CURSOR ? ">" : "", column - from,
				letters[style & ~STYLE_CURSOR]);
		from = column;
	}
	fclose(to);
	return text;
}

static void write_styles(FILE *to, struct stage *stage, struct size size)
{
	char *before = row_styles(stage->canvas, 0);
	int from = 0;

	for (int row = 1; row <= size.rows; row++) {
		char *styles = row < size.rows ? row_styles(stage->canvas, row) : strdup("");

		if (row < size.rows && strcmp(styles, before) == 0) {
			free(styles);
			continue;
		}
		if (*before)
			fprintf(to, "%2d-%d|%s\n", from, row - 1, before);
		free(before);
		before = styles;
		from = row;
	}
	free(before);
}

void sheet_check(struct stage *stage, const char *golden)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	write_screens(to, stage);
	for (int i = 0; i < SIZES; i++) {
		fprintf(to, "---- %dx%d in ASCII, rows that differ\n", sizes[i].columns, sizes[i].rows);
		write_ascii(to, stage, sizes[i]);
	}
	for (int i = 0; i < SIZES; i++) {
		free(drawn(stage, sizes[i], true));
		fprintf(to, "---- %dx%d, styles\n", sizes[i].columns, sizes[i].rows);
		write_styles(to, stage, sizes[i]);
	}
	fclose(to);
	golden_check_text(golden, text);
	free(text);
}
