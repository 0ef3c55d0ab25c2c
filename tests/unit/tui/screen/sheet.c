/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/golden.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "sheet.h"
#include "stage.h"

static const struct size { int rows, columns; } sizes[] = {
	{ 24, 80 }, { 40, 120 }, { 60, 200 }, { 10, 40 }, { 5, 20 },
}, view_sizes[] = {
	{ 24, 80 }, { 36, 120 }, { 60, 200 }, { 12, 40 },
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), VIEW_SIZES = sizeof(view_sizes) / sizeof(*view_sizes) };

static const char letters[STYLES + 1] = ".dTGWBkuiHwhsmKLpacefgjlnoqrt+-MNDEF";	/* in the order of enum style */

static char *drawn(struct stage *stage, struct size size, bool unicode)
{
	stage_resize(stage, size.rows, size.columns, unicode);
	return canvas_dump(stage->canvas);
}

static void write_screens(FILE *to, struct stage *stage, const struct size *all, int count)
{
	for (int i = 0; i < count; i++) {
		char *text = drawn(stage, all[i], true);

		fprintf(to, "---- %dx%d\n%s", all[i].columns, all[i].rows, text);
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

static bool same_style(const struct cell *one, const struct cell *other)
{
	return one->style == other->style && one->right == other->right && one->halves == other->halves;
}

/*
 * "12d4.": twelve dim cells, four plain ones, and plain ones to the end of the row. '>' is the cursor's style, '^' a
 * name's. "1a/b": one cell, of which the left half is of style a.
 */
static char *row_styles(const struct canvas *canvas, int row)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int from = 0;

	for (int column = 1; column <= canvas->columns; column++) {
		const struct cell *first = canvas_cell(canvas, row, from);
		uint8_t style = first->style;

		if (column < canvas->columns && same_style(first, canvas_cell(canvas, row, column)))
			continue;
		if (first->halves)
			fprintf(to, "%d%c/%c", column - from, letters[style], letters[first->right]);
		else if (style != STYLE_TEXT || column < canvas->columns)
			fprintf(to, "%s%s%d%c", style & STYLE_CURSOR ? ">" : "", style & STYLE_NAME ? "^" : "",
				column - from, letters[style & (STYLE_NAME - 1)]);
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

	write_screens(to, stage, sizes, SIZES);
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

void sheet_check_view(struct stage *stage, const char *golden)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	write_screens(to, stage, view_sizes, VIEW_SIZES);
	fclose(to);
	golden_check_text(golden, text);
	free(text);
}
