/* SPDX-License-Identifier: MIT */
/* What holds for each format of a sample set. tests/e2e/formats reads what they write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/sample_world.h"

struct written {
	char *text, *error;
	size_t size;
	bool whole;
	unsigned done;
};

static struct written write_set(const struct set_format *format, const struct sample_set *set, bool stop)
{
	struct written written = { 0 };
	atomic_bool stopped = stop;
	atomic_uint done = 0;
	struct set_writing writing = {
		.to = util_text_open(&written.text, &written.size), .title = "t", .stop = &stopped, .done = &done,
	};

	written.whole = format->write(set, &writing, &written.error);
	assert_int_equal(ferror(writing.to), 0);
	util_text_close(writing.to, &written.text);
	written.done = done;
	assert_true(written.whole == !written.error);
	return written;
}

static void written_free(struct written *written)
{
	free(written->text);
	free(written->error);
}

static bool is_json(const struct set_format *format)
{
	size_t length = strlen(format->ending);

	return length >= 5 && strcmp(format->ending + length - 5, ".json") == 0;
}

static void assert_json(const struct set_format *format, const struct written *written)
{
	cJSON *json = is_json(format) ? cJSON_ParseWithLength(written->text, written->size) : NULL;

	assert_true(json || !is_json(format));
	cJSON_Delete(json);
}

static void each_is_told_apart(void **state)
{
	(void)state;
	for (const struct set_format *const *a = set_formats; *a; a++)
		for (const struct set_format *const *b = set_formats; b < a; b++) {
			assert_string_not_equal((*a)->name, (*b)->name);
			assert_string_not_equal((*a)->ending, (*b)->ending);
		}
}

static void the_same_set_is_the_same_file(void **state)
{
	(void)state;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct sample_set *set = sample_world_new(true);
		struct written one = write_set(*format, set, false), other = write_set(*format, set, false);

		assert_true(one.whole);
		assert_true(one.done <= 1000);
		assert_int_equal(one.size, other.size);
		if (strcmp((*format)->name, "html") != 0)	/* it has a random number, the nonce of its scripts */
			assert_memory_equal(one.text, other.text, one.size);
		assert_json(*format, &one);
		written_free(&one);
		written_free(&other);
		sample_set_free(set);
	}
}

/* A format that draws samples may refuse a set that has none. */
static void a_set_without_times_or_samples_is_written_or_refused(void **state)
{
	(void)state;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct sample_set *sets[] = { sample_world_new(false), sample_set_new(NULL) };

		for (size_t i = 0; i < 2; i++) {
			struct written written = write_set(*format, sets[i], false);

			if (written.whole)
				assert_json(*format, &written);
			else
				assert_false(is_json(*format));
			written_free(&written);
			sample_set_free(sets[i]);
		}
	}
}

static void who_gives_up_need_not_wait(void **state)
{
	(void)state;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct sample_set *set = sample_world_new(true);
		struct written whole = write_set(*format, set, false), part = write_set(*format, set, true);

		assert_true(part.size <= whole.size);	/* a small picture may be complete before it looks */
		written_free(&whole);
		written_free(&part);
		sample_set_free(set);
	}
}

static void rows_that_are_missing_are_an_error(void **state)
{
	(void)state;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct sample_set *set = sample_world_failing();
		struct written written = write_set(*format, set, false);

		assert_int_equal(written.whole, !(*format)->rows);
		written_free(&written);
		sample_set_free(set);
	}
}

static void a_full_disk_is_seen_at_the_stream(void **state)
{
	(void)state;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct sample_set *set = sample_world_new(true);
		struct set_writing writing = { .to = fopen("/dev/full", "w"), .title = "" };
		char *error = NULL;

		assert_non_null(writing.to);
		(*format)->write(set, &writing, &error);
		assert_true(fflush(writing.to) != 0 || ferror(writing.to));
		fclose(writing.to);
		free(error);
		sample_set_free(set);
	}
}

/* ---- names ---- */

static char *text_of(const char *name, void (*put)(FILE *to, const char *name))
{
	char *text;
	size_t size;
	FILE *to = util_text_open(&text, &size);

	put(to, name);
	return util_text_close(to, &text);
}

static void put_plain(FILE *to, const char *name)
{
	name_text_put(to, name, ";");
}

/* What name_text_put has written, read back. */
static char *name_of(const char *text)
{
	char *name = util_copy(text, strlen(text)), *end = name;
	unsigned byte;

	for (; *text; text++)
		if (sscanf(text, "\\x%2x", &byte) == 1) {
			*end++ = (char)byte;
			text += 3;
		} else {
			*end++ = *text;
		}
	*end = '\0';
	return name;
}

static void names_are_harmless_and_stay_apart(void **state)
{
	(void)state;
	for (const char *const *name = sample_world_hostile; *name; name++) {
		char *text = text_of(*name, put_plain), *printable = util_printable(text, strlen(text));
		char *json = text_of(*name, json_text_put), *back = name_of(text);
		cJSON *value = cJSON_Parse(json);

		assert_string_equal(text, printable);
		assert_null(strchr(text, ';'));
		assert_string_equal(back, *name);
		assert_true(cJSON_IsString(value));
		assert_null(strchr(json, '<'));
		free(back);
		back = name_of(value->valuestring);
		assert_string_equal(back, *name);
		cJSON_Delete(value);
		free(text);
		free(printable);
		free(json);
		free(back);
	}
}

/* A format's name is an ending, alone or in place of the first part of its own; the format's own ending goes first. */
static void the_name_of_a_format_is_an_ending(void **state)
{
	static const struct { const char *path, *format; } files[] = {
		{ "x.chrome.json", "chrome" }, { "x.trace.json", "chrome" }, { "x.chrome", "chrome" },
		{ "x.firefox.json", "firefox" }, { "x.pprof.gz", "pprof" }, { "x.pprof", "pprof" },
		{ "x.csv-times.csv", "csv-times" }, { "x.json-stacks.json", "json-stacks" },
		{ "x.chrome.firefox.json", "firefox" }, { "x.svg", "svg" }, { "x.json", NULL },
		{ "chrome.json", NULL }, { ".chrome.json", NULL }, { "x.chromejson", NULL }, { "x.chrome.csv", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_ptr_equal(set_format_of_file(files[i].path),
			files[i].format ? set_format_named(files[i].format) : NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_told_apart),
		cmocka_unit_test(the_same_set_is_the_same_file),
		cmocka_unit_test(a_set_without_times_or_samples_is_written_or_refused),
		cmocka_unit_test(who_gives_up_need_not_wait),
		cmocka_unit_test(rows_that_are_missing_are_an_error),
		cmocka_unit_test(a_full_disk_is_seen_at_the_stream),
		cmocka_unit_test(names_are_harmless_and_stay_apart),
		cmocka_unit_test(the_name_of_a_format_is_an_ending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
