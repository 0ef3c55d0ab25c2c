/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/annotation.h"
#include "agent/base/change.h"
#include "agent/code/listing.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "annotate_row.h"
#include "hue.h"

enum {
	MARK = 2,			/* columns: of the cursor's '>' */
	HEAT = 7, SAMPLES = 8, NUMBER = 6,	/* each has a space behind it */
	SAMPLES_FROM = 100,		/* columns from which the samples are shown; and a change has its word */
	NUMBER_FROM = 50,		/* and from which a line has its number beside a change */
	ADDRESSES_FROM = 76,		/* and whole addresses; below that, offsets in the function */
	PLACE_FROM = 20,		/* columns that are left for a line before the name of what is inlined is cut */
	TITLE = 512,			/* bytes of the title */
};

struct columns {
	struct place heat, change, samples, number, text;	/* width 0: not shown */
};

static struct columns columns_of(struct place place, bool change)
{
	struct columns all = { .heat = { place.row, place.column + MARK, HEAT } };
	int at = all.heat.column + HEAT + 1, end = place.column + place.width;

	if (change) {
		all.change = (struct place) { place.row, at, CHANGE_NUMBER };
		if (place.width >= SAMPLES_FROM)
			all.change.width = CHANGE_WIDTH;
		at += all.change.width + 1;
	}
	if (place.width >= SAMPLES_FROM) {
		all.samples = (struct place) { place.row, at, SAMPLES };
		at += SAMPLES + 1;
	}
	if (!change || place.width >= NUMBER_FROM) {
		all.number = (struct place) { place.row, at, NUMBER };
		at += NUMBER + 1;
	}
	at++;
	all.text = (struct place) { place.row, at, end > at ? end - at : 0 };
	return all;
}

double annotate_row_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "page_alloc  mm/page.c:120  self 9.87% of all" */
static void write_title(const struct annotation *annotation, char text[TITLE])
{
	const struct listing *listing = annotation->listing;
	char where[TITLE / 2] = "", number[CHANGE_TEXT], change[CHANGE_TEXT + 4] = "";

	if (annotation->base.there)
		snprintf(change, sizeof(change), " (%s)",
			change_text(annotation_self_change(annotation), CHANGE_NUMBER, number));
	if (listing && listing->first)
		snprintf(where, sizeof(where), "  %s:%" PRIu32, listing->name, listing->first);
	snprintf(text, TITLE, "%s%s  self %.2f%%%s of all%s%s",
		symbols_get(annotation->answer.symbols, annotation->function)->name, where,
		annotate_row_percent(annotation->self.weight, annotation->weight), change,
		*annotation->machine ? "  on " : "", annotation->machine);
}

void annotate_row_heads(struct canvas *canvas, struct place place, const struct annotation *annotation)
{
	struct columns columns = columns_of(place, annotation->base.there);
	char title[TITLE];

	for (int i = 0; i < place.width; i++)
		canvas_put(canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_HEAD, ' ');
	canvas_right(canvas, columns.heat, STYLE_HEAD, "HEAT%");
	canvas_right(canvas, columns.change, STYLE_HEAD, "CHANGE");
	canvas_right(canvas, columns.samples, STYLE_HEAD, "SAMPLES");
	canvas_right(canvas, columns.number, STYLE_HEAD, "LINE");
	write_title(annotation, title);
	canvas_text(canvas, columns.text, STYLE_HEAD, title);
}

/* From a tenth of the function on a row is hot, from a hundredth on it is warm. */
static uint8_t style_of(uint64_t part, uint64_t whole)
{
	return !part ? STYLE_TEXT : part * 10 >= whole ? STYLE_HOT : part * 100 >= whole ? STYLE_WARM : STYLE_TEXT;
}

static void draw_heat(struct canvas *canvas, const struct columns *columns, struct annotation_heat heat, uint64_t whole)
{
	char text[32];

	if (!heat.weight || !whole)
		return;
	snprintf(text, sizeof(text), "%.2f", 100.0 * (double)heat.weight / (double)whole);
	canvas_right(canvas, columns->heat, style_of(heat.weight, whole), text);
	snprintf(text, sizeof(text), "%" PRIu64, heat.samples);
	canvas_right(canvas, columns->samples, STYLE_TEXT, text);
}

/* A row without samples, now and in the baseline, has none. */
static void draw_change(struct canvas *canvas, struct place place, const struct annotation *annotation,
	const struct listing_row *row)
{
	struct change change = annotation_row_change(annotation, row);
	char text[CHANGE_TEXT];

	if (annotation_row(annotation, row).weight || change.gone || change.share != 0)
		canvas_right(canvas, place, change_style(change), change_text(change, place.width, text));
}

const char *annotate_row_place(const struct annotation *annotation, const struct listing_row *row,
	char text[ANNOTATE_PLACE])
{
	const struct listing_place *place = row->place == LISTING_NONE ? NULL :
		&annotation->listing->places[row->place];

	text[0] = '\0';
	if (place && *place->function)
		snprintf(text, ANNOTATE_PLACE, "[inlined %s, %s:%" PRIu32 "]", place->function, place->file,
			place->line);
	else if (place)
		snprintf(text, ANNOTATE_PLACE, "[%s:%" PRIu32 "]", place->file, place->line);
	return text;
}

static void mark_match(struct canvas *canvas, struct place place, const char *text, const char *pattern)
{
	const char *found = list_match(text, pattern);
	int before;

	if (!found)
		return;
	before = canvas_width(canvas, text) - canvas_width(canvas, found);
	place.column += before;
	place.width = (int)strlen(pattern) < place.width - before ? (int)strlen(pattern) : place.width - before;
	if (place.width > 0)
		canvas_restyle(canvas, place, STYLE_MATCH);
}

static void draw_source(struct canvas *canvas, const struct columns *columns, const struct listing_row *row,
	const struct annotate_look *look)
{
	const char *text = listing_line(look->annotation->listing, row->line);
	struct place place = columns->text;
	char where[ANNOTATE_PLACE], number[16];
	int used;

	if (row->line && columns->number.width) {
		snprintf(number, sizeof(number), "%" PRIu32, row->line);
		canvas_right(canvas, columns->number, STYLE_DIM, number);
	}
	annotate_row_place(look->annotation, row, where);
	used = text ? canvas_text(canvas, place, STYLE_TITLE, text) : 0;
	if (text)
		mark_match(canvas, place, text, look->match);
	if (!*where)
		return;
	used += used ? 1 : -1;
	if (place.width - used < PLACE_FROM && used > place.width - canvas_width(canvas, where) - 1)
		used = place.width > PLACE_FROM ? place.width - PLACE_FROM : 0;
	if (text && used < canvas_width(canvas, text)) {	/* there is no room for both: the line is cut */
		canvas_blank(canvas, place);
		canvas_text(canvas, (struct place) { place.row, place.column, used }, STYLE_TITLE, text);
		mark_match(canvas, (struct place) { place.row, place.column, used }, text, look->match);
	}
	place.column += used;
	place.width -= used;
	canvas_blank(canvas, place);
	place.column++;
	place.width--;
	canvas_text(canvas, place, STYLE_USER, where);
}

/* The same as jumps_text writes, where the canvas takes it in lines. */
static uint32_t line_of(char sign)
{
	switch (sign) {
	case ',': return 0x250c;
	case '\'': return 0x2514;
	case '+': return 0x251c;
	case '|': return 0x2502;
	case '-': return 0x2500;
	default: return (unsigned char)sign;
	}
}

static int draw_jumps(struct canvas *canvas, struct place place, const struct jumps *jumps, uint32_t instruction)
{
	char text[JUMPS_TEXT];
	int used = 0;

	jumps_text(jumps, instruction, 0, text);
	for (; text[used] && used < place.width; used++)
		canvas_put(canvas, (struct place) { place.row, place.column + used, 1 }, STYLE_GOOD,
			canvas->unicode ? line_of(text[used]) : (unsigned char)text[used]);
	return used;
}

static void draw_instruction(struct canvas *canvas, const struct columns *columns, int width,
	const struct listing_row *row, const struct annotate_look *look)
{
	const struct listing *listing = look->annotation->listing;
	const struct listing_instruction *instruction = &listing->instructions[row->first];
	struct place place = columns->text;
	int used = draw_jumps(canvas, place, look->jumps, row->first);
	char text[64];

	used += used ? 1 : 0;
	if (width >= ADDRESSES_FROM)
		snprintf(text, sizeof(text), "%" PRIx64 ": ", instruction->address);
	else
		snprintf(text, sizeof(text), "+%" PRIx64 ": ", instruction->address - listing->low);
	place.column += used;
	place.width -= used;
	used = place.width > 0 ? canvas_text(canvas, place, STYLE_DIM, text) : 0;
	place.column += used;
	place.width -= used;
	if (place.width <= 0)
		return;
	used = canvas_text(canvas, place, STYLE_TEXT, instruction->text);
	mark_match(canvas, place, instruction->text, look->match);
	place.column += used + 1;
	place.width -= used + 1;
	if (instruction->callee && place.width > 0)
		canvas_format(canvas, place, STYLE_KERNEL, "<%s>", instruction->callee);
}

void annotate_row_draw(struct canvas *canvas, struct place place, const struct listing_row *row,
	const struct annotate_look *look)
{
	struct columns columns = columns_of(place, look->annotation->base.there);

	draw_heat(canvas, &columns, annotation_row(look->annotation, row), look->annotation->self.weight);
	if (columns.change.width)
		draw_change(canvas, columns.change, look->annotation, row);
	if (row->source)
		draw_source(canvas, &columns, row, look);
	else
		draw_instruction(canvas, &columns, place.width, row, look);
}
