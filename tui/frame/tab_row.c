/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "tab_row.h"

enum { TEXT = 64 };

/* How much a tab shows, from most to least; the last level is its number and mark alone. */
struct detail {
	int name;			/* columns of the name at most; 0: its first word */
	bool state, lost;		/* they are shown; without `lost`, losses are a "!" */
	int gap;			/* columns before the mark, and between two tabs */
};

static const struct detail details[] = {
	{ 48, true, true, 1 }, { 24, false, true, 1 }, { 24, false, false, 1 },
	{ 14, false, false, 1 }, { 9, false, false, 1 }, { 6, false, false, 1 },
	{ 0, false, false, 0 },
};
enum { DETAILS = sizeof(details) / sizeof(*details) };

struct layout {
	const struct detail *detail;
	size_t first;			/* the first tab that is shown */
};

static int name_width(const struct canvas *canvas, const struct tab *tab,
	const struct detail *detail)
{
	int width = detail->name ? canvas_width(canvas, tab->name) : (int)strcspn(tab->name, " ");

	return detail->name && width > detail->name ? detail->name : width;
}

/* The text behind the mark: " REC", " lost 12", "!", or "". */
static const char *behind(const struct tab *tab, const struct detail *detail, char text[TEXT])
{
	char lost[TEXT / 2] = "";

	if (tab->lost && detail->lost)
		snprintf(lost, sizeof(lost), " lost %" PRIu64, tab->lost);
	else if (tab->lost)
		snprintf(lost, sizeof(lost), "!");
	snprintf(text, TEXT, "%s%.20s%s", detail->state ? " " : "", detail->state ? tab->state : "",
		lost);
	return text;
}

/* A tab is a space, the name, the gap, the mark, the text behind it, and a space. */
static int tab_width(const struct canvas *canvas, const struct tab *tab,
	const struct detail *detail)
{
	char text[TEXT];

	return 1 + name_width(canvas, tab, detail) + detail->gap + 1 +
		canvas_width(canvas, behind(tab, detail, text)) + 1;
}

/* The width of the tabs from `first` to `last`, both included. */
static int all_widths(const struct canvas *canvas, const struct tab *tabs, size_t first,
	size_t last, const struct detail *detail)
{
	int sum = 0;

	for (size_t i = first; i <= last; i++)
		sum += tab_width(canvas, &tabs[i], detail) + (i > first ? detail->gap : 0);
	return sum;
}

/* The most detail at which all tabs fit. If there is none, tabs are left out at the left until the current one fits. */
static struct layout lay_out(const struct canvas *canvas, int columns, const struct tab *tabs,
	size_t count, size_t current)
{
	struct layout layout = { .detail = details };

	while (layout.detail < details + DETAILS - 1 &&
			all_widths(canvas, tabs, 0, count - 1, layout.detail) > columns)
		layout.detail++;
	while (layout.first < current &&
			all_widths(canvas, tabs, layout.first, current, layout.detail) > columns)
		layout.first++;
	return layout;
}

static void draw_tab(struct canvas *canvas, struct place place, const struct tab *tab,
	const struct detail *detail)
{
	struct place at = { place.row, place.column + 1, name_width(canvas, tab, detail) };
	char text[TEXT];

	if (detail->name)
		canvas_text(canvas, at, STYLE_TEXT, tab->name);
	else
		canvas_format(canvas, at, STYLE_TEXT, "%.*s", at.width, tab->name);
	at.column += at.width + detail->gap;
	at.width = 1;
	canvas_text(canvas, at, tab->style, glyphs_text(canvas, tab->mark));
	at.column++;
	at.width = place.width - (at.column - place.column) - 1;
	canvas_text(canvas, at, tab->lost ? STYLE_BAD : tab->style, behind(tab, detail, text));
}

int tab_row_draw(struct canvas *canvas, struct place place, const struct tab *tabs, size_t count,
	size_t current)
{
	struct layout layout = lay_out(canvas, place.width, tabs, count, current);
	int begin = place.column, end = begin + place.width;

	canvas_blank(canvas, place);
	for (size_t i = layout.first; i < count && place.column < end; i++) {
		place.width = tab_width(canvas, &tabs[i], layout.detail);
		if (place.column + place.width > end)
			break;
		draw_tab(canvas, place, &tabs[i], layout.detail);
		if (i == current)
			canvas_restyle(canvas, place, STYLE_CURSOR);
		place.column += place.width + layout.detail->gap;
	}
	return place.column - begin;
}

size_t tab_row_at(const struct canvas *canvas, struct place place, const struct tab *tabs,
	size_t count, size_t current, int column)
{
	struct layout layout = lay_out(canvas, place.width, tabs, count, current);
	int at = place.column;

	for (size_t i = layout.first; i < count; i++) {
		int width = tab_width(canvas, &tabs[i], layout.detail);

		if (at + width > place.column + place.width)
			break;
		if (column >= at && column < at + width)
			return i;
		at += width + layout.detail->gap;
	}
	return count;
}

/* ---- the row of views ---- */

enum { GAP = 2, WAY_GAP = 2, SIGN = 3 };	/* columns between two names; before the way; of a sign between steps */
enum {
	WAY_GOOD = 16,			/* columns that are kept free for the way, where gaps can be narrower */
	WAY_LEAST = 12,			/* where names can be shorter, too */
	LETTERS_LEAST = 3, LETTERS = 32,	/* of a name where room is short; of any name */
};

struct fit {				/* how names are written, so that all of them have room */
	int letters, gap;		/* of each name, at most; letters 0: the keys alone */
	int space;			/* columns between a key and its name */
};

/* A name is its key and the name itself, or its first letters. */
static int view_name_width(const struct canvas *canvas, const struct view_name *name, struct fit fit)
{
	int key = canvas_width(canvas, name->key), width = canvas_width(canvas, name->name);

	if (key == 0)
		return width;
	return key + (fit.letters ? fit.space + (width < fit.letters ? width : fit.letters) : 0);
}

/* The columns of all names, with a gap of one. */
static int names_width(const struct canvas *canvas, const struct view_name *names, size_t count, struct fit fit)
{
	int all = 1;

	for (size_t i = 0; i < count; i++)
		all += view_name_width(canvas, &names[i], fit) + 1;
	return all;
}

/* First the gaps are narrower, then keys are close to their names, then these are shorter, then only keys are left. */
static struct fit fit_of(const struct canvas *canvas, int columns, const struct view_name *names, size_t count,
	bool way)
{
	struct fit fit = { .letters = LETTERS, .gap = 1, .space = 1 };
	int room = columns - (way ? WAY_LEAST : 0), all = names_width(canvas, names, count, fit);

	fit.space = all <= columns - (way ? WAY_GOOD : 0);
	while (fit.letters && names_width(canvas, names, count, fit) > room)
		fit.letters = fit.letters > LETTERS_LEAST ? fit.letters - 1 : 0;
	if (!fit.letters || all + (int)count + WAY_GOOD <= columns)
		fit.gap = GAP;
	return fit;
}

/* Draws one name. Returns the column behind it. */
static int draw_name(struct canvas *canvas, struct place place, const struct view_name *name, struct fit fit,
	bool current)
{
	struct place at = { place.row, place.column, view_name_width(canvas, name, fit) };
	int key = canvas_text(canvas, at, STYLE_KEY, name->key), before = key + fit.space;

	if (fit.letters && key)
		canvas_format(canvas, (struct place) { at.row, at.column + before, at.width - before },
			current ? STYLE_TITLE : STYLE_DIM, "%.*s", fit.letters, name->name);
	else if (!key)
		canvas_text(canvas, at, current ? STYLE_TITLE : STYLE_DIM, name->name);
	if (current)
		canvas_restyle(canvas, (struct place) { at.row, at.column - 1, at.width + 2 }, STYLE_SORTED);
	return at.column + at.width;
}

void view_way_add(struct view_way *way, char sign, const char *name)
{
	if (way->count == VIEW_WAY) {
		way->longer = true;
		return;
	}
	way->steps[way->count].name = name;
	way->steps[way->count++].sign = sign;
}

/* The columns of the innermost steps, with the mark of what is left out. */
static int way_width(const struct canvas *canvas, const struct view_way *way, size_t steps)
{
	bool cut = steps < way->count || way->longer;
	int width = cut ? canvas_width(canvas, canvas_mark(canvas)) + SIGN : 0;

	for (size_t i = 0; i < steps; i++)
		width += canvas_width(canvas, way->steps[i].name) + (i ? SIGN : 0);
	return width;
}

static int draw_sign(struct canvas *canvas, struct place place, char sign)
{
	canvas_put(canvas, (struct place) { place.row, place.column + 1, 1 }, STYLE_DIM, (unsigned char)sign);
	return place.column + SIGN;
}

static void draw_way(struct canvas *canvas, struct place place, const struct view_way *way)
{
	int end = place.column + place.width;
	size_t steps = way->count;

	while (steps > 1 && way_width(canvas, way, steps) > place.width)
		steps--;
	if (!steps || place.width <= 0)
		return;
	if (way_width(canvas, way, steps) > place.width) {	/* not even the innermost one has room, with the mark */
		int spare = place.width - canvas_width(canvas, way->steps[0].name);

		place.column += spare > 0 ? spare : 0;
		place.width -= spare > 0 ? spare : 0;
		canvas_middle(canvas, place, STYLE_TITLE, way->steps[0].name);
		return;
	}
	place.column = end - way_width(canvas, way, steps);
	if (steps < way->count || way->longer) {
		place.column += canvas_text(canvas, (struct place) { place.row, place.column, end - place.column },
			STYLE_DIM, canvas_mark(canvas));
		place.column = draw_sign(canvas, place, way->steps[steps - 1].sign);
	}
	while (steps-- > 0) {
		place.column += canvas_text(canvas, (struct place) { place.row, place.column, end - place.column },
			steps ? STYLE_TEXT : STYLE_TITLE, way->steps[steps].name);
		if (steps)
			place.column = draw_sign(canvas, place, way->steps[steps - 1].sign);
	}
}

void view_row_draw(struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	size_t current, const struct view_way *way)
{
	struct fit fit = fit_of(canvas, place.width, names, count, way->count);
	int end = place.column + place.width, column = place.column + 1;

	for (size_t i = 0; i < count && column + view_name_width(canvas, &names[i], fit) < end; i++)
		column = fit.gap + draw_name(canvas, (struct place) { place.row, column, end - column }, &names[i],
			fit, i == current);
	place.column = column - fit.gap + WAY_GAP;
	place.width = end - 1 - place.column;
	draw_way(canvas, place, way);
}

size_t view_row_at(const struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	bool way, int column)
{
	struct fit fit = fit_of(canvas, place.width, names, count, way);
	int at = place.column + 1;

	for (size_t i = 0; i < count; i++) {
		int width = view_name_width(canvas, &names[i], fit);

		if (at + width >= place.column + place.width)
			break;
		if (column >= at - 1 && column <= at + width)
			return i;
		at += width + fit.gap;
	}
	return count;
}
