/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "agent/base/util.h"
#include "canvas.h"
#include "theme.h"

static const struct cell blank = { .code = ' ' };

struct canvas_glyph {
	uint32_t code;
	int width;			/* 1 or 2 */
};

struct canvas *canvas_new(int rows, int columns, bool unicode)
{
	struct canvas *canvas = util_alloc(sizeof(*canvas));

	*canvas = (struct canvas) {
		.rows = rows > 0 ? rows : 0,
		.columns = columns > 0 ? columns : 0,
		.unicode = unicode,
	};
	canvas->cells =
		util_grow(NULL, (size_t)canvas->rows * canvas->columns + 1, sizeof(*canvas->cells));
	canvas_clear(canvas);
	return canvas;
}

void canvas_free(struct canvas *canvas)
{
	if (canvas)
		free(canvas->cells);
	free(canvas);
}

void canvas_clear(struct canvas *canvas)
{
	for (size_t i = 0; i < (size_t)canvas->rows * canvas->columns; i++)
		canvas->cells[i] = blank;
}

static struct cell *cell_at(const struct canvas *canvas, int row, int column)
{
	if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
		return NULL;
	return &canvas->cells[(size_t)row * canvas->columns + column];
}

const struct cell *canvas_cell(const struct canvas *canvas, int row, int column)
{
	return cell_at(canvas, row, column);
}

/* Takes the next code point off a terminated text. A byte that is not UTF-8 is a '?' of its own. */
static uint32_t decode(const char **text)
{
	uint32_t code = '?';
	size_t size = util_utf8(*text, 4, &code);

	*text += size ? size : 1;
	return code;
}

/* The glyph for a code point; '?' for all that must not reach a terminal. */
static struct canvas_glyph glyph_of(const struct canvas *canvas, uint32_t code)
{
	int width;

	if (code >= ' ' && code <= '~')
		return (struct canvas_glyph) { code, 1 };
	if (!canvas->unicode || !util_is_printable(code))
		return (struct canvas_glyph) { '?', 1 };
	width = wcwidth((wchar_t)code);
	return width == 1 || width == 2 ? (struct canvas_glyph) { code, width } : (struct canvas_glyph) { '?', 1 };
}

/* Before a cell is drawn over: if it is the right half of a wide character, both halves become blank. */
static void split_wide(struct canvas *canvas, int row, int column)
{
	struct cell *right = cell_at(canvas, row, column), *left = cell_at(canvas, row, column - 1);

	if (right && left && right->code == 0) {
		left->code = ' ';
		right->code = ' ';
	}
}

/* Draws a glyph if it ends by column `end`. Returns the column after it, or `end` if it does not fit. */
static int put_glyph(struct canvas *canvas, struct place at, int end, uint8_t style,
	struct canvas_glyph glyph)
{
	struct cell *cell = cell_at(canvas, at.row, at.column);
	struct cell *right = cell_at(canvas, at.row, at.column + 1);

	if (at.column + glyph.width > end)
		return end;
	if (cell && (glyph.width == 1 || right)) {
		split_wide(canvas, at.row, at.column);
		split_wide(canvas, at.row, at.column + glyph.width);
		*cell = (struct cell) { .code = glyph.code, .style = style };
		if (glyph.width == 2)
			*right = (struct cell) { .code = 0, .style = style };
	}
	return at.column + glyph.width;
}

void canvas_put(struct canvas *canvas, struct place place, uint8_t style, uint32_t code)
{
	put_glyph(canvas, place, place.column + place.width, style, glyph_of(canvas, code));
}

/* U+258C is the left half of a block, U+2590 the right one, U+2502 a line in the middle. */
void canvas_half(struct canvas *canvas, struct place place, bool right, uint8_t style)
{
	struct cell *cell = cell_at(canvas, place.row, place.column), half = { .code = 0x258c, .halves = true };

	if (!cell)
		return;
	split_wide(canvas, place.row, place.column);
	split_wide(canvas, place.row, place.column + 1);
	if (cell->halves)
		half = *cell;
	if (right)
		half.right = style;
	else
		half.style = style;
	if (half.style == half.right)
		half = (struct cell) { .code = 0x2502, .style = style };
	else
		half.code = half.style == STYLE_TEXT ? 0x2590 : 0x258c;
	*cell = half;
}

void canvas_blank(struct canvas *canvas, struct place place)
{
	for (; place.width > 0; place.column++, place.width--)
		canvas_put(canvas, place, STYLE_TEXT, ' ');
}

static struct canvas_glyph next_glyph(const struct canvas *canvas, const char **text)
{
	return glyph_of(canvas, decode(text));
}

int canvas_width(const struct canvas *canvas, const char *text)
{
	int width = 0;

	while (*text != '\0')
		width += next_glyph(canvas, &text).width;
	return width;
}

const char *canvas_skip(const struct canvas *canvas, const char *text, int columns)
{
	const char *next = text;

	while (*next != '\0') {
		columns -= next_glyph(canvas, &next).width;
		if (columns < 0)
			break;
		text = next;
	}
	return text;
}

/* Draws the columns of the text from `from` to before `to`. Returns the columns used. */
static int draw_part(struct canvas *canvas, struct place place, uint8_t style, const char *text,
	int from, int to)
{
	int at = 0, column = place.column, end = place.column + to - from;

	while (*text != '\0' && at < to) {
		struct canvas_glyph glyph = next_glyph(canvas, &text);

		if (at >= from && at + glyph.width <= to)
			column = put_glyph(canvas, (struct place) { place.row, column, 0 }, end,
				style, glyph);
		at += glyph.width;
	}
	return column - place.column;
}

const char *canvas_mark(const struct canvas *canvas)
{
	return canvas->unicode ? "…" : "..";
}

/* `tail`: how many columns of the text's end are kept if it must be cut. */
static int draw_cut(struct canvas *canvas, struct place place, uint8_t style, const char *text,
	int tail)
{
	const char *mark = canvas_mark(canvas);
	int mark_width = canvas->unicode ? 1 : 2, width = canvas_width(canvas, text), head, used;

	if (place.width <= 0)
		return 0;
	if (width <= place.width)
		return draw_part(canvas, place, style, text, 0, width);
	if (place.width <= mark_width)
		return draw_part(canvas, place, style, mark, 0, place.width);
	head = place.width - mark_width - tail;
	used = draw_part(canvas, place, style, text, 0, head);
	place.column += used;
	used += draw_part(canvas, place, style, mark, 0, mark_width);
	place.column += mark_width;
	return used + draw_part(canvas, place, style, text, width - tail, width);
}

int canvas_text(struct canvas *canvas, struct place place, uint8_t style, const char *text)
{
	return draw_cut(canvas, place, style, text, 0);
}

int canvas_middle(struct canvas *canvas, struct place place, uint8_t style, const char *text)
{
	return draw_cut(canvas, place, style, text, place.width > 4 ? (place.width - 2) / 2 : 0);
}

int canvas_right(struct canvas *canvas, struct place place, uint8_t style, const char *text)
{
	int free_columns = place.width - canvas_width(canvas, text);

	if (free_columns > 0) {
		place.column += free_columns;
		place.width -= free_columns;
	}
	return draw_cut(canvas, place, style, text, 0);
}

const char *canvas_next_row(const struct canvas *canvas, const char *text, int width)
{
	const char *rest = canvas_skip(canvas, text, width), *at = rest;

	if (*rest == '\0' || *rest == ' ')
		return *rest == ' ' ? rest + 1 : rest;
	while (at > text && at[-1] != ' ')
		at--;
	if (at > text)
		return at;
	return rest > text ? rest : text + strlen(text);
}

int canvas_rows(const struct canvas *canvas, const char *text, int width)
{
	int rows = 1;

	while (*(text = canvas_next_row(canvas, text, width)) != '\0')
		rows++;
	return rows;
}

int canvas_wrap(struct canvas *canvas, struct area area, uint8_t style, const char *text)
{
	struct place place = { area.row, area.column, area.columns };
	const char *rest;

	for (; place.row + 1 < area.row + area.rows; place.row++, text = rest) {
		int size = (int)((rest = canvas_next_row(canvas, text, area.columns)) - text);

		if (*rest == '\0')
			break;
		if (size > 0 && text[size - 1] == ' ')
			size--;
		canvas_format(canvas, place, style, "%.*s", size, text);
	}
	if (area.rows < 1)
		return 0;
	canvas_text(canvas, place, style, text);
	return place.row - area.row + 1;
}

int canvas_format(struct canvas *canvas, struct place place, uint8_t style, const char *format, ...)
{
	va_list arguments;
	char *text;
	int used;

	va_start(arguments, format);
	text = util_format_list(format, arguments);
	va_end(arguments);
	used = canvas_text(canvas, place, style, text);
	free(text);
	return used;
}

void canvas_restyle(struct canvas *canvas, struct place place, uint8_t style)
{
	for (int i = 0; i < place.width; i++) {
		struct cell *cell = cell_at(canvas, place.row, place.column + i);

		if (cell)
			*cell = (struct cell) { .code = cell->code,
				.style = style == STYLE_CURSOR ? cell->style | STYLE_CURSOR : style };
	}
}

static char *encode(uint32_t code, char *to)
{
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	*to++ = (char)(more == 0 ? code : (0xff00u >> (more + 1) & 0xff) | code >> 6 * more);
	while (more-- > 0)
		*to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
	return to;
}

const char *canvas_utf8(const struct cell *cell, char bytes[CELL_BYTES])
{
	char *to = bytes;

	if (cell->code != 0)
		to = encode(cell->code, to);
	*to = '\0';
	return bytes;
}

/* ---- glyphs ---- */

enum { TREND_MOST = 256 };		/* columns */

static const struct { const char *unicode, *ascii; } texts[GLYPHS] = {
	[GLYPH_ON] = { "●", "*" },
	[GLYPH_PAUSED] = { "‖", "=" },
	[GLYPH_OFF] = { "○", "o" },
	[GLYPH_DOWN] = { "▼", "v" },
	[GLYPH_UP] = { "▲", "^" },
	[GLYPH_WALL] = { "│", "|" },
	[GLYPH_RUN] = { "█", "=" },
	[GLYPH_CALL] = { "▄", "#" },
	[GLYPH_INTERRUPT] = { "╳", "|" },
	[GLYPH_IDLE] = { "·", "." },
	[GLYPH_READY] = { "░", "^" },
	[GLYPH_SLEEP] = { "─", "-" },
	[GLYPH_BLOCKED] = { "═", ":" },
	[GLYPH_LOCK] = { "▒", "%" },
};

const char *glyphs_text(const struct canvas *canvas, enum glyph glyph)
{
	return canvas->unicode ? texts[glyph].unicode : texts[glyph].ascii;
}

static double clamp(double share)
{
	return share > 1 ? 1 : share > 0 ? share : 0;
}

/* Unicode has blocks of one to seven eighths, from the left, at U+258F down to U+2589; the full block is U+2588. */
void glyphs_bar(struct canvas *canvas, struct place place, uint8_t style, double share)
{
	int eighths = (int)(clamp(share) * place.width * 8 + 0.5);

	for (int i = 0; i < place.width; i++) {
		struct place at = { place.row, place.column + i, 1 };
		int part = eighths - i * 8;

		if (canvas->unicode && part > 0)
			canvas_put(canvas, at, style, part >= 8 ? 0x2588 : 0x2590 - (uint32_t)part);
		else if (part >= 4)
			canvas_put(canvas, at, style, '#');
	}
}

/* Unicode has blocks of one to eight eighths, from below, at U+2581 to U+2588. */
void glyphs_column(struct canvas *canvas, struct place place, uint8_t style, double level)
{
	static const char ascii[] = ".:-=+*#";

	if (level < 0)
		return;
	if (canvas->unicode)
		canvas_put(canvas, place, style, 0x2581 + (uint32_t)(clamp(level) * 7 + 0.5));
	else
		canvas_put(canvas, place, style,
			(unsigned char)ascii[(int)(clamp(level) * 6 + 0.5)]);
}

void glyphs_fold(const uint64_t *values, size_t count, uint64_t *folded, size_t columns)
{
	size_t each = columns ? count / columns : 0;

	for (size_t i = 0; i < columns; i++) {
		folded[i] = 0;
		for (size_t j = 0; j < each; j++)
			folded[i] += values[count - (columns - i) * each + j];
	}
}

void glyphs_trend(struct canvas *canvas, struct place place, uint8_t style, const uint64_t *values, size_t count)
{
	uint64_t folded[TREND_MOST], most = 0;

	if (place.width <= 0 || place.width > TREND_MOST || (size_t)place.width > count)
		return;
	glyphs_fold(values, count, folded, (size_t)place.width);
	for (int i = 0; i < place.width; i++)
		most = folded[i] > most ? folded[i] : most;
	for (int i = 0; i < place.width; i++)
		glyphs_column(canvas, (struct place) { place.row, place.column + i, 1 }, style,
			folded[i] ? (double)folded[i] / (double)most : -1);
}
