/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/term.h"
#include "tui/terminal/term_keys.h"
#include "tui/terminal/theme.h"
#include "tui/terminal/tty.h"

enum { ROWS = 60, COLUMNS = 200, FRAMES = 200 };

/* A terminal whose other side is the test. Standard input and output of the program, while the screen is open. */
struct desk {
	int master, slave, input, output;
	struct termios before;
	char *error;
};

static struct desk sit_down(void)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	struct desk desk = { .input = dup(STDIN_FILENO), .output = dup(STDOUT_FILENO) };

	assert_int_equal(openpty(&desk.master, &desk.slave, NULL, NULL, &size), 0);
	assert_int_equal(fcntl(desk.master, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(tcgetattr(desk.slave, &desk.before), 0);
	dup2(desk.slave, STDIN_FILENO);
	dup2(desk.slave, STDOUT_FILENO);
	setenv("TERM", "xterm-256color", 1);
	return desk;
}

static void get_up(struct desk *desk)
{
	dup2(desk->input, STDIN_FILENO);
	dup2(desk->output, STDOUT_FILENO);
	close(desk->input);
	close(desk->output);
	close(desk->slave);
	close(desk->master);
}

static void fill(struct canvas *canvas, unsigned turn)
{
	for (unsigned at = 0; at < (unsigned)(canvas->rows * canvas->columns); at++)
		canvas->cells[at].code = 'a' + (at * 7 + turn * (at % 2)) % 26;
}

/* All that the terminal has been sent and nobody has read. */
static size_t read_all(int master, char *text, size_t size)
{
	size_t count = 0;
	ssize_t got;

	while (count < size && (got = read(master, text + count, size - count)) > 0)
		count += (size_t)got;
	return count;
}

/* Shows frames until the terminal, which nobody reads, has not taken one. */
static struct canvas *show_until_behind(void)
{
	struct canvas *canvas = term_canvas();
	unsigned turn = 0;

	do {
		assert_true(++turn < FRAMES);
		fill(canvas, turn);
	} while (term_show(canvas));
	assert_false(tty_flush());
	assert_true(tty_behind() >= 0);
	return canvas;
}

static bool is_as_before(const struct desk *desk)
{
	struct termios now;

	return tcgetattr(desk->slave, &now) == 0 && now.c_lflag == desk->before.c_lflag &&
		now.c_iflag == desk->before.c_iflag && now.c_oflag == desk->before.c_oflag;
}

static struct input next_input(void)
{
	struct input input;

	while (!term_keys_read(&input))
		;
	return input;
}

static void open_screen(struct desk *desk)
{
	assert_true(term_open(&theme_standard, &desk->error));
	assert_false(is_as_before(desk));
}

static void test_keys_are_read_while_nobody_reads_the_screen(void **state)
{
	struct desk desk = sit_down();
	struct canvas *canvas;
	char *bytes = calloc(1, 1 << 20);
	size_t size = 0;

	(void)state;
	open_screen(&desk);
	canvas = show_until_behind();
	assert_int_equal(write(desk.master, "q\003\033OA", 5), 5);
	assert_int_equal(next_input().code, 'q');
	assert_int_equal(next_input().code, 3);
	assert_int_equal(next_input().code, KEYS_UP);
	assert_true(raise(SIGTERM) == 0);
	assert_int_equal(next_input().kind, INPUT_QUIT);

	/* Once somebody reads, all comes, in its order. */
	while (!tty_flush())
		size += read_all(desk.master, bytes + size, (1 << 20) - 1 - size);
	assert_int_equal(tty_behind(), -1);
	term_close();
	assert_true(is_as_before(&desk));
	while (!memmem(bytes, size, "\033[?1049l", 8))
		size += read_all(desk.master, bytes + size, (1 << 20) - 1 - size);
	assert_non_null(memmem(bytes, size, "\033[?1049h", 8));
	assert_non_null(memmem(bytes, size, "\033[?2004h", 8));
	assert_true((char *)memmem(bytes, size, "\033[?2004l", 8) > (char *)memmem(bytes, size, "\033[?2004h", 8));
	canvas_free(canvas);
	free(bytes);
	get_up(&desk);
}

/* It ends, and what it had not sent is dropped: the terminal gets the bytes that put it back. */
static void ends_unread(bool stopped)
{
	struct desk desk = sit_down();
	char *bytes = calloc(1, 1 << 20);
	size_t size = 0;

	open_screen(&desk);
	canvas_free(show_until_behind());
	if (stopped)
		assert_int_equal(tcflow(desk.slave, TCOOFF), 0);
	term_close();
	assert_true(is_as_before(&desk));
	if (stopped)
		assert_int_equal(tcflow(desk.slave, TCOON), 0);
	while (!stopped && !memmem(bytes, size, "\033[?1049l", 8))
		size += read_all(desk.master, bytes + size, (1 << 20) - 1 - size);
	free(bytes);
	get_up(&desk);
}

static void test_it_ends_though_nobody_reads(void **state)
{
	(void)state;
	ends_unread(false);
}

static void test_it_ends_on_a_terminal_that_is_stopped(void **state)
{
	(void)state;
	ends_unread(true);
}

static void test_it_opens_though_nobody_reads(void **state)
{
	struct desk desk = sit_down();
	char filling[4096] = "";

	(void)state;
	assert_int_equal(fcntl(desk.slave, F_SETFL, O_NONBLOCK), 0);
	while (write(desk.slave, filling, sizeof(filling)) > 0)
		;
	assert_int_equal(fcntl(desk.slave, F_SETFL, 0), 0);
	open_screen(&desk);
	canvas_free(show_until_behind());
	assert_int_equal(write(desk.master, "q", 1), 1);
	assert_int_equal(next_input().code, 'q');
	term_close();
	assert_true(is_as_before(&desk));
	get_up(&desk);
}

/* The flag that a write does not wait belongs to a description, and the shell has that of standard output. */
static void test_the_shell_s_description_is_left_alone(void **state)
{
	struct desk desk = sit_down();

	(void)state;
	open_screen(&desk);
	assert_int_equal(fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK, 0);
	term_close();
	assert_int_equal(fcntl(desk.slave, F_GETFL) & O_NONBLOCK, 0);
	get_up(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_read_while_nobody_reads_the_screen),
		cmocka_unit_test(test_it_ends_though_nobody_reads),
		cmocka_unit_test(test_it_ends_on_a_terminal_that_is_stopped),
		cmocka_unit_test(test_it_opens_though_nobody_reads),
		cmocka_unit_test(test_the_shell_s_description_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
