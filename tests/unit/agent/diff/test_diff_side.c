/* SPDX-License-Identifier: MIT */
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
#include "agent/diff/diff_request.h"
#include "agent/diff/diff_side.h"
#include "agent/samples/sample_set.h"

static char folder[] = "/tmp/test_diff_side.XXXXXX";

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	return rmdir(folder);
}

static char *write_stacks(const char *name)
{
	char *path = util_format("%s/%s", folder, name);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs("main;work 3\nmain;idle 4\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* `words` is freed. */
static void refuses(char *words, const char *filter, const char *why)
{
	struct diff_side side;
	char *error = NULL;

	assert_false(diff_side_read(&side, words, filter, NULL, &error));
	assert_non_null(strstr(error, why));
	diff_side_clear(&side);
	free(error);
	free(words);
}

static void expect_stacks(char *path)
{
	struct diff_side side;

	assert_true(diff_side_read(&side, path, NULL, NULL, NULL));
	assert_string_equal(side.name, path);
	assert_int_equal(side.set->samples, 7);
	assert_null(side.note);
	diff_side_clear(&side);
	assert_null(side.set);
	unlink(path);
	free(path);
}

static void a_file_has_stacks(void **state)
{
	(void)state;
	expect_stacks(write_stacks("old.folded"));
}

static void what_is_there_by_its_name_has_no_range(void **state)
{
	(void)state;
	expect_stacks(write_stacks("old@1..2"));
	expect_stacks(write_stacks("@.."));
	expect_stacks(write_stacks("me@home"));
}

static void a_file_of_stacks_has_no_times(void **state)
{
	char *path = write_stacks("old.folded");

	(void)state;
	refuses(util_format("%s@1..2", path), NULL, "@1..2: not read: a file of stacks has no times; leave out");
	refuses(util_format("%s@..", path), NULL, "a file of stacks has no times");
	refuses(util_format("%s", path), "cpu:0", "--filter: without effect: ");
	unlink(path);
	free(path);
}

static void a_wrong_time_is_told(void **state)
{
	(void)state;
	refuses(util_format("%s@x..2", folder), NULL, "@x..2: not read: not a time; give 90, ");
	refuses(util_format("%s@1..1:2:3:4", folder), NULL, "not a time");
	refuses(util_format("%s@1...", folder), NULL, "not a time");
}

static void a_folder_that_is_no_recording_is_told(void **state)
{
	(void)state;
	refuses(util_format("%s", folder), NULL, "there is no packet of a guest in it; name the folder of a recording");
	refuses(util_format("%s@-30..", folder), NULL, "there is no packet of a guest in it; name the folder of");
	refuses(util_format("%s@..+30", folder), NULL, "there is no packet of a guest in it; name the folder of");
	refuses(util_format("%s/nothing", folder), NULL, "/nothing: not read: No such file or directory; name a rec");
	refuses(util_format("%s/nothing@1..2", folder), NULL, "/nothing: not read: No such file or directory; name a");
	refuses(util_format("%s/nothing@1-2", folder), NULL, "/nothing@1-2: not read: No such file or directory");
}

static bool is_known(int format, const char *file)
{
	struct diff_request request = diff_request_default;
	char *error = NULL;
	bool known;

	request.format = format;
	request.file = file;
	known = diff_request_check(&request, &error);
	assert_int_equal(known, !error);
	free(error);
	return known;
}

static void a_file_has_to_name_its_format(void **state)
{
	(void)state;
	assert_true(is_known(-1, NULL));
	assert_true(is_known(-1, "a.json"));
	assert_true(is_known(-1, "a.svg.txt"));
	assert_false(is_known(-1, "a.svg"));
	assert_false(is_known(-1, "json"));
	assert_false(is_known(-1, "a.json/diff"));
	assert_true(is_known(0, "a.svg"));
	assert_true(is_known(1, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_stacks),
		cmocka_unit_test(what_is_there_by_its_name_has_no_range),
		cmocka_unit_test(a_file_of_stacks_has_no_times),
		cmocka_unit_test(a_wrong_time_is_told),
		cmocka_unit_test(a_folder_that_is_no_recording_is_told),
		cmocka_unit_test(a_file_has_to_name_its_format),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
