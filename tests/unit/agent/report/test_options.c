/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "agent/report/report.h"
#include "agent/wire/event.h"

enum { WORDS = 16 };

/* Parses the words of `line`, divided by spaces, as a report's options. Returns the error, or NULL. */
static char *parse(const char *line, struct report_request *request, size_t *used)
{
	static char copy[256];
	const struct option_set set = { .rows = report_options, .into = request };
	char *words[WORDS], *error = NULL;
	size_t count = 0;

	*request = report_default;
	strncpy(copy, line, sizeof(copy) - 1);
	for (char *word = strtok(copy, " "); word && count < WORDS; word = strtok(NULL, " "))
		words[count++] = word;
	assert_true(options_parse(words, count, &set, 1, used, &error) == !error);
	return error;
}

static void refuses(const char *line, const char *why)
{
	struct report_request request;
	size_t used;
	char *error = parse(line, &request, &used);

	if (!error || !strstr(error, why))
		fail_msg("%s: %s", line, error ? error : "taken");
	free(error);
}

static void test_each_kind(void **state)
{
	struct report_request request;
	size_t used;

	(void)state;
	assert_null(
		parse("--seconds 2.5 --json --cpu=3 --mode idle --sort=total", &request, &used));
	assert_int_equal(used, 7);
	assert_int_equal(request.duration_ns, 2500000000);
	assert_true(request.json);
	assert_int_equal(request.cpu, 3);
	assert_int_equal(request.mode, MODE_IDLE);
	assert_int_equal(request.sort, COLUMN_TOTAL);
	assert_int_equal(request.tree, -1);
	assert_null(parse("--tree up --least 0", &request, &used));
	assert_int_equal(request.tree, TREE_UP);
	assert_int_equal(request.least, 0);
	assert_null(parse("--rate 1", &request, &used));
	assert_int_equal(request.rate, 1);
	assert_null(parse("--rate 20000", &request, &used));
	assert_int_equal(request.rate, 20000);
	assert_null(parse("--kernel-mark no --folded out/file --sampler nmi", &request, &used));
	assert_int_equal(request.kernel_mark, 0);
	assert_string_equal(request.files[EXPORT_FOLDED], "out/file");
	assert_int_equal(request.sampler, SAMPLER_NMI);
}

/* The words of --sort and --mode stand for these values, in this order. */
static void test_choices_are_the_enums(void **state)
{
	static const struct { const char *word; int column; } columns[] = {
		{ "self", COLUMN_SELF }, { "total", COLUMN_TOTAL }, { "hits", COLUMN_HITS },
		{ "cpu", COLUMN_CPU }, { "function", COLUMN_FUNCTION }, { "object", COLUMN_OBJECT },
		{ "source", COLUMN_SOURCE },
	};
	struct report_request request;
	size_t used;

	(void)state;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		char *line = util_format("--sort %s", columns[i].word);

		assert_null(parse(line, &request, &used));
		assert_int_equal(request.sort, columns[i].column);
		free(line);
	}
	assert_null(parse("--mode kernel", &request, &used));
	assert_int_equal(request.mode, MODE_KERNEL);
	assert_null(parse("--mode user --sampler timer", &request, &used));
	assert_int_equal(request.mode, MODE_USER);
	assert_int_equal(request.sampler, SAMPLER_TIMER);
}

static void test_where_options_end(void **state)
{
	struct report_request request;
	size_t used;

	(void)state;
	assert_null(parse("--json -- --cpu 1", &request, &used));
	assert_int_equal(used, 2);
	assert_int_equal(request.cpu, EVENT_NONE);
	assert_null(parse("--json word --cpu 1", &request, &used));
	assert_int_equal(used, 1);
	assert_null(parse("", &request, &used));
	assert_int_equal(used, 0);
}

static void test_refusals(void **state)
{
	(void)state;
	refuses("--nonsense", "--nonsense: no such option");
	refuses("-x", "-x: no such option");
	refuses("--json=1", "takes no value");
	refuses("--cpu", "its value is missing");
	refuses("--thread=", "--thread: its value is empty: it takes NAME");
	refuses("--cpu=", "--cpu: its value is empty: it takes N");
	refuses("--cpu 1x", "--cpu 1x: not understood");
	refuses("--cpu -1", "not understood");
	refuses("--cpu 4294967295", "not understood");
	refuses("--cpu 99999999999999999999", "not understood");
	refuses("--seconds 0", "--seconds 0: not understood: it takes seconds, 0.001 to 10000000");
	refuses("--rate 0", "--rate 0: not understood: it takes 1 to 20000");
	refuses("--rate=20001", "it takes 1 to 20000");
	refuses("--folded -", "the name of a file; standard output has the report");
	refuses("--seconds nan", "not understood");
	refuses("--seconds 1e99", "not understood");
	refuses("--mode ker", "it takes kernel|user|idle|irq|softirq");
	refuses("--mode kernel|user", "not understood");
	refuses("--mode=", "--mode: its value is empty: it takes kernel|user|idle|irq|softirq");
	refuses("--thread nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
		"not understood: it takes NAME, 63 bytes at most: give a part of it");
	refuses("--folded=", "--folded: its value is empty: it takes the name of a file");
}

/* A report beside a live ktop sends its request as words: the other side reads the same request. */
static void test_words_of_a_request(void **state)
{
	struct report_request request, again = report_default;
	const struct option_set set = { .rows = report_options, .into = &again };
	char **words, *error = NULL;
	size_t used, count = 0;
	char here[PATH_MAX], *raw;

	(void)state;
	assert_null(parse("--seconds=2.25 --json --folded=/a/b --raw c/d --mode user --thread sh --top 0",
		&request, &used));
	words = options_words(report_options, &request);
	while (words[count])
		count++;
	assert_true(options_parse(words, count, &set, 1, &used, &error));
	assert_int_equal(used, count);
	assert_int_equal(again.duration_ns, 2250000000);
	assert_true(again.json);
	assert_false(again.threads);
	assert_string_equal(again.files[EXPORT_FOLDED], "/a/b");
	assert_string_equal(again.thread, "sh");
	raw = util_format("%s/c/d", getcwd(here, sizeof(here)));
	assert_string_equal(again.raw, raw);		/* absolute, for the other side may run elsewhere */
	free(raw);
	assert_null(again.function);
	assert_int_equal(again.top, 0);
	assert_int_equal(again.mode, MODE_USER);
	assert_int_equal(again.sampler, -1);
	assert_int_equal(again.sort, request.sort);
	assert_int_equal(again.kernel_mark, request.kernel_mark);
	assert_int_equal(again.cpu, EVENT_NONE);
	options_words_free(words);
}

/* An option that has no effect with a screen, or for a recording, is refused there; the others are not. */
static void test_where_settings_are_heeded(void **state)
{
	struct report_request request = report_default;
	uint32_t given = 0;
	const struct option_set set = { .rows = report_options, .into = &request, .given = &given };
	char rate[] = "--rate=5", raw[] = "--raw=d", sampler[] = "--sampler=nmi", seconds[] = "--seconds=1",
		wait[] = "--wait=2";
	char *words[] = { rate, raw, sampler, seconds, wait }, *error = NULL;
	size_t used;

	(void)state;
	assert_true(options_parse(words, 3, &set, 1, &used, &error));
	assert_null(options_unheeded(&set, REPORT_OF_SCREEN));
	assert_string_equal(options_unheeded(&set, REPORT_OF_RECORDING), "raw");
	given = 0;
	assert_true(options_parse(words + 3, 1, &set, 1, &used, &error));
	assert_null(options_unheeded(&set, REPORT_OF_RECORDING));
	assert_string_equal(options_unheeded(&set, REPORT_OF_SCREEN), "seconds");
	given = 0;
	assert_true(options_parse(words + 4, 1, &set, 1, &used, &error));
	assert_string_equal(options_unheeded(&set, REPORT_OF_RECORDING), "wait");
}

struct place {				/* a record of options */
	const char *house, *street;
	const char *remark;
};

static const struct option_row place_rows[] = {
	{ .name = "house", .value = "N", .kind = OPTION_TEXT, .once = "one house",
		.offset = offsetof(struct place, house) },
	{ .name = "street", .value = "NAME", .kind = OPTION_TEXT, .once = "one street",
		.offset = offsetof(struct place, street) },
	{ .name = "remark", .value = "TEXT", .kind = OPTION_TEXT,
		.offset = offsetof(struct place, remark) },
	{ 0 },
};

/* Parses up to `most` places. Returns the error, or NULL. */
static char *parse_places(const char *line, struct place *places, size_t most, size_t *count)
{
	static char copy[256];
	const struct option_set set = { .rows = place_rows, .into = places,
		.size = sizeof(*places), .most = most, .count = count };
	char *words[WORDS], *error = NULL;
	size_t word_count = 0, used;

	*count = 1;
	memset(places, 0, (most ? most : 1) * sizeof(*places));
	strncpy(copy, line, sizeof(copy) - 1);
	for (char *word = strtok(copy, " "); word && word_count < WORDS; word = strtok(NULL, " "))
		words[word_count++] = word;
	assert_true(options_parse(words, word_count, &set, 1, &used, &error) == !error);
	return error;
}

/* A `once` option that the place has already begins the next place; other options go to the last one begun. */
static void test_records(void **state)
{
	struct place places[3];
	size_t count;

	(void)state;
	assert_null(parse_places("--remark before --house 1 --street=a --street b --remark=x "
		"--remark=y --house=2 --house 3", places, 3, &count));
	assert_int_equal(count, 3);
	assert_string_equal(places[0].house, "1");
	assert_string_equal(places[0].street, "a");
	assert_string_equal(places[0].remark, "before");
	assert_string_equal(places[1].house, "2");
	assert_string_equal(places[1].street, "b");
	assert_string_equal(places[1].remark, "y");
	assert_string_equal(places[2].house, "3");
	assert_null(places[2].street);
	assert_null(places[2].remark);
}

static void test_too_many_records(void **state)
{
	struct place places[2];
	char *error;
	size_t count;

	(void)state;
	error = parse_places("--house=1 --house=2 --house=3", places, 2, &count);
	assert_string_equal(error, "--house 3: too many; give 2 at most");
	free(error);
	error = parse_places("--house=1 --house=2", places, 0, &count);
	assert_string_equal(error, "--house 2: a second one; one house");
	free(error);
	error = parse_places("--house=1 --house=", places, 0, &count);
	assert_non_null(strstr(error, "--house: its value is empty"));
	free(error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_too_many_records),
		cmocka_unit_test(test_each_kind),
		cmocka_unit_test(test_choices_are_the_enums),
		cmocka_unit_test(test_where_options_end),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_words_of_a_request),
		cmocka_unit_test(test_where_settings_are_heeded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
