/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "tui/views/tree/tree_row.h"
#include "flame_cells.h"
#include "flame_detail.h"

enum { TEXT = 512, MOST_KEPT = 9 };

static const char *name_of(const struct flame_detail *detail, const struct tree_row *row)
{
	return symbols_get(detail->symbols, row->function)->name;
}

/* The share of the topmost rows whose names have the pattern. */
static uint64_t matches_of(const struct flame_detail *detail)
{
	const struct tree_list *list = &detail->tree->lists[detail->order];
	uint64_t sum = 0;

	for (size_t i = 0; i < list->count; i++) {
		bool counts = list_match(name_of(detail, &list->rows[i]), detail->match);

		for (uint32_t at = list->rows[i].parent; counts && at < i; at = list->rows[at].parent)
			counts = !list_match(name_of(detail, &list->rows[at]), detail->match);
		sum += counts ? list->rows[i].total : 0;
	}
	return sum;
}

/* What is left of a place. */
static struct place past(struct place place, int used)
{
	return (struct place) { place.row, place.column + used, place.width - used };
}

/* A part of the line. Where there is no room for all of them, the least important ones are left out whole. */
struct part {
	int keep;			/* its importance; 0: it is left out */
	char text[TEXT];
};

enum { PART_SHARE, PART_PARENT, PART_SELF, PART_SAMPLES, PART_MATCHES, PART_LINE, PART_OBJECT, PART_MERGED, PARTS };

static __attribute__((format(printf, 3, 4))) void add_part(struct part *part, int keep, const char *format, ...)
{
	va_list arguments;

	part->keep = keep;
	va_start(arguments, format);
	vsnprintf(part->text, sizeof(part->text), format, arguments);
	va_end(arguments);
}

static void write_parts(const struct flame_detail *detail, struct part parts[PARTS])
{
	const struct tree *tree = detail->tree;
	const struct tree_row *row = detail->cell->row;
	char share[TREE_SHARE], change[TREE_SHARE];

	add_part(&parts[PART_SHARE], MOST_KEPT, "  %s%% of all%s",
		tree_row_share(row->total, tree->weight, row->samples, share), tree_row_change(tree, row, change));
	if (detail->cell->parent)
		add_part(&parts[PART_PARENT], 4, ", %s%% of %s",
			tree_row_share(row->total, detail->cell->parent->total, row->samples, share),
			name_of(detail, detail->cell->parent));
	if (*tree_row_self(row, detail->order, tree->weight, share))
		add_part(&parts[PART_SELF], 7, ", self %s%%", share);
	add_part(&parts[PART_SAMPLES], 5, ", %llu sample%s", (unsigned long long)row->samples,
		util_plural(row->samples));
	if (detail->match[0])
		add_part(&parts[PART_MATCHES], 8, "  matches %s%%",
			tree_row_share(matches_of(detail), tree->weight, UINT64_MAX, share));
	if (row->line && *row->line)
		add_part(&parts[PART_LINE], 3, "  %s", row->line);
	add_part(&parts[PART_OBJECT], 2, "  %s", symbols_get(detail->symbols, row->function)->object);
	add_part(&parts[PART_MERGED], 6, "  merged cells: %zu", detail->merged);
}

/* Leaves parts out until the others fit beside the name, or beside half of the room for it. Returns their columns. */
static int fit_parts(const struct canvas *canvas, struct part parts[PARTS], int name, int columns)
{
	int used = 0;

	for (int i = 0; i < PARTS; i++)
		used += parts[i].keep ? canvas_width(canvas, parts[i].text) : 0;
	for (int keep = 1; keep <= MOST_KEPT; keep++)
		for (int i = 0; i < PARTS && used + name > columns && used * 2 > columns; i++)
			if (parts[i].keep == keep) {
				used -= canvas_width(canvas, parts[i].text);
				parts[i].keep = 0;
			}
	return used;
}

void flame_detail_draw(struct canvas *canvas, struct place place, const struct flame_detail *detail)
{
	const char *name = name_of(detail, detail->cell->row);
	uint8_t style = detail->tree->scarce ? STYLE_WARN : STYLE_TITLE;
	struct part parts[PARTS] = { { .keep = 0 } };
	int room;

	if (detail->tree->scarce)
		place = past(place, canvas_text(canvas, place, style, "memory is short: cells are missing  "));
	write_parts(detail, parts);
	room = place.width - fit_parts(canvas, parts, canvas_width(canvas, name), place.width);
	place = past(place, canvas_middle(canvas, (struct place) { place.row, place.column, room }, style, name));
	for (int i = 0; i < PARTS; i++)
		if (parts[i].keep)
			place = past(place, canvas_text(canvas, place, style, parts[i].text));
}
