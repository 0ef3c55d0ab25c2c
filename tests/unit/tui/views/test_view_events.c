/* SPDX-License-Identifier: MIT */
/* The view Events alone: its order, its columns, what it says below the rows and in their place, hostile numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/event_table.h"
#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tui/frame/tab_row.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "tui/views/views.h"
#include "view_stage.h"

enum { MANY = 4096, LINE = 512 };

static struct config config;

static struct stage raise_stage(void)
{
	struct stage stage = stage_raise(&view_events, &config, 20, 80, true);

	hand_events(stage.answers, hand_names, 0);
	stage.shown = &stage.answers->events->answer;
	stage_draw(&stage);
	return stage;
}

/* The events of the rows, from above, as "s98 i4": the first word of the head is EVENT. */
static const char *order_of(struct stage *stage, char order[LINE])
{
	char *text, *line;

	stage_draw(stage);
	text = canvas_dump(stage->canvas);
	order[0] = '\0';
	for (line = strtok(strstr(text, "EVENT"), "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line + 2, "syscall ", 8) == 0 || strncmp(line + 2, "irq ", 4) == 0)
			util_print(order + strlen(order), LINE - strlen(order), "%s%c%d", *order ? " " : "", line[2],
				atoi(strchr(line + 2, ' ')));
	free(text);
	return order;
}

/* ---- order ---- */

/* The rows have come since the last drawing, in which the view was empty. */
static void test_keys_sort_rows_that_are_not_drawn_yet(void **state)
{
	struct stage stage = stage_raise(&view_events, &config, 20, 80, true);

	(void)state;
	stage_draw(&stage);
	hand_events(stage.answers, hand_names, 0);
	stage.shown = &stage.answers->events->answer;
	view_events.show(stage.view, stage.answers->vitals, stage.shown, &stage.scope);
	view_events.act(stage.view, ACTION_SORT_RIGHT);
	view_events.act(stage.view, ACTION_SORT_RIGHT);
	stage_holds(&stage, "p99▼", true);
	stage_strike(&stage);
}

static void test_each_column_sorts(void **state)
{
	static const struct { const char *head, *order; } columns[] = {	/* from TOTAL% to the right */
		{ "p50▼", "s98 s202 s0 s231 i32 s1 i4" }, { "p99▼", "s98 s202 s0 i32 s1 s231 i4" },
		{ "MAX▼", "s98 s202 s0 i32 s1 s231 i4" }, { "EVENT▼", "i4 i32 s0 s1 s98 s202 s231" },
		{ "COUNT▼", "s0 i32 s1 s98 i4 s202 s231" }, { "RATE▼", "s0 i32 s1 s98 i4 s202 s231" },
		{ "TOTAL%▼", "s0 s98 i32 s1 s202 i4 s231" },
	};
	struct stage stage = raise_stage();
	char order[LINE];

	(void)state;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		view_events.act(stage.view, i % 2 ? ACTION_SORT : ACTION_SORT_RIGHT);
		stage_holds(&stage, columns[i].head, true);
		assert_string_equal(order_of(&stage, order), columns[i].order);
	}
	view_events.act(stage.view, ACTION_SORT_LEFT);
	stage_holds(&stage, "RATE▼", true);
	view_events.act(stage.view, ACTION_SORT_CPU);
	stage_holds(&stage, "TOTAL%▼", true);
	view_events.act(stage.view, ACTION_INVERT);
	stage_holds(&stage, "TOTAL%▲", true);
	assert_string_equal(order_of(&stage, order), "s231 i4 s202 s1 i32 s98 s0");
	stage_strike(&stage);
}

/* The column at which this text begins in the heads. */
static int column_of(const struct stage *stage, const char *head)
{
	int column = 0, same = 0;

	while (head[same] && column < stage->canvas->columns) {
		const struct cell *cell = canvas_cell(stage->canvas, 0, column + same);

		same = cell && cell->code == (unsigned char)head[same] ? same + 1 : 0;
		column += !same;
	}
	assert_int_equal(head[same], '\0');
	return column;
}

static void test_heads_are_clicked(void **state)
{
	static const char *const heads[] = { "EVENT", "COUNT", "RATE", "p50", "p99", "MAX", "TOTAL%" };
	struct stage stage = raise_stage();
	char wanted[LINE];

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		stage_resize(&stage, 20, 80, true);
		view_events.click(stage.view, 0, column_of(&stage, heads[i]));
		snprintf(wanted, sizeof(wanted), "%s▼", heads[i]);
		stage_holds(&stage, wanted, true);
	}
	view_events.click(stage.view, 0, column_of(&stage, "TOTAL%"));
	stage_holds(&stage, "TOTAL%▲", true);
	view_events.click(stage.view, 0, column_of(&stage, "TREND"));	/* of counts */
	stage_holds(&stage, "COUNT▼", true);
	stage_strike(&stage);
}

/* Rows that are equal in the sorted column stand as in the answer, whichever way it is sorted. */
static void test_equal_rows_have_one_order(void **state)
{
	struct stage stage = raise_stage();
	char order[LINE];

	(void)state;
	for (uint32_t i = 0; i < stage.answers->events->count; i++)
		stage.answers->events->rows[i].count = 7;
	for (int i = 0; i < 5; i++)
		view_events.act(stage.view, ACTION_SORT_RIGHT);
	stage_holds(&stage, "COUNT▼", true);
	assert_string_equal(order_of(&stage, order), "s0 s98 i32 s1 s202 i4 s231");
	view_events.act(stage.view, ACTION_INVERT);
	assert_string_equal(order_of(&stage, order), "s0 s98 i32 s1 s202 i4 s231");
	stage_strike(&stage);
}

/* ---- the cursor ---- */

/* It follows its event when the rows change places, and in another boot. */
static void test_the_cursor_follows(void **state)
{
	struct stage stage = raise_stage();

	(void)state;
	view_events.act(stage.view, ACTION_DOWN);
	stage_holds(&stage, "> syscall 98 ", true);
	answers_free(stage.answers);
	stage.answers = hand_answers(hand_names, hand_functions);
	hand_events(stage.answers, hand_names, 10000);
	stage.shown = &stage.answers->events->answer;
	stage.answers->events->answer.boot = 2;
	stage_draw(&stage);
	stage_holds(&stage, "> syscall 98 ", true);
	stage_holds(&stage, " syscall 98: 11,204 and 12 whose end was lost, total 28s, p50 250us", true);
	view_events.click(stage.view, 3, 10);
	stage_holds(&stage, "> irq 32 ", true);
	stage_holds(&stage, " irq 32: 40,000, total 480ms, p50 2.0us, p99 32us, max 64us", true);
	stage_strike(&stage);
}

static void test_search(void **state)
{
	struct stage stage = raise_stage();

	(void)state;
	assert_true(view_events.search(stage.view, "syscall 2", LIST_HERE));
	stage_holds(&stage, "> syscall 202 ", true);
	assert_true(view_events.search(stage.view, "syscall 2", LIST_NEXT));
	stage_holds(&stage, "> syscall 231 ", true);
	assert_false(view_events.search(stage.view, "sched", LIST_NEXT));
	strcpy(stage.scope.match, "irq");
	stage_draw(&stage);
	assert_int_equal(canvas_cell(stage.canvas, 3, 2)->style, STYLE_MATCH);
	assert_int_equal(canvas_cell(stage.canvas, 3, 4)->style, STYLE_MATCH);
	assert_int_equal(canvas_cell(stage.canvas, 3, 5)->style, STYLE_TEXT);
	stage_strike(&stage);
}

/* ---- room ---- */

/* The least important columns go first. The name and p99 stay; the histogram is beside the rows, or below. */
static void test_columns_by_width(void **state)
{
	static const struct { int columns; const char *heads, *gone; } rows[] = {
		{ 20, " EVENT          p99", "MAX" }, { 28, "p99    MAX", "COUNT" },
		{ 38, "COUNT    p99    MAX", "TOTAL" },
		{ 46, "COUNT TOTAL%▼    p99    MAX", "   p50" }, { 53, "COUNT TOTAL%▼    p50    p99    MAX", "RATE" },
		{ 61, "COUNT    RATE TOTAL%▼    p50    p99    MAX", "TREND" },
		{ 73, "MAX  TREND 60s", "BY DURATION" }, { 119, "MAX  TREND 60s", "BY DURATION" },
		{ 120, "│ syscall 0 BY DURATION, LOG", "by duration" },
	};
	struct stage stage = raise_stage();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		stage_resize(&stage, 20, rows[i].columns, true);
		stage_holds(&stage, rows[i].heads, true);
		stage_holds(&stage, rows[i].gone, false);
	}
	stage_strike(&stage);
}

/* They stand there whole wherever a trend stands, which needs the room less. */
static void test_long_names_are_whole(void **state)
{
	struct stage stage = raise_stage();
	struct event_row *row = &stage.answers->events->rows[0];

	(void)state;
	row->kind = SPAN_HOLD;
	row->number = UINT64_C(0xffff888003a1b2c0);
	row->called[0] = '\0';
	row->open = 1;
	stage_resize(&stage, 20, 80, true);
	stage_holds(&stage, "> hold ffff888003a1b2c0 ", true);
	stage_holds(&stage, "TREND", false);
	stage_resize(&stage, 20, 120, true);
	stage_holds(&stage, "> hold ffff888003a1b2c0 ", true);
	row->kind = SPAN_PAIR;
	strcpy(row->called, "get_page_from_freelis");
	stage_resize(&stage, 20, 120, true);
	stage_holds(&stage, "> get_page_from_freelis ", true);
	row->kind = SPAN_HOLD;
	row->called[0] = '\0';
	view_events.act(stage.view, ACTION_GROUP);
	stage.answers->events->by = EVENT_BY_THREAD;
	strcpy(row->title, "kworker/u256:12/1234567");
	stage_resize(&stage, 20, 200, true);
	stage_holds(&stage, "> kworker/u256:12/1234567: hold ffff888003a1b2c0 ", true);
	stage_strike(&stage);
}

static void at_all_sizes(struct stage *stage)
{
	for (int rows = 0; rows < 40; rows += rows < 14 ? 1 : 7)
		for (int columns = 0; columns < 210; columns += columns < 130 ? 3 : 11) {
			stage_draw_safely(stage, rows, columns, columns % 2 == 0);
			view_events.act(stage->view, ACTION_BOTTOM);
			view_events.act(stage->view, ACTION_RIGHT);
			view_events.click(stage->view, rows / 2, columns / 2);
			view_events.click(stage->view, -1, columns + 1);
			view_events.act(stage->view, rows % 2 ? ACTION_SORT_LEFT : ACTION_SORT_RIGHT);
		}
}

static struct event_row hostile(uint32_t i)
{
	struct event_row row = { .kind = i % 2 ? SPAN_CALL : SPAN_INTERRUPT, .number = UINT64_MAX - i };

	if (i % 3 == 0)
		return row;			/* nothing has ended; a row that should not be */
	row.count = row.lost = row.total = row.p50 = row.p99 = row.max = UINT64_MAX - i;
	for (int bar = 0; bar < EVENT_BARS; bar++)
		row.bars[bar] = i % 5 ? UINT32_MAX : (uint32_t)bar;
	memset(row.trend, 0xff, sizeof(row.trend));
	memset(row.over, 0xff, sizeof(row.over));
	return row;
}

static void test_hostile_numbers(void **state)
{
	static struct event_row rows[MANY];
	struct event_table table = { .answer.kind = &event_table_kind, .now = UINT64_MAX, .from = 1, .to = 2,
		.kept_from = 1, .traced = true, .events = UINT64_MAX, .lost = UINT64_MAX, .unmatched = UINT64_MAX,
		.late = UINT64_MAX, .refused = UINT64_MAX, .rows = rows };
	struct stage stage = raise_stage();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		rows[i] = hostile(i);
	stage.shown = &table.answer;
	at_all_sizes(&stage);			/* no rows */
	table.count = 1;
	stage_draw(&stage);
	stage.shown = NULL;
	at_all_sizes(&stage);
	table.count = MANY;
	table.answer.partial = true;
	stage.shown = &table.answer;
	stage.scope.base.until_ns = 1;
	at_all_sizes(&stage);
	table.from = table.to;			/* a range of no length */
	at_all_sizes(&stage);
	stage_strike(&stage);
}

/* ---- numbers ---- */

static void test_numbers_and_durations(void **state)
{
	static const struct { uint64_t count, ns; const char *row; } rows[] = {
		{ 0, 0, "0     0/s    0.00      -      -      -" },
		{ 1, 999, "1  0.10/s    0.00  999ns  999ns  999ns" },
		{ 99, 9949, "99   9.9/s    0.00  9.9us  9.9us  9.9us" },
		{ 100, 9950, "100    10/s    0.00   10us   10us   10us" },
		{ 12345, 999500, "12,345 1,235/s    0.01  1.0ms  1.0ms  1.0ms" },
		{ 9999999, 48000000, "9,999,999  1.0M/s    0.48   48ms   48ms   48ms" },
		{ 10000000, 2100000000, "10.0M  1.0M/s   21.00   2.1s   2.1s   2.1s" },
		{ 123456789, 9999 * NS_PER_SECOND, "123M 12.3M/s    100k  9999s  9999s  9999s" },
		{ UINT64_MAX, UINT64_MAX, "18.4E  1.8E/s    184G   585y   585y   585y" },
	};
	struct stage stage = raise_stage();

	(void)state;
	stage.answers->events->count = 1;
	stage_draw(&stage);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct event_row *row = &stage.answers->events->rows[0];

		row->count = rows[i].count;
		row->total = row->p50 = row->p99 = row->max = rows[i].ns;
		stage_holds(&stage, rows[i].row, true);
	}
	stage_strike(&stage);
}

/* ---- the histogram ---- */

static void test_histogram(void **state)
{
	struct stage stage = raise_stage();
	struct event_row *row = &stage.answers->events->rows[0];

	(void)state;
	memset(row->bars, 0, sizeof(row->bars));
	row->bars[10] = 800;
	row->bars[11] = 400;
	row->bars[13] = 1;
	stage_holds(&stage, "  1.0us ██▅▅  ▁▁ 16us  syscall 0 by duration, log", true);
	row->bars[EVENT_BARS - 1] = 800;		/* and all that are longer */
	stage_holds(&stage, "██ 550s+\n", true);
	stage_resize(&stage, 20, 120, true);
	stage_holds(&stage, "│ the highest bar is 800", true);
	stage_holds(&stage, "│ 1.0us   ", true);
	stage_holds(&stage, "   550s+", true);
	stage_holds(&stage, "│   p50", true);	/* 8.0us are in the fourth bar: they are in the middle of two */
	memset(row->over, 0, sizeof(row->over));
	stage_holds(&stage, "heat over time", false);
	row->over[2] = 8;
	row->over[EVENT_OVER - 1] = 2;
	stage_holds(&stage, "│ heat over time: 00:03:02, each 250ms", true);
	stage_holds(&stage, "│ ··█···", true);
	stage_holds(&stage, "···▃\n", true);
	stage_resize(&stage, 12, 120, true);
	stage_holds(&stage, "heat over time", false);	/* there is room for the bars alone */
	stage_resize(&stage, 20, 120, true);
	memset(row->bars, 0, sizeof(row->bars));
	stage_holds(&stage, "the highest bar", false);	/* none has an end that is known */
	for (int i = 0; i < EVENT_BARS; i++)
		row->bars[i] = 5;
	stage_holds(&stage, "│ 1ns ", true);			/* bars are joined where room is short */
	stage_holds(&stage, "   550s+", true);
	stage_strike(&stage);
}

/* ---- what has not ended ---- */

/* Its column is there where it tells something. A row may have nothing else: `moment` then leads to the oldest. */
static void test_what_has_not_ended(void **state)
{
	struct stage stage = raise_stage();
	struct event_row *row = &stage.answers->events->rows[stage.answers->events->count - 1];
	struct view_moment moment;

	(void)state;
	stage_holds(&stage, "OPEN", false);
	*row = (struct event_row) { .kind = SPAN_CALL, .number = 7, .part = SLOW_ALL, .open = 3,
		.oldest = stage.answers->events->from, .oldest_ns = 2100 * NS_PER_MS, .oldest_of = 41, .oldest_on = 2 };
	view_events.show(stage.view, stage.answers->vitals, NULL, &stage.scope);
	stage_holds(&stage, "MAX       OPEN", true);
	stage_holds(&stage, "   3, 2.1s", true);
	view_events.act(stage.view, ACTION_BOTTOM);
	stage_holds(&stage, "syscall 7: 0, 3 open for 2.1s", true);
	assert_true(view_events.moment(stage.view, &moment));
	assert_int_equal(moment.thread, 41);
	assert_int_equal(moment.cpu, 2);
	assert_true(moment.from < row->oldest && moment.to == row->oldest + row->oldest_ns && moment.at < moment.to);
	stage_strike(&stage);
}

/* ---- what is said ---- */

static void test_what_is_missing_is_told(void **state)
{
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;

	(void)state;
	stage_resize(&stage, 30, 400, true);		/* all in one row */
	table->lost = 1;
	stage_holds(&stage, " 1 trace event was lost\n", true);
	table->lost = 12;
	table->unmatched = 3;
	table->late = 2;
	table->refused = 5;
	stage_holds(&stage, "12 trace events were lost; 3 beginnings or ends have no partner; 2 trace events came "
		"too late for their place; 5 spans found no room; give more by --memory\n", true);
	table->kept_from = table->from;
	table->forgot = true;
	table->answer.partial = true;
	stage_holds(&stage, "since 00:03:02, older spans were forgotten; more events of this time are still to come",
		true);
	table->forgot = false;			/* not of this range */
	stage_holds(&stage, "older spans", false);
	table->exact_from = table->from + NS_PER_SECOND;
	table->open_known = false;
	stage_holds(&stage, "before 00:03:03, times are rounded to whole seconds or more", true);
	stage_holds(&stage, "what had not ended at the end of this window is not known any more", true);
	table->open_known = true;
	stage_holds(&stage, "not known any more", false);
	table->exact_from = 0;
	assert_true(scope_filter(&stage.scope, "cpu:1 thread:main process:7 comm:main", NULL));
	stage_holds(&stage, "of the filter only", false);
	assert_true(scope_filter(&stage.scope, "cpu:1 mode:kernel", NULL));
	table->lost = table->unmatched = table->late = table->refused = 0;
	stage_holds(&stage, "of the filter only its names, CPUs, threads and processes count here", true);
	assert_true(scope_filter(&stage.scope, "syscall", NULL));
	stage_holds(&stage, "of the filter only", false);
	stage_resize(&stage, 3, 20, true);			/* even where hardly anything has room */
	stage_holds(&stage, "still to come", false);
	stage_holds(&stage, "more events of", true);
	stage_strike(&stage);
}

/* Of the states, each test sets what it needs; what comes first is said first. */
static void test_why_there_is_nothing(void **state)
{
	struct stage stage = raise_stage();
	struct vitals *vitals = stage.answers->vitals;
	struct event_table *table = stage.answers->events;

	(void)state;
	table->count = 0;
	stage.shown = NULL;
	stage_holds(&stage, "The first answer is being made.", true);
	stage.shown = &table->answer;
	stage_holds(&stage, "Nothing that is traced has happened in this window.", true);
	stage_holds(&stage, "If this lasts, F7 takes a longer window.", true);
	stage.scope.zero_ns = 1;
	stage_holds(&stage, "Esc counts all again.", true);
	stage.scope.until_ns = 1;
	stage_holds(&stage, "Z goes back to now.", true);
	stage.scope.moved = true;
	stage_holds(&stage, ". goes back to now; [ and ] move it.", true);
	for (int name = 0; name < 2; name++) {
		assert_true(scope_filter(&stage.scope, name ? "syscall" : "cpu:1", NULL));
		stage_holds(&stage, "Nothing that the filter lets pass has ended in this window.", true);
	}
	scope_init(&stage.scope);
	table->traced = false;
	stage_holds(&stage, "Nothing is traced: no system call, interrupt or wait.", true);
	stage_holds(&stage, "`ktop ctl events +irq +syscall +sched` switches it on.", true);
	table->lost = 4;
	stage_holds(&stage, "4 trace events were lost", true);
	vitals->sampler = SAMPLER_STUB;
	stage_holds(&stage, "The gdb stub sees no trace events.", true);
	vitals->play.there = true;
	stage_holds(&stage, "In this recording, nothing was traced up to here.", true);
	vitals->play.there = false;
	vitals->sampler = SAMPLER_TIMER;
	vitals->running = false;			/* what is not profiled is not traced */
	stage_holds(&stage, "Profiling is off in the guest.", true);
	vitals->vm = VM_PAUSED;
	stage_holds(&stage, "Profiling is off", false);
	stage_holds(&stage, "Nothing is traced", false);
	vitals->vm = VM_RUNNING;
	vitals->running = true;
	table->now = 0;
	stage_holds(&stage, "The guest has not told of itself.", true);
	stage_strike(&stage);
}

static void show_two_machines(struct stage *stage, struct event_share *shares)
{
	struct vitals *vitals = stage->answers->vitals;

	vitals->machine_count = stage->answers->events->machine_count = 2;
	vitals->machines = util_alloc(2 * sizeof(*vitals->machines));
	strcpy(vitals->machines[0].name, "1 web");
	strcpy(vitals->machines[1].name, "2 db");
	stage->answers->events->shares = shares;
}

/* The line below tells what each has of the row, the note who traces nothing. */
static void test_many_machines(void **state)
{
	struct event_share shares[] = { { 0 }, { .count = 0 }, { .count = 1200, .p99 = 64 * NS_PER_MS },
		{ .count = 4, .p99 = 2 * NS_PER_MS }, };
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;

	(void)state;
	show_two_machines(&stage, shares);
	table->rows[1].shares = 2;
	assert_non_null(view_events.ask(stage.view, &stage.scope));
	stage_resize(&stage, 20, 200, true);
	stage_holds(&stage, "> syscall 0 ", true);
	stage_holds(&stage, "1 web", false);
	view_events.act(stage.view, ACTION_DOWN);
	stage_holds(&stage, "; 1 web: 1,200, p99 64ms; 2 db: 4, p99 2.0ms", true);
	table->untraced = 2;
	stage_holds(&stage, "2 db: nothing is traced", true);
	table->slow_more = 3;
	stage_holds(&stage, "more of this name", false);	/* that is of a page */
	view_events.act(stage.view, ACTION_OPEN);
	stage_holds(&stage, "3 more of this name are not looked at", true);
	table->machine_count = 0;		/* the hand's own again, which frees no parts */
	stage_strike(&stage);
}

/* Where one of them has no baseline, the change is that of the others, and that is said. */
static void test_machines_are_compared_like_with_like(void **state)
{
	struct event_share shares[] = { { .count = 900, .total = 900 * NS_PER_MS }, { .count = 100,
		.total = 100 * NS_PER_MS }, };
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;

	(void)state;
	show_two_machines(&stage, shares);
	table->count = 1;
	table->to = table->from + 10 * NS_PER_SECOND;
	table->base_from = table->from - 10 * NS_PER_SECOND;
	table->base_to = table->from;
	table->rows[0].count = 1000;
	table->rows[0].total = NS_PER_SECOND;
	table->compared = true;
	for (int i = 0; i < 3; i++) {
		static const char *const changes[] = { "10.00  +10.00 ", "10.00   +1.00 ", "10.00   +0.00 " };

		table->uncompared = (uint32_t)(i == 2 ? 3 : i);
		stage_resize(&stage, 20, 200, true);
		stage_holds(&stage, changes[i], true);
		stage_holds(&stage, "1 web: no baseline, so no change tells of it", i);
	}
	table->machine_count = 0;		/* the hand's own again, which frees no parts */
	stage_strike(&stage);
}

/* Numbers of a name differ from machine to machine, so its text says where a row stands. */
static void test_names_of_many_machines_are_sorted(void **state)
{
	static const char *const called[] = { "write", "close", "mark 10", "mark 9" };
	static const char *const sorted[] = { "syscall close", "syscall mark 9", "syscall mark 10", "syscall write" };
	struct event_share shares[] = { { .count = 0 }, { .count = 0 } };
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		table->rows[i] = (struct event_row) { .kind = SPAN_CALL, .number = 5 * i % 4, .part = SLOW_ALL,
			.count = 1, .total = 4 - i };
		strcpy(table->rows[i].called, called[i]);
	}
	table->count = 4;
	table->shares = shares;
	table->machine_count = 2;
	view_events.show(stage.view, stage.answers->vitals, NULL, &stage.scope);
	stage_resize(&stage, 20, 80, true);
	view_events.click(stage.view, 0, column_of(&stage, "EVENT"));
	for (int inverted = 0; inverted < 2; inverted++) {
		char *text = stage_text(&stage);

		for (int i = 0; i < 3; i++)
			assert_true((strstr(text, sorted[i]) < strstr(text, sorted[i + 1])) == !inverted);
		free(text);
		view_events.act(stage.view, ACTION_INVERT);
	}
	table->machine_count = 0;		/* the hand's own again, which frees no parts */
	stage_strike(&stage);
}

/* The question is that of the scope; nothing is asked where nothing is shown. */
static void test_question(void **state)
{
	struct stage stage = raise_stage();
	const struct request *request;

	(void)state;
	stage.scope.window_ns = 60 * NS_PER_SECOND;
	request = view_events.ask(stage.view, &stage.scope);
	assert_true(request->kind == &event_table_kind);
	assert_int_equal(request->excerpt.window_ns, 60 * NS_PER_SECOND);
	assert_true(view_events.takes(stage.view, &stage.answers->events->answer, &stage.scope));
	assert_false(view_events.takes(stage.view, &stage.answers->functions->answer, &stage.scope));
	assert_int_equal(view_events.told(stage.view).end, stage.answers->events->to);
	stage_resize(&stage, 0, 0, true);
	assert_null(view_events.ask(stage.view, &stage.scope));
	stage_strike(&stage);
}

/* ---- the page of a row ---- */

static void open_page(struct stage *stage)
{
	view_events.act(stage->view, ACTION_DOWN);
	stage_draw(stage);
	assert_true(view_events.act(stage->view, ACTION_OPEN));
}

/* Enter opens it, Esc goes back to the same row; it asks for the row's slowest, and shows no others. */
static void test_the_page_of_a_row(void **state)
{
	struct stage stage = raise_stage();
	const struct event_request *request;
	struct view_way way = { .count = 0 };

	(void)state;
	assert_false(view_events.act(stage.view, ACTION_BACK));
	request = (const struct event_request *)view_events.ask(stage.view, &stage.scope);
	assert_int_equal(request->slow, 0);
	open_page(&stage);
	request = (const struct event_request *)view_events.ask(stage.view, &stage.scope);
	assert_int_equal(request->slow, 1);
	assert_int_equal(request->slow_kind, SPAN_CALL);
	assert_int_equal(request->slow_numbers[0], 98);
	assert_int_equal(request->slow_part, stage.answers->events->rows[1].part);
	view_events.way(stage.view, &way);
	assert_int_equal(way.count, 1);
	assert_string_equal(way.steps[0].name, "syscall 98");
	stage.answers->events->slow_told = false;
	stage_holds(&stage, "The slowest are being looked for.", true);
	stage.answers->events->slow_told = true;
	stage_holds(&stage, "the slowest of syscall 98", true);
	stage_holds(&stage, "> 00:03:02.000  128ms  main/1         sleep 97%            (3, 0x7fff", true);
	stage_holds(&stage, " syscall_98(3, 0x7fffffffeeb0, 256) = 256: took 128ms on cpu 0, ran 1%, slept", true);
	view_events.act(stage.view, ACTION_DOWN);
	stage_holds(&stage, "> 00:03:03.234   64ms  writer/17      lock inode 63%, ma", true);
	stage_holds(&stage, "waited for lock inode 63%, held by main/1\n", true);
	stage_holds(&stage, "reader/4       cpu 11%", true);
	stage_holds(&stage, "reader/4       not known", true);
	assert_true(view_events.search(stage.view, "reader", LIST_NEXT));
	stage_holds(&stage, "> 00:03:04.468  9.0ms  reader/4", true);
	assert_false(view_events.act(stage.view, ACTION_SORT));
	assert_true(view_events.act(stage.view, ACTION_BACK));
	stage_holds(&stage, "> syscall 98 ", true);
	stage_strike(&stage);
}

static void test_the_page_of_a_pair(void **state)
{
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;

	(void)state;
	table->rows[1].kind = table->slow_of.kind = SPAN_PAIR;
	strcpy(table->rows[1].called, "disk");
	strcpy(table->slow[0].call, "disk(block=7) = error=-5");
	open_page(&stage);
	stage_resize(&stage, 20, 120, true);
	stage_holds(&stage, "the slowest of disk\n", true);
	stage_holds(&stage, " FIELDS", true);
	stage_holds(&stage, " (block=7) = error=-5\n", true);
	stage_holds(&stage, " disk(block=7) = error=-5: took 128ms on cpu 0", true);
	stage_strike(&stage);
}

static void test_a_moment_of_the_page(void **state)
{
	struct stage stage = raise_stage();
	struct view_moment moment;
	const struct slow_row *row = &stage.answers->events->slow[1];

	(void)state;
	open_page(&stage);
	stage_draw(&stage);
	view_events.click(stage.view, 3, 10);
	assert_true(view_events.moment(stage.view, &moment));
	assert_int_equal(moment.at, row->begin);
	assert_int_equal(moment.thread, row->thread);
	assert_int_equal(moment.cpu, row->cpu);
	assert_true(moment.from < row->begin && moment.to > row->end);
	stage.answers->events->slow_count = 0;
	assert_false(view_events.moment(stage.view, &moment));
	stage_strike(&stage);
}

/* Beside each row's share, what has become of it, and its 99th percentile then. */
static void test_a_baseline(void **state)
{
	struct stage stage = raise_stage();
	struct event_table *table = stage.answers->events;
	char order[LINE];

	(void)state;
	stage_holds(&stage, "WAS", false);
	table->compared = true;
	table->base_from = 100 * NS_PER_SECOND;
	table->base_to = 120 * NS_PER_SECOND;		/* twice as long as the window */
	table->rows[1].was = (struct event_sums) {
		.count = 2000, .total = 20 * NS_PER_SECOND, .p50 = 100000, .p99 = 3000000, .max = 4000000 };
	table->rows[2].was = (struct event_sums) { .count = 5, .total = 10 * NS_PER_SECOND, .p99 = 77 * NS_PER_MS };
	table->rows[2].count = table->rows[2].total = 0;
	stage_resize(&stage, 20, 110, true);
	stage_holds(&stage, "TOTAL%", true);
	stage_holds(&stage, "CHANGE", true);
	stage_holds(&stage, " 3.0ms ", true);
	stage_holds(&stage, "  77ms ", true);			/* gone: nothing but that is known of it */
	stage_holds(&stage, " -50.00 ", true);
	stage_holds(&stage, "   new ", true);
	assert_true(view_events.search(stage.view, "syscall 98", LIST_HERE));
	stage_resize(&stage, 20, 220, true);
	stage_holds(&stage, "; before: 2,000 (100/s), p50 100us, p99 3.0ms", true);
	for (int i = 0; i < 3; i++)			/* TOTAL%, CHANGE, p50, p99 */
		view_events.act(stage.view, ACTION_SORT_RIGHT);
	assert_int_equal(strncmp(order_of(&stage, order), "s98 ", 4), 0);
	view_events.act(stage.view, ACTION_SORT_RIGHT);
	assert_int_equal(strncmp(order_of(&stage, order), "i32 s98 ", 8), 0);
	stage_strike(&stage);
}

static void test_why_the_page_is_empty_or_short(void **state)
{
	struct stage stage = raise_stage();

	(void)state;
	open_page(&stage);
	stage_resize(&stage, 20, 200, true);
	stage.answers->events->exact_from = stage.answers->events->slow_from;
	stage.answers->events->slow_from -= NS_PER_SECOND;
	stage_holds(&stage, "before 00:03:02, only the longest of each minute are known", true);
	stage.scope.base.until_ns = 1;
	stage_holds(&stage, "; this view shows no change since the baseline", true);
	stage.scope.base.until_ns = 0;
	stage.answers->events->slow_forgot = true;
	stage_holds(&stage, "since 00:03:01, older spans were forgotten", true);
	stage.answers->events->slow_count = 0;
	stage_holds(&stage, "None of these has ended in this window, with a known end.", true);
	stage.answers->events->slow_from = stage.answers->events->to;
	stage_holds(&stage, "All that ended in this window was forgotten", true);
	view_events.act(stage.view, ACTION_BACK);
	stage_holds(&stage, "forgotten", false);
	stage_strike(&stage);
}

static void test_the_page_at_all_sizes(void **state)
{
	struct stage stage = raise_stage();

	(void)state;
	open_page(&stage);
	for (uint32_t i = 0; i < stage.answers->events->slow_count; i++) {
		struct slow_row *row = &stage.answers->events->slow[i];

		row->begin = i % 2 ? UINT64_MAX : 0;
		row->end = row->ran = row->slept = row->lock_ns = row->locked = UINT64_MAX;
		row->cpu = UINT32_MAX;
		memset(row->call, 'x', sizeof(row->call) - 1);
		memset(row->title, 'x', sizeof(row->title) - 1);
		memset(row->lock_name, 'x', sizeof(row->lock_name) - 1);
		memset(row->holder_title, 'x', sizeof(row->holder_title) - 1);
	}
	at_all_sizes(&stage);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_sort_rows_that_are_not_drawn_yet),
		cmocka_unit_test(test_each_column_sorts),
		cmocka_unit_test(test_heads_are_clicked),
		cmocka_unit_test(test_equal_rows_have_one_order),
		cmocka_unit_test(test_the_cursor_follows),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_columns_by_width),
		cmocka_unit_test(test_long_names_are_whole),
		cmocka_unit_test(test_hostile_numbers),
		cmocka_unit_test(test_numbers_and_durations),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_what_has_not_ended),
		cmocka_unit_test(test_what_is_missing_is_told),
		cmocka_unit_test(test_why_there_is_nothing),
		cmocka_unit_test(test_many_machines),
		cmocka_unit_test(test_machines_are_compared_like_with_like),
		cmocka_unit_test(test_names_of_many_machines_are_sorted),
		cmocka_unit_test(test_question),
		cmocka_unit_test(test_the_page_of_a_row),
		cmocka_unit_test(test_the_page_of_a_pair),
		cmocka_unit_test(test_a_moment_of_the_page),
		cmocka_unit_test(test_a_baseline),
		cmocka_unit_test(test_why_the_page_is_empty_or_short),
		cmocka_unit_test(test_the_page_at_all_sizes),
	};

	config_init(&config);
	config.keys.tabs = true;
	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
