/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/answers/function_table.h"
#include "agent/base/change.h"
#include "agent/base/change_text.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "change_style.h"
#include "hue.h"
#include "row_cell.h"

enum { FEW_SAMPLES = 30 };		/* a share of fewer samples is marked as uncertain */

/* From 5 % on a share is hot, from 0.5 % on it is warm. */
static uint8_t heat(double share)
{
	return share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_TEXT;
}

static double share_of(uint64_t weight, const struct table *table)
{
	return table->weight ? (double)weight / (double)table->weight : 0;
}

/* "~" marks a share that rests on fewer than FEW_SAMPLES samples. */
static const char *percent(double share, double samples, int decimals, char text[ROW_SHARE])
{
	snprintf(text, ROW_SHARE, "%s%.*f", samples < FEW_SAMPLES ? "~" : "", decimals, share * 100);
	return text;
}

const char *row_self_share(const struct table *table, const struct row *row, char text[ROW_SHARE])
{
	return percent(share_of(row->self, table), (double)row->samples, 2, text);
}

const char *row_total_share(const struct table *table, const struct row *row, char text[ROW_SHARE])
{
	double share = share_of(row->total, table), samples = share * (double)table->samples;

	/* How many there were is not counted: about so many, and those in the function itself. */
	return percent(share, samples > (double)row->samples ? samples : (double)row->samples, 2, text);
}

const char *row_line(const struct function_table *functions, uint32_t function)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == function)
			return functions->visible[i].line;
	return NULL;
}

/* The use of CPUs: 1 is one CPU, all the time. */
static double usage_of(uint64_t weight, const struct table *table)
{
	uint64_t time = table->to - table->from;

	return time ? share_of(weight, table) * (double)table->time / (double)time : 0;
}

/* Draws the use of CPUs. Without the ns behind the weights it is not known. */
static void draw_usage(struct canvas *canvas, struct place place, const struct row_drawn *row, uint64_t weight)
{
	const struct table *table = row->functions->table;
	double usage = usage_of(weight, table);
	char text[ROW_SHARE];

	if (table->time)
		canvas_right(canvas, place, heat(usage), percent(usage, (double)row->row->samples,
			place.width > ROW_NARROW ? 2 : 1, text));
	else
		canvas_right(canvas, place, STYLE_DIM, "-");
}

void row_draw_kernel(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	draw_usage(canvas, place, row, row->row->kernel);
}

void row_draw_user(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	draw_usage(canvas, place, row, row->row->user);
}

void row_draw_self(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	bool code = *symbols_get(row->functions->answer.symbols, row->row->function)->object != '\0';
	char text[ROW_SHARE];

	if (row->usage) {
		draw_usage(canvas, place, row, row->row->self);
		return;
	}
	canvas_right(canvas, place, code ? heat(share_of(row->row->self, table)) : STYLE_TEXT,
		percent(share_of(row->row->self, table), (double)row->row->samples,
			place.width > ROW_NARROW ? 2 : 1, text));
}

void row_draw_change(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	const struct table_base *base = table->base;
	struct change change;
	char text[CHANGE_TEXT];

	if (!base)
		return;
	change = table_self_change(table, row->row);
	if (row->usage && table->time && base->time && base->to > base->from) {
		const struct table then = {
			.from = base->from, .to = base->to, .weight = base->weight, .time = base->time,
		};

		change.share = usage_of(row->row->self, table) -
			usage_of(row->row->base ? base->rows[row->row->base - 1].self : 0, &then);
	}
	canvas_right(canvas, place, change_style(change), change_text(change, place.width, text));
}

void row_draw_total(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	char text[ROW_SHARE];

	canvas_right(canvas, place, STYLE_TEXT, row_total_share(table, row->row, text));
}

void row_draw_hits(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	double seconds = (double)(table->to - table->from) / (double)NS_PER_SECOND;
	double hits = seconds > 0 ? (double)row->row->samples / seconds : 0;
	char text[32];

	if (hits >= 1e6)
		snprintf(text, sizeof(text), "%.1fM", hits / 1e6);
	else
		snprintf(text, sizeof(text), "%.*f", hits > 0 && hits < 10 ? 1 : 0, hits);
	canvas_right(canvas, place, STYLE_TEXT, text);
}

void row_draw_trend(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function_table *functions = row->functions;

	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row->row->function)
			glyphs_trend(canvas, place, STYLE_IDLE, functions->visible[i].trend, TABLE_TREND);
}

void row_draw_cpus(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	char text[64];
	size_t size = (size_t)place.width + 1;

	canvas_text(canvas, place, STYLE_TEXT,
		table_cpus(row->functions->table, row->row, text,
			size < sizeof(text) ? size : sizeof(text)));
}

/* A name that is too long is cut in the middle. Its match is marked only if it is before the cut. */
void row_draw_name(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);
	const char *match = list_match(function->name, row->match);
	int before, length;

	canvas_middle(canvas, place, row->functions->by == GROUP_FUNCTION ? hue_of_name(function) :
		function->known ? STYLE_TEXT : STYLE_DIM, function->name);
	if (!match)
		return;
	length = canvas_width(canvas, row->match);
	before = canvas_width(canvas, function->name) - canvas_width(canvas, match);
	if (before + length > place.width / 2 && canvas_width(canvas, function->name) > place.width)
		return;
	canvas_restyle(canvas, (struct place) { place.row, place.column + before, length },
		STYLE_MATCH);
}

/* The object of a row of threads, which is a process or a machine, has both the kernel's time and its own. */
void row_draw_object(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);
	uint8_t style = function->kernel ? STYLE_KERNEL : STYLE_USER;

	canvas_middle(canvas, place, grouping_is_by_who(row->functions->by) ? STYLE_TEXT : style, function->object);
}

void row_draw_source(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const char *source = row_line(row->functions, row->row->function);

	if (source)
		canvas_middle(canvas, place, STYLE_DIM, source);
}

const struct caller *row_ran(const struct function_table *functions, uint32_t row)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row)
			return &functions->visible[i].ran;
	return NULL;
}

static const char *row_now(const struct function_table *functions, uint32_t row)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row)
			return functions->visible[i].now;
	return "";
}

/*
 * What the thread does now, if that is known of any. Else where the row spends its time: the function in which it ran
 * most, and how much of the row that is.
 */
void row_draw_ran(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct caller *ran = row_ran(row->functions, row->row->function);
	const struct function *function;
	char share[ROW_SHARE];
	int room;

	if (row->functions->tells_now) {
		canvas_text(canvas, place, STYLE_TEXT, row_now(row->functions, row->row->function));
		return;
	}
	if (!ran || !ran->weight || !row->row->self)
		return;
	function = symbols_get(row->functions->answer.symbols, ran->function);
	snprintf(share, sizeof(share), " %.0f%%", 100.0 * (double)ran->weight / (double)row->row->self);
	room = place.width - (int)strlen(share);
	if (canvas_width(canvas, function->name) < room)
		room = canvas_width(canvas, function->name);
	canvas_middle(canvas, (struct place) { place.row, place.column, room }, hue_of_name(function), function->name);
	canvas_text(canvas, (struct place) { place.row, place.column + room, (int)strlen(share) }, STYLE_TEXT, share);
}
