/* SPDX-License-Identifier: MIT */
/* Where the rows of a call tree are in a flame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/random.h"
#include "tui/terminal/theme.h"
#include "tui/views/flame/flame_cells.h"
#include "tui/views/table/hue.h"

enum { FUNCTIONS = 6 };

static struct symbols *symbols;
static uint32_t functions[FUNCTIONS];

static void add(struct tree *tree, int function, uint32_t parent, uint64_t total)
{
	struct tree_row *row = tree_add(tree, TREE_DOWN), *rows = tree->lists[TREE_DOWN].rows;

	row->path = tree->lists[TREE_DOWN].count;
	row->function = functions[function];
	row->parent = parent;
	row->depth = parent == TREE_TOP ? 0 : rows[parent].depth + 1;
	row->total = total;
}

static struct flame_cells fill(const struct tree *tree, struct flame_shape shape)
{
	struct flame_cells cells = { .count = 0 };

	flame_cells_fill(&cells, tree, &tree->lists[TREE_DOWN], symbols, shape);
	return cells;
}

/* Level, first column and width of each cell, with the name of its function. */
static void assert_cells(const struct tree *tree, struct flame_shape shape, const char *expected)
{
	struct flame_cells cells = fill(tree, shape);
	char text[512] = "", *at = text;

	for (size_t i = 0; i < cells.count; i++)
		at += sprintf(at, "%s%d:%d+%d %s", i ? ", " : "", cells.cells[i].level, cells.cells[i].column,
			cells.cells[i].width, symbols_get(symbols, cells.cells[i].row->function)->name);
	at += sprintf(at, " merged %zu", cells.merged);
	assert_string_equal(text, expected);
	flame_cells_clear(&cells);
}

/* d is the heaviest; b calls c and a; e is idle time. */
static struct tree *small_tree(void)
{
	struct tree *tree = tree_new(NULL);

	tree->weight = 100;
	add(tree, 3, TREE_TOP, 50);		/* d */
	add(tree, 1, TREE_TOP, 40);		/* b */
	add(tree, 2, 1, 20);			/* c below b */
	add(tree, 0, 1, 10);			/* a below b */
	add(tree, 4, TREE_TOP, 10);		/* e */
	return tree;
}

/* By name, not by weight: a flame stands still while numbers move. */
static void cells_are_in_the_order_of_their_names(void **state)
{
	struct tree *tree = small_tree();

	(void)state;
	assert_cells(tree, (struct flame_shape) { .columns = 100 },
		"0:0+40 b, 0:40+50 d, 0:90+10 e, 1:0+10 a, 1:10+20 c merged 0");
	tree->lists[TREE_DOWN].rows[2].total = 5;	/* c is lighter than a now */
	assert_cells(tree, (struct flame_shape) { .columns = 100 },
		"0:0+40 b, 0:40+50 d, 0:90+10 e, 1:0+10 a, 1:10+5 c merged 0");
	tree_free(tree);
}

/* The zoomed row and those above it are as wide as the flame; what is beside them is not shown. */
static void a_zoomed_row_is_as_wide_as_the_flame(void **state)
{
	struct tree *tree = small_tree();

	(void)state;
	assert_cells(tree, (struct flame_shape) { .columns = 80, .zoom = 2 }, "0:0+80 b, 1:0+20 a, 1:20+40 c merged 0");
	assert_cells(tree, (struct flame_shape) { .columns = 80, .zoom = 3 }, "0:0+80 b, 1:0+80 c merged 0");
	assert_cells(tree, (struct flame_shape) { .columns = 80, .zoom = 77 },	/* it is gone: all is shown */
		"0:0+32 b, 0:32+40 d, 0:72+8 e, 1:0+8 a, 1:8+16 c merged 0");
	tree_free(tree);
}

static void what_is_left_out_gives_its_room_to_the_others(void **state)
{
	struct tree *tree = small_tree();

	(void)state;
	assert_cells(tree, (struct flame_shape) { .columns = 90, .left_out = 5 },
		"0:0+40 b, 0:40+50 d, 1:0+10 a, 1:10+20 c merged 0");
	tree_free(tree);
}

static void narrow_rows_are_merged_and_gone_ones_are_not_there(void **state)
{
	struct tree *tree = small_tree();

	(void)state;
	assert_cells(tree, (struct flame_shape) { .columns = 8 }, "0:0+3 b, 0:3+4 d, 1:1+1 c merged 2");
	tree->lists[TREE_DOWN].rows[3].total = 0;	/* it was there in the baseline */
	assert_cells(tree, (struct flame_shape) { .columns = 100 },
		"0:0+40 b, 0:40+50 d, 0:90+10 e, 1:0+20 c merged 0");
	tree->weight = 0;
	assert_cells(tree, (struct flame_shape) { .columns = 0 }, " merged 4");
	tree_free(tree);
}

/* Any tree, any width: cells of a level do not overlap, and each is within its parent and the flame. */
static void cells_never_overlap(void **state)
{
	struct random random = { .state = 4 };

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct tree *tree = tree_new(NULL);
		int columns = (int)random_below(&random, 300);
		uint64_t left[64];
		struct flame_cells cells;

		tree->weight = left[0] = 10000;		/* left[0]: of the top; then of each row */
		for (uint32_t k = 0; k < 60; k++) {
			uint32_t parent = random_below(&random, 3) ? (uint32_t)random_below(&random, k + 1) : 0;
			uint64_t total = random_below(&random, left[parent] + 1);

			left[parent] -= total;
			left[k + 1] = total;
			add(tree, (int)random_below(&random, FUNCTIONS), parent ? parent - 1 : TREE_TOP, total);
		}
		cells = fill(tree, (struct flame_shape) { .columns = columns,
			.zoom = random_below(&random, 2) ? 1 + random_below(&random, 60) : 0 });
		for (size_t k = 0; k < cells.count; k++) {
			const struct flame_cell *cell = &cells.cells[k];

			assert_true(cell->column >= 0 && cell->width > 0 && cell->column + cell->width <= columns + 1);
			for (size_t j = 0; j < k; j++)
				assert_true(cells.cells[j].level != cell->level ||
					cells.cells[j].column + cells.cells[j].width <= cell->column ||
					cell->column + cell->width <= cells.cells[j].column);
		}
		flame_cells_clear(&cells);
		tree_free(tree);
	}
}

/* A function has one colour: on one machine, on many, in each run, as a cell and as a name. */
static void a_colour_is_of_a_name(void **state)
{
	struct function function = { .name = "vm_fault", .object = "kernel", .kernel = true, .known = true };
	struct function other = function;

	(void)state;
	other.object = "Linux";			/* as a fleet has it */
	other.address = 4711;
	assert_int_equal(hue_of_cell(&function), hue_of_cell(&other));
	assert_in_range(hue_of_cell(&function), STYLE_FLAME_KERNEL, STYLE_FLAME_MODULE - 1);
	assert_int_equal(hue_of_name(&function), hue_of_cell(&function) | STYLE_NAME);
	other.module = true;
	assert_in_range(hue_of_cell(&other), STYLE_FLAME_MODULE, STYLE_FLAME_PROGRAM - 1);
	other.kernel = false;
	assert_in_range(hue_of_cell(&other), STYLE_FLAME_PROGRAM, STYLE_MORE - 1);
	for (int depth = DEPTH_NONE; depth <= DEPTH_256; depth++) {	/* the kernel's are told from a program's */
		struct look kernel = theme_look(&theme_standard, (enum depth)depth, hue_of_name(&function));
		struct look program = theme_look(&theme_standard, (enum depth)depth, hue_of_name(&other));

		assert_true(kernel.fore != program.fore || kernel.attributes != program.attributes);
	}
	other.known = false;
	assert_int_equal(hue_of_name(&other), STYLE_DIM);
}

int main(void)
{
	static const char *const names[FUNCTIONS] = { "a", "b", "c", "d", "e", "f" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_in_the_order_of_their_names),
		cmocka_unit_test(a_zoomed_row_is_as_wide_as_the_flame),
		cmocka_unit_test(what_is_left_out_gives_its_room_to_the_others),
		cmocka_unit_test(narrow_rows_are_merged_and_gone_ones_are_not_there),
		cmocka_unit_test(cells_never_overlap),
		cmocka_unit_test(a_colour_is_of_a_name),
	};
	int failed;

	symbols = symbols_new(NULL);
	for (int i = 0; i < FUNCTIONS; i++)
		functions[i] = symbols_add(symbols, &(struct function) {
			.name = names[i], .object = "kernel", .kernel = true, .known = true });
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	symbols_free(symbols);
	return failed;
}
