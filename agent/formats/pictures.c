/* SPDX-License-Identifier: MIT */
/* The formats that people look at: a flame graph, and a report with one. */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/picture/bins.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/html.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

static struct picture picture_of(const struct sample_set *set, const struct set_writing *writing,
	const struct cells *cells)
{
	return (struct picture) {
		.cells = cells, .title = writing->title, .facts = &set->facts, .merged = set->facts.merged,
		.flame = writing->flame,
	};
}

static void tell(const struct set_writing *writing, unsigned thousandths)
{
	if (writing->done)
		*writing->done = thousandths;
}

static bool no_memory(char **error)
{
	return util_fail(error, "no memory is left; choose a shorter range, or end other programs");
}

/* The tree of a set. NULL with `error` set. */
static struct cells *cells_of(const struct sample_set *set, uint32_t *part_of_sum, char **error)
{
	struct cells *cells = set->weight ? cells_new(set->budget) : NULL;

	if (cells && cells_add_set(cells, set, part_of_sum) && cells_settle(cells))
		return cells;
	cells_free(cells);
	if (set->weight)
		no_memory(error);
	else
		util_fail(error, "no sample is in it; choose another range or filter");
	return NULL;
}

static bool write_svg(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct cells *cells = cells_of(set, NULL, error);
	struct picture picture = picture_of(set, writing, cells);
	bool ok = cells && (svg_write(&picture, writing->to) || no_memory(error));

	tell(writing, 1000);
	cells_free(cells);
	return ok;
}

static bool write_html(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	size_t size = ((size_t)set->sum_count + 1) * sizeof(uint32_t);
	uint32_t *part_of_sum = budget_resize(set->budget, NULL, 0, size);
	struct cells *cells = part_of_sum ? cells_of(set, part_of_sum, error) : NULL;
	struct picture picture = picture_of(set, writing, cells);
	struct bins bins = { 0 };
	bool ok = part_of_sum || no_memory(error);

	tell(writing, 300);
	ok = ok && cells && bins_fill(&bins, set, part_of_sum, cells->part_count, writing->stop, error) &&
		(html_write(&picture, &bins, writing->to) || no_memory(error));
	tell(writing, 1000);
	bins_clear(&bins);
	cells_free(cells);
	budget_free(set->budget, part_of_sum, part_of_sum ? size : 0);
	return ok;
}

const struct set_format format_svg = {
	.name = "svg", .ending = ".svg", .about = "flame graph, a picture for any browser", .lines = true,
	.flame = true, .merges = true, .write = write_svg,
};

/* Where the set has no rows, it has no time line, and says so. */
const struct set_format format_html = {
	.name = "html", .ending = ".html", .about = "report: time line, flame graph, callers, table", .rows = true,
	.lines = true, .flame = true, .merges = true, .write = write_html,
};
