/* SPDX-License-Identifier: MIT */
/* A screen that changes must stay readable: what has to keep its place, whatever the numbers do. */
#include <locale.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "stage.h"

enum { FUNCTIONS = 60, MANY = 100000, ROUNDS = 400 };

static struct symbols *symbols, *many_symbols;
static uint32_t functions[FUNCTIONS], many[MANY];

/* ---- answers ---- */

/* Up to 10^9, as in 10 s of 4,096 CPUs at 20 kHz; all sizes are equally likely. */
static uint64_t of_any_size(struct random *random)
{
	return random_next(random) >> (34 + random_below(random, 30));
}

static void shuffle(struct random *random, uint32_t *ids, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t other = random_below(random, i);
		uint32_t id = ids[i - 1];

		ids[i - 1] = ids[other];
		ids[other] = id;
	}
}

static void any_table(struct random *random, struct answers *answers)
{
	uint32_t ids[FUNCTIONS];
	struct table *table;

	memcpy(ids, functions, sizeof(ids));
	shuffle(random, ids, FUNCTIONS);
	hand_rows(answers, symbols, ids, random_below(random, FUNCTIONS + 1));
	table = answers->functions->table;
	table->weight = table->samples = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct row *row = &table->rows[i];

		row->self = of_any_size(random);
		row->samples = row->self / (1 + random_below(random, 8));
		for (uint32_t word = 0; word < table->words; word++)
			row->cpus[word] = random_next(random) & random_next(random);
		table->weight += row->self;
		table->samples += row->samples;
	}
	for (size_t i = 0; i < table->count; i++) {
		struct row *row = &table->rows[i];

		row->total = row->self + random_below(random, table->weight - row->self + 1);
	}
}

static struct answers *any_answers(struct random *random)
{
	struct answers *answers = hand_answers(symbols, functions);

	any_table(random, answers);
	answers->vitals->now = random_below(random, 90 * 3600) * NS_PER_SECOND;
	answers->vitals->achieved = (double)random_below(random, 1000);
	answers->vitals->lost_guest = of_any_size(random) % 100000;
	answers->vitals->lost_host = of_any_size(random) % 10000;
	answers->vitals->cost_ns = (double)random_below(random, 100000);
	answers->vitals->cost_share = (double)random_below(random, 1000) / 10000;
	answers->vitals->ring_fill = (double)random_below(random, 101) / 100;
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++) {
		struct cpu_series *series = &answers->vitals->cpus[i].series;

		series->missed = of_any_size(random);
		for (int mode = 0; mode < MODES; mode++)
			series->mode[mode] = of_any_size(random);
	}
	return answers;
}

/* ---- what the screen shows ---- */

static char *row_text(const struct stage *stage, int row)
{
	char *text = canvas_dump(stage->canvas), *line = text, *copy;

	while (row-- > 0)
		line += strcspn(line, "\n") + 1;
	copy = strndup(line, strcspn(line, "\n"));
	free(text);
	return copy;
}

static int row_with(const struct stage *stage, const char *wanted)
{
	char *text = canvas_dump(stage->canvas), *at = strstr(text, wanted);
	int row = 0;

	assert_non_null(at);
	for (const char *c = text; c < at; c++)
		row += *c == '\n';
	free(text);
	return row;
}

static bool in_table(const struct answers *answers, uint32_t function)
{
	for (size_t i = 0; i < answers->functions->table->count; i++)
		if (answers->functions->table->rows[i].function == function)
			return true;
	return false;
}

/* The marked row has the function whose callers are asked for. */
static void check_cursor(const struct stage *stage)
{
	const char *name = symbols_get(symbols, stage->session.wanted.selected)->name;
	int row = row_with(stage, name);
	char *text = row_text(stage, row);

	assert_int_equal(text[0], '>');
	free(text);
}

/* ---- the tests ---- */

static void test_the_cursor_keeps_its_function(void **state)
{
	static const uint32_t moves[] = { 'j', 'k', 'G', KEYS_PAGE_DOWN, KEYS_PAGE_UP, '<', 'I', 'n' };
	struct random random = { .state = 11 };
	struct stage stage;
	int kept = 0;

	(void)state;
	stage_raise(&stage, any_answers(&random));
	for (size_t i = 0; i < quick_part(ROUNDS, 4); i++) {
		struct answers *answers = any_answers(&random);
		uint32_t chosen;
		bool stays;

		if (i % 3 == 0)
			stage_press(&stage, moves[random_below(&random, 8)]);
		if (i % 17 == 0)
			stage_resize(&stage, (int)(10 + random_below(&random, 40)), 120, true);
		stage_press(&stage, 'j');			/* from here on the user has chosen a row */
		stage_press(&stage, 'k');
		chosen = stage.session.wanted.selected;
		stays = in_table(answers, chosen);
		stage_show(&stage, answers);
		if (stays) {
			assert_int_equal(stage.session.wanted.selected, chosen);
			check_cursor(&stage);
			kept++;
		}
	}
	assert_true((size_t)kept > quick_part(ROUNDS, 4) / 4);
	stage_strike(&stage);
}

static void test_untouched_it_stays_at_the_top(void **state)
{
	struct random random = { .state = 12 };
	struct stage stage;

	(void)state;
	stage_raise(&stage, any_answers(&random));
	for (size_t i = 0; i < quick_part(ROUNDS, 4); i++) {
		stage_show(&stage, any_answers(&random));
		if (stage.session.wanted.visible_count == 0)
			continue;
		check_cursor(&stage);
		assert_int_equal(row_with(&stage, symbols_get(symbols, stage.session.wanted.selected)->name),
			row_with(&stage, "FUNCTION") + 1);
	}
	stage_strike(&stage);
}

/* The column at which a word begins, in the row that has it. */
static int place_of(const struct stage *stage, const char *word)
{
	char *text = row_text(stage, row_with(stage, word));
	int place;

	*strstr(text, word) = '\0';
	place = row_with(stage, word) * 1000 + canvas_width(stage->canvas, text);
	free(text);
	return place;
}

/* A row of the table begins with a number, and the detail line below with a name. */
static bool is_of_table(const struct stage *stage, int row)
{
	char *text = row_text(stage, row), first = text[strspn(text, "> ")];

	free(text);
	return first && !isalpha((unsigned char)first);
}

/* Each name begins below its head, behind a space. No number before it is cut. */
static void check_rows(const struct stage *stage)
{
	int head = row_with(stage, "FUNCTION"), left = place_of(stage, "FUNCTION") - head * 1000;

	assert_true(stage->session.wanted.visible_count == 0 || is_of_table(stage, head + 1));
	for (int row = head + 1; row < stage->canvas->rows && is_of_table(stage, row); row++) {
		for (int column = 0; column < left; column++)
			assert_int_not_equal(canvas_cell(stage->canvas, row, column)->code, 0x2026);
		assert_int_equal(canvas_cell(stage->canvas, row, left - 1)->code, ' ');
		assert_int_equal(canvas_cell(stage->canvas, row, left)->code, 'f');
	}
}

static void check_places(int rows, int columns, const char *const *words, size_t count)
{
	struct random random = { .state = 13 };
	int places[10];
	struct stage stage;

	stage_raise(&stage, any_answers(&random));
	stage_resize(&stage, rows, columns, true);
	for (size_t i = 0; i < count; i++)
		places[i] = place_of(&stage, words[i]);
	for (size_t round = 0; round < quick_part(ROUNDS, 4) / 4; round++) {
		stage_show(&stage, any_answers(&random));
		for (size_t i = 0; i < count; i++)
			assert_int_equal(place_of(&stage, words[i]), places[i]);
		check_rows(&stage);
	}
	stage_strike(&stage);
}

static void test_nothing_jumps(void **state)
{
	static const char *const words[] = { "REC", "SELF%", "TOTAL%", "FUNCTION", "lost", "HITS/s",
		"TREND", "window", "CPUs not run", "OBJECT" };

	(void)state;
	check_places(10, 40, words, 5);
	check_places(24, 80, words, 10);
	check_places(40, 120, words, 10);
	check_places(60, 200, words, 10);
}

/* Threads of a process; a thread's name has so many columns. */
static struct answers *threads_of(const int *lengths, size_t count)
{
	struct answers *answers = hand_answers(symbols, functions);

	answers->functions->by = GROUP_THREAD;
	answers->functions->table->count = answers->functions->visible_count = count;
	for (size_t i = 0; i < count; i++) {
		char name[80];

		snprintf(name, sizeof(name), "%.*s", lengths[i],
			"worker_of_some_queue_with_a_long_name_of_its_own_and_more");
		answers->functions->table->rows[i].function = symbols_group(symbols, name, "kernel");
	}
	return answers;
}

/* Names of threads have the room that they need. It does not flap: it grows with the longest that was shown. */
static void test_the_room_of_threads(void **state)
{
	static const struct {
		int lengths[3], room;
	} rounds[] = {
		{ { 9, 14, 3 }, 14 }, { { 3, 2, 4 }, 14 }, { { 3, 33, 4 }, 33 }, { { 9, 3, 4 }, 33 },
		{ { 5, 9, 50 }, 50 }, { { 1, 1, 1 }, 50 },
	};
	struct answers *answers;
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_resize(&stage, 60, 200, true);
	stage_press(&stage, '5');
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		stage_show(&stage, threads_of(rounds[i].lengths, 3));
		assert_int_equal(place_of(&stage, "PROCESS") - place_of(&stage, "THREAD  "), rounds[i].room + 2);
	}
	stage_press(&stage, '\\');
	stage_type(&stage, "cpu:0\r");				/* other rows: the room is theirs */
	answers = threads_of(rounds[0].lengths, 3);
	answers->functions->filter = filter_of("cpu:0");
	stage_show(&stage, answers);
	assert_int_equal(place_of(&stage, "PROCESS") - place_of(&stage, "THREAD  "), rounds[0].room + 2);
	stage_strike(&stage);
}

static void test_a_hundred_thousand_functions(void **state)
{
	struct answers *answers = hand_answers(symbols, functions);
	const struct fake_wanted *wanted;
	struct stage stage;

	(void)state;
	hand_rows(answers, many_symbols, many, MANY);
	stage_raise(&stage, answers);
	wanted = &stage.session.wanted;
	assert_int_equal(wanted->selected, many[0]);
	stage_press(&stage, 'G');
	assert_int_not_equal(wanted->selected, many[0]);
	stage_holds(&stage, ">", true);
	for (int i = 0; i < 100; i++)
		stage_press(&stage, KEYS_PAGE_UP);
	stage_press(&stage, 'g');
	assert_int_equal(wanted->selected, many[0]);
	for (int i = 0; i < 100; i++)
		stage_press(&stage, KEYS_PAGE_DOWN);
	stage_press(&stage, '/');
	stage_type(&stage, "function_098765");
	assert_int_equal(wanted->selected, many[98765]);
	stage_press(&stage, KEYS_ENTER);
	stage_type(&stage, "\\_09876");
	assert_filter(&wanted->filter, "_09876");
	assert_in_range(wanted->visible_count, 1, 24);
	stage_resize(&stage, 2000, 80, true);			/* more rows than a request can have */
	assert_int_equal(wanted->visible_count, sizeof(wanted->visible) / sizeof(*wanted->visible));
	stage_strike(&stage);
}

static void make_symbols(void)
{
	char (*text)[24] = calloc(MANY, sizeof(*text));
	const char **names = calloc(MANY, sizeof(*names));

	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(*text), "function_%06d", i);
		names[i] = text[i];
	}
	symbols = hand_kernel(names, FUNCTIONS, functions);
	many_symbols = hand_kernel(names, MANY, many);
	free(names);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_cursor_keeps_its_function),
		cmocka_unit_test(test_untouched_it_stays_at_the_top),
		cmocka_unit_test(test_nothing_jumps),
		cmocka_unit_test(test_the_room_of_threads),
		cmocka_unit_test(test_a_hundred_thousand_functions),
	};
	int failed;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	make_symbols();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	symbols_free(symbols);
	symbols_free(many_symbols);
	return failed;
}
