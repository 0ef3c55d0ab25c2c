/* SPDX-License-Identifier: MIT */
/* The rows of a call tree, in the order in which they are drawn. */
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
#include "tui/views/tree/tree_lines.h"

static struct tree_row *add(struct tree *tree, enum tree_order order, uint64_t path, uint32_t parent)
{
	struct tree_row *row = tree_add(tree, order), *rows = tree->lists[order].rows;

	row->path = path;
	row->parent = parent;
	row->depth = parent == TREE_TOP ? 0 : rows[parent].depth + 1;
	return row;
}

/* "12." for the row with path 12: "^" it is drawn upward, "." no sibling is drawn beyond it. */
static void assert_lines(const struct tree_lines *lines, const char *expected)
{
	char text[512] = "", *at = text;

	for (size_t i = 0; i < lines->count; i++)
		at += sprintf(at, "%s%d%s", i ? " " : "", (int)lines->lines[i].row->path,
			lines->lines[i].up ? lines->lines[i].last ? "^." : "^" : lines->lines[i].last ? "." : "");
	assert_string_equal(text, expected);
}

/* 1 has 2 and 3, 2 has 4; 5 stands alone. */
static struct tree *small_tree(enum tree_order order)
{
	struct tree *tree = tree_new(NULL);

	add(tree, order, 1, TREE_TOP);
	add(tree, order, 2, 0);
	add(tree, order, 4, 1);
	add(tree, order, 3, 0);
	add(tree, order, 5, TREE_TOP);
	return tree;
}

static void rows_follow_their_parents(void **state)
{
	struct tree *tree = small_tree(TREE_DOWN);
	struct tree_lines lines = { .count = 0 };

	(void)state;
	tree_lines_fill(&lines, tree, TREE_DOWN, false, NULL);
	assert_lines(&lines, "1 2 4. 3. 5.");
	assert_null(lines.lines[0].parent);
	assert_int_equal(lines.lines[2].parent->path, 2);
	assert_int_equal(lines.lines[1].more, 1);	/* 1 has a sibling beyond: its line goes on */
	assert_int_equal(lines.lines[2].more, 1 | 2);	/* and so has 2 */
	assert_int_equal(lines.lines[4].more, 0);
	tree_lines_fill(&lines, tree, TREE_UP, false, NULL);
	assert_int_equal(lines.count, 0);
	tree_lines_clear(&lines);
	tree_free(tree);
}

/* Callers stand above the function, the nearest next to it; the function is there once. */
static void callers_are_drawn_upward(void **state)
{
	struct tree *tree = small_tree(TREE_UP);
	struct tree_lines lines = { .count = 0 };

	(void)state;
	add(tree, TREE_DOWN, 11, TREE_TOP);
	add(tree, TREE_DOWN, 12, 0);
	tree_lines_fill(&lines, tree, TREE_DOWN, true, NULL);
	assert_lines(&lines, "3^. 4^. 2^ 11. 12.");
	tree_lines_clear(&lines);
	tree_free(tree);
}

/* Bottom-up, a function at the top ran itself in all of its time, and a caller in none. */
static void callers_do_not_run_themselves(void **state)
{
	struct tree_row row = { .parent = TREE_TOP, .total = 30, .self = 10 };
	char text[TREE_SHARE];

	(void)state;
	assert_string_equal(tree_row_self(&row, TREE_DOWN, 100, text), "10.00");
	assert_string_equal(tree_row_self(&row, TREE_UP, 100, text), "30.00");
	row.parent = 0;
	assert_string_equal(tree_row_self(&row, TREE_DOWN, 100, text), "10.00");
	assert_string_equal(tree_row_self(&row, TREE_UP, 100, text), "");
}

static void the_row_of_idle_time_is_left_out(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	struct tree *tree = small_tree(TREE_DOWN);
	struct tree_lines lines = { .count = 0 };
	uint32_t code = symbols_add(symbols, &(struct function) {
		.name = "[idle]", .object = "kernel", .known = true });

	(void)state;
	for (size_t i = 0; i < tree->lists[TREE_DOWN].count; i++)
		tree->lists[TREE_DOWN].rows[i].function = code;		/* a function of that name is not idle time */
	tree->lists[TREE_DOWN].rows[0].function = symbols_special(symbols, "[idle]");
	tree_lines_fill(&lines, tree, TREE_DOWN, false, symbols);
	assert_lines(&lines, "5.");
	tree_lines_clear(&lines);
	tree_free(tree);
	symbols_free(symbols);
}

/* Any tree: each row once, behind its parent, and siblings in their order. */
static void each_row_has_its_line(void **state)
{
	struct random random = { .state = 9 };
	struct tree_lines lines = { .count = 0 };

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct tree *tree = tree_new(NULL);
		size_t count = random_below(&random, 150);
		uint64_t seen = 0;

		for (size_t k = 0; k < count; k++)
			add(tree, TREE_DOWN, k + 1, k && random_below(&random, 5) ?
				(uint32_t)random_below(&random, k) : TREE_TOP);
		tree_lines_fill(&lines, tree, TREE_DOWN, false, NULL);
		assert_int_equal(lines.count, count);
		for (size_t k = 0; k < lines.count; k++) {
			const struct tree_line *line = &lines.lines[k];
			size_t before = k;

			seen += line->row->path;
			if (line->parent)
				assert_true(k > 0 && line->row->parent != TREE_TOP);
			while (line->parent && before > 0 && lines.lines[before].row != line->parent)
				before--;
			assert_true(!line->parent || lines.lines[before].row == line->parent);
			for (size_t j = before + 1; line->parent && j < k; j++)
				assert_true(lines.lines[j].row->depth >= line->row->depth);
		}
		assert_int_equal(seen, count * (count + 1) / 2);
		tree_free(tree);
	}
	tree_lines_clear(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_follow_their_parents),
		cmocka_unit_test(callers_are_drawn_upward),
		cmocka_unit_test(callers_do_not_run_themselves),
		cmocka_unit_test(the_row_of_idle_time_is_left_out),
		cmocka_unit_test(each_row_has_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
