/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/change.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/golden.h"
#include "tests/unit/fakes/random.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "tui/views/views.h"
#include "view_stage.h"

static struct config config;

static void answer(struct stage *stage, struct answers *answers)
{
	stage->answers = answers;
	stage->shown = &answers->functions->answer;
}

static struct stage raise_stage(int rows, int columns, bool unicode)
{
	struct stage stage = stage_raise(&view_functions, &config, rows, columns, unicode);

	answer(&stage, stage.answers);
	return stage;
}

static void check(struct stage *stage, const char *golden)
{
	stage_draw(stage);
	golden_check(golden, stage->canvas);
}

static uint32_t under_cursor(const struct stage *stage)
{
	const struct request *request = view_functions.ask(stage->view, &stage->scope);

	assert_non_null(request);
	return ((const struct function_request *)request)->selected;
}

static void test_at_every_width(void **state)
{
	static const int widths[] = { 40, 60, 80, 100, 120, 160, 200, 240 };

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		struct stage stage = raise_stage(12, widths[i], true);
		char golden[32];

		snprintf(golden, sizeof(golden), "functions_%d", widths[i]);
		check(&stage, golden);
		stage_strike(&stage);
	}
}

static void test_ascii(void **state)
{
	struct stage stage = raise_stage(12, 80, false);
	char *text;

	(void)state;
	check(&stage, "functions_ascii");
	text = canvas_dump(stage.canvas);
	for (const char *c = text; *c != '\0'; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
	free(text);
	stage_strike(&stage);
}

static void test_never_breaks(void **state)
{
	(void)state;
	for (int rows = 0; rows < 14; rows++) {
		for (int columns = 0; columns < 200; columns += 3) {
			struct stage stage = raise_stage(rows, columns, columns % 2 == 0);

			stage_draw(&stage);
			view_functions.act(stage.view, ACTION_BOTTOM);
			view_functions.act(stage.view, ACTION_RIGHT);
			stage_draw(&stage);
			view_functions.click(stage.view, rows / 2, columns / 2);
			stage_strike(&stage);
		}
	}
}

static void test_sorting(void **state)
{
	struct stage stage = raise_stage(12, 120, true);

	(void)state;
	stage_draw(&stage);
	assert_int_equal(under_cursor(&stage), hand_functions[7]);		/* most self */
	view_functions.act(stage.view, ACTION_SORT_RIGHT);
	stage_draw(&stage);
	assert_int_equal(under_cursor(&stage), hand_functions[5]);		/* most total */
	stage_holds(&stage, "TOTAL%▼", true);
	view_functions.act(stage.view, ACTION_INVERT);
	stage_holds(&stage, "TOTAL%▲", true);
	for (int i = 0; i < 4; i++)
		view_functions.act(stage.view, ACTION_SORT);
	check(&stage, "functions_by_object");
	view_functions.act(stage.view, ACTION_SORT_LEFT);
	stage_holds(&stage, "FUNCTION▼", true);
	for (int i = 0; i < 2; i++) {			/* as in top: pressed again, it stays */
		view_functions.act(stage.view, ACTION_SORT_TIME);
		stage_holds(&stage, "TOTAL%▼", true);
	}
	view_functions.act(stage.view, ACTION_SORT_CPU);
	stage_holds(&stage, "SELF%▼", true);
	stage_strike(&stage);
}

static void test_sort_keeps_to_the_columns_shown(void **state)
{
	struct stage stage = raise_stage(12, 40, true);

	(void)state;
	for (int i = 0; i < 10; i++) {
		stage_holds(&stage, "▼", true);
		view_functions.act(stage.view, ACTION_SORT_RIGHT);
	}
	stage_strike(&stage);
}

static void test_cursor_follows_the_function(void **state)
{
	struct stage stage = raise_stage(12, 80, true);
	struct answers *before;
	uint32_t chosen;

	(void)state;
	stage_draw(&stage);
	view_functions.act(stage.view, ACTION_DOWN);
	view_functions.act(stage.view, ACTION_DOWN);
	chosen = under_cursor(&stage);
	assert_int_equal(chosen, hand_functions[0]);
	view_functions.act(stage.view, ACTION_INVERT);
	stage_draw(&stage);
	assert_int_equal(under_cursor(&stage), chosen);

	before = stage.answers;
	answer(&stage, hand_answers(hand_names, hand_functions));
	stage.answers->functions->table->rows[0].self = 1;
	stage_draw(&stage);
	answers_free(before);
	assert_int_equal(under_cursor(&stage), chosen);
	stage_holds(&stage, "> ", true);
	stage_strike(&stage);
}

static void test_mouse(void **state)
{
	struct stage stage = raise_stage(12, 80, true);

	(void)state;
	stage_draw(&stage);
	view_functions.click(stage.view, 3, 30);
	assert_int_equal(under_cursor(&stage), hand_functions[0]);	/* the third by self */
	view_functions.click(stage.view, 0, 12);
	stage_holds(&stage, "TOTAL%▼", true);
	view_functions.click(stage.view, 0, 12);
	stage_holds(&stage, "TOTAL%▲", true);
	view_functions.click(stage.view, 0, 28);		/* the head of TREND sorts by self */
	stage_holds(&stage, "SELF%▼", true);
	view_functions.click(stage.view, 11, 0);
	view_functions.click(stage.view, 100, 100);
	view_functions.click(stage.view, -1, -1);
	stage_strike(&stage);
}

static void test_search(void **state)
{
	struct stage stage = raise_stage(12, 80, true);

	(void)state;
	stage_draw(&stage);
	strcpy(stage.scope.match, "alloc");
	assert_true(view_functions.search(stage.view, "alloc", LIST_HERE));
	stage_draw(&stage);
	assert_int_equal(under_cursor(&stage), hand_functions[2]);
	check(&stage, "functions_search");
	assert_false(view_functions.search(stage.view, "no_such_function", LIST_NEXT));
	assert_false(view_functions.act(stage.view, ACTION_BACK));		/* the screen forgets the match */
	stage_strike(&stage);
}

/* The detail line has the inlined functions of the cursor's function alone. */
static void test_inlined(void **state)
{
	struct stage stage = raise_stage(20, 300, true);
	int shown = 0;

	(void)state;
	stage.answers->functions->inlined[0] = (struct caller) { hand_functions[3], 30 };
	stage.answers->functions->inlined[1] = (struct caller) { hand_functions[4], 10 };
	stage.answers->functions->inlined_count = 2;
	stage.answers->functions->inlined_of = 80;
	for (size_t i = 0; i < HAND_FUNCTIONS; i++) {
		char *text;

		stage.answers->functions->selected = hand_functions[i];
		text = stage_text(&stage);
		shown += strstr(text, "inlined: ") != NULL && strstr(text, " 38%, ") != NULL;
		free(text);
	}
	assert_int_equal(shown, 1);
	stage_strike(&stage);
}

static void test_few_samples_are_marked(void **state)
{
	struct stage stage = raise_stage(12, 80, true);

	(void)state;
	stage_holds(&stage, "~0.06", true);	/* 25 samples */
	stage_holds(&stage, "~0.01", true);	/* 4 samples */
	stage_holds(&stage, "~3.0", false);
	stage.answers->functions->table->rows[0].samples = 30;		/* no "~" from 30 on: docs/limits.md */
	stage_holds(&stage, "  34.93   34.93", true);		/* by now the rows are sorted */
	stage.answers->functions->table->rows[0].samples = 29;
	stage_holds(&stage, " ~34.93   34.93", true);
	stage.answers->functions->table->rows[0].samples = 30;
	stage.answers->functions->table->samples = 60;			/* fewer in total than itself: not so */
	stage_holds(&stage, "  34.93   34.93", true);
	stage_strike(&stage);
}

static void check_empty(struct answers *answers, struct scope scope, const char *why)
{
	struct stage stage = raise_stage(10, 80, true);

	answers_free(stage.answers);
	answer(&stage, answers);
	stage.scope = scope;
	stage_holds(&stage, why, true);
	stage_strike(&stage);
}

static struct answers *without_rows(void)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	table_free(answers->functions->table);
	answers->functions->table = table_new(NULL, 0, 1);
	answers->functions->table->from = 182 * NS_PER_SECOND;
	answers->functions->table->to = 192 * NS_PER_SECOND;
	return answers;
}

/* If the window has samples, an empty table is told to be the filter's doing, not that of the window's length. */
static void check_filtered_away(void)
{
	struct answers *answers;
	struct scope scope;

	scope_init(&scope);
	assert_true(scope_filter(&scope, "no_such", NULL));
	answers = without_rows();
	answers->functions->table->samples = 1;
	check_empty(answers, scope, "No function in this window has the filter's name");
	assert_true(scope_filter(&scope, "cpu:9", NULL));
	answers = without_rows();
	check_empty(answers, scope, "no such CPU");
	assert_true(scope_filter(&scope, "machine:nosuch", NULL));
	answers = without_rows();
	strcpy(answers->vitals->tab, "2 web");
	check_empty(answers, scope, "The filter leaves this machine out.");
	answers = without_rows();
	answers->vitals->machine_count = 2;
	answers->vitals->machines = util_alloc(2 * sizeof(*answers->vitals->machines));
	strcpy(answers->vitals->machines[0].name, "1 web");
	strcpy(answers->vitals->machines[1].name, "2 db");
	check_empty(answers, scope, "No machine has the filter's name.");
	assert_true(scope_filter(&scope, "cpu:2 thread:nosuch", NULL));
	answers = without_rows();
	check_empty(answers, scope, "No sample in this window passes the filter");
	answers = without_rows();
	answers->vitals->link = LINK_SILENT;
	check_empty(answers, scope, "No sample in this window passes the filter");
	answers = without_rows();
	for (uint32_t i = 0; i < answers->vitals->cpu_count; i++)
		answers->vitals->cpus[i].series = (struct cpu_series) { .missed = 0 };
	check_empty(answers, scope, "No sample in this window yet");
}

static void test_empty_tables_tell_of_the_link(void **state)
{
	static const char *const whys[][LINK_LOST + 1] = {
		[BY_HOOK] = {
			[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "Not connected",
			[LINK_TAKEN] = "Another program", [LINK_NOT_OPENED] = "has not opened",
			[LINK_NO_HELLO] = "has not said who it is",
			[LINK_UP] = "No sample in this window", [LINK_SILENT] = "Nothing comes",
			[LINK_LOST] = "is lost",
		},
		[BY_STUB] = {
			[LINK_NO_PORT] = "The gdb stub samples; a hook adds events", [LINK_CONNECTING] = "its gdb stub",
			[LINK_TAKEN] = "Another program", [LINK_NOT_OPENED] = "Soon the gdb stub samples; a hook adds",
			[LINK_NO_HELLO] = "gdb stub has not said", [LINK_UP] = "No sample in this window",
			[LINK_SILENT] = "Nothing comes from the gdb stub", [LINK_LOST] = "is lost",
		},
		[BY_PLUGIN] = {
			[LINK_NO_PORT] = "no port", [LINK_CONNECTING] = "Not connected to the plugin",
			[LINK_TAKEN] = "Another program", [LINK_NOT_OPENED] = "plugin in QEMU has not answered",
			[LINK_NO_HELLO] = "plugin has not said", [LINK_UP] = "No sample in this window",
			[LINK_SILENT] = "Nothing comes from the plugin", [LINK_LOST] = "is lost",
		},
	};
	struct scope scope;

	(void)state;
	scope_init(&scope);
	for (size_t by = 0; by < sizeof(whys) / sizeof(*whys); by++)
		for (int link = LINK_NO_PORT; link <= LINK_LOST; link++) {
			struct answers *answers = without_rows();

			answers->vitals->by = (enum link_by)by;
			answers->vitals->link = (enum link_state)link;
			check_empty(answers, scope, whys[by][link]);
		}
}

static void test_empty_tables_tell_of_the_vm(void **state)
{
	static const char *const whys[] = {
		[VM_UNKNOWN] = "No sample", [VM_RUNNING] = "No sample", [VM_PAUSED] = "is paused",
		[VM_SHUTDOWN] = "shut down", [VM_PANICKED] = "panicked",
		[VM_HANGS] = "QEMU does not answer", [VM_GONE] = "QEMU is gone",
	};
	struct scope scope;

	(void)state;
	scope_init(&scope);
	for (int vm = VM_UNKNOWN; vm <= VM_GONE; vm++) {
		struct answers *answers = without_rows();

		answers->vitals->vm = (enum vm_state)vm;
		check_empty(answers, scope, whys[vm]);
	}
}

/* The guest only traces, now or in a recording. */
static void check_untaken(void)
{
	struct answers *answers;
	struct scope scope;

	scope_init(&scope);
	for (int i = 0; i < 4; i++) {
		answers = without_rows();
		answers->vitals->sampler = SAMPLER_NONE;
		answers->vitals->events.on = i & 1;
		answers->vitals->play.there = i & 2;
		answers->vitals->unsampled = true;
		check_empty(answers, scope, i == 0 ? "No samples are taken, and no event is on." :
			i == 1 ? "`ktop ctl sampler timer` takes samples; 7 and 8 show what is traced." :
			"No samples were taken: the guest only traced.");
	}
	answers = without_rows();
	answers->vitals->sampler = SAMPLER_NONE;
	answers->vitals->running = false;
	check_empty(answers, scope, "SPACE starts it");
}

static void test_empty_tables_say_why(void **state)
{
	struct answers *answers;
	struct scope scope, other;

	(void)state;
	scope_init(&scope);
	answers = without_rows();
	answers->vitals->link = LINK_CONNECTING;
	strcpy(answers->vitals->note, "QEMU's monitor does not answer");
	check_empty(answers, scope, "The remark above tells more.");
	answers = without_rows();
	answers->vitals->running = false;
	check_empty(answers, scope, "SPACE starts it");
	answers = without_rows();
	answers->vitals->running = false;
	answers->vitals->sampler = SAMPLER_STUB;
	answers->vitals->unsampled = true;
	check_empty(answers, scope, "SPACE starts the stub; a hook adds events, stops nothing.");
	answers = without_rows();
	answers->vitals->running = false;
	answers->vitals->sampler = SAMPLER_OUTSIDE;
	answers->vitals->unsampled = true;
	check_empty(answers, scope, "SPACE starts the plugin; a hook adds events, allows KVM.");
	other = scope;
	other.zero_ns = 1;
	check_empty(without_rows(), other, "zeroed");
	check_untaken();
	check_filtered_away();
	answers = hand_answers(hand_names, hand_functions);
	answers->functions->table->mode[MODE_KERNEL] = answers->functions->table->mode[MODE_USER] = 0;
	answers->functions->table->rows[0] = answers->functions->table->rows[7];
	answers->functions->table->count = 1;
	scope_init(&scope);
	check_empty(answers, scope, "idle all the time");
}

/* Whatever the change is, it fits in the columns that it has. */
static void test_each_change_fits(void **state)
{
	char text[CHANGE_TEXT];

	(void)state;
	for (int share = -100000; share <= 100000; share++)
		for (int columns = CHANGE_NUMBER - 1; columns <= CHANGE_NUMBER; columns++) {
			const struct change change = { .share = share / 1e5, .chance = true };

			assert_in_range(strlen(change_text(change, columns, text)), 5, columns);
		}
	assert_string_equal("-100.00", change_text((struct change) { .share = -1 }, CHANGE_NUMBER, text));
	assert_string_equal("~-100.0",
		change_text((struct change) { .share = -1, .chance = true }, CHANGE_NUMBER, text));
}

/* ---- more rows than are kept in order ---- */

enum { MANY = 1000, MANY_STEPS = 2000, MANY_ROWS = 18 };	/* so many are on the screen */

static struct row order[MANY];		/* the rows as they should stand */

static int by_self(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Another answer, with some weights changed. */
static struct answers *many_answers(struct random *random, const uint32_t many[MANY])
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct table *table = table_new(NULL, MANY, 1);

	for (size_t i = 0; i < MANY; i++) {
		if (!order[i].function)
			order[i].function = many[i];
		if (!order[i].self || random_below(random, 10) == 0)
			order[i].self = 1 + random_below(random, 3000);
		table_add(table, order[i].function)->self = order[i].self;
		table->weight += order[i].self;
	}
	qsort(order, MANY, sizeof(*order), by_self);
	table->samples = table->mode[MODE_KERNEL] = table->weight;
	table_free(answers->functions->table);
	answers->functions->table = table;
	return answers;
}

static size_t place_of(uint32_t function)
{
	size_t place = 0;

	while (order[place].function != function)
		place++;
	return place;
}

static size_t moved_to(size_t place, enum action action, size_t page)
{
	switch (action) {
	case ACTION_UP:
		return place ? place - 1 : 0;
	case ACTION_DOWN:
		return place + 1 < MANY ? place + 1 : place;
	case ACTION_PAGE_UP:
		return place > page ? place - page : 0;
	case ACTION_PAGE_DOWN:
		return place + page < MANY ? place + page : MANY - 1;
	case ACTION_TOP:
		return 0;
	default:
		return MANY - 1;
	}
}

/* Draws, and asserts that the rows on the screen stand in their order. */
static void check_rows(struct stage *stage, const uint32_t many[MANY])
{
	char *text = stage_text(stage), *line = strtok(text, "\n");	/* the heads */
	size_t next = MANY;

	for (int i = 0; i < MANY_ROWS; i++) {
		char *name;

		line = strtok(NULL, "\n");
		name = strstr(line, "row");
		assert_non_null(name);
		if (next == MANY)
			next = place_of(many[atoi(name + 3)]);
		assert_int_equal(order[next].function, many[atoi(name + 3)]);
		next++;
	}
	free(text);
}

/* The cursor goes through the rows in their order, and stays with its row, wherever that goes in the next answer. */
static void test_many_rows(void **state)
{
	static const enum action actions[] = {
		ACTION_UP, ACTION_DOWN, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_TOP, ACTION_BOTTOM,
	};
	struct random random = { .state = 51 };
	struct stage stage = raise_stage(MANY_ROWS + 2, 120, true);
	uint32_t many[MANY], at = 0;
	bool top = true;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "row%u", i);
		many[i] = symbols_group(hand_names, name, "");
	}
	for (int step = 0; step < MANY_STEPS; step++) {
		struct answers *before = stage.answers;
		enum action action = actions[random_below(&random, sizeof(actions) / sizeof(*actions))];

		if (step == 0 || random_below(&random, 2)) {
			answer(&stage, many_answers(&random, many));
			check_rows(&stage, many);
			answers_free(before);
			at = top ? order[0].function : at;
			assert_int_equal(under_cursor(&stage), at);
			continue;
		}
		at = order[moved_to(place_of(at), action, MANY_ROWS - 1)].function;
		top = action == ACTION_TOP;
		view_functions.act(stage.view, action);
		check_rows(&stage, many);
		assert_int_equal(under_cursor(&stage), at);
	}
	stage_strike(&stage);
}

/* Over all machines, threads of two have the same name: W stays on the machine of the row. */
static void test_w_stays_on_its_machine(void **state)
{
	static const char *const machines[] = { "1 web", "2 db" };
	struct stage stage = raise_stage(20, 120, true);
	struct function_table *functions = stage.answers->functions;
	uint32_t ids[4];

	(void)state;
	functions->by = GROUP_THREAD;
	functions->machine_count = 2;
	functions->machines = util_alloc(2 * sizeof(*functions->machines));
	functions->table->count = 4;
	for (uint32_t i = 0; i < 4; i++)
		ids[i] = functions->table->rows[i].function = symbols_group(hand_names, i < 2 ? "journal/10" : "log/7",
			machines[i % 2]);
	strcpy(functions->next, "journal/10");
	for (uint32_t i = 2; i < 4; i++) {
		functions->selected = ids[i];
		functions->tells_selected = true;
		stage_draw(&stage);
		view_functions.act(stage.view, ACTION_TOP);
		while (under_cursor(&stage) != ids[i])
			assert_true(view_functions.act(stage.view, ACTION_DOWN));
		assert_true(view_functions.act(stage.view, ACTION_WAKER));
		assert_int_equal(under_cursor(&stage), ids[i - 2]);
	}
	stage_strike(&stage);
}

/* The next answer, about this thread, which waits for that one; NULL: it waits for none that is known. */
static void come(struct stage *stage, uint32_t selected, const char *next)
{
	struct answers *before = stage->answers;

	answer(stage, hand_answers(hand_names, hand_functions));
	stage->answers->functions->by = stage->scope.by = GROUP_THREAD;
	stage->answers->functions->tells_now = true;
	stage->answers->functions->selected = selected;
	stage->answers->functions->tells_selected = selected != FUNCTION_NONE;
	if (next)
		util_print(stage->answers->functions->next, THREAD_TITLE, "%s", next);
	stage_draw(stage);
	answers_free(before);
}

/* W goes on with the answer about the row, however late that comes; unless the cursor is moved before. */
static void test_waker_waits_for_the_answer(void **state)
{
	static const char waits[] = "W goes on once it is known", vain[] = "not shown: the thread is in no row";
	struct stage stage = stage_raise(&view_threads, &config, 20, 120, true);
	const char *last = symbols_get(hand_names, hand_functions[7])->name;
	uint32_t first;

	(void)state;
	answer(&stage, stage.answers);
	come(&stage, FUNCTION_NONE, NULL);
	first = under_cursor(&stage);
	assert_int_not_equal(first, hand_functions[1]);
	for (int moved = 0; moved < 2; moved++) {
		assert_true(view_threads.act(stage.view, ACTION_WAKER));
		stage_holds(&stage, waits, true);
		come(&stage, hand_functions[1], last);			/* about another row */
		stage_holds(&stage, waits, true);
		assert_int_equal(under_cursor(&stage), first);
		if (moved)
			assert_true(view_threads.act(stage.view, ACTION_TOP));
		stage_holds(&stage, waits, !moved);
		come(&stage, first, symbols_get(hand_names, hand_functions[1])->name);
		stage_holds(&stage, waits, false);
		assert_int_equal(under_cursor(&stage), moved ? first : hand_functions[1]);
		view_threads.act(stage.view, ACTION_TOP);
		come(&stage, FUNCTION_NONE, NULL);
	}
	assert_true(view_threads.act(stage.view, ACTION_WAKER));
	come(&stage, first, NULL);
	stage_holds(&stage, vain, true);
	assert_false(view_threads.act(stage.view, ACTION_WAKER));	/* the screen says why */
	stage_holds(&stage, vain, false);
	come(&stage, first, symbols_get(hand_names, hand_functions[1])->name);
	assert_true(view_threads.act(stage.view, ACTION_WAKER));
	assert_int_equal(under_cursor(&stage), hand_functions[1]);
	stage_strike(&stage);
}

/* A loss is the reason, whether the answer is there or comes later. */
static void test_waker_tells_of_a_loss(void **state)
{
	static const char why[] = "not shown: trace events were lost, and with them for whom this thread waits";
	struct stage stage = stage_raise(&view_threads, &config, 20, 120, true);
	uint32_t first;

	(void)state;
	answer(&stage, stage.answers);
	come(&stage, FUNCTION_NONE, NULL);
	first = under_cursor(&stage);
	for (int late = 0; late < 2; late++) {
		if (late)
			assert_true(view_threads.act(stage.view, ACTION_WAKER));
		come(&stage, first, NULL);
		stage.answers->functions->lost = true;
		stage_holds(&stage, why, late);
		if (!late)
			assert_true(view_threads.act(stage.view, ACTION_WAKER));
		stage_holds(&stage, why, true);
		assert_int_equal(under_cursor(&stage), first);
		view_threads.act(stage.view, ACTION_TOP);
		stage_holds(&stage, why, false);
		come(&stage, FUNCTION_NONE, NULL);
	}
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_every_width),
		cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_never_breaks),
		cmocka_unit_test(test_sorting),
		cmocka_unit_test(test_sort_keeps_to_the_columns_shown),
		cmocka_unit_test(test_cursor_follows_the_function),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_w_stays_on_its_machine),
		cmocka_unit_test(test_few_samples_are_marked),
		cmocka_unit_test(test_empty_tables_tell_of_the_link),
		cmocka_unit_test(test_empty_tables_tell_of_the_vm),
		cmocka_unit_test(test_empty_tables_say_why),
		cmocka_unit_test(test_each_change_fits),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_waker_waits_for_the_answer),
		cmocka_unit_test(test_waker_tells_of_a_loss),
	};

	config_init(&config);
	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
