/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/import/set_import.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/scratch.h"

/* NULL with *error set. */
static struct sample_set *read_text(const char *text, char **error)
{
	char *copy = util_copy(text, strlen(text));
	struct sample_set *set = set_import_bytes(copy, strlen(text), NULL, error);

	free(copy);
	return set;
}

static struct sample_set *set_of(const char *text)
{
	char *error = NULL;
	struct sample_set *set = read_text(text, &error);

	if (!set)
		print_message("%s: %s\n", text, error);
	assert_non_null(set);
	return set;
}

/* The sum's functions, the root first, as text: with their kinds, and '|' before what is inlined. */
static char *text_of(const struct sample_set *set, uint32_t sum)
{
	uint32_t path[16], count = sample_set_path(set, set->sums[sum].stack, path, 16);
	char *text, *so_far = util_format("%s", "");

	for (uint32_t i = 0; i < count; i++) {
		const struct set_location *location = &set->locations[path[i]];

		for (uint32_t j = location->count; j-- > 0;) {
			const struct set_function *function = &set->functions[set->lines[location->first + j].function];

			text = util_format("%s%s%s%s", so_far, j + 1 < location->count ? "|" : i ? ";" : "",
				function->name, function->kind == SET_KERNEL ? "(k)" : "");
			free(so_far);
			so_far = text;
		}
	}
	return so_far;
}

static void expect(const struct sample_set *set, uint32_t sum, const char *text, uint64_t samples)
{
	char *found = text_of(set, sum);

	assert_true(sum < set->sum_count);
	assert_string_equal(found, text);
	assert_int_equal(set->sums[sum].samples, samples);
	assert_int_equal(set->sums[sum].weight, samples);
	free(found);
}

static void lines_become_sums(void **state)
{
	struct sample_set *set = set_of("a;b 3\na 4\r\n\na;b\t5\na;c d;e  1 ");

	(void)state;
	assert_int_equal(set->sum_count, 3);
	expect(set, 0, "a;b", 8);
	expect(set, 1, "a", 4);
	expect(set, 2, "a;c d;e", 1);
	assert_int_equal(set->samples, 13);
	assert_int_equal(set->weight, 13);
	assert_int_equal(set->function_count, 4);
	sample_set_free(set);
}

static void marks_are_taken_back(void **state)
{
	struct sample_set *set = set_of("init;main_[k];work_[i];deep_[i];leaf_[k] 1\n_[k];x_[k]_[i] 2\nfirst_[i] 3\n"
		";;a 4\n");

	(void)state;
	expect(set, 0, "init;main(k)|work|deep;leaf(k)", 1);
	expect(set, 1, "_[k]|x(k)", 2);
	expect(set, 2, "first", 3);
	expect(set, 3, "[unknown];[unknown];a", 4);
	sample_set_free(set);
}

static void a_name_may_be_any_bytes(void **state)
{
	struct sample_set *set = set_of("a\xff\x1b[2J;<script> \"&' 1\nb18 2\n");

	(void)state;
	expect(set, 0, "a\xff\x1b[2J;<script> \"&'", 1);
	expect(set, 1, "b18", 2);
	sample_set_free(set);
}

/* A difference has two counts in each line. So where a line has one, a number before a count is of a name. */
static void a_name_may_end_with_a_number(void **state)
{
	struct sample_set *set = set_of("worker 3 5\r\nmain;read 7\nmain;cpu 0 2 1\n");

	(void)state;
	expect(set, 0, "worker 3", 5);
	expect(set, 1, "main;read", 7);
	expect(set, 2, "main;cpu 0 2", 1);
	sample_set_free(set);
}

static void of_a_deep_stack_the_innermost_are_kept(void **state)
{
	enum { DEPTH = IMPORT_DEPTH + 10 };
	char *text = util_alloc(2 * DEPTH + 8);
	struct sample_set *set;
	uint32_t depth = 0, root = SET_NONE;

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		memcpy(text + 2 * i, i < 10 ? "o;" : i == DEPTH - 1 ? "l " : "a;", 2);
	strcat(text, "7\n");
	set = set_of(text);
	assert_string_equal(sample_set_leaf(set, set->sums[0].stack)->name, "l");
	for (uint32_t at = set->sums[0].stack; at != SET_NONE; at = set->stacks[at].parent) {
		root = at;
		depth++;
	}
	assert_int_equal(depth, IMPORT_DEPTH);
	assert_true(set->stacks[root].cut);
	assert_string_equal(sample_set_leaf(set, root)->name, "a");
	sample_set_free(set);
	free(text);
}

static void refuses(const char *text, const char *why)
{
	char *error = NULL;

	assert_null(read_text(text, &error));
	if (!strstr(error, why))
		print_message("%s: %s\n", text, error);
	assert_non_null(strstr(error, why));
	assert_non_null(strstr(error, "; "));
	free(error);
}

static void what_is_no_stack_is_refused(void **state)
{
	(void)state;
	refuses("", "no samples");
	refuses("a;b 0\n", "no samples");
	refuses("a;b 1\na;b\n", "line 2: no count");
	refuses("a;b 1\na;b c\r\n", "line 2: no count");
	refuses("a;b 1\na;b 0x10\n", "line 2: no count");
	refuses("a;b 1\n\n 5\n", "line 3: a count without a stack");
	refuses("a;b 1\n7\n", "line 2: a count without a stack");
	refuses("a;b 7 3\na;b 90 10\n", "line 1: two counts");
	refuses("a;b 1\na;b -90 10\n", "line 2: two counts");
	refuses("a;b 1\n90 10\n", "line 2: two counts");
	refuses("main;read 0.5 10\r\n", "line 1: two counts");
	refuses("main;read -5\t10\n", "line 1: two counts");
	refuses("b 18 2\n", "line 1: two counts");
	refuses("a;b 1.5\n", "count of line 1");
	refuses("a;b -1\n", "count of line 1");
	refuses("a;b 99999999999999999999\n", "count of line 1");
	refuses("a 9000000000000000000\nb 9000000000000000000\n", "count of line 2");
}

/* A file of another format is called what it is, packed or not. */
static void what_another_file_is_is_said(void **state)
{
	char gperftools[] = "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0more", *error = NULL;

	(void)state;
	refuses("heap profile: 1: 2 [3: 4] @ heap/1048576\n", "older form; convert it: pprof -proto");
	refuses("goroutine profile: total 3\n", "older form");
	refuses("heap_v2/524288\n", "older form");
	refuses("--- mutex:\n", "older form");
	refuses("PERFILE2h\n", "it is perf's own file");
	refuses("\177ELF\2\1", "it is a program");
	refuses("{\"traceEvents\":[]}\n", "it is JSON");
	refuses("<?xml version=\"1.0\"?>\n<svg/>\n", "a picture or a page");
	assert_null(set_import_bytes(gperftools, sizeof(gperftools) - 1, NULL, &error));
	assert_non_null(strstr(error, "older form"));
	free(error);
}

static void what_it_is_packed_by_is_said(void **state)
{
	static const char *const programs[] = { "xz", "zstd", "bzip2", "gzip | gzip" };

	(void)state;
	scratch_text("stacks", "main;read 10\nmain;write 20\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		char *command = util_format("cat stacks | %s >packed", programs[i]), *error = NULL;

		scratch_run(command);
		assert_null(set_import_file(scratch_path("packed"), NULL, &error));
		if (!strstr(error, "it is packed ") || !strstr(error, "; unpack it"))
			fail_msg("%s: %s", programs[i], error);
		free(error);
		free(command);
	}
}

static void zeros_are_no_text(void **state)
{
	char bytes[] = "a;b\0c 1\n", *error = NULL;

	(void)state;
	assert_null(set_import_bytes(bytes, sizeof(bytes) - 1, NULL, &error));
	assert_non_null(strstr(error, "no text; "));
	free(error);
}

/* It ends with the budget as it was, and says so. */
static void no_more_than_the_budget_is_taken(void **state)
{
	enum { LINES = 400000 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget), size;
	char *text, *error = NULL;
	FILE *stream = util_text_open(&text, &size);

	(void)state;
	for (int i = 0; i < LINES; i++)
		fprintf(stream, "function%d;caller%d 1\n", i, i);
	text = util_text_close(stream, &text);
	assert_null(set_import_bytes(text, size, budget, &error));
	assert_non_null(strstr(error, "--memory"));
	assert_int_equal(budget_left(budget), before);
	free(error);
	free(text);
	budget_release(budget);
}

static void a_file_is_read_whole(void **state)
{
	enum { LINES = 50000 };
	char path[] = "/tmp/ktop-folded-XXXXXX", *error = NULL;
	FILE *file = fdopen(mkstemp(path), "w");
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t before = budget_left(budget);
	struct sample_set *set;

	(void)state;
	for (int i = 0; i < LINES; i++)
		fprintf(file, "main;function%d 2\n", i % 100);
	assert_int_equal(fclose(file), 0);
	set = set_import_file(path, budget, &error);
	assert_int_equal(remove(path), 0);
	assert_non_null(set);
	assert_int_equal(set->samples, 2 * LINES);
	assert_int_equal(set->sum_count, 100);
	sample_set_free(set);
	assert_int_equal(budget_left(budget), before);
	budget_release(budget);
}

static void a_file_says_what_it_is(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(set_import_file("/none/such", NULL, &error));
	assert_non_null(strstr(error, "/none/such: not read: No such file"));
	free(error);
	error = NULL;
	assert_null(set_import_file("/dev/zero", NULL, &error));
	assert_non_null(strstr(error, "/dev/zero: not read: not a regular file; "));
	free(error);
	error = NULL;
	scratch_run("mkfifo pipe");
	assert_null(set_import_file(scratch_path("pipe"), NULL, &error));
	assert_non_null(strstr(error, "nobody writes into this pipe"));
	free(error);
	error = NULL;
	assert_null(set_import_file("/", NULL, &error));
	assert_non_null(strstr(error, "/: not read: Is a directory; "));
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_sums),
		cmocka_unit_test(marks_are_taken_back),
		cmocka_unit_test(a_name_may_be_any_bytes),
		cmocka_unit_test(a_name_may_end_with_a_number),
		cmocka_unit_test(of_a_deep_stack_the_innermost_are_kept),
		cmocka_unit_test(what_is_no_stack_is_refused),
		cmocka_unit_test(what_another_file_is_is_said),
		cmocka_unit_test(what_it_is_packed_by_is_said),
		cmocka_unit_test(zeros_are_no_text),
		cmocka_unit_test(no_more_than_the_budget_is_taken),
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(a_file_says_what_it_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
