/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "tests/unit/fakes/scratch.h"

/* ---- counts ---- */

static void check_count(uint64_t count, const char *form, const char *wanted)
{
	char text[32];

	util_count(text, sizeof(text), count, form);
	assert_string_equal(text, wanted);
}

static void test_words_suit_the_count(void **state)
{
	(void)state;
	check_count(1, "{tick is|ticks are} late", "tick is late");
	check_count(2, "{tick is|ticks are} late", "ticks are late");
	check_count(0, "old {tick without its|ticks without their} CPU", "old ticks without their CPU");
	check_count(1, "old {tick|ticks}", "old tick");
	check_count(1, "plain", "plain");
	check_count(1, "", "");
	check_count(1, "what is longer than there is room for {it|them}", "what is longer than there is ro");
	check_count(2, "what does not fit here, {whole|halved}", "what does not fit here, halved");
	assert_string_equal(util_plural(1), "");
	assert_string_equal(util_plural(0), "s");
}

/* ---- printable ---- */

static void check(const char *from, const char *to)
{
	char *text = util_printable(from, strlen(from));

	assert_string_equal(text, to);
	free(text);
}

static void test_good_text_stays(void **state)
{
	(void)state;
	check("", "");
	check("std::vector<int>::push_back(int&&) [clone .cold] ~!@#$%^&*|\\",
		"std::vector<int>::push_back(int&&) [clone .cold] ~!@#$%^&*|\\");
	check("gr\xc3\xbc\xc3\x9f \xce\xbb \xd0\x96 \xe2\x86\x92", "gr\xc3\xbc\xc3\x9f \xce\xbb \xd0\x96 \xe2\x86\x92");
	check("\xe2\x96\x88 \xe6\x97\xa5 \xf0\x9f\x98\x80", "\xe2\x96\x88 \xe6\x97\xa5 \xf0\x9f\x98\x80");
}

static void test_controls(void **state)
{
	(void)state;
	check("\x1b[2J\x1b]0;x\x07", "?[2J?]0;x?");
	check("a\r\n\tb\x7f", "a???b?");
	check("\xc2\x9b" "31m\xc2\x80\xc2\x9f", "?31m??");			/* C1 in UTF-8 */
	check("\x9b" "31m", "?31m");						/* C1 as a bare byte */
	for (unsigned c = 1; c < 0x20; c++)
		check((char[]) { (char)c, 0 }, "?");
}

static void test_zero_byte(void **state)
{
	char *text = util_printable("a\0b", 3);

	(void)state;
	assert_string_equal(text, "a?b");
	free(text);
}

static void test_lines(void **state)
{
	static const struct { const char *from, *to; } texts[] = {
		{ "", "" }, { "\n", "\n" }, { "a\033b\nc\rd\n\n\xc2\x9b" "e", "a?b\nc?d\n\n?e" },
		{ "a\xc3\nb", "a?\nb" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *text = util_printable_lines(texts[i].from, strlen(texts[i].from));

		assert_string_equal(text, texts[i].to);
		free(text);
	}
}

static void test_tricks(void **state)
{
	(void)state;
	check("\xe2\x80\xae" "abc", "?abc");		/* U+202E right-to-left override */
	check("\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c", "?????");	/* other bidi */
	check("a\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\xe2\x81\xa0\xc2\xad", "a?????");	/* zero width */
	check("o\xcc\x88\xe2\x83\x9d\xef\xb8\x8f", "o???");	/* combining, variation selector */
	check("a\xe2\x80\xa8\xe2\x80\xa9z", "a??z");		/* U+2028, U+2029 */
	check("\xd7\x90\xd8\xa7", "??");			/* letters from right to left */
	check("\xf3\xa0\x81\x81\xef\xbf\xbe\xee\x80\x80", "???");	/* tag, no character, private */
	check("\xe3\x85\xa4\xe1\x85\x9f\xe2\x80\x87", "???");	/* fillers and odd spaces */
}

static void test_bad_utf8(void **state)
{
	(void)state;
	check("\xc0\xaf", "??");			/* overlong */
	check("\xe0\x80\x9b", "???");
	check("\xf0\x80\x80\x9b", "????");
	check("\xed\xa0\x80", "???");			/* surrogate */
	check("\xf4\x90\x80\x80", "????");		/* beyond U+10FFFF */
	check("\xff\xfe\xf8", "???");
	check("\xc3", "?");				/* cut off */
	check("\xe2\x86", "??");
	check("\xc3(", "?(");				/* the byte after a bad one is read anew */
	check("\x80", "?");
}

/* Any input gives a text that is unchanged by a second pass, and has no byte below a space. */
static void test_any_bytes(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		char bytes[64];
		char *text;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1103515245 + 12345;
			bytes[i] = (char)(seed >> 16);
		}
		text = util_printable(bytes, sizeof(bytes));
		assert_true(strlen(text) > 0 && strlen(text) <= sizeof(bytes));
		for (const char *at = text; *at; at++)
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
		check(text, text);
		free(text);
	}
}

/* ---- memory and errors ---- */

enum { TOOK_DOWN = 7, GAVE_BACK = 8 };	/* exit statuses */

static void take_down(void)
{
	_exit(TOOK_DOWN);
}

static void give_back(void)
{
	_exit(GAVE_BACK);
}

/* Other threads go on working: atexit functions do not run, at_quick_exit functions do. */
static void test_without_memory_it_ends_at_once(void **state)
{
	char words[128] = "";
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		atexit(take_down);
		at_quick_exit(give_back);
		util_no_memory();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), GAVE_BACK);
	assert_true(read(ends[0], words, sizeof(words) - 1) > 0);
	assert_non_null(strstr(words, "ktop: no memory left"));
	close(ends[0]);
	close(ends[1]);
}

/* Cut at each length, the text has only whole characters, and loses none that had room. */
static void test_cuts_between_characters(void **state)
{
	static const char text[] = "a\xc3\xbc" "b\xe6\x97\xa5\xe6\x9c\xac" "c\xf0\x9f\x98\x80";
	char cut[sizeof(text)];

	(void)state;
	for (size_t size = 1; size <= sizeof(text); size++) {
		size_t whole = 0, next;
		uint32_t point;

		while ((next = util_utf8(text + whole, strlen(text) - whole, &point)) &&
				whole + next < size)
			whole += next;
		assert_ptr_equal(util_print(cut, size, "%s", text), cut);
		assert_int_equal(strlen(cut), whole);
		assert_memory_equal(cut, text, whole);
	}
}

static void test_texts(void **state)
{
	char *text = util_format("%s %d", "cpu", 3), *copy = util_copy("abcdef", 3), *error = NULL;
	int *numbers = util_grow(NULL, 2, sizeof(*numbers));

	(void)state;
	assert_string_equal(text, "cpu 3");
	assert_string_equal(copy, "abc");
	numbers[1] = 7;
	numbers = util_grow(numbers, 100, sizeof(*numbers));
	assert_int_equal(numbers[1], 7);
	assert_false(util_fail(&error, "no %s", "port"));
	assert_string_equal(error, "no port");
	assert_false(util_fail(NULL, "nobody asks"));
	free(numbers);
	free(error);
	free(copy);
	free(text);
	copy = util_copy(NULL, 0);
	assert_string_equal(copy, "");
	free(copy);
}

static void test_clock_goes_on(void **state)
{
	uint64_t before = util_now();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t now = util_now();

		assert_true(now >= before);
		before = now;
	}
}

/* ---- files ---- */

static void test_file_appears_when_whole(void **state)
{
	char path[256], *error = NULL, *text;
	struct util_file *file;
	struct stat facts;
	size_t size;

	(void)state;
	strcpy(path, scratch_path("report"));
	file = util_file_open(path, &error);
	assert_non_null(file);
	fprintf(util_file_stream(file), "whole\n");
	assert_int_not_equal(access(path, F_OK), 0);
	assert_true(util_file_commit(file, &error));
	text = scratch_read(path, &size);
	assert_string_equal(text, "whole\n");
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(facts.st_mode & 0777, 0600);
	free(text);
	scratch_run("test \"$(ls)\" = report && rm report");
}

static void test_file_discarded(void **state)
{
	char path[256], *text;
	struct util_file *file;
	size_t size;

	(void)state;
	strcpy(path, scratch_text("kept", "old"));
	file = util_file_open(path, NULL);
	fprintf(util_file_stream(file), "new");
	util_file_discard(file);
	util_file_discard(NULL);
	text = scratch_read(path, &size);
	assert_string_equal(text, "old");
	free(text);
	scratch_run("test \"$(ls)\" = kept && rm kept");
}

static void test_file_that_cannot_be(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(util_file_open(scratch_path("none/report"), &error));
	assert_non_null(strstr(error, "none/report: not written: No such file"));
	free(error);
}

/* When the disk is full, nothing is left behind, and the old file stays. */
static void check_without_room(size_t room, size_t wanted)
{
	char path[256], *error = NULL, *text;
	struct rlimit old, small;
	struct util_file *file;
	size_t size;

	strcpy(path, scratch_text("kept", "old"));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = room;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	file = util_file_open(path, &error);
	for (size_t i = 0; i < wanted; i++)
		fputc('x', util_file_stream(file));
	assert_false(util_file_commit(file, &error));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(error, "kept: not written: File too large"));
	free(error);
	text = scratch_read(path, &size);
	assert_string_equal(text, "old");
	free(text);
	scratch_run("test \"$(ls)\" = kept && rm kept");
}

/* The last write may be the one for which there is room in part: the reason is told then, too. */
static void test_file_without_room(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	check_without_room(0, 1);
	check_without_room(10000, 10001);
	check_without_room(10000, 200000);
	check_without_room(100000, 100001);
}

static void refuses(const char *path, const char *why)
{
	char *error = NULL;

	assert_null(util_file_open(path, &error));
	if (!strstr(error, why))
		fail_msg("%s: %s", path, error);
	free(error);
}

/* Opening one of these may wait for ever, or reading it never ends. */
static void test_only_files_are_read(void **state)
{
	static const struct { const char *name, *why; } cases[] = {
		{ "pipe", "not a regular file" }, { "way", "not a regular file" }, { "folder", "Is a directory" },
		{ "socket", "not a regular file" }, { "lost", "No such file" }, { "zero", "not a regular file" },
	};
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	scratch_run("mkfifo pipe && mkdir folder && ln -s pipe way && ln -s none lost && ln -s /dev/zero zero && "
		"echo x >file && ln -s file link");
	strcpy(address.sun_path, scratch_path("socket"));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *why = NULL;

		assert_int_equal(util_file_read(AT_FDCWD, scratch_path(cases[i].name), 0, &why), -1);
		assert_non_null(why);
		if (!strstr(why, cases[i].why))
			fail_msg("%s: %s", cases[i].name, why);
	}
	assert_int_equal(util_file_read(AT_FDCWD, scratch_path("link"), O_NOFOLLOW, NULL), -1);
	fd = util_file_read(AT_FDCWD, scratch_path("link"), 0, NULL);
	assert_true(fd >= 0);
	close(fd);
	scratch_run("rmdir folder && rm pipe way lost zero file link socket");
}

/* A rename would replace these by a file. */
static void test_what_is_no_file_stays(void **state)
{
	(void)state;
	scratch_run("mkfifo pipe && mkdir folder && ln -s pipe way && ln -s none lost");
	refuses(scratch_path("pipe"), "pipe: not written: it is a device, a pipe");
	refuses(scratch_path("way"), "way: not written: it is a device, a pipe");
	refuses(scratch_path("folder"), "folder: not written: it is a folder");
	refuses(scratch_path("lost"), "lost: not written: it is a link that leads nowhere");
	scratch_run("test -p pipe && test -h way && test -h lost && rmdir folder && "
		"rm pipe way lost && test -z \"$(ls)\"");
}

static void test_link_is_followed(void **state)
{
	char path[256], *error = NULL;
	struct util_file *file;

	(void)state;
	scratch_run("mkdir folder && echo old >folder/file && ln -s folder/file link");
	strcpy(path, scratch_path("link"));
	file = util_file_open(path, &error);
	assert_non_null(file);
	fprintf(util_file_stream(file), "new\n");
	assert_true(util_file_commit(file, &error));
	scratch_run("test -h link && test \"$(cat folder/file)\" = new && "
		"test \"$(ls folder)\" = file && rm -r link folder");
}

/* The program is killed while it writes: nothing is left, at the latest once somebody writes to that folder again. */
static void test_file_of_a_killed_program(void **state)
{
	char path[256];
	int status;
	pid_t pid;

	(void)state;
	strcpy(path, scratch_path("report"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct util_file *file = util_file_open(path, NULL);

		fprintf(util_file_stream(file), "half");
		fflush(util_file_stream(file));
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	util_file_discard(util_file_open(path, NULL));
	scratch_run("test -z \"$(ls -A)\"");
}

/* Some file systems need a temporary name: what a killed program left under one is removed. */
static void test_what_killed_programs_left_is_removed(void **state)
{
	char *error = NULL;
	struct util_file *file;

	(void)state;
	scratch_run("rm -f *; touch .ktop-1-0.partial .ktop-22-7.partial ktop-1.partial .ktop-x");
	file = util_file_open(scratch_path("report"), &error);
	assert_non_null(file);
	fprintf(util_file_stream(file), "whole\n");
	assert_true(util_file_commit(file, &error));
	scratch_run("test \"$(ls -A | sort | xargs)\" = '.ktop-x ktop-1.partial report' && rm .ktop-x *");
}

/* A file that another program is writing stays. */
static void test_what_is_in_work_stays(void **state)
{
	struct util_file *file;
	int fd;

	(void)state;
	scratch_run("touch .ktop-1-0.partial");
	fd = open(scratch_path(".ktop-1-0.partial"), O_RDONLY);
	assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
	file = util_file_open(scratch_path("report"), NULL);
	util_file_discard(file);
	close(fd);
	scratch_run("test \"$(ls -A)\" = .ktop-1-0.partial && rm .ktop-1-0.partial");
}

static char *write_new(const char *path)
{
	struct util_file *file = util_file_open(path, NULL);
	char *error = NULL, *name;

	assert_non_null(file);
	fprintf(util_file_stream(file), "%s", path);
	name = util_file_commit_new(file, &error);
	if (!name)
		fail_msg("%s", error);
	return name;
}

/* Many files written at once under one name: none replaces another. */
static void test_new_files_have_names_of_their_own(void **state)
{
	static const char *const names[] = { "a.b.folded", "a.b-2.folded", "a.b-3.folded" };
	char path[256];

	(void)state;
	strcpy(path, scratch_path("a.b.folded"));
	for (int i = 0; i < 3; i++) {
		char *name = write_new(path);

		assert_string_equal(strrchr(name, '/') + 1, names[i]);
		free(name);
	}
	scratch_run("test \"$(ls -A | wc -l)\" = 3 && rm *");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_text_stays),
		cmocka_unit_test(test_controls),
		cmocka_unit_test(test_zero_byte),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_tricks),
		cmocka_unit_test(test_bad_utf8),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_cuts_between_characters),
		cmocka_unit_test(test_without_memory_it_ends_at_once),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_clock_goes_on),
		cmocka_unit_test(test_file_appears_when_whole),
		cmocka_unit_test(test_file_discarded),
		cmocka_unit_test(test_file_that_cannot_be),
		cmocka_unit_test(test_file_without_room),
		cmocka_unit_test(test_only_files_are_read), cmocka_unit_test(test_what_is_no_file_stays),
		cmocka_unit_test(test_link_is_followed),
		cmocka_unit_test(test_file_of_a_killed_program),
		cmocka_unit_test(test_words_suit_the_count),
		cmocka_unit_test(test_what_killed_programs_left_is_removed),
		cmocka_unit_test(test_what_is_in_work_stays),
		cmocka_unit_test(test_new_files_have_names_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
