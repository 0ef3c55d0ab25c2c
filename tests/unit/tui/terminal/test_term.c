/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/term.h"
#include "tui/terminal/theme.h"
#include "tui/terminal/tty.h"

enum { ROWS = 60, COLUMNS = 200, FRAMES = 200, NOBODY = 65534 };

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

/* It cannot be opened once more: it is another user's. So its description is that of the shell, whose writes wait. */
static void test_nothing_waits_on_another_user_s_terminal(void **state)
{
	static const char text[65536] = "an error";
	struct desk desk = sit_down();
	int errors = dup(STDERR_FILENO);

	(void)state;
	dup2(desk.slave, STDERR_FILENO);
	assert_int_equal(fchmod(desk.slave, 0), 0);
	assert_true(geteuid() != 0 || seteuid(NOBODY) == 0);
	open_screen(&desk);
	assert_true(getuid() != 0 || seteuid(0) == 0);
	canvas_free(show_until_behind());
	assert_int_equal(write(STDERR_FILENO, text, sizeof(text)), sizeof(text));
	assert_true(raise(SIGTERM) == 0);
	assert_int_equal(next_input().kind, INPUT_QUIT);
	term_close();
	assert_true(is_as_before(&desk));
	assert_int_equal(fcntl(desk.slave, F_GETFL) & O_NONBLOCK, 0);
	dup2(errors, STDERR_FILENO);
	close(errors);
	get_up(&desk);
}

static struct rlimit limit(int what, rlim_t most)
{
	struct rlimit before, now;

	assert_int_equal(getrlimit(what, &before), 0);
	now = (struct rlimit) { .rlim_cur = most, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(what, &now), 0);
	return before;
}

/* A frame that is cut is not shown: the screen ends, and the terminal is put back. */
static void test_a_frame_without_room_ends_the_screen(void **state)
{
	struct desk desk = sit_down();
	char *bytes = calloc(1, 1 << 20);
	struct canvas *canvas;
	struct rlimit before;
	size_t size;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	open_screen(&desk);
	canvas = term_canvas();
	before = limit(RLIMIT_FSIZE, 1000);
	fill(canvas, 1);
	term_show(canvas);
	assert_int_equal(next_input().kind, INPUT_QUIT);
	assert_int_equal(tty_cut(), EFBIG);
	term_close();
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(tty_cut(), EFBIG);
	assert_true(is_as_before(&desk));
	size = read_all(desk.master, bytes, 1 << 20);
	assert_true(size < 1000);
	assert_non_null(memmem(bytes, size, "\033[?1049l", 8));
	canvas_free(canvas);
	free(bytes);
	get_up(&desk);
}

/* With so little room that there is no screen, it says what there is too little of. */
static void test_the_right_cause_is_told(void **state)
{
	struct desk desk = sit_down();
	struct rlimit before = limit(RLIMIT_FSIZE, 0);
	bool opened = term_open(&theme_standard, &desk.error);
	int used = dup(desk.slave);

	(void)state;
	setrlimit(RLIMIT_FSIZE, &before);
	assert_false(opened);
	assert_non_null(strstr(desk.error, "there is no room for its frames: File too large; "));
	assert_true(is_as_before(&desk));
	close(used);
	for (int more = 0; !opened; more++) {
		free(desk.error);
		desk.error = NULL;
		before = limit(RLIMIT_NOFILE, (rlim_t)(used + more));
		opened = term_open(&theme_standard, &desk.error);
		setrlimit(RLIMIT_NOFILE, &before);
		if (!opened && !strstr(desk.error, "Too many open files; let ktop have more files (ulimit -n)"))
			fail_msg("%d: %s", more, desk.error);
		term_close();
		assert_true(is_as_before(&desk));
	}
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
		cmocka_unit_test(test_nothing_waits_on_another_user_s_terminal),
		cmocka_unit_test(test_a_frame_without_room_ends_the_screen),
		cmocka_unit_test(test_the_right_cause_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
