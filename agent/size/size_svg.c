/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "code_sizes.h"
#include "size_format.h"
#include "size_rows.h"
#include "size_stacks.h"

struct drawing {
	const struct code_sizes *sizes;
	struct cells *cells;
	bool compare, full;
	char **texts;			/* of the cells' functions, which live as long as the tree */
	size_t count;
};

static const char *keep(struct drawing *drawing, const char *text)
{
	if ((drawing->count & (drawing->count - 1)) == 0)
		drawing->texts = util_grow(drawing->texts, 2 * drawing->count + 1, sizeof(*drawing->texts));
	drawing->texts[drawing->count] = util_copy(text, strlen(text));
	return drawing->texts[drawing->count++];
}

/* Cells have the colour of their outermost folder or namespace. */
static void add_stack(void *context, char *const *frames, uint32_t count, const uint64_t *bytes)
{
	struct drawing *drawing = context;
	const char *group = keep(drawing, frames[count > 1 ? 1 : 0]);
	uint64_t now = bytes[drawing->compare ? SIZE_AFTER : SIZE_BEFORE];
	uint64_t before = drawing->compare ? bytes[SIZE_BEFORE] : 0;
	uint32_t cell = CELLS_ROOT;

	for (uint32_t i = 0; i < count && !drawing->full; i++) {
		cell = cells_child(drawing->cells, cell, &(struct set_function) {
			.name = keep(drawing, frames[i]), .object = i ? group : "", .file = "",
		});
		drawing->full = cell == SET_NONE;
	}
	if (!drawing->full)
		drawing->full = cells_add(drawing->cells, cell, 0, &(struct cell_amount) {
			.weight = now, .samples = now, .before = before, .samples_before = before,
		}) == SET_NONE;
}

static bool draw(const struct drawing *drawing, FILE *out, const char **nothing)
{
	const struct code_sizes *sizes = drawing->sizes;
	struct picture picture = {
		.cells = drawing->cells, .title = "code size", .unit = "bytes",
		.before = drawing->compare ? code_sizes_told(sizes, sizes->objects[SIZE_BEFORE].name) : NULL,
		.colours = drawing->compare ? COLOURS_CHANGE : COLOURS_OBJECT,
	};

	if (drawing->cells->cells[CELLS_ROOT].total.weight || drawing->cells->cells[CELLS_ROOT].total.before)
		return svg_write(&picture, out);
	*nothing = "no code passes the filter; take another one";
	return false;
}

static bool write_svg(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct drawing drawing = { .sizes = sizes, .cells = cells_new(NULL), .compare = asked->compare };
	bool written;

	(void)top;
	drawing.full = !drawing.cells;
	written = !drawing.full && size_stacks_visit(sizes, asked, add_stack, &drawing) && !drawing.full &&
		cells_settle(drawing.cells) && draw(&drawing, out, nothing);
	cells_free(drawing.cells);
	for (size_t i = 0; i < drawing.count; i++)
		free(drawing.texts[i]);
	free(drawing.texts);
	return written;
}

const struct size_format size_svg = { .name = "svg", .ending = ".svg", .write = write_svg };
