/* SPDX-License-Identifier: MIT */
/* What keys and clicks do on a screen: prompts, the wheel, an emptied search, snapshots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "agent/formats/set_format.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/screen/screen.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/keys.h"
#include "stage.h"

static void raise_stage(struct stage *stage)
{
	stage_raise(stage, hand_answers(hand_names, hand_functions));
}

/* ---- the tests ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Random answers, keys and sizes, in random order: nothing breaks, and what is asked stays in bounds. */
static void test_random_input(void **state)
{
	uint32_t seed = 42;
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (int i = 0; i < 4000; i++) {
		struct input input = {
			.kind = next_random(&seed) % 8 ? INPUT_KEY :
				(enum input_kind)(next_random(&seed) % INPUT_SUSPEND),
			.code = next_random(&seed) % 3 ? next_random(&seed) % 128 :
				KEYS_UP + next_random(&seed) % 24,
			.row = (int)(next_random(&seed) % 50) - 5,
			.column = (int)(next_random(&seed) % 150) - 5,
		};

		if (i % 7 == 0)
			stage_resize(&stage, (int)(next_random(&seed) % 45),
				(int)(next_random(&seed) % 140), true);
		if (i % 5 == 0) {
			answers_free(stage.session.next);
			stage.session.next = hand_answers(hand_names, hand_functions);
			stage.session.next->functions->table->count =
				next_random(&seed) % (HAND_FUNCTIONS + 1);
			stage.session.next->vitals->vm = (enum vm_state)(next_random(&seed) % 5);
		}
		screen_input(stage.screen, &input, stage.now += NS_PER_SECOND / 10);
		screen_step(stage.screen, stage.now);
		screen_draw(stage.screen, stage.canvas);
		assert_in_range(stage.session.wanted.visible_count, 0, HAND_FUNCTIONS);
	}
	stage_strike(&stage);
}

static void test_help_and_back(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, KEYS_F(1));
	stage_holds(&stage, "Keys, the same", true);
	stage_holds(&stage, "● REC", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "Keys, the same", false);
	stage_press(&stage, '?');
	stage_press(&stage, '?');
	stage_holds(&stage, "SELF%", true);
	assert_int_equal(stage_press(&stage, KEYS_CTRL('L')), SCREEN_REDRAW);
	assert_int_equal(stage_press(&stage, KEYS_CTRL('Z')), SCREEN_SUSPEND);
	assert_int_equal(stage_press(&stage, KEYS_F(10)), SCREEN_QUIT);
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, 'q'), SCREEN_NOTHING);	/* it is a letter of the pattern */
	assert_int_equal(stage_press(&stage, KEYS_CTRL('C')), SCREEN_QUIT);
	stage_strike(&stage);
}

/* A click on a label leaves the prompt as Esc does: what was typed is dropped. */
static void test_clicks_on_labels_in_a_prompt(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Filter");
	stage_holds(&stage, "Filter: alloc", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "filter: ", false);
	assert_filter(&stage.session.wanted.filter, "");

	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Help");
	stage_holds(&stage, "Keys, the same", true);
	stage_holds(&stage, "Filter:", false);
	stage_holds(&stage, "filter: ", false);
	stage_type(&stage, "?");			/* it is a key again */
	stage_holds(&stage, "Keys, the same", false);

	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Search");
	stage_holds(&stage, "Search: ", true);
	stage_holds(&stage, "filter: ", false);
	stage_type(&stage, "l");
	stage_type(&stage, "oc");
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);	/* spin_lock */
	stage_click(&stage, "Search");			/* as F3 in the prompt: the next match */
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wanted.selected, hand_functions[2]);
	stage_click(&stage, "On/off");
	assert_int_equal(stage.session.runs, 1);
	stage_holds(&stage, "Search: ", false);
	stage_strike(&stage);
}

static void test_quit_by_a_key_that_a_prompt_takes(void **state)
{
	char *words[] = { (char *)"q", (char *)"Esc", (char *)"Ctrl-C", NULL };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	assert_true(keys_set(&stage.config.keys, "quit", words, NULL));
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_NOTHING);
	stage_holds(&stage, "Search:", false);
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, KEYS_CTRL('C')), SCREEN_QUIT);
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_NOTHING);
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_QUIT);
	stage_strike(&stage);
}

static void test_emptied_search(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, 'n');
	stage_holds(&stage, "no name was given yet", true);
	stage_press(&stage, '/');
	stage_type(&stage, "alloc");
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, '/');
	stage_type(&stage, "spin");
	stage_press(&stage, KEYS_CTRL('U'));
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, 'g');
	stage_press(&stage, 'n');
	stage_holds(&stage, "no name was given yet", true);
	assert_int_equal(stage.session.wanted.selected, hand_functions[7]);
	stage_strike(&stage);
}

/* The message of a click is shown, even if a failure was shown before. */
static void test_clicks_are_heard_after_a_failure(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage.session.message = (struct session_message) { .failed = true, .text = "it failed" };
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "it failed", true);
	stage_click(&stage, "Window");
	stage_holds(&stage, "it failed", false);
	stage_holds(&stage, "window: 60s", true);
	stage_strike(&stage);
}

/* A snapshot has the filter that was just typed, even if that is not drawn yet. */
static void test_snapshot_right_after_a_filter(void **state)
{
	const uint32_t codes[] = { '\\', 'l', KEYS_ENTER, 's' };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct input key = { .kind = INPUT_KEY, .code = codes[i] };

		screen_input(stage.screen, &key, stage.now);
	}
	assert_int_equal(stage.session.snapshots, 1);
	assert_filter(&stage.session.snapped.filter, "l");
	stage_strike(&stage);
}

/* With other keys in the settings, no text names the standard keys, and these do nothing. */
static void test_other_keys(void **state)
{
	static const char *const settings[][3] = { { "quit", "x" }, { "profile", "F5" },
		{ "back", "b" }, { "zero", "q" }, { "freeze", "none" } };
	struct answers *off = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char *words[] = { (char *)settings[i][1], NULL };

		assert_true(keys_set(&stage.config.keys, settings[i][0], words, NULL));
	}
	off->vitals->running = false;
	stage_show(&stage, off);
	stage_holds(&stage, "F5 starts it", true);
	stage_holds(&stage, "x Quit", true);
	stage_press(&stage, 'q');
	stage_holds(&stage, "b counts all again", true);
	stage_press(&stage, 'Z');
	stage_holds(&stage, "FROZEN", false);
	stage_press(&stage, KEYS_F(1));
	stage_holds(&stage, " SPACE ", false);
	stage_resize(&stage, 3, 20, true);
	stage_holds(&stage, "or x", true);
	assert_int_equal(stage_press(&stage, 'x'), SCREEN_QUIT);
	stage_strike(&stage);
}

static void test_key_bar_and_wheel(void **state)
{
	struct input wheel = { .kind = INPUT_SCROLL_DOWN };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_click(&stage, "Help");
	stage_holds(&stage, "Keys, the same", true);
	stage_click(&stage, "Help");
	screen_input(stage.screen, &wheel, stage.now);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);	/* three rows down */
	stage_click(&stage, "On/off");
	assert_int_equal(stage.session.runs, 1);
	stage_strike(&stage);
}

static void test_snapshot(void **state)
{
	char name[SNAPSHOT_NAME], next[SNAPSHOT_NAME];
	char *folder = getcwd(NULL, 0);
	struct stage stage;

	(void)state;
	assert_int_equal(chdir((scratch_path("."), scratch_folder)), 0);
	setenv("TZ", "UTC", 1);
	assert_string_equal(snapshot_name("demo-kernel", 1767268800, ".folded", name),
		"ktop-demo-kernel-20260101-120000.folded");
	assert_string_equal(snapshot_name("../../e\033[1mtc", 1767268800, ".folded", next),
		"ktop-e1mtc-20260101-120000.folded");
	assert_string_equal(snapshot_name("", 1767268800, ".folded", next),
		"ktop-kernel-20260101-120000.folded");
	assert_int_equal(chdir(folder), 0);
	free(folder);

	raise_stage(&stage);
	stage_press(&stage, 's');
	stage_press(&stage, KEYS_F(9));
	stage_press(&stage, KEYS_F(9));
	assert_int_equal(stage.session.snapshots, 2);
	assert_true(stage.session.marked);
	assert_non_null(strstr(stage.session.path, "ktop-demo-kernel-"));
	stage_strike(&stage);
}

/* F9 shows the list, with the cursor on the last format. F9 again, s or Enter saves; the file has its ending. */
static void test_formats_of_snapshots(void **state)
{
	static const uint32_t choosing[] = { KEYS_F(9), 's', 'S', KEYS_ENTER };
	struct save_format format;
	struct stage stage;
	int saved = 0;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, KEYS_F(9));
	stage_holds(&stage, "> * folded ", true);
	assert_int_equal(stage.session.snapshots, 0);
	while ((format = save_format_at((size_t)saved + 1)).name) {
		stage_press(&stage, KEYS_DOWN);
		stage_holds(&stage, format.about, true);
		stage_press(&stage, choosing[saved % 4]);
		assert_int_equal(stage.session.snapshots, ++saved);
		assert_ptr_equal(stage.session.set, set_format_named(format.name));
		assert_non_null(strstr(stage.session.path, format.ending));
		stage_holds(&stage, "Save in which format?", false);
		stage_press(&stage, saved % 2 ? 'S' : KEYS_F(9));
		stage_holds(&stage, "> * ", true);
	}
	assert_in_range(saved, 15, 100);
	stage_press(&stage, KEYS_HOME);
	stage_holds(&stage, ">   folded ", true);
	stage_press(&stage, KEYS_ESCAPE);		/* leaves: the last format stays */
	stage_holds(&stage, "folded", false);
	stage_press(&stage, 's');
	stage_holds(&stage, "writing the snapshot: ctf; F9 offers the other formats", true);
	assert_non_null(strstr(stage.session.path, ".ctf"));
	stage_press(&stage, KEYS_F(9));
	stage_press(&stage, 'g');
	stage_press(&stage, KEYS_F(9));
	assert_null(stage.session.set);
	assert_true(stage.session.marked);
	assert_non_null(strstr(stage.session.path, ".folded"));
	assert_int_equal(stage.session.snapshots, saved + 2);
	stage_strike(&stage);
}

/* The list goes with another view, the help and a prompt; before anything is known of the VM there is none. */
static void test_leaving_the_formats(void **state)
{
	static const uint32_t leaving[] = { '2', KEYS_F(2), '?', '/', '\\', KEYS_ESCAPE, KEYS_BACKSPACE };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof(leaving) / sizeof(*leaving); i++) {
		stage_press(&stage, KEYS_F(9));
		stage_holds(&stage, "Save in which format?", true);
		stage_press(&stage, leaving[i]);
		stage_holds(&stage, "Save in which format?", false);
		stage_press(&stage, KEYS_ESCAPE);
	}
	assert_int_equal(stage.session.snapshots, 0);
	stage_strike(&stage);

	stage_raise(&stage, NULL);
	stage_press(&stage, KEYS_F(9));
	stage_holds(&stage, "not yet: nothing is known of the VM", true);
	stage_strike(&stage);
}

static void mouse(struct stage *stage, enum input_kind kind, int row, int column)
{
	screen_input(stage->screen, &(struct input) { .kind = kind, .row = row, .column = column }, stage->now);
	screen_draw(stage->screen, stage->canvas);
}

/* The row of the list that begins so; -1: it is not there. */
static int row_of(const struct stage *stage, const char *begin)
{
	char *text = canvas_dump(stage->canvas), *line = text;
	int row = 0;

	while (line && strncmp(line, begin, strlen(begin)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
		row++;
	}
	free(text);
	return line ? row : -1;
}

/* A click on a format puts the cursor there, another one saves in it; so does a click on the label of the key bar. */
static void test_mouse_on_the_formats(void **state)
{
	struct stage stage;
	int row;

	(void)state;
	raise_stage(&stage);
	stage_click(&stage, "Snapshot");
	stage_holds(&stage, "Save in which format?", true);
	row = row_of(&stage, "    csv-stacks");
	assert_true(row > 0);
	mouse(&stage, INPUT_CLICK, row, 20);
	assert_int_equal(row_of(&stage, ">   csv-stacks"), row);
	assert_int_equal(stage.session.snapshots, 0);
	mouse(&stage, INPUT_CLICK, row, 20);
	assert_int_equal(stage.session.snapshots, 1);
	assert_ptr_equal(stage.session.set, set_format_named("csv-stacks"));
	stage_click(&stage, "Snapshot");
	stage_holds(&stage, "Save in which format?", true);
	assert_int_equal(row_of(&stage, "> * csv-stacks"), row);
	mouse(&stage, INPUT_CLICK, row_of(&stage, "  Enter or "), 20);	/* below the list */
	mouse(&stage, INPUT_SCROLL_DOWN, row, 20);
	assert_int_equal(row_of(&stage, "  * csv-stacks"), row);
	stage_click(&stage, "Snapshot");
	assert_int_equal(stage.session.snapshots, 2);
	assert_ptr_equal(stage.session.set, set_format_named("html"));
	stage_strike(&stage);
}

/* The mouse chooses a window on the time line: 49 slots of 4 s, the last of them at column 73. */
static void test_mouse_on_the_time_line(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	mouse(&stage, INPUT_RELEASE, 21, 50);			/* it was not pressed here */
	assert_false(stage.session.wanted.moved);
	mouse(&stage, INPUT_CLICK, 21, 45);
	mouse(&stage, INPUT_RELEASE, 3, 34);			/* anywhere; from right to left */
	stage_holds(&stage, "48s at 00:00:36, live: .", true);
	stage_holds(&stage, "the window is the one in the title; . makes it live again", true);
	assert_int_equal(stage.session.wanted.until_ns - (uint64_t)stage.session.wanted.back_ns, 84 * NS_PER_SECOND);
	mouse(&stage, INPUT_CLICK, 21, 60);			/* its middle goes to 140 s to 144 s */
	mouse(&stage, INPUT_RELEASE, 21, 60);
	stage_holds(&stage, "48s at 00:01:58", true);
	mouse(&stage, INPUT_CLICK, 21, 0);
	mouse(&stage, INPUT_RELEASE, 21, 200);			/* beyond its ends */
	stage_holds(&stage, "192s at 00:00:00", true);
	stage_press(&stage, '.');
	mouse(&stage, INPUT_CLICK, 22, 45);			/* another row */
	mouse(&stage, INPUT_RELEASE, 22, 50);
	assert_false(stage.session.wanted.moved);
	stage_resize(&stage, 19, 80, true);			/* too low: there is no line, nor a question about it */
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.asking_line, 0);
	stage_resize(&stage, 20, 80, true);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.asking_line, 1);
	stage_strike(&stage);
}

/* Once the cursor was put on a function, the line is about it; the filter goes along, the window does not. */
static void test_what_the_time_line_is_about(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	assert_int_equal(stage.session.line.of, 0);
	assert_int_equal(stage.session.line.slots, 64);
	stage_type(&stage, "jj");
	assert_int_equal(stage.session.line.of, tree_name(symbols_get(hand_names, hand_functions[0]), "demo-kernel"));
	stage_resize(&stage, 24, 80, true);
	stage_press(&stage, '\\');
	stage_holds(&stage, " under: machine: ! |", true);
	stage_type(&stage, "cpu:1\r[");
	assert_int_equal(stage.session.line.request.excerpt.filter.count, 1);
	assert_int_equal(stage.session.line.request.excerpt.until_ns, 0);
	stage_press(&stage, 'g');
	assert_int_equal(stage.session.line.of, 0);
	stage_strike(&stage);
}

static struct answers *heat_answers(const struct stage *stage)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_heat(answers, hand_names);
	memcpy(&answers->heat->asked, &stage->session.heat, sizeof(answers->heat->asked));
	answers->heat->whole = true;
	return answers;
}

/* A range of the heat map becomes the window. Its seconds begin at column 9, its ten rows of 100 ms at row 8. */
static void test_ranges_of_the_heat_map(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '4');
	stage_show(&stage, heat_answers(&stage));
	stage_holds(&stage, "0.1s at 00:03:12.00: busy CPUs", true);
	stage_type(&stage, "hk\r");				/* where it begins; from there back in time */
	stage_type(&stage, "kk");
	stage_holds(&stage, "0.3s at 00:03:10.70: busy CPUs", true);
	assert_false(stage.session.wanted.moved);
	stage_press(&stage, KEYS_ESCAPE);			/* no range */
	stage_holds(&stage, "0.1s at 00:03:10.70: busy CPUs", true);
	stage_type(&stage, "\rjj\r");
	stage_holds(&stage, "0.3s at 00:03:10.70, live: .", true);
	assert_true(stage.session.wanted.moved);
	assert_int_equal(stage.session.wanted.window_ns, 300 * NS_PER_MS);
	assert_int_equal(stage.session.wanted.until_ns - (uint64_t)stage.session.wanted.back_ns, 191 * NS_PER_SECOND);
	stage_press(&stage, '.');
	mouse(&stage, INPUT_CLICK, 10, 12);
	mouse(&stage, INPUT_RELEASE, 10, 12);			/* the cursor alone */
	stage_holds(&stage, "0.1s at 00:02:06.20: busy CPUs", true);
	mouse(&stage, INPUT_CLICK, 10, 12);
	mouse(&stage, INPUT_RELEASE, 0, 200);			/* beyond the map: its nearest cell */
	stage_holds(&stage, "65.9s at 00:02:06.20: busy CPUs", true);
	stage_press(&stage, KEYS_ENTER);
	assert_true(stage.session.wanted.moved);
	assert_int_equal(stage.session.wanted.window_ns, 65800 * NS_PER_MS);
	stage_strike(&stage);
}

/* So many seconds later. */
static void show_later(struct stage *stage, uint64_t seconds, uint64_t boot)
{
	struct answers *answers = heat_answers(stage);

	answers->vitals->answer.boot = answers->heat->answer.boot = boot;
	answers->vitals->now += seconds * NS_PER_SECOND;
	answers->heat->answer.begun = true;
	answers->heat->now += seconds * NS_PER_SECOND;
	answers->heat->heat.first += seconds * HEAT_SECOND;
	stage_show(stage, answers);
}

/* From press to release the map stands still, whatever comes meanwhile; a click is on its own column. */
static void test_the_map_stands_still_under_the_mouse(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '4');
	stage_show(&stage, heat_answers(&stage));
	mouse(&stage, INPUT_CLICK, 10, 12);
	stage_holds(&stage, "The screen stands still until the mouse's button is let go.", true);
	stage_press(&stage, 0);					/* the release comes in bytes; these are no keys */
	show_later(&stage, 1, 0);
	mouse(&stage, INPUT_RELEASE, 10, 12);
	stage_holds(&stage, "0.1s at 00:02:06.20: busy CPUs", true);
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "stands still", false);

	mouse(&stage, INPUT_CLICK, 10, 12);			/* the second that was one column to the right */
	show_later(&stage, 2, 0);
	mouse(&stage, INPUT_SCROLL_DOWN, 10, 12);
	stage_resize(&stage, 24, 90, true);			/* other columns, the same seconds: they end now */
	mouse(&stage, INPUT_RELEASE, 12, 22);
	stage_holds(&stage, "0.3s at 00:02:07.20: busy CPUs", true);
	stage_resize(&stage, 24, 80, true);
	stage_press(&stage, KEYS_ESCAPE);

	/* A release that is never heard: a key, or time, ends that. */
	mouse(&stage, INPUT_CLICK, 10, 12);
	stage_type(&stage, "k");
	stage_holds(&stage, "stands still", false);
	mouse(&stage, INPUT_CLICK, 10, 12);
	show_later(&stage, 3, 0);
	stage.now += 10 * NS_PER_SECOND;
	assert_true(screen_step(stage.screen, stage.now));
	stage_holds(&stage, "stands still", false);
	stage_strike(&stage);
}

/* A range that was begun in another boot is none. */
static void test_no_range_from_boot_to_boot(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '4');
	show_later(&stage, 0, 1);
	stage_type(&stage, "\rkk");				/* it begins at the newest cell */
	stage_holds(&stage, "0.3s at 00:03:11.80", true);
	show_later(&stage, 0, 2);
	stage_holds(&stage, "0.1s at 00:03:12.00", true);
	stage_strike(&stage);
}

/* A slot of the time line stays what it was while the button is held. */
static void test_the_time_line_stands_still_under_the_mouse(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	mouse(&stage, INPUT_CLICK, 21, 34);
	answers->line->series.begin += 8 * NS_PER_SECOND;
	answers->vitals->now += 8 * NS_PER_SECOND;
	answers->line->now += 8 * NS_PER_SECOND;
	stage_show(&stage, answers);
	mouse(&stage, INPUT_RELEASE, 21, 45);
	stage_holds(&stage, "48s at 00:00:36, live: .", true);
	stage_strike(&stage);
}

/* A map that ends in the past is not asked for again; another filter is another question. */
static void test_heat_stands_still(void **state)
{
	struct stage stage;
	int wants;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jj4");
	assert_int_equal(stage.session.heat.of, tree_name(symbols_get(hand_names, hand_functions[0]), "demo-kernel"));
	stage_show(&stage, heat_answers(&stage));
	stage_press(&stage, KEYS_ESCAPE);			/* all that is busy */
	assert_int_equal(stage.session.heat.of, 0);
	stage_show(&stage, heat_answers(&stage));
	assert_int_equal(stage.session.asking_functions, 1);
	stage_press(&stage, 'Z');
	assert_int_equal(stage.session.heat.request.excerpt.until_ns, 192 * NS_PER_SECOND);
	assert_int_equal(stage.session.asking_functions, 1);
	stage_show(&stage, heat_answers(&stage));
	assert_int_equal(stage.session.asking_functions, 0);
	wants = stage.session.wants;
	stage_holds(&stage, "busy CPUs, brightest at 100 %", true);
	assert_int_equal(stage.session.wants, wants);
	stage_type(&stage, "\\cpu:1\r");
	assert_int_equal(stage.session.asking_functions, 1);
	stage_press(&stage, 'B');
	stage_holds(&stage, "not grouped", true);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_input),
		cmocka_unit_test(test_help_and_back),
		cmocka_unit_test(test_clicks_on_labels_in_a_prompt),
		cmocka_unit_test(test_quit_by_a_key_that_a_prompt_takes),
		cmocka_unit_test(test_emptied_search),
		cmocka_unit_test(test_clicks_are_heard_after_a_failure),
		cmocka_unit_test(test_snapshot_right_after_a_filter),
		cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_key_bar_and_wheel),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_formats_of_snapshots),
		cmocka_unit_test(test_leaving_the_formats),
		cmocka_unit_test(test_mouse_on_the_formats),
		cmocka_unit_test(test_mouse_on_the_time_line),
		cmocka_unit_test(test_what_the_time_line_is_about),
		cmocka_unit_test(test_ranges_of_the_heat_map),
		cmocka_unit_test(test_heat_stands_still),
		cmocka_unit_test(test_the_map_stands_still_under_the_mouse),
		cmocka_unit_test(test_no_range_from_boot_to_boot),
		cmocka_unit_test(test_the_time_line_stands_still_under_the_mouse),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
