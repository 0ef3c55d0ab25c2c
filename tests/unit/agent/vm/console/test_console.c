/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/vm/console/console.h"

enum { LONG_MS = 60000 };

/* ---- lines out of bytes ---- */

/* All lines that the bytes become, each ended by '|', and the one that is not ended. */
static char *lines_of(const char *bytes, size_t size, size_t each)
{
	struct console_text *text = console_text_new();
	struct console_writer writer = { .count = 0 };
	char *all = util_copy("", 0), line[CONSOLE_LINE];

	for (size_t at = 0; at < size; at += each)
		console_text_put(text, &writer, bytes + at, size - at < each ? size - at : each);
	for (uint64_t i = console_text_first(text); i <= console_text_end(text); i++) {
		char *longer;

		if (!console_text_line(text, i, line))
			console_text_open_line(&writer, line);
		longer = util_format("%s%s%s", all, line, i < console_text_end(text) ? "|" : "");
		free(all);
		all = longer;
	}
	console_text_free(text);
	return all;
}

static void test_bytes_become_lines(void **state)
{
	static const struct { const char *bytes, *lines; } cases[] = {
		{ "one\r\ntwo\n\nfour", "one|two||four" },
		{ "50 %\r100 %\r\n", "100 %|" },			/* CR: the line is written over */
		{ "abc\b\bX\n", "aXc|" },
		{ "a\tb\n", "a       b|" }, { "12345678\tb\n", "12345678        b|" },
		{ "\033[31mred\033[0m plain\n", "red plain|" },
		{ "\033[1;31;48;5;17mx\033[?25l\033[>c\033[!py\n", "xy|" },
		{ "\033]0;title\007a\033]0;title\033\\b\n", "ab|" },	/* OSC, by BEL and by ST */
		{ "\033Pq#0;2;0;0;0~\033\\a\033_x\033\\b\n", "ab|" },	/* DCS, APC */
		{ "\033]0;never ended\nnext\n", "|next|" },
		{ "\033(Ba\033=b\033>c\0337\0338\033cd\n", "abcd|" },
		{ "prompt> lsx\b \b\033[K\n", "prompt> ls|" },
		{ "abcdef\033[3D\033[KX\n", "abcX|" }, { "abcdef\r\033[2CX\n", "abXdef|" },
		{ "abcdef\033[3D\033[1PX\n", "abcXf|" }, { "abc\033[2D\033[2@X\n", "aX bc|" },
		{ "abc\033[2J\033[Hnew\n", "new|" }, { "row 1\033[5;10Hrow 5\n", "row 1|row 5|" },
		{ "abc\033[1Gx\033[10Gy\n", "xbc      y|" },
		{ "a\033[999999999999Cb", "a" },			/* checked below for its length only */
		{ "\303\244\342\202\254\360\237\230\200\n", "\303\244\342\202\254\360\237\230\200|" },
		{ "\300\257\377\303x\342\202\n", "???" "?x?|" },		/* bad bytes */
		{ "a\001b\177c\033\n", "abc|" },
		{ "\342\200\256evil\302\233[31m\n", "?evil?[31m|" },	/* bidi; C1 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t each = 1; each < 8; each += 3) {
			char *lines = lines_of(cases[i].bytes, strlen(cases[i].bytes), each);

			if (strstr(cases[i].bytes, "999999"))
				assert_int_equal(strlen(lines), CONSOLE_CELLS);
			else
				assert_string_equal(lines, cases[i].lines);
			free(lines);
		}
}

static void test_a_long_line_goes_on_in_the_next(void **state)
{
	char bytes[CONSOLE_CELLS + 11], *lines;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	lines = lines_of(bytes, sizeof(bytes), 100);
	assert_int_equal(strlen(lines), sizeof(bytes) + 1);
	assert_int_equal(lines[CONSOLE_CELLS], '|');
	free(lines);
}

/* Against a model: any bytes, of which lines end; what is kept are the newest lines, whole and in order. */
static void test_the_newest_lines_are_kept(void **state)
{
	static const int lengths[] = { 0, 1, 7, 80, CONSOLE_CELLS };
	struct console_text *text = console_text_new();
	struct console_writer writer = { .count = 0 };
	char line[CONSOLE_LINE], wanted[CONSOLE_LINE];
	uint64_t count = 3 * CONSOLE_LINES;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		/* stretches of short lines fill the places, stretches of long ones the bytes */
		int length = i / 1000 % 3 ? lengths[i % 3] : lengths[i % 5];
		char bytes[CONSOLE_LINE + 32];
		int size = snprintf(bytes, sizeof(bytes), "%llu%*s.\n", (unsigned long long)i,
			length > 30 ? length - 30 : 0, "");

		console_text_put(text, &writer, bytes, (size_t)size);
		assert_int_equal(console_text_end(text), i + 1);
		assert_true(console_text_line(text, i, line));
		bytes[size - 1] = '\0';
		assert_string_equal(line, bytes);
	}
	assert_true(console_text_end(text) - console_text_first(text) <= CONSOLE_LINES);
	assert_true(console_text_end(text) - console_text_first(text) >= CONSOLE_BYTES / (CONSOLE_CELLS + 2));
	for (uint64_t i = console_text_first(text); i < count; i++) {
		assert_true(console_text_line(text, i, line));
		snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)i);
		assert_memory_equal(line, wanted, strlen(wanted));
		assert_int_equal(line[strlen(line) - 1], '.');
	}
	assert_false(console_text_line(text, console_text_first(text) - 1, line));
	assert_false(console_text_line(text, count, line));
	console_text_free(text);
}

/* ---- a terminal for QEMU ---- */

/* Waits until something new was read. */
static struct console_extent await_news(struct console *console, struct wakeup *wakeup, uint64_t before)
{
	struct console_extent extent;

	while ((extent = console_extent(console)).bytes == before) {
		assert_int_equal(poll(&(struct pollfd) { .fd = wakeup_fd(wakeup), .events = POLLIN }, 1, -1), 1);
		wakeup_clear(wakeup);
	}
	return extent;
}

static void await_line(struct console *console, struct wakeup *wakeup, uint64_t number, const char *wanted)
{
	char line[CONSOLE_LINE];
	struct console_extent extent = console_extent(console);

	while (!console_line(console, number, line) || strcmp(line, wanted) != 0)
		extent = await_news(console, wakeup, extent.bytes);
}

static void test_what_is_printed_and_typed(void **state)
{
	char path[] = "/tmp/ktop-test-XXXXXX", file[128], bytes[64] = "", *error = NULL;
	struct wakeup *wakeup = wakeup_new();
	struct console *console;
	int inside, saved;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/console", path);
	saved = open(file, O_RDWR | O_CREAT, 0600);
	assert_int_equal(write(saved, "before\n", 7), 7);
	console = console_new(file, &error);
	assert_null(error);
	console_listen(console, wakeup);
	inside = dup(console_inside(console));
	console_started(console);
	assert_int_equal(console_inside(console), -1);
	assert_true(isatty(inside));

	assert_int_equal(write(inside, "hello\r\n# ", 9), 9);
	await_line(console, wakeup, 0, "hello");
	await_line(console, wakeup, 1, "# ");
	assert_int_equal(console_extent(console).column, 2);
	assert_true(console_extent(console).open);

	/* keys of a terminal, such as Ctrl-C and Ctrl-D, go through, and come back from nobody */
	assert_true(console_type(console, "ls\r\003\004\032", 6));
	for (size_t got = 0; got < 6;)
		got += (size_t)read(inside, bytes + got, sizeof(bytes) - got);
	assert_string_equal(bytes, "ls\r\003\004\032");
	assert_int_equal(console_extent(console).end, 2);

	/* what is printed last is read before the end is told */
	assert_int_equal(write(inside, "bye", 3), 3);
	close(inside);
	console_drain(console, -1);
	assert_false(console_extent(console).open);
	assert_false(console_type(console, "x", 1));
	await_line(console, wakeup, 1, "# bye");
	assert_null(console_trouble(console));
	console_free(console);

	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(pread(saved, bytes, sizeof(bytes), 0), 19);
	assert_string_equal(bytes, "before\nhello\r\n# bye");
	close(saved);
	unlink(file);
	rmdir(path);
	wakeup_free(wakeup);
}

/* A child of QEMU's that goes on has the terminal: it is waited for, and not without an end. */
static void test_who_holds_the_terminal(void **state)
{
	struct console *console = console_new(NULL, NULL);
	int inside = dup(console_inside(console));
	uint64_t begun = util_now();

	(void)state;
	console_started(console);
	console_drain(console, LONG_MS);
	assert_true(util_now() - begun == LONG_MS * NS_PER_MS);
	assert_true(console_extent(console).open);
	close(inside);
	console_free(console);
}

/* A guest that does not read must not make ktop wait, or hold what is typed without a bound. */
static void test_typing_to_the_deaf(void **state)
{
	struct console *console = console_new(NULL, NULL);
	char much[4096];
	int taken = 0;

	(void)state;
	memset(much, 'x', sizeof(much));
	while (console_type(console, much, sizeof(much)))
		assert_in_range(++taken, 1, 100);
	console_free(console);
}

static void test_files_that_cannot_be_written(void **state)
{
	char path[] = "/tmp/ktop-test-XXXXXX", fifo[128], *error = NULL;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_null(console_new(fifo, &error));			/* nobody reads it: it is not waited for */
	assert_non_null(strstr(error, "not written"));
	free(error);
	error = NULL;
	assert_null(console_new(path, &error));
	assert_non_null(error);
	free(error);
	unlink(fifo);
	rmdir(path);
}

/* What a file lacks is counted and told. */
static void test_a_full_disk(void **state)
{
	struct console *console = console_new("/dev/full", NULL);
	struct wakeup *wakeup = wakeup_new();
	char *trouble;

	(void)state;
	console_listen(console, wakeup);
	assert_int_equal(write(console_inside(console), "12345", 5), 5);
	await_line(console, wakeup, 0, "12345");
	trouble = console_trouble(console);
	assert_non_null(strstr(trouble, "/dev/full: 5 bytes not written: No space left"));
	free(trouble);
	console_free(console);
	wakeup_free(wakeup);
}

/* A serial port of QEMU's on a pty of its own: this test has its other end. What is typed goes there. */
static void test_a_port_of_its_own(void **state)
{
	struct console *console = console_new(NULL, NULL);
	struct wakeup *wakeup = wakeup_new();
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char byte;

	(void)state;
	console_listen(console, wakeup);
	grantpt(master);
	unlockpt(master);
	assert_true(console_open_port(console, ptsname(master)));
	assert_int_equal(write(master, "from the guest\n", 15), 15);
	await_line(console, wakeup, 0, "from the guest");
	assert_true(console_type(console, "k", 1));
	assert_int_equal(read(master, &byte, 1), 1);
	assert_int_equal(byte, 'k');
	assert_int_equal(write(master, "last\n", 5), 5);
	await_line(console, wakeup, 1, "last");
	close(master);
	assert_int_equal(write(console_inside(console), "qemu\n", 5), 5);
	await_line(console, wakeup, 2, "qemu");
	assert_false(console_open_port(console, "/dev/null"));
	assert_false(console_open_port(console, "/nowhere"));
	console_free(console);
	wakeup_free(wakeup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_become_lines), cmocka_unit_test(test_a_long_line_goes_on_in_the_next),
		cmocka_unit_test(test_the_newest_lines_are_kept), cmocka_unit_test(test_what_is_printed_and_typed),
		cmocka_unit_test(test_who_holds_the_terminal), cmocka_unit_test(test_typing_to_the_deaf),
		cmocka_unit_test(test_files_that_cannot_be_written), cmocka_unit_test(test_a_full_disk),
		cmocka_unit_test(test_a_port_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
