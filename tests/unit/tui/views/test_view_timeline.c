/* SPDX-License-Identifier: MIT */
/* The view Timeline alone: what it says below the rows and in their place, hostile answers, any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/timeline.h"
#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/safe_canvas.h"
#include "tui/views/config.h"
#include "tui/views/views.h"
#include "view_stage.h"

enum { HOSTILE = 40, ROWS_MOST = 40, COLUMNS_MOST = 210 };

static struct config config;

enum { ROWS = 5 };			/* of hand_timeline */

static struct stage raise_stage(void)
{
	struct stage stage = stage_raise(&view_timeline, &config, 20, 400, true);	/* all in one row */

	hand_timeline(stage.answers, hand_names);
	stage.shown = &stage.answers->timeline->answer;
	stage_draw(&stage);
	return stage;
}

/* ---- what is said ---- */

static void test_what_is_missing_is_told(void **state)
{
	struct stage stage = raise_stage();
	struct timeline *timeline = stage.answers->timeline;

	(void)state;
	timeline->lost = timeline->unmatched = timeline->late = 1;
	stage_holds(&stage, "\n 1 trace event was lost in all; 1 beginning or end has no partner; "
		"1 trace event came too late for its place\n", true);
	timeline->lost = 12;
	timeline->unmatched = 3;
	timeline->late = 2;
	timeline->refused = 5;
	timeline->cpus_more = 7;
	timeline->threads_more = 9;
	stage_holds(&stage, "\n 12 trace events were lost in all; 3 beginnings or ends have no partner; 2 trace events "
		"came too late for their place; 5 spans found no room; give more by --memory; 7 more CPUs have no row; "
		"9 more threads have no row\n", true);
	timeline->lost = timeline->unmatched = timeline->late = timeline->refused = 0;
	timeline->cpus_more = timeline->threads_more = 0;
	timeline->kept_from = timeline->from + NS_PER_SECOND;
	timeline->exact_from = timeline->from + 2 * NS_PER_SECOND;
	timeline->answer.partial = true;
	stage.scope.base.until_ns = 1;
	stage_holds(&stage, "\n since 00:03:01, older spans were forgotten; before 00:03:02, only sums of a second or "
		"more are known; more events of this time are still to come; this view shows no change since the "
		"baseline\n", true);
	timeline->stateless = true;
	stage_holds(&stage, "\n states are not known: no switch is traced; `ktop ctl events +sched`; since ", true);
	stage_strike(&stage);
}

/* Words about anything but CPUs, threads, processes and machines count for no row. */
static void test_what_of_the_filter_is_ignored_is_told(void **state)
{
	static const char *const ignored[] = { "mode:kernel", "cpu:0 memcpy", "object:vmlinux", "under:main",
		"file:mm/" };
	struct stage stage = raise_stage();

	(void)state;
	assert_true(scope_filter(&stage.scope, "cpu:1 thread:main process:7 comm:main machine:1", NULL));
	stage_holds(&stage, "of the filter", false);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++) {
		assert_true(scope_filter(&stage.scope, ignored[i], NULL));
		stage_holds(&stage, "\n of the filter only its CPUs, threads and processes count here\n", true);
	}
	stage_strike(&stage);
}

/* Of the states, each test sets what it needs; what comes first is said first. */
/* The line below tells of the call and of the pair of the kernel's own that the thread was in. */
static void test_a_pair_is_told(void **state)
{
	struct stage stage = raise_stage();
	struct timeline *timeline = stage.answers->timeline;

	(void)state;
	stage_resize(&stage, 20, 200, true);
	strcpy(timeline->names[2], "fsync");
	timeline->moment.is_in_pair = true;
	timeline->moment.pair = (struct timeline_span) {
		.kind = SPAN_PAIR, .name = 2, .begin = timeline->from, .end = timeline->from + 3 * NS_PER_MS };
	stage_holds(&stage, "; in fsync for 3.00ms", true);
	timeline->moment.pair.open = true;
	stage_holds(&stage, "; in fsync for 3.00ms so far", true);
	stage_strike(&stage);
}

static void test_why_there_is_nothing(void **state)
{
	struct stage stage = raise_stage();
	struct vitals *vitals = stage.answers->vitals;
	struct timeline *timeline = stage.answers->timeline;

	(void)state;
	timeline->count = 0;
	stage.shown = NULL;
	stage_holds(&stage, "The first answer is being made.", true);
	stage.shown = &timeline->answer;
	stage_holds(&stage, "No trace event tells of a CPU or thread in this window.", true);
	assert_true(scope_filter(&stage.scope, "mode:kernel", NULL));
	stage_holds(&stage, "No trace event tells of a CPU or thread in this window.", true);
	assert_true(scope_filter(&stage.scope, "cpu:1", NULL));
	stage_holds(&stage, "No trace event tells of a CPU or thread that the filter lets pass.", true);
	timeline->traced = false;
	stage_holds(&stage, "Nothing is traced: no system call, interrupt or wait.", true);
	vitals->running = false;
	stage_holds(&stage, "Profiling is off in the guest.", true);
	vitals->vm = VM_PAUSED;
	stage_holds(&stage, "Profiling is off", false);
	vitals->vm = VM_RUNNING;
	vitals->running = true;
	timeline->now = 0;
	stage_holds(&stage, "The guest has not told of itself.", true);
	stage_strike(&stage);
}

/* ---- many machines ---- */

static struct timeline_request asked(struct stage *stage)
{
	return *(const struct timeline_request *)view_timeline.ask(stage->view, &stage->scope);
}

/* Each row is called after its machine, is asked of that, and who woke its thread is of that, too. */
static void test_many_machines(void **state)
{
	struct stage stage = raise_stage();
	struct vitals *vitals = stage.answers->vitals;
	struct timeline *timeline = stage.answers->timeline;

	(void)state;
	assert_int_equal(asked(&stage).rows, 0);
	vitals->machine_count = timeline->machine_count = 2;
	vitals->machines = util_alloc(2 * sizeof(*vitals->machines));
	strcpy(vitals->machines[0].name, "1 web");
	strcpy(vitals->machines[1].name, "2 db");
	timeline->rows[1].machine = timeline->rows[3].machine = timeline->rows[4].machine = 1;
	timeline->rows[1].number = 0;
	timeline->threads[1].machine = timeline->threads[2].machine = 1;	/* reader/4, writer/17 */
	stage_resize(&stage, 20, 200, true);
	stage_holds(&stage, "\n> 1 web cpu0 ", true);
	stage_holds(&stage, "\n  2 db cpu0 ", true);
	stage_holds(&stage, "\n  1 web main/1 ", true);
	stage_holds(&stage, "\n  2 db writer/17 ", true);
	assert_in_range(asked(&stage).rows, 5, 20);
	assert_int_equal(asked(&stage).machine, 0);
	view_timeline.act(stage.view, ACTION_BOTTOM);
	assert_int_equal(asked(&stage).machine, 1);
	assert_int_equal(asked(&stage).of, 4);
	assert_int_equal(asked(&stage).of_cpu, 0);
	timeline->moment.of = 4;		/* that of a thread 4 of the other machine is none of the row's */
	view_timeline.act(stage.view, ACTION_WAKER);
	stage_holds(&stage, "the answer about this is still to come", true);
	timeline->moment.machine = 1;
	stage_draw(&stage);
	assert_int_equal(asked(&stage).of, 17);
	assert_int_equal(asked(&stage).machine, 1);
	assert_int_equal(asked(&stage).focus, 17);
	assert_int_equal(asked(&stage).focus_machine, 1);
	stage_holds(&stage, " 2 db reader/4 is blocked", true);	/* until the answer about its row has come */
	timeline->untraced = 1;
	timeline->stateless = 2;
	stage_holds(&stage, " 1 web: nothing is traced; 2 db: states are not known: no switch is traced\n",
		true);
	view_timeline_go(stage.view, &(struct view_moment) { .thread = EVENT_NONE, .cpu = 3, .machine = 1 });
	assert_int_equal(asked(&stage).of_cpu, 1);
	assert_int_equal(asked(&stage).of, 3);
	assert_int_equal(asked(&stage).machine, 1);
	timeline->machine_count = 0;		/* the hand's own again, which frees no parts */
	stage_strike(&stage);
}

/* ---- the arrow ---- */

/* The grid's column of a row as text, from above: a space is a cell without an arrow. */
static const char *arrow_at(struct stage *stage, uint64_t time, char text[ROWS + 1])
{
	static const struct { unsigned code; char as; } glyphs[] = {
		{ 0x25cf, 'o' }, { 0x2502, '|' }, { 0x25b2, '^' }, { 0x25bc, 'v' },
	};
	const struct timeline *timeline = stage->answers->timeline;
	int column;

	stage_draw(stage);
	for (column = 0; canvas_cell(stage->canvas, 0, column)->code != '0'; column++)	/* of the ruler's clock */
		;
	column += (int)((time - timeline->from) / timeline->each);
	for (int row = 0; row < ROWS; row++) {
		text[row] = ' ';
		for (size_t i = 0; i < sizeof(glyphs) / sizeof(*glyphs); i++)
			if (canvas_cell(stage->canvas, 1 + row, column)->code == glyphs[i].code)
				text[row] = glyphs[i].as;
	}
	text[ROWS] = '\0';
	return text;
}

/* From who woke the cursor's thread to that, at that time; none where either has no row, or at another time. */
static void test_an_arrow_from_the_waker(void **state)
{
	struct stage stage = raise_stage();
	struct timeline_moment *moment = &stage.answers->timeline->moment;
	uint64_t time = stage.answers->timeline->from + 20 * stage.answers->timeline->each;
	char text[ROWS + 1];

	(void)state;
	assert_true(view_timeline.search(stage.view, "main", LIST_HERE));
	moment->wake.begin = time;
	assert_string_equal(arrow_at(&stage, time, text), "  ^o ");
	moment->wake.waker = 4;
	assert_string_equal(arrow_at(&stage, time, text), "  ^|o");
	moment->wake.interrupt = true;
	moment->wake.waker = 0;
	assert_string_equal(arrow_at(&stage, time, text), "o|v  ");
	moment->wake.waker = 9;
	assert_string_equal(arrow_at(&stage, time, text), "     ");
	moment->wake.waker = 0;
	moment->wake.begin = stage.answers->timeline->from - 1;
	assert_string_equal(arrow_at(&stage, stage.answers->timeline->from, text), "     ");
	moment->wake.begin = time;
	view_timeline.act(stage.view, ACTION_DOWN);	/* until the answer about that row has come */
	assert_string_equal(arrow_at(&stage, time, text), "     ");
	view_timeline.act(stage.view, ACTION_UP);
	view_timeline.act(stage.view, ACTION_OPEN);	/* a range begins */
	assert_string_equal(arrow_at(&stage, time, text), "     ");
	view_timeline.act(stage.view, ACTION_BACK);
	moment->woken = false;
	assert_string_equal(arrow_at(&stage, time, text), "     ");
	stage_strike(&stage);
}

/* ---- any size, any answer ---- */

/* Draws between cells that must stay as they are. */
static void draw_safely(struct stage *stage, int rows, int columns, bool unicode)
{
	size_t count = (size_t)(rows + 2) * (size_t)columns;
	struct cell *cells = util_alloc((count + 1) * sizeof(*cells));
	struct canvas canvas = { .rows = rows, .columns = columns, .unicode = unicode, .cells = cells + columns };

	for (int i = 0; i < columns; i++)
		cells[i].code = cells[count - 1 - (size_t)i].code = 0xabcd;
	canvas_clear(&canvas);
	view_timeline.show(stage->view, stage->answers->vitals, stage->shown,
		&stage->scope);
	view_timeline.draw(stage->view, &canvas, (struct area) { 0, 0, rows, columns });
	for (int i = 0; i < columns; i++)
		assert_true(cells[i].code == 0xabcd && cells[count - 1 - (size_t)i].code == 0xabcd);
	if (rows && columns && safe_canvas(&canvas))
		fail_msg("%dx%d is not harmless: %s", columns, rows, safe_canvas(&canvas));
	free(cells);
}

/* A range that is handed out is one: it ends after it begins. */
static void act(struct stage *stage, struct random *random, int rows, int columns)
{
	static const enum action actions[] = { ACTION_LEFT, ACTION_RIGHT, ACTION_UP, ACTION_DOWN, ACTION_TOP,
		ACTION_BOTTOM, ACTION_NEXT, ACTION_PREVIOUS, ACTION_WAKER, ACTION_NARROW, ACTION_WIDEN, ACTION_BEFORE,
		ACTION_AFTER, ACTION_OPEN, ACTION_BACK, ACTION_LIVE };
	uint64_t from, to;

	for (int i = 0; i < 4; i++) {
		view_timeline.act(stage->view, actions[random_below(random, sizeof(actions) / sizeof(*actions))]);
		view_timeline.click(stage->view, (int)random_below(random, (uint64_t)rows + 3) - 1,
			(int)random_below(random, (uint64_t)columns + 3) - 1);
		view_timeline.release(stage->view, (int)random_below(random, (uint64_t)rows + 3) - 1,
			(int)random_below(random, (uint64_t)columns + 3) - 1);
		if (view_timeline.range(stage->view, &from, &to))
			assert_true(to > from);
		view_timeline.ask(stage->view, &stage->scope);
	}
}

static void at_all_sizes(struct stage *stage, struct random *random)
{
	for (int rows = 0; rows < ROWS_MOST; rows += rows < 18 ? 1 : 7)
		for (int columns = 0; columns < COLUMNS_MOST; columns += columns < 40 ? 3 : 17) {
			draw_safely(stage, rows, columns, columns % 2 == 0);
			act(stage, random, rows, columns);
		}
}

static uint64_t any_time(struct random *random)
{
	const uint64_t times[] = { 0, 1, 180 * NS_PER_SECOND, 180 * NS_PER_SECOND + 77, UINT64_MAX };

	return times[random_below(random, sizeof(times) / sizeof(*times))];
}

static struct timeline_span any_span(const struct timeline *timeline, struct random *random)
{
	return (struct timeline_span) {
		.kind = (enum span_kind)random_below(random, SPAN_KINDS),
		.name = (uint16_t)random_below(random, timeline->name_count),
		.thread = (uint32_t)random_below(random, 3) - 1, .cpu = UINT32_MAX,
		.waker = (uint32_t)random_below(random, 20) - 1, .interrupt = random_below(random, 2),
		.lost = random_below(random, 2), .open = random_below(random, 2),
		.begin = any_time(random), .end = any_time(random),
	};
}

static void test_hostile_answers(void **state)
{
	struct random random = { 5 };

	(void)state;
	for (int i = 0; i < HOSTILE; i++) {
		struct stage stage = raise_stage();
		struct timeline *timeline = stage.answers->timeline;
		struct timeline_moment *moment = &timeline->moment;

		timeline->lost = timeline->unmatched = timeline->late = timeline->refused = UINT64_MAX;
		timeline->cpus_more = timeline->threads_more = UINT32_MAX;
		timeline->kept_from = any_time(&random);
		timeline->exact_from = any_time(&random);
		timeline->now = 1 + any_time(&random) / 2;
		timeline->from = any_time(&random) / 2;
		timeline->to = i % 7 ? timeline->from + 62 * timeline->each : timeline->from;
		*moment = (struct timeline_moment) {
			.of_cpu = random_below(&random, 2), .of = random_below(&random, 20), .time = any_time(&random),
			.is_known = random_below(&random, 2), .is_inside = random_below(&random, 2),
			.waits = random_below(&random, 2), .now = any_span(timeline, &random),
			.inside = any_span(timeline, &random), .lock = any_span(timeline, &random),
			.holds = random_below(&random, 2) ? UINT32_MAX : 0, .woken = random_below(&random, 2),
			.wake = any_span(timeline, &random),
			.is_in_pair = random_below(&random, 2), .pair = any_span(timeline, &random),
			.before = any_time(&random), .after = any_time(&random),
		};
		memset(timeline->names[2], 'x', TIMELINE_CALLED - 1);
		memset(timeline->threads[1].title, 'y', TIMELINE_TITLE - 1);
		at_all_sizes(&stage, &random);
		stage_strike(&stage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_missing_is_told),
		cmocka_unit_test(test_what_of_the_filter_is_ignored_is_told),
		cmocka_unit_test(test_a_pair_is_told),
		cmocka_unit_test(test_why_there_is_nothing),
		cmocka_unit_test(test_many_machines),
		cmocka_unit_test(test_an_arrow_from_the_waker),
		cmocka_unit_test(test_hostile_answers),
	};

	config_init(&config);
	config.keys.tabs = true;
	return cmocka_run_group_tests_name("view_timeline", tests, hand_begin, hand_end);
}
