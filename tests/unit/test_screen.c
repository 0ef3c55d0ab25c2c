#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "canvas.h"
#include "config.h"
#include "golden.h"
#include "hand_picture.h"
#include "input.h"
#include "picture.h"
#include "screen.h"
#include "scratch.h"
#include "session.h"
#include "snapshot.h"
#include "symbols.h"
#include "tui/keys.h"
#include "util.h"

static const uint64_t second = 1000000000;
static struct config config;
static struct symbols *symbols;
static uint32_t functions[HAND_FUNCTIONS];

/* A session that remembers what it was asked. */
struct session {
	struct picture *next;
	struct session_message message;
	struct session_wish wish;
	int wishes, runs, snapshots;
	bool ran_on;
	char path[SNAPSHOT_NAME];
};

void session_wish(struct session *session, const struct session_wish *wish)
{
	session->wish = *wish;
	session->wishes++;
}

struct picture *session_picture(struct session *session)
{
	struct picture *picture = session->next;

	session->next = NULL;
	return picture;
}

void session_run_profiler(struct session *session, bool on)
{
	session->runs++;
	session->ran_on = on;
}

void session_snapshot(struct session *session, const char *path, struct folded_options options)
{
	assert_true(options.kernel_mark);
	snprintf(session->path, sizeof session->path, "%s", path);
	session->snapshots++;
}

bool session_message(struct session *session, struct session_message *message)
{
	*message = session->message;
	session->message.text[0] = '\0';
	return message->text[0] != '\0';
}

/* ---- what a test does with a screen ---- */

struct stage {
	struct session session;
	struct screen *screen;
	struct canvas *canvas;
	uint64_t now;
};

static void resize(struct stage *stage, int rows, int columns)
{
	canvas_free(stage->canvas);
	stage->canvas = canvas_new(rows, columns, true);
}

static void raise_stage(struct stage *stage)
{
	*stage = (struct stage) { .now = 1 };
	stage->screen = screen_new(&stage->session, &config);
	stage->session.next = hand_picture(symbols, functions);
	resize(stage, 24, 80);
	assert_true(screen_step(stage->screen, stage->now));
	screen_draw(stage->screen, stage->canvas);
}

static void strike(struct stage *stage)
{
	screen_free(stage->screen);
	picture_free(stage->session.next);
	canvas_free(stage->canvas);
}

static enum screen_wish press(struct stage *stage, uint32_t code)
{
	struct input input = { .kind = INPUT_KEY, .code = code };
	enum screen_wish wish = screen_input(stage->screen, &input, stage->now);

	screen_step(stage->screen, stage->now);
	screen_draw(stage->screen, stage->canvas);
	return wish;
}

static void type(struct stage *stage, const char *text)
{
	for (; *text != '\0'; text++)
		press(stage, (unsigned char)*text);
}

static void check_holds(struct stage *stage, const char *wanted, bool there)
{
	char *text;

	screen_draw(stage->screen, stage->canvas);
	text = canvas_dump(stage->canvas);
	if (!strstr(text, wanted) == there)
		fail_msg("\"%s\" is %s in\n%s", wanted, there ? "not" : "there", text);
	free(text);
}

static void click(struct stage *stage, const char *label)
{
	char *text = canvas_dump(stage->canvas), *bar = text + strlen(text) - 1;
	struct input input = { .kind = INPUT_CLICK, .row = stage->canvas->rows - 1 };

	while (bar > text && bar[-1] != '\n')
		bar--;
	assert_non_null(strstr(bar, label));
	input.column = (int)(strstr(bar, label) - bar);
	screen_input(stage->screen, &input, stage->now);
	free(text);
}

/* ---- the tests ---- */

static void test_whole_screens(void **state)
{
	static const struct { int rows, columns; const char *golden; } sizes[] = {
		{ 24, 80, "screen_80x24" }, { 32, 120, "screen_120x32" },
		{ 10, 40, "screen_40x10" }, { 9, 40, "screen_too_small" },
	};
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		resize(&stage, sizes[i].rows, sizes[i].columns);
		screen_draw(stage.screen, stage.canvas);
		golden_check(sizes[i].golden, stage.canvas);
	}
	strike(&stage);
}

static void test_before_the_first_picture(void **state)
{
	struct stage stage = { .now = 1 };
	static const uint32_t codes[] = { ' ', 's', 'z', 'Z', 'w', 'j', 'G', '<', '>', 'I', 'n',
		KEYS_LEFT, KEYS_ESCAPE };

	(void)state;
	stage.screen = screen_new(&stage.session, &config);
	resize(&stage, 24, 80);
	assert_false(screen_step(stage.screen, 1));
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		assert_int_equal(press(&stage, codes[i]), SCREEN_NOTHING);
	assert_int_equal(stage.session.runs + stage.session.snapshots, 0);
	assert_int_equal(press(&stage, 'q'), SCREEN_QUIT);
	strike(&stage);
}

static void test_never_breaks_at_any_size(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (int rows = 0; rows < 40; rows += 3) {
		for (int columns = 0; columns < 200; columns += 7) {
			resize(&stage, rows, columns);
			screen_draw(stage.screen, stage.canvas);
			press(&stage, '?');
			press(&stage, 'G');
			press(&stage, '?');
			press(&stage, '/');
			press(&stage, KEYS_ESCAPE);
		}
	}
	strike(&stage);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Whatever comes, in whatever order, at whatever size: nothing breaks, the wish stays in bounds. */
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
			resize(&stage, (int)(next_random(&seed) % 45),
				(int)(next_random(&seed) % 140));
		if (i % 5 == 0) {
			stage.session.next = hand_picture(symbols, functions);
			stage.session.next->table->count =
				next_random(&seed) % (HAND_FUNCTIONS + 1);
			stage.session.next->vm = (enum vm_state)(next_random(&seed) % 5);
		}
		screen_input(stage.screen, &input, stage.now += second / 10);
		screen_step(stage.screen, stage.now);
		screen_draw(stage.screen, stage.canvas);
		assert_in_range(stage.session.wish.visible_count, 0, HAND_FUNCTIONS);
	}
	strike(&stage);
}

static void test_wishes(void **state)
{
	struct stage stage;
	int wishes;

	(void)state;
	raise_stage(&stage);
	assert_int_equal(stage.session.wish.window_ns, 10 * second);
	assert_int_equal(stage.session.wish.visible_count, HAND_FUNCTIONS);
	assert_int_equal(stage.session.wish.selected, functions[7]);
	wishes = stage.session.wishes;
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wishes, wishes);		/* nothing new to wish for */
	press(&stage, 'w');
	assert_int_equal(stage.session.wish.window_ns, 60 * second);
	press(&stage, KEYS_F(7));
	assert_int_equal(stage.session.wish.window_ns, 0);
	check_holds(&stage, "all window", true);
	press(&stage, 'j');
	assert_int_equal(stage.session.wish.selected, functions[6]);
	strike(&stage);
}

static void test_zero_and_freeze(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	press(&stage, 'z');
	assert_int_equal(stage.session.wish.zero_ns, 192 * second);
	check_holds(&stage, "since 00:03:12", true);
	press(&stage, 'Z');
	assert_int_equal(stage.session.wish.until_ns, 192 * second);
	check_holds(&stage, "FROZEN at 00:03:12", true);
	press(&stage, 'Z');
	assert_int_equal(stage.session.wish.until_ns, 0);
	check_holds(&stage, "FROZEN", false);
	press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.wish.zero_ns, 0);
	check_holds(&stage, "since", false);

	press(&stage, 'Z');
	stage.session.next = hand_picture(symbols, functions);
	stage.session.next->now = 5 * second;			/* the guest was started anew */
	screen_step(stage.screen, stage.now);
	check_holds(&stage, "FROZEN", false);
	strike(&stage);
}

static void test_start_and_stop(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	check_holds(&stage, "● REC", true);
	press(&stage, ' ');
	assert_int_equal(stage.session.runs, 1);
	assert_false(stage.session.ran_on);
	check_holds(&stage, "● REC", true);			/* until the guest says otherwise */
	stage.session.next = hand_picture(symbols, functions);
	stage.session.next->running = false;
	screen_step(stage.screen, stage.now);
	check_holds(&stage, "○ off", true);
	press(&stage, ' ');
	assert_true(stage.session.ran_on);
	strike(&stage);
}

static void test_filter(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	press(&stage, '\\');
	type(&stage, "alloc cpu:");
	check_holds(&stage, "is no CPU", true);
	assert_string_equal(stage.session.wish.filter.pattern, "alloc cpu");
	type(&stage, "2");
	assert_int_equal(stage.session.wish.filter.cpu, 2);
	press(&stage, KEYS_ENTER);
	check_holds(&stage, "filter: alloc cpu:2", true);

	press(&stage, KEYS_F(4));
	press(&stage, KEYS_BACKSPACE);
	type(&stage, "x");
	press(&stage, KEYS_ENTER);
	check_holds(&stage, "the filter was not taken: cpu:x", true);
	assert_int_equal(stage.session.wish.filter.cpu, 2);
	stage.now += 100 * second;
	screen_step(stage.screen, stage.now);
	check_holds(&stage, "the filter was not taken", true);		/* until a key */
	press(&stage, 'j');
	check_holds(&stage, "the filter was not taken", false);

	press(&stage, '\\');
	press(&stage, KEYS_CTRL('U'));
	check_holds(&stage, "filter: ", false);
	press(&stage, KEYS_ESCAPE);
	check_holds(&stage, "filter: alloc cpu:2", true);
	press(&stage, '\\');
	press(&stage, KEYS_CTRL('U'));
	press(&stage, KEYS_ENTER);
	assert_string_equal(stage.session.wish.filter.pattern, "");
	assert_int_equal(stage.session.wish.filter.cpu, EVENT_NONE);
	strike(&stage);
}

static void test_search(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	press(&stage, '/');
	type(&stage, "l");
	type(&stage, "oc");
	assert_int_equal(stage.session.wish.selected, functions[1]);		/* spin_lock */
	press(&stage, KEYS_F(3));
	assert_int_equal(stage.session.wish.selected, functions[2]);		/* page_alloc */
	type(&stage, "zzz");
	check_holds(&stage, "not found", true);
	for (int i = 0; i < 3; i++)
		press(&stage, KEYS_BACKSPACE);
	press(&stage, KEYS_ENTER);
	press(&stage, 'n');
	assert_int_equal(stage.session.wish.selected, functions[1]);
	press(&stage, 'N');
	assert_int_equal(stage.session.wish.selected, functions[2]);
	strike(&stage);
}

static void test_messages(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage.session.message =
		(struct session_message) { .text = "x.folded: 12 samples in 3 stacks" };
	assert_true(screen_step(stage.screen, stage.now));
	check_holds(&stage, "x.folded: 12 samples", true);
	stage.now += 3 * second;
	assert_true(screen_step(stage.screen, stage.now));
	check_holds(&stage, "x.folded", false);
	assert_false(screen_step(stage.screen, stage.now));
	strike(&stage);
}

static void test_help_and_back(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	press(&stage, KEYS_F(1));
	check_holds(&stage, "Help: the keys", true);
	check_holds(&stage, "● REC", true);
	press(&stage, KEYS_ESCAPE);
	check_holds(&stage, "Help: the keys", false);
	press(&stage, '?');
	press(&stage, '?');
	check_holds(&stage, "SELF%", true);
	assert_int_equal(press(&stage, KEYS_CTRL('L')), SCREEN_REDRAW);
	assert_int_equal(press(&stage, KEYS_CTRL('Z')), SCREEN_SUSPEND);
	assert_int_equal(press(&stage, KEYS_F(10)), SCREEN_QUIT);
	press(&stage, '/');
	assert_int_equal(press(&stage, 'q'), SCREEN_NOTHING);	/* a letter to search */
	assert_int_equal(press(&stage, KEYS_CTRL('C')), SCREEN_QUIT);
	strike(&stage);
}

static void test_key_bar_and_wheel(void **state)
{
	struct input wheel = { .kind = INPUT_SCROLL_DOWN };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	click(&stage, "Help");
	check_holds(&stage, "Help: the keys", true);
	click(&stage, "Help");
	screen_input(stage.screen, &wheel, stage.now);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wish.selected, functions[1]);	/* three rows down */
	click(&stage, "On/off");
	assert_int_equal(stage.session.runs, 1);
	strike(&stage);
}

static void test_snapshot(void **state)
{
	char name[SNAPSHOT_NAME], next[SNAPSHOT_NAME];
	char *folder = getcwd(NULL, 0);
	struct stage stage;

	(void)state;
	assert_int_equal(chdir((scratch_path("."), scratch_folder)), 0);
	setenv("TZ", "UTC", 1);
	assert_string_equal(snapshot_name("demo-kernel", 1767268800, name),
		"ktop-demo-kernel-20260101-120000.folded");
	scratch_text(name, "");
	assert_string_equal(snapshot_name("demo-kernel", 1767268800, next),
		"ktop-demo-kernel-20260101-120000-2.folded");
	assert_string_equal(snapshot_name("../../e\033[1mtc", 1767268800, next),
		"ktop-e1mtc-20260101-120000.folded");
	assert_string_equal(snapshot_name("", 1767268800, next),
		"ktop-kernel-20260101-120000.folded");
	assert_int_equal(chdir(folder), 0);
	free(folder);

	raise_stage(&stage);
	press(&stage, 's');
	press(&stage, KEYS_F(9));
	assert_int_equal(stage.session.snapshots, 2);
	assert_non_null(strstr(stage.session.path, "ktop-demo-kernel-"));
	strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_screens),
		cmocka_unit_test(test_before_the_first_picture),
		cmocka_unit_test(test_never_breaks_at_any_size),
		cmocka_unit_test(test_random_input),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_zero_and_freeze),
		cmocka_unit_test(test_start_and_stop),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_help_and_back),
		cmocka_unit_test(test_key_bar_and_wheel),
		cmocka_unit_test(test_snapshot),
	};
	int failed;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	config_init(&config);
	symbols = hand_symbols(functions);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	symbols_free(symbols);
	return failed;
}
