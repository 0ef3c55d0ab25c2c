/* SPDX-License-Identifier: MIT */
/* The console of a QEMU that ktop has started: its view, typing to the guest, and the question about QEMU's end. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/vm/console/console.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/screen/screen.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "sheet.h"
#include "stage.h"

enum { LINES = 60 };

struct scene {
	struct stage stage;
	struct console *console;
	struct wakeup *wakeup;
};

static void begin(struct scene *scene)
{
	struct stage *stage = &scene->stage;
	struct feed feed;

	stage_raise(stage, NULL);
	scene->wakeup = wakeup_new();
	scene->console = console_new(NULL, NULL);
	assert_non_null(scene->console);
	console_listen(scene->console, scene->wakeup);
	screen_free(stage->screen);
	feed = fake_feed(&stage->session);
	feed.console = scene->console;
	stage->config.keys.console = true;
	stage->screen = screen_new(feed, &stage->config);
	stage_resize(stage, 24, 80, true);
	stage_show(stage, hand_answers(hand_names, hand_functions));
}

static void end(struct scene *scene)
{
	stage_strike(&scene->stage);
	console_free(scene->console);
	wakeup_free(scene->wakeup);
}

/* QEMU, or its guest, prints this, and the screen has it. */
static void print(struct scene *scene, const char *text)
{
	uint64_t wanted = console_extent(scene->console).bytes + strlen(text);

	assert_int_equal(write(console_inside(scene->console), text, strlen(text)), strlen(text));
	while (console_extent(scene->console).bytes < wanted) {
		struct pollfd rung = { .fd = wakeup_fd(scene->wakeup), .events = POLLIN };

		assert_int_equal(poll(&rung, 1, -1), 1);
		wakeup_clear(scene->wakeup);
	}
}

static void print_lines(struct scene *scene)
{
	for (int i = 1; i <= LINES; i++) {
		char *line = util_format("[%5d.%06d] \033[1mline %d\033[0m%s\r\n", i / 10, i * 1000, i,
			i % 20 ? "" : ": a long one, of more than eighty columns, so that it takes two rows of "
				"the view");

		print(scene, line);
		free(line);
	}
	print(scene, "# ");
}

static void test_the_view(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	stage_holds(&scene.stage, "0Consol", true);
	stage_press(&scene.stage, '0');
	stage_holds(&scene.stage, "Nothing was printed yet.", true);
	print_lines(&scene);
	assert_true(screen_step(scene.stage.screen, scene.stage.now));
	sheet_check_view(&scene.stage, "view_console");
	stage_resize(&scene.stage, 24, 80, true);
	assert_false(screen_step(scene.stage.screen, scene.stage.now));
	end(&scene);
}

/* It follows what comes, until it is scrolled. */
static void test_scrolling(void **state)
{
	struct scene scene;
	struct stage *stage = &scene.stage;

	(void)state;
	begin(&scene);
	print_lines(&scene);
	stage_press(stage, '0');
	stage_holds(stage, "line 60: a long one", true);
	stage_press(stage, KEYS_PAGE_UP);
	stage_holds(stage, "line 60", false);
	print(&scene, "fresh\r\n");
	stage_holds(stage, "fresh", false);
	stage_holds(stage, "End shows what comes", true);
	stage_press(stage, KEYS_HOME);
	stage_holds(stage, "line 1\n", true);
	stage_press(stage, KEYS_DOWN);
	stage_holds(stage, "line 1\n", false);
	stage_holds(stage, "line 2\n", true);
	stage_press(stage, KEYS_END);
	stage_holds(stage, "# fresh", true);
	print(&scene, "newest");
	stage_holds(stage, "newest", true);
	stage_type(stage, "/line 33\r");
	stage_holds(stage, "line 33", true);
	stage_holds(stage, "0Consol", true);
	stage_press(stage, 'n');
	stage_holds(stage, "line 33", true);
	stage_type(stage, "/nowhere");
	stage_holds(stage, "not found", true);
	stage_press(stage, KEYS_ESCAPE);			/* the prompt */
	stage_press(stage, KEYS_ESCAPE);			/* the view */
	stage_holds(stage, "SELF%", true);
	end(&scene);
}

/* All keys go to the guest, but one. */
static void test_typing(void **state)
{
	static const char wanted[] = "q1 \r\177\003\032\033[A\033\303\244\tpa\rste";
	struct scene scene;
	struct stage *stage = &scene.stage;
	char bytes[64] = "";

	(void)state;
	begin(&scene);
	print(&scene, "login: ");
	stage_press(stage, '0');
	stage_press(stage, KEYS_ENTER);
	stage_holds(stage, "typing to the guest", true);
	stage_holds(stage, "Ctrl-] Stop typing to the guest", true);
	stage_type(stage, "q1 ");
	assert_int_equal(stage_press(stage, KEYS_ENTER), SCREEN_NOTHING);
	stage_press(stage, KEYS_BACKSPACE);
	assert_int_equal(stage_press(stage, KEYS_CTRL('C')), SCREEN_NOTHING);
	assert_false(screen_is_urgent(stage->screen, &(struct input) { .kind = INPUT_KEY, .code = KEYS_CTRL('C') }));
	assert_int_equal(stage_press(stage, KEYS_CTRL('Z')), SCREEN_NOTHING);
	stage_press(stage, KEYS_UP);
	stage_press(stage, KEYS_ESCAPE);
	stage_press(stage, 0xe4);
	stage_press(stage, KEYS_TAB);
	for (const char *pasted = "pa\rste"; *pasted; pasted++) {
		struct input input = { .kind = INPUT_PASTE, .code = (unsigned char)*pasted };

		screen_input(stage->screen, &input, stage->now);
	}
	for (size_t got = 0; got < strlen(wanted);)
		got += (size_t)read(console_inside(scene.console), bytes + got, sizeof(bytes) - 1 - got);
	assert_string_equal(bytes, wanted);
	assert_int_equal(screen_input(stage->screen, &(struct input) { .kind = INPUT_QUIT }, stage->now), SCREEN_QUIT);
	stage_press(stage, KEYS_CTRL(']'));
	stage_holds(stage, "typing to the guest", false);
	stage_holds(stage, "F1 Help", true);
	stage_press(stage, '1');
	stage_holds(stage, "SELF%", true);
	end(&scene);
}

static void test_no_serial_port_is_there(void **state)
{
	struct scene scene;
	struct stage *stage = &scene.stage;

	(void)state;
	begin(&scene);
	console_no_port(scene.console);
	print(&scene, "VNC server running\r\n");
	stage_press(stage, '0');
	stage_holds(stage, "no serial port is here to type to: give QEMU -serial mon:stdio", true);
	stage_holds(stage, "types to the guest", false);
	stage_press(stage, KEYS_ENTER);
	stage_holds(stage, "Stop typing", false);
	end(&scene);
}

static void test_qemu_ends_while_it_is_typed_to(void **state)
{
	struct scene scene;
	struct stage *stage = &scene.stage;

	(void)state;
	begin(&scene);
	print(&scene, "login: ");
	stage_press(stage, '0');
	stage_press(stage, KEYS_ENTER);
	stage_holds(stage, "Ctrl-] Stop typing to the guest", true);
	console_started(scene.console);			/* the last that had the terminal's other end open */
	while (console_extent(scene.console).open) {
		struct pollfd rung = { .fd = wakeup_fd(scene.wakeup), .events = POLLIN };

		assert_int_equal(poll(&rung, 1, -1), 1);
		wakeup_clear(scene.wakeup);
	}
	screen_step(stage->screen, stage->now);
	stage_holds(stage, "Ctrl-] Stop typing", false);
	stage_holds(stage, "QEMU has closed it", true);
	stage_press(stage, '1');
	stage_holds(stage, "SELF%", true);
	end(&scene);
}

static void test_the_end_is_asked_for(void **state)
{
	struct scene scene;
	struct stage *stage = &scene.stage;
	struct answers *gone;

	(void)state;
	begin(&scene);
	assert_int_equal(stage_press(stage, 'q'), SCREEN_NOTHING);
	stage_holds(stage, "q again ends the VM, d leaves it running", true);
	stage_holds(stage, "q End the VM  d Leave it running  Esc Stay", true);
	stage->now += 60 * NS_PER_SECOND;			/* it stays, however long that takes */
	screen_step(stage->screen, stage->now);
	stage_holds(stage, "q again ends the VM, d leaves it running", true);
	stage_press(stage, KEYS_ESCAPE);
	stage_holds(stage, "ktop and the VM go on", true);
	stage_holds(stage, "F1 Help", true);
	assert_int_equal(stage_press(stage, KEYS_F(10)), SCREEN_NOTHING);
	assert_int_equal(stage_press(stage, '2'), SCREEN_NOTHING);	/* takes it back, and does nothing else */
	stage_holds(stage, "SELF%", true);
	assert_int_equal(stage_press(stage, 'q'), SCREEN_NOTHING);
	assert_int_equal(stage_press(stage, 'd'), SCREEN_DETACH);
	assert_int_equal(stage_press(stage, 'q'), SCREEN_NOTHING);
	assert_int_equal(stage_press(stage, 'q'), SCREEN_QUIT);
	assert_int_equal(stage_press(stage, KEYS_CTRL('C')), SCREEN_QUIT);
	assert_true(screen_is_urgent(stage->screen, &(struct input) { .kind = INPUT_KEY, .code = KEYS_CTRL('C') }));
	assert_int_equal(screen_input(stage->screen, &(struct input) { .kind = INPUT_QUIT }, stage->now), SCREEN_QUIT);
	gone = hand_answers(hand_names, hand_functions);
	gone->vitals->vm = VM_GONE;
	stage_show(stage, gone);
	assert_int_equal(stage_press(stage, 'q'), SCREEN_QUIT);	/* there is nothing to be asked for */
	end(&scene);
}

static void test_a_vm_of_somebody_else(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_holds(&stage, "Console", false);
	stage_press(&stage, '0');
	stage_holds(&stage, "no console here: this ktop has not started QEMU", true);
	assert_int_equal(stage_press(&stage, 'q'), SCREEN_QUIT);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_view), cmocka_unit_test(test_scrolling), cmocka_unit_test(test_typing),
		cmocka_unit_test(test_qemu_ends_while_it_is_typed_to),
		cmocka_unit_test(test_no_serial_port_is_there),
		cmocka_unit_test(test_the_end_is_asked_for), cmocka_unit_test(test_a_vm_of_somebody_else),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
