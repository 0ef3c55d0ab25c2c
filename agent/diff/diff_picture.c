/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/formats/picture/bins.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/html.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "agent/samples/kept_paths.h"
#include "agent/samples/sample_set.h"
#include "diff_side.h"
#include "diff_tables.h"
#include "set_diff.h"

/* A function has another place in each build. Here it is known by its name, and told as B has it, if it is in B. */
struct drawing {
	const struct set_diff *diff;
	const struct kept_paths *kept;	/* NULL: all */
	uint32_t merged;		/* stacks that stood alone in their set */
	struct cells *cells;
	struct hash names;		/* those in `functions` */
	const struct set_function **functions;
	uint32_t count;
};

/* NULL: no memory. */
static const struct set_function *known_as(struct drawing *drawing, const struct set_function *function)
{
	uint64_t hash = hash_text(&drawing->names, function->name);
	uint32_t at = 0, position;

	while ((position = hash_next(&drawing->names, hash, &at)) != HASH_NONE)
		if (strcmp(drawing->functions[position]->name, function->name) == 0)
			return drawing->functions[position];
	if (!hash_add(&drawing->names, hash, drawing->count))
		return NULL;
	return drawing->functions[drawing->count++] = function;
}

/* Where a stack is in the picture. */
struct place {
	uint32_t cell;			/* SET_NONE: no memory */
	uint32_t path;			/* among the kept ones; SET_NONE: it is merged */
};

/* One function deeper. What is below a merged one is in the same cell. */
static void go_down(struct drawing *drawing, const struct set_function *function, struct place *place)
{
	if (place->path == SET_NONE || place->cell == SET_NONE)
		return;
	if (drawing->kept)
		place->path = kept_paths_find(drawing->kept, place->path, function->name);
	function = known_as(drawing, place->path == SET_NONE ? &kept_paths_merged : function);
	place->cell = function ? cells_child(drawing->cells, place->cell, function) : SET_NONE;
}

static struct place place_of(struct drawing *drawing, const struct sample_set *set, const struct set_location *location,
	struct place place)
{
	uint32_t last = drawing->diff->question.inlined ? 0 : location->count - 1;

	for (uint32_t i = location->count; i-- > last;)
		go_down(drawing, &set->functions[set->lines[location->first + i].function], &place);
	return place;
}

/* A set that was merged has told of its own frames how many there are. */
static uint32_t count_merged(const struct sample_set *set, uint32_t stack, struct place place)
{
	return place.path == SET_NONE && !kept_paths_is_merged(set, stack);
}

/* A stack's caller comes before it. */
static bool map_stacks(struct drawing *drawing, const struct sample_set *set, struct place *places)
{
	for (uint32_t i = 0; i < set->stack_count; i++) {
		const struct set_stack *stack = &set->stacks[i];
		const struct place root = { .cell = CELLS_ROOT, .path = KEPT_ROOT };

		places[i] = place_of(drawing, set, &set->locations[stack->location],
			stack->parent == SET_NONE ? root : places[stack->parent]);
		if (places[i].cell == SET_NONE)
			return false;
		drawing->merged += count_merged(set, i, places[i]);
	}
	return true;
}

static struct cell_amount amount_of(const struct drawing *drawing, const struct sample_set *set,
	const struct set_sum *sum)
{
	const struct diff_question *question = &drawing->diff->question;
	uint64_t weight = set_diff_whole(question, sum->samples, sum->weight);

	if (set == drawing->diff->before)
		return (struct cell_amount) { .before = weight, .samples_before = sum->samples };
	return (struct cell_amount) {
		.weight = weight, .samples = sum->samples, .ns = question->samples ? 0 : sum->ns,
	};
}

static bool add_set(struct drawing *drawing, const struct sample_set *set)
{
	struct place *places = calloc((size_t)set->stack_count + 1, sizeof(*places));
	bool good = places && map_stacks(drawing, set, places);

	for (uint32_t i = 0; good && i < set->sum_count; i++) {
		const struct set_sum *sum = &set->sums[i];
		struct cell_amount amount = amount_of(drawing, set, sum);

		good = cells_add(drawing->cells, places[sum->stack].cell, sum->who.mode, &amount) != SET_NONE;
	}
	free(places);
	return good;
}

static bool make(struct drawing *drawing)
{
	const struct set_diff *diff = drawing->diff;
	size_t count = (size_t)diff->before->function_count + diff->after->function_count + 1;

	drawing->cells = cells_new(diff->after->budget);
	drawing->functions = calloc(count, sizeof(*drawing->functions));
	return drawing->cells && drawing->functions && add_set(drawing, diff->after) &&
		add_set(drawing, diff->before) && cells_settle(drawing->cells);
}

static bool draw(const struct drawing *drawing, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to)
{
	const struct sample_set *before = drawing->diff->before;
	char *what = util_format("%s: %" PRIu64 " sample%s", sides[0].name, before->samples,
		util_plural(before->samples));
	const struct set_facts *facts = &drawing->diff->after->facts;
	struct picture picture = {
		.cells = drawing->cells, .title = sides[1].name, .before = what,
		.facts = facts->to ? facts : NULL,	/* most files tell neither a range nor what was lost */
		.merged = drawing->merged + before->facts.merged + facts->merged,
		.colours = COLOURS_CHANGE, .flame = look.flame,
	};
	struct bins bins = { 0 };
	bool good = look.html ? html_write(&picture, &bins, to) : svg_write(&picture, to);

	free(what);
	return good;
}

bool diff_picture(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], struct diff_look look,
	FILE *to, char **error)
{
	struct drawing drawing = { .diff = diff, .kept = look.kept };
	bool good;

	hash_init(&drawing.names, diff->budget);
	good = make(&drawing) && draw(&drawing, sides, look, to);
	hash_clear(&drawing.names);
	cells_free(drawing.cells);
	free(drawing.functions);
	return good || util_fail(error, "not drawn: no memory is left; choose shorter ranges, or end other programs");
}
