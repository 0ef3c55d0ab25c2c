/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/change.h"
#include "agent/base/util.h"
#include "cells.h"
#include "markup.h"
#include "palette.h"
#include "picture.h"
#include "svg.h"

enum {
	WIDTH = 1200, ROW = 18, TOP = 92, FOOT = 34,	/* pixels; the script knows them from the picture */
	LEAST = 3000,			/* a cell has this part of the whole, at least */
	NAME_MOST = 256, FILE_MOST = 160,	/* bytes that are written of one name */
	CELL_BYTES = 260,		/* of a cell, less its names */
	CHANGE_BYTES = 80,		/* and what it tells of before */
	LEGEND = 8,			/* objects that the legend names, */
	LEGEND_LEAST = 200,		/* with this part of the whole, at least */
};

struct drawing {
	const struct picture *picture;
	const struct cells *cells;
	const struct cell *all;
	FILE *to;
	double *widths;			/* of each cell: its weight, and what is gone in it as wide as its share was */
	struct object_colours objects;
	double *starts;			/* where each cell begins, in the same unit */
	double whole;			/* the width of all */
	double least;			/* cells that are narrower are merged */
	uint32_t levels;		/* that are drawn, without that of the root */
	uint32_t merged;		/* cells */
	uint32_t gone;			/* cells that were only before */
	uint64_t gone_before;		/* what they weighed */
};

static const struct set_function *function_of(const struct drawing *drawing, const struct cell *cell)
{
	return &drawing->cells->functions[cell->function];
}

/* ---- what is drawn ---- */

/* Is nothing of it left? */
static bool is_gone(const struct cell *cell)
{
	return !cell->total.weight && cell->total.before;
}

/* Bytes are compared as they are, samples by their shares. */
static double width_before(const struct drawing *drawing, uint64_t before)
{
	const struct cell_amount *all = &drawing->all->total;
	bool shares = !drawing->picture->unit && all->weight && all->before;

	return (double)before * (shares ? (double)all->weight / (double)all->before : 1);
}

/* A cell's parent comes before it. `widths` is 0. */
static void find_widths(struct drawing *drawing)
{
	const struct cell *cells = drawing->cells->cells;
	double *widths = drawing->widths;

	for (uint32_t i = drawing->cells->cell_count; i-- > 0;) {
		double gone = is_gone(&cells[i]) ? width_before(drawing, cells[i].total.before) : widths[i];

		widths[i] = (double)cells[i].total.weight + gone;
		if (i != CELLS_ROOT)
			widths[cells[i].parent] += gone;
	}
	drawing->whole = widths[CELLS_ROOT];
}

/* Bytes that the cells take if those under `least` are merged, roughly. */
static size_t cost_of(const struct drawing *drawing, double least)
{
	size_t bytes = 0;

	for (uint32_t i = 1; i < drawing->cells->cell_count; i++) {
		const struct cell *cell = &drawing->cells->cells[i];
		const struct set_function *function = function_of(drawing, cell);
		size_t name, file;

		if (drawing->widths[i] < least) {
			i = cell->end - 1;
			continue;
		}
		name = strnlen(function->name, NAME_MOST);
		file = strnlen(function->file, FILE_MOST) + strnlen(function->object, FILE_MOST);
		bytes += CELL_BYTES + name + file + (drawing->widths[i] > drawing->whole / 100 ? name : 20) +
			(drawing->picture->before ? CHANGE_BYTES : 0);
	}
	return bytes;
}

/* The cells from this one on, up to its end, that have a width. */
static uint32_t wide_ones(const struct drawing *drawing, uint32_t index)
{
	const struct cell *cells = drawing->cells->cells;
	uint32_t count = 0;

	for (uint32_t i = index; i < cells[index].end; i++)
		count += drawing->widths[i] > 0;
	return count;
}

/* What is gone as a whole is counted where it begins. */
static void find_gone(struct drawing *drawing)
{
	const struct cell *cells = drawing->cells->cells;

	for (uint32_t i = 1; i < drawing->cells->cell_count; i++) {
		if (!is_gone(&cells[i]))
			continue;
		drawing->gone += cells[i].end - i;
		drawing->gone_before += cells[i].total.before;
		i = cells[i].end - 1;
	}
}

static void choose(struct drawing *drawing)
{
	drawing->least = drawing->whole / LEAST;
	while (cost_of(drawing, drawing->least) > SVG_BYTES - (64 << 10))
		drawing->least *= 1.25;
	for (uint32_t i = 1; i < drawing->cells->cell_count; i++) {
		const struct cell *cell = &drawing->cells->cells[i];

		if (drawing->widths[i] >= drawing->least) {
			if (cell->level > drawing->levels)
				drawing->levels = cell->level;
			continue;
		}
		drawing->merged += wide_ones(drawing, i);
		i = cell->end - 1;
	}
	find_gone(drawing);
	drawing->levels += drawing->merged > 0;	/* merged cells may stand below the last level */
}

/* Siblings stand side by side from the left. What is left at the right is the parent's own. */
static void find_starts(struct drawing *drawing)
{
	const struct cell *cells = drawing->cells->cells;

	for (uint32_t i = 1; i < drawing->cells->cell_count; i++) {
		const struct cell *parent = &cells[cells[i].parent];
		bool first = cells[i].parent + 1 == i;

		drawing->starts[i] = first ? drawing->starts[cells[i].parent] : drawing->starts[i];
		if (cells[i].end < parent->end)	/* the next sibling */
			drawing->starts[cells[i].end] = drawing->starts[i] +
				(drawing->widths[i] >= drawing->least ? drawing->widths[i] : 0);
	}
}

/* ---- cells ---- */

/* Samples: of shares, which may be chance. Bytes: of themselves, as a part of all. */
static struct change change_in(const struct drawing *drawing, const struct cell_amount *amount)
{
	const struct cell_amount *all = &drawing->all->total;
	double more = (double)amount->weight - (double)amount->before;

	if (!drawing->picture->unit)
		return change_of((struct portion) { amount->weight, all->weight, amount->samples, all->samples },
			(struct portion) { amount->before, all->before, amount->samples_before, all->samples_before });
	return (struct change) {
		.share = drawing->whole > 0 ? more / drawing->whole : 0,
		.appeared = amount->weight && !amount->before, .gone = amount->before && !amount->weight,
	};
}

static void put_change(const struct drawing *drawing, const struct cell_amount *amount)
{
	struct change change = change_in(drawing, amount);
	uint64_t now = amount->weight, before = amount->before;

	fputs("\nbefore ", drawing->to);
	if (drawing->picture->unit) {
		markup_count(drawing->to, before);
		fputs(now < before ? ": -" : ": +", drawing->to);
		markup_count(drawing->to, now < before ? before - now : now - before);
	} else {
		markup_share(drawing->to, (double)before, (double)drawing->all->total.before);
		fprintf(drawing->to, ": %s%+.2f points", change.chance ? "~" : "", 100 * change.share);
	}
	fprintf(drawing->to, "%s%s", change.appeared ? ", new" : change.gone ? ", gone" : "",
		change.chance ? " (few samples)" : "");
}

static void put_share(const struct drawing *drawing, uint64_t weight)
{
	markup_share(drawing->to, (double)weight, (double)drawing->all->total.weight);
}

static void put_numbers(const struct drawing *drawing, const struct cell *cell)
{
	put_share(drawing, cell->total.weight);
	fputs(" of all", drawing->to);
	if (cell->self.weight) {
		fputs(", self ", drawing->to);
		put_share(drawing, cell->self.weight);
	}
	fputs(", ", drawing->to);
	markup_count(drawing->to, drawing->picture->unit ? cell->total.weight : cell->total.samples);
	fprintf(drawing->to, " %s", drawing->picture->unit ? drawing->picture->unit :
		cell->total.samples == 1 ? "sample" : "samples");
	if (cell->total.ns) {
		fputs(", ", drawing->to);
		markup_time(drawing->to, cell->total.ns);
	}
	if (drawing->picture->before)
		put_change(drawing, &cell->total);
}

static void put_source(const struct drawing *drawing, const struct set_function *function)
{
	if (*function->object || *function->file)
		putc('\n', drawing->to);
	markup_xml(drawing->to, function->object, FILE_MOST);
	if (!*function->file)
		return;
	if (*function->object)
		fputs("  ", drawing->to);
	markup_xml(drawing->to, function->file, FILE_MOST);
	if (function->line)
		fprintf(drawing->to, ":%u", function->line);
}

/*
 * Opens the box of a cell. Its place is in parts of the whole, so that the picture can have any width. What is wider
 * than its weight is so by what is gone in it.
 */
static void open_box(const struct drawing *drawing, double start, double width, uint64_t weight, uint32_t level)
{
	double part = drawing->whole / 100, gone = width - (double)weight;
	uint32_t row = drawing->picture->flame ? drawing->levels - level : level;

	fprintf(drawing->to, "<svg x=\"%.6g%%\" y=\"%u\" width=\"%.5g%%\" height=\"%u\" data-w=\"%llu\"",
		start / part, row * ROW, width / part, ROW - 1, (unsigned long long)weight);
	if (gone > 0)
		fprintf(drawing->to, " data-g=\"%.6g\"", gone);
	fputs(" class=\"", drawing->to);
}

/* The name as it fits. Where hardly any of it would, the script writes it once there is room. */
static void close_box(const struct drawing *drawing, const char *name, double width)
{
	double pixels = 0.98 * WIDTH * width / drawing->whole;

	fputs("</title><rect width=\"100%\" height=\"100%\"/>", drawing->to);
	if (pixels >= 28) {
		fputs("<text x=\"4\" y=\"13\">", drawing->to);
		markup_cut(drawing->to, name, (size_t)((pixels - 6) / 6.6));
		fputs("</text>", drawing->to);
	}
	fputs("</svg>\n", drawing->to);
}

static void put_cell(const struct drawing *drawing, uint32_t index)
{
	const struct cell *cell = &drawing->cells->cells[index];
	const struct set_function *function = function_of(drawing, cell);
	enum palette_tone tone = palette_tone(drawing->cells, cell);

	open_box(drawing, drawing->starts[index], drawing->widths[index], cell->total.weight, cell->level);
	fprintf(drawing->to, "t%u%u o%u", tone, palette_shade(tone, function->name),
		drawing->objects.of[cell->function]);
	if (drawing->picture->before)
		fprintf(drawing->to, " d%u%s", palette_change(change_in(drawing, &cell->total)),
			is_gone(cell) ? " gone" : "");
	fputs("\"><title>", drawing->to);
	markup_xml(drawing->to, function->name, NAME_MOST);
	putc('\n', drawing->to);
	put_numbers(drawing, cell);
	put_source(drawing, function);
	close_box(drawing, function->name, drawing->widths[index]);
}

/* What was merged of the cells right below this one. It stands behind those that are drawn. */
static void put_rest(const struct drawing *drawing, uint32_t index)
{
	const struct cell *cells = drawing->cells->cells;
	double width = 0, shown = 0;
	uint64_t weight = 0;
	uint32_t merged = 0;
	char name[64];

	for (uint32_t i = index + 1; i < cells[index].end; i = cells[i].end)
		if (drawing->widths[i] >= drawing->least)
			shown += drawing->widths[i];
		else {
			width += drawing->widths[i];
			weight += cells[i].total.weight;
			merged += wide_ones(drawing, i);
		}
	if (width < drawing->least)
		return;
	snprintf(name, sizeof(name), "%u merged frame%s", merged, merged == 1 ? "" : "s");
	open_box(drawing, drawing->starts[index] + shown, width, weight, cells[index].level + 1);
	fprintf(drawing->to, "rest\"><title>%s\n", name);
	put_share(drawing, weight);
	fputs(" of all; each of them has less than ", drawing->to);
	markup_share(drawing->to, drawing->least, drawing->whole);
	close_box(drawing, name, width);
}

static void put_root(const struct drawing *drawing)
{
	open_box(drawing, 0, drawing->whole, drawing->all->total.weight, 0);
	fputs("root\"><title>all\n", drawing->to);
	put_numbers(drawing, drawing->all);
	close_box(drawing, "all", drawing->whole);
}

static void put_cells(const struct drawing *drawing)
{
	const struct cell *cells = drawing->cells->cells;

	fprintf(drawing->to, "<svg id=\"cells\" x=\"1%%\" y=\"%d\" width=\"98%%\" height=\"%u\">\n", TOP,
		(drawing->levels + 1) * ROW);
	put_root(drawing);
	for (uint32_t i = 0; i < drawing->cells->cell_count; i++) {
		if (i && drawing->widths[i] < drawing->least) {
			i = cells[i].end - 1;
			continue;
		}
		if (i)
			put_cell(drawing, i);
		put_rest(drawing, i);
	}
	fputs("</svg>\n", drawing->to);
}

/* ---- what surrounds them ---- */

static void put_style(const struct drawing *drawing)
{
	fprintf(drawing->to, "<style><![CDATA[\n%s", sources_flame_css);
	for (unsigned tone = 0; tone < TONES; tone++)
		for (unsigned shade = 0; shade < PALETTE_SHADES && palette_tones[tone][shade]; shade++)
			fprintf(drawing->to, ".by-mode .t%u%u rect { fill: %s; }\n", tone, shade,
				palette_tones[tone][shade]);
	for (unsigned i = 0; i <= PALETTE_NO_OBJECT; i++)
		fprintf(drawing->to, ".by-object .o%u rect { fill: %s; }\n", i, palette_objects[i]);
	for (unsigned i = 0; i < PALETTE_CHANGES && drawing->picture->before; i++)
		fprintf(drawing->to, ".by-change .d%u rect { fill: %s; }\n", i, palette_changes[i]);
	fputs("]]></style>\n", drawing->to);
}

/* One entry of a legend, at *x. */
static void put_key(const struct drawing *drawing, unsigned *x, const char *class, const char *text)
{
	fprintf(drawing->to, "<svg x=\"%u\" width=\"11\" height=\"11\" class=\"%s\">"
		"<rect width=\"100%%\" height=\"100%%\"/></svg>", *x, class);
	fprintf(drawing->to, "<text x=\"%u\" y=\"10\">", *x + 16);
	markup_cut(drawing->to, text, 24);
	fputs("</text>\n", drawing->to);
	*x += 34 + 7 * (unsigned)(markup_width(text) < 24 ? markup_width(text) : 24);
}

static void put_tones(const struct drawing *drawing)
{
	bool used[TONES] = { false };
	unsigned x = 0;
	char class[8];

	for (uint32_t i = 1; i < drawing->cells->cell_count; i++)
		if (drawing->widths[i] >= drawing->least)
			used[palette_tone(drawing->cells, &drawing->cells->cells[i])] = true;
	fputs("<g class=\"legend mode\">\n", drawing->to);
	for (unsigned tone = 0; tone < TONES; tone++)
		if (used[tone]) {
			snprintf(class, sizeof(class), "t%u0", tone);
			put_key(drawing, &x, class, palette_tone_names[tone]);
		}
	fputs("</g>\n", drawing->to);
}

/* The widest objects. */
static void put_objects(const struct drawing *drawing)
{
	const struct cell_amount *all = &drawing->all->total;
	double least = ((double)all->weight + (double)all->before) / LEGEND_LEAST;
	unsigned x = 0;
	char class[8];

	fputs("<g class=\"legend object\">\n", drawing->to);
	for (uint32_t i = 0; i < drawing->objects.count && i < LEGEND; i++) {
		const struct object_colour *object = &drawing->objects.objects[i];

		if (object->width < least)
			break;
		snprintf(class, sizeof(class), "o%u", object->colour);
		put_key(drawing, &x, class, object->object);
	}
	fputs("</g>\n", drawing->to);
}

static void put_changes(const struct drawing *drawing)
{
	unsigned x = 0;

	fputs("<g class=\"legend change\">\n", drawing->to);
	put_key(drawing, &x, "d0", "much less");
	put_key(drawing, &x, "d2", "less");
	put_key(drawing, &x, "d4", drawing->picture->unit ? "the same" : "the same, or few samples");
	put_key(drawing, &x, "d6", "more");
	put_key(drawing, &x, "d8", "much more than before");
	if (drawing->gone)
		put_key(drawing, &x, "d0 gone", "gone: as wide as before");
	fputs("</g>\n", drawing->to);
}

static void put_head(const struct drawing *drawing)
{
	fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", drawing->to);
	fputs("<svg x=\"1%\" y=\"58\" width=\"98%\" height=\"14\">\n", drawing->to);
	put_tones(drawing);
	put_objects(drawing);
	if (drawing->picture->before)
		put_changes(drawing);
	fputs("</svg>\n<svg x=\"1%\" y=\"0\" width=\"46%\" height=\"34\"><text class=\"title\" y=\"27\">", drawing->to);
	markup_cut(drawing->to, head_title(drawing->picture), 60);
	fputs("</text></svg>\n<text class=\"about\" x=\"1%\" y=\"48\">", drawing->to);
	head_about(drawing->picture, drawing->to);
	fputs("</text>\n<text id=\"details\" class=\"about\" x=\"1%\" y=\"86\"> </text>\n", drawing->to);
}

/* What is gone, and what the widths add up to. */
static void put_gone(const struct drawing *drawing)
{
	const struct cell_amount *all = &drawing->all->total;

	if (!drawing->gone)
		return;
	fputs("; ", drawing->to);
	markup_count(drawing->to, drawing->gone);
	fprintf(drawing->to, " frame%s %s gone, with ", util_plural(drawing->gone), drawing->gone == 1 ? "is" : "are");
	markup_share(drawing->to, (double)drawing->gone_before, (double)all->before);
	fputs(" of what was before: all is as wide as ", drawing->to);
	if (all->weight && drawing->picture->unit) {
		markup_count(drawing->to, all->weight);
		fprintf(drawing->to, " %s and these ", drawing->picture->unit);
		markup_count(drawing->to, drawing->gone_before);
	} else {
		fputs(all->weight ? "100% and these " : "these ", drawing->to);
		markup_share(drawing->to, (double)drawing->gone_before, (double)all->before);
	}
}

static void put_foot(const struct drawing *drawing, unsigned height)
{
	uint32_t merged = drawing->merged + drawing->picture->merged;	/* those of before are lighter still */

	fprintf(drawing->to, "<text id=\"merged\" class=\"about\" x=\"1%%\" y=\"%u\">", height - 12);
	if (merged) {
		markup_count(drawing->to, merged);
		fprintf(drawing->to, " frame%s under ", util_plural(merged));
		markup_share(drawing->to, drawing->least, drawing->whole);
		fprintf(drawing->to, " %s merged", merged == 1 ? "is" : "are");
	} else
		fputs("no frame is merged", drawing->to);
	put_gone(drawing);
	fputs("</text>\n", drawing->to);
	fprintf(drawing->to, "<script><![CDATA[\n%s]]></script>\n", sources_flame_js);
}

static void draw(const struct drawing *drawing)
{
	static const char *const schemes[] = { "by-mode", "by-object", "by-change" };
	unsigned height = TOP + (drawing->levels + 1) * ROW + FOOT;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", drawing->to);
	fprintf(drawing->to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" ", WIDTH, height);
	fprintf(drawing->to, "class=\"%s%s\">\n<title>", schemes[drawing->picture->colours],
		drawing->picture->flame ? " flame" : "");
	markup_xml(drawing->to, head_title(drawing->picture), NAME_MOST);
	fputs("</title>\n<desc>A flame graph: each box is a function, as wide as its share. ", drawing->to);
	head_about(drawing->picture, drawing->to);
	fputs("</desc>\n", drawing->to);
	put_style(drawing);
	put_head(drawing);
	put_cells(drawing);
	put_foot(drawing, height);
	fputs("</svg>\n", drawing->to);
}

bool svg_write(const struct picture *picture, FILE *to)
{
	struct drawing drawing = {
		.picture = picture, .cells = picture->cells, .all = &picture->cells->cells[CELLS_ROOT], .to = to,
	};
	bool ok;

	drawing.starts = calloc(drawing.cells->cell_count, sizeof(*drawing.starts));
	drawing.widths = calloc(drawing.cells->cell_count, sizeof(*drawing.widths));
	ok = object_colours_find(&drawing.objects, drawing.cells) && drawing.starts && drawing.widths;
	if (ok) {
		find_widths(&drawing);
		choose(&drawing);
		find_starts(&drawing);
		draw(&drawing);
	}
	object_colours_clear(&drawing.objects);
	free(drawing.starts);
	free(drawing.widths);
	return ok;
}
