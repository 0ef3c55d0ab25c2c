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
