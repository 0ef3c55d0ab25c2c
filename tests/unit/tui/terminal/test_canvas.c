/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "tests/unit/fakes/ansi.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/golden.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"

static void check(const struct canvas *canvas, const char *wanted)
{
	char *text = canvas_dump(canvas);

	assert_string_equal(text, wanted);
	free(text);
}

static void check_text(int columns, int width, bool unicode, const char *text, const char *wanted)
{
	struct canvas *canvas = canvas_new(1, columns, unicode);
	struct place place = { 0, 0, width };

	assert_in_range(canvas_text(canvas, place, STYLE_TEXT, text), 0, width > 0 ? width : 0);
	check(canvas, wanted);
	canvas_free(canvas);
}

static void test_cuts_at_the_right(void **state)
{
	(void)state;
	check_text(10, 10, true, "spin_lock", "spin_lock\n");
	check_text(10, 9, true, "spin_lock", "spin_lock\n");
	check_text(10, 8, true, "spin_lock", "spin_lo…\n");
	check_text(10, 8, false, "spin_lock", "spin_l..\n");
	check_text(10, 1, true, "spin_lock", "…\n");
	check_text(10, 1, false, "spin_lock", ".\n");
	check_text(10, 0, true, "spin_lock", "\n");
	check_text(10, -3, true, "spin_lock", "\n");
	check_text(4, 9, true, "spin_lock", "spin\n");
}

static void test_cuts_in_the_middle(void **state)
{
	struct canvas *canvas = canvas_new(4, 12, true);

	(void)state;
	canvas_middle(canvas, (struct place) { 0, 0, 12 }, STYLE_TEXT, "a_long_function_name");
	canvas_middle(canvas, (struct place) { 1, 0, 5 }, STYLE_TEXT, "a_long_function_name");
	canvas_middle(canvas, (struct place) { 2, 0, 3 }, STYLE_TEXT, "a_long_function_name");
	canvas_right(canvas, (struct place) { 3, 0, 12 }, STYLE_TEXT, "12.34");
	check(canvas, "a_long…_name\na_l…e\na_…\n       12.34\n");
	canvas_free(canvas);
}

static void test_never_holds_what_a_terminal_would_obey(void **state)
{
	(void)state;
	check_text(20, 20, true, "a\033[31mb", "a?[31mb\n");
	check_text(20, 20, true, "a\tb\nc\rd\177e", "a?b?c?d?e\n");
	check_text(20, 20, true, "a\xc2\x9b" "1m", "a?1m\n");		/* C1: CSI */
	check_text(20, 20, true, "a\xe2\x80\xae" "b", "a?b\n");		/* right-to-left override */
	check_text(20, 20, true, "a\xe2\x80\x8b" "b", "a?b\n");		/* zero width space */
	check_text(20, 20, true, "a\xff\xc3+\xe2\x82", "a?" "?+?" "?\n");	/* not UTF-8 */
	/* overlong, surrogate */
	check_text(20, 20, true, "\xc0\xafx\xed\xa0\x80y", "?" "?x?" "??y\n");
	check_text(20, 20, false, "größe", "gr??e\n");
}

static void test_every_character_there_is(void **state)
{
	struct canvas *canvas = canvas_new(1, 3, true);

	(void)state;
	for (uint32_t code = 1; code <= 0x10ffff; code++) {
		const struct cell unknown = { .code = code };
		const struct cell *cells = canvas->cells;
		char bytes[CELL_BYTES], text[CELL_BYTES + 1];

		canvas_clear(canvas);
		snprintf(text, sizeof(text), "%s|", canvas_utf8(&unknown, bytes));
		canvas_text(canvas, (struct place) { 0, 0, 3 }, STYLE_TEXT, text);
		assert_true(cells[0].code == code || cells[0].code == '?');
		assert_true(safe_character(cells[0].code));
		if (cells[0].code == code)
			assert_int_equal(cells[wcwidth((wchar_t)code)].code, '|');
	}
	canvas_free(canvas);
}

static void test_wide_characters_keep_columns(void **state)
{
	struct canvas *canvas = canvas_new(3, 10, true);

	(void)state;
	assert_int_equal(canvas_width(canvas, "名前"), 4);
	canvas_text(canvas, (struct place) { 0, 0, 10 }, STYLE_TEXT, "名前|");
	assert_int_equal(canvas_cell(canvas, 0, 1)->code, 0);
	assert_int_equal(canvas_cell(canvas, 0, 4)->code, '|');
	canvas_text(canvas, (struct place) { 1, 0, 4 }, STYLE_TEXT, "名前名前");	/* no wide character is halved */
	canvas_put(canvas, (struct place) { 1, 4, 1 }, STYLE_TEXT, '|');
	canvas_text(canvas, (struct place) { 2, 0, 4 }, STYLE_TEXT, "名前");
	canvas_put(canvas, (struct place) { 2, 1, 1 }, STYLE_TEXT, 'x');	/* both halves go */
	check(canvas, "名前|\n名… |\n x前\n");
	canvas_free(canvas);
}

static void test_clips_everywhere(void **state)
{
	(void)state;
	for (int rows = 0; rows < 4; rows++) {
		for (int columns = 0; columns < 6; columns++) {
			struct canvas *canvas = canvas_new(rows, columns, true);

			for (int row = -2; row < 6; row++) {
				for (int column = -4; column < 8; column++) {
					struct place place = { row, column, 5 };

					canvas_text(canvas, place, STYLE_TEXT, "名a前");
					canvas_middle(canvas, place, STYLE_TEXT, "ab名前cd");
					canvas_restyle(canvas, place, STYLE_CURSOR);
					glyphs_bar(canvas, place, STYLE_KERNEL, 2);
					assert_true(canvas_cell(canvas, row, column) == NULL ||
						(row >= 0 && row < rows && column >= 0 &&
							column < columns));
				}
			}
			canvas_free(canvas);
		}
	}
}

static void check_wrap(int rows, int columns, const char *text, int used, const char *wanted)
{
	struct canvas *canvas = canvas_new(rows, columns, true);
	struct area area = { 0, 0, rows, columns };

	assert_int_equal(canvas_wrap(canvas, area, STYLE_TEXT, text), used);
	assert_true(columns < 2 ||
		(canvas_rows(canvas, text, columns) > rows) == (strstr(wanted, "…") != NULL));
	check(canvas, wanted);
	canvas_free(canvas);
}

static void test_wraps_at_words(void **state)
{
	(void)state;
	check_wrap(3, 8, "one two three", 2, "one two\nthree\n\n");
	check_wrap(3, 7, "one two three", 2, "one two\nthree\n\n");
	check_wrap(3, 6, "one two three", 3, "one\ntwo\nthree\n");
	check_wrap(2, 6, "one two three", 2, "one\ntwo t…\n");
	check_wrap(2, 4, "longword", 2, "long\nword\n");
	check_wrap(1, 4, "", 1, "\n");
	check_wrap(2, 1, "名", 1, "…\n\n");
	check_wrap(2, 0, "one", 1, "\n\n");
}

static void draw_glyphs(struct canvas *canvas)
{
	for (int i = 0; i <= 8; i++) {
		glyphs_bar(canvas, (struct place) { 0, i * 3, 2 }, STYLE_KERNEL, i / 16.0);
		glyphs_column(canvas, (struct place) { 1, i, 1 }, STYLE_USER, i / 8.0);
	}
	glyphs_column(canvas, (struct place) { 1, 9, 1 }, STYLE_USER, -1);
	for (int i = 0; i < GLYPHS; i++)
		canvas_text(canvas, (struct place) { 2, i * 2, 1 }, STYLE_TEXT,
			glyphs_text(canvas, (enum glyph)i));
}

static void test_glyphs(void **state)
{
	struct canvas *canvas = canvas_new(3, 30, true), *ascii = canvas_new(3, 30, false);

	(void)state;
	draw_glyphs(canvas);
	draw_glyphs(ascii);
	golden_check("glyphs", canvas);
	golden_check("glyphs_ascii", ascii);
	canvas_free(canvas);
	canvas_free(ascii);
}

static void test_fold_keeps_the_newest(void **state)
{
	const uint64_t values[] = { 1, 2, 3, 4, 5, 6, 7 };
	uint64_t folded[3];

	(void)state;
	glyphs_fold(values, 7, folded, 3);
	assert_int_equal(folded[0], 2 + 3);
	assert_int_equal(folded[1], 4 + 5);
	assert_int_equal(folded[2], 6 + 7);
}

/* Each half of a cell has its own background, until something is drawn over it. */
static void test_halves(void **state)
{
	enum { ONE = STYLE_FLAME_KERNEL, OTHER = STYLE_FLAME_PROGRAM };
	const struct look one = theme_look(&theme_standard, DEPTH_256, ONE);
	const struct look other = theme_look(&theme_standard, DEPTH_256, OTHER);
	struct canvas *canvas = canvas_new(1, 6, true);
	struct look look;

	(void)state;
	for (int i = 0; i < 2; i++)
		canvas_half(canvas, (struct place) { 0, i, 1 }, i, ONE);
	canvas_half(canvas, (struct place) { 0, 2, 1 }, true, OTHER);
	canvas_half(canvas, (struct place) { 0, 2, 1 }, false, ONE);
	for (int i = 0; i < 4; i++)
		canvas_half(canvas, (struct place) { 0, 3 + i / 2, 1 }, i % 2, ONE);
	canvas_put(canvas, (struct place) { 0, 4, 1 }, ONE, 'x');
	canvas_half(canvas, (struct place) { 0, 6, 1 }, true, ONE);	/* beside the canvas */
	check(canvas, "▌▐▌│x\n");
	look = theme_halves(&theme_standard, canvas_cell(canvas, 0, 0)->style, canvas_cell(canvas, 0, 0)->right);
	assert_int_equal(look.fore, one.back);
	assert_int_equal(look.back, -1);
	look = theme_halves(&theme_standard, canvas_cell(canvas, 0, 1)->style, canvas_cell(canvas, 0, 1)->right);
	assert_int_equal(look.fore, one.back);
	assert_int_equal(look.back, -1);
	look = theme_halves(&theme_standard, canvas_cell(canvas, 0, 2)->style, canvas_cell(canvas, 0, 2)->right);
	assert_int_equal(look.fore, one.back);
	assert_int_equal(look.back, other.back);
	assert_false(canvas_cell(canvas, 0, 3)->halves || canvas_cell(canvas, 0, 4)->halves);
	canvas_free(canvas);
}

static void test_styles_in_every_depth(void **state)
{
	static const char *const names[] = { "styles_none", "styles_8", "styles_16", "styles_256" };
	struct canvas *canvas = canvas_new(STYLES, 36, true);

	(void)state;
	for (int i = 0; i < STYLES; i++) {
		canvas_text(canvas, (struct place) { i, 0, 12 }, (uint8_t)i, "plain");
		canvas_text(canvas, (struct place) { i, 12, 12 }, (uint8_t)(i | STYLE_CURSOR),
			"cursor");
		if (i >= STYLE_FLAME_KERNEL && i < STYLE_MORE)
			canvas_text(canvas, (struct place) { i, 24, 12 }, (uint8_t)(i | STYLE_NAME), "name");
	}
	for (int depth = DEPTH_NONE; depth <= DEPTH_256; depth++) {
		char *text = ansi_text(canvas, (enum depth)depth);

		golden_check_text(names[depth], text);
		assert_true(depth != DEPTH_NONE || (!strstr(text, ";3") && !strstr(text, ";48")));
		free(text);
	}
	canvas_free(canvas);
}

/* What stands side by side in a flame and means something else looks different. */
static void test_cells_of_a_flame_look_different(void **state)
{
	static const uint8_t meanings[] = { STYLE_MATCH, STYLE_FLAME_SAME, STYLE_FLAME_CURSOR, STYLE_FLAME_MORE,
		STYLE_FLAME_MUCH_MORE, STYLE_FLAME_LESS, STYLE_FLAME_MUCH_LESS };
	enum { MEANINGS = sizeof(meanings), WITHOUT_COLOUR = 3 };

	(void)state;
	for (int depth = DEPTH_NONE; depth <= DEPTH_256; depth++)
		for (int i = 0; i < (depth == DEPTH_NONE ? WITHOUT_COLOUR : MEANINGS); i++)
			for (int j = 0; j < i; j++) {
				struct look one = theme_look(&theme_standard, (enum depth)depth, meanings[i]);
				struct look other = theme_look(&theme_standard, (enum depth)depth, meanings[j]);

				assert_true(one.back != other.back || one.attributes != other.attributes);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts_at_the_right),
		cmocka_unit_test(test_cuts_in_the_middle),
		cmocka_unit_test(test_never_holds_what_a_terminal_would_obey),
		cmocka_unit_test(test_every_character_there_is),
		cmocka_unit_test(test_wide_characters_keep_columns),
		cmocka_unit_test(test_clips_everywhere),
		cmocka_unit_test(test_wraps_at_words),
		cmocka_unit_test(test_glyphs),
		cmocka_unit_test(test_fold_keeps_the_newest),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_styles_in_every_depth),
		cmocka_unit_test(test_cells_of_a_flame_look_different),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
