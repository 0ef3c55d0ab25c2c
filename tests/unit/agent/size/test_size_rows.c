/* SPDX-License-Identifier: MIT */
/* Rows, changes and formats, on sizes that are made by hand; the names in them are hostile. */
#include <cjson/cJSON.h>
#include <inttypes.h>

#include "agent/base/util.h"
#include "agent/size/code_sizes.h"
#include "agent/size/size_request.h"
#include "agent/size/size_rows.h"
#include "tests/unit/fakes/scratch.h"

#define EVIL "\"';</script><script>alert(1)</script>\n\r\t\x1b]0;x\x07\xff\xfe \xe2\x80\xae;"

struct given {
	const char *name, *file;
	uint32_t object;
	uint64_t bytes;
};

static const struct given world[] = {
	{ "same", "a/one.c", 0, 100 }, { "same", "a/one.c", 1, 100 },
	{ "grown", "a/one.c", 0, 100 }, { "grown", "a/one.c", 1, 150 },
	{ "shrunk", "a/two.c", 0, 80 }, { "shrunk", "a/two.c", 1, 20 },
	{ "gone", "b/three.c", 0, 30 }, { "new", "b/three.c", 1, 41 },
	{ EVIL, EVIL, 0, 7 }, { EVIL, EVIL, 1, 9 },
	{ "twin", "a/one.c", 0, 5 }, { "twin", "b/three.c", 0, 6 },
	{ "twin", "a/one.c", 1, 6 }, { "twin", "b/three.c", 1, 6 },
};
enum { GIVEN = sizeof(world) / sizeof(world[0]), BEFORE = 328, AFTER = 332 };

static struct code_sizes *make(bool lines)
{
	struct code_sizes *sizes = code_sizes_new(NULL);
	bool full = false;

	sizes->pieces = calloc(GIVEN, sizeof(*sizes->pieces));
	sizes->objects = calloc(2, sizeof(*sizes->objects));
	sizes->room = GIVEN;
	sizes->object_count = 2;
	for (int i = 0; i < 2; i++)
		sizes->objects[i] = (struct code_object) {
			.name = code_sizes_text(sizes, i ? "new" EVIL : "old", &full), .lines = lines,
		};
	for (int i = 0; i < GIVEN; i++) {
		sizes->pieces[sizes->count++] = (struct code_piece) {
			.name = code_sizes_text(sizes, world[i].name, &full),
			.file = lines ? code_sizes_text(sizes, world[i].file, &full) : TEXT_NONE,
			.object = world[i].object, .bytes = world[i].bytes,
		};
		sizes->objects[world[i].object].bytes += world[i].bytes;
	}
	assert_false(full);
	return sizes;
}

static const struct size_row *find(const struct code_sizes *sizes, const struct size_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(code_sizes_told(sizes, rows->rows[i].name), name) == 0)
			return &rows->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void test_changes(void **state)
{
	struct code_sizes *sizes = make(true);
	struct size_asked asked = { .compare = true };
	struct size_sum sums[SIZE_CHANGES];
	struct size_rows rows;
	int64_t sum = 0;

	(void)state;
	assert_true(size_rows_make(sizes, &asked, &rows));
	assert_int_equal(rows.bytes[SIZE_BEFORE], BEFORE);
	assert_int_equal(rows.bytes[SIZE_AFTER], AFTER);
	assert_int_equal(size_change_of(find(sizes, &rows, "same")), SIZE_SAME);
	assert_int_equal(size_change_of(find(sizes, &rows, "grown")), SIZE_GROWN);
	assert_int_equal(size_change_of(find(sizes, &rows, "shrunk")), SIZE_SHRUNK);
	assert_int_equal(size_change_of(find(sizes, &rows, "gone")), SIZE_GONE);
	assert_int_equal(size_change_of(find(sizes, &rows, "new")), SIZE_NEW);
	assert_string_equal(code_sizes_told(sizes, rows.rows[0].name), "shrunk");
	size_change_sums(&rows, sums);
	for (int i = 0; i < SIZE_CHANGES; i++)
		sum += sums[i].bytes;
	assert_int_equal(sum, AFTER - BEFORE);
	assert_int_equal(sums[SIZE_GROWN].bytes, 50 + 2 + 1);
	assert_int_equal(sums[SIZE_SAME].rows, 2);
	size_rows_clear(&rows, sizes);
	code_sizes_free(sizes);
}

/* Where a build has no source files, names alone tell functions apart. */
static void test_without_files(void **state)
{
	struct code_sizes *sizes = make(true);
	struct size_asked asked = { .compare = true };
	struct size_rows rows;

	(void)state;
	sizes->objects[0].lines = false;
	assert_true(size_rows_make(sizes, &asked, &rows));
	assert_int_equal(find(sizes, &rows, "twin")->bytes[SIZE_BEFORE], 11);
	assert_int_equal(find(sizes, &rows, "twin")->bytes[SIZE_AFTER], 12);
	size_rows_clear(&rows, sizes);
	code_sizes_free(sizes);
}

static void test_limit(void **state)
{
	static const struct { const char *text; bool read, passed; } limits[] = {
		{ "0", true, true }, { "3", true, true }, { "4", true, false },
		{ "1%", true, true }, { "2%", true, false }, { "1.22%", true, false },
		{ "", false, false }, { "%", false, false }, { "2%%", false, false },
		{ "-1", false, false }, { "nan", false, false }, { "1e999", false, false }, { "2 %", false, false },
	};
	const uint64_t bytes[] = { BEFORE, AFTER };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct size_limit limit;
		char *error = NULL;

		assert_int_equal(size_limit_read(limits[i].text, &limit, &error), limits[i].read);
		assert_int_equal(limits[i].read && size_limit_passed(&limit, bytes), limits[i].passed);
		free(error);
	}
}

static void test_filter(void **state)
{
	static const struct { const char *words; uint64_t bytes; } filters[] = {
		{ "", BEFORE + AFTER }, { "twin", 23 }, { "twin|gone", 53 }, { "!twin", BEFORE + AFTER - 23 },
		{ "object:old", BEFORE }, { "object:old twin", 11 }, { "nobody", 0 },
		{ "file:a/two.c", 100 }, { "file:two.c|three object:old", 116 }, { "!file:.c object:old", 7 },
	};
	struct code_sizes *sizes = make(true);
	struct filter filter;
	char *error = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct size_asked asked = { .by = SIZE_BY_FILE };
		struct size_rows rows;

		assert_true(size_rows_filter(filters[i].words, &asked.filter, &error));
		assert_true(size_rows_make(sizes, &asked, &rows));
		assert_int_equal(rows.bytes[SIZE_BEFORE], filters[i].bytes);
		size_rows_clear(&rows, sizes);
	}
	assert_false(size_rows_filter("cpu:0", &filter, &error));
	assert_non_null(strstr(error, "NAME, object:NAME or file:NAME"));
	free(error);
	code_sizes_free(sizes);
}

static char *written(struct code_sizes *sizes, const struct size_format *format, const struct size_asked *asked,
	uint32_t top)
{
	char *text = NULL;
	const char *nothing = NULL;
	size_t size;
	FILE *out = util_text_open(&text, &size);

	assert_true(format->write(sizes, asked, top, out, &nothing));
	return util_text_close(out, &text);
}

static void check_harmless(const char *text)
{
	for (; *text; text++)
		assert_true(*text == '\n' || ((unsigned char)*text >= ' ' && *text != 0x7f));
}

/* Whatever the names are: the bytes of the lines add up, and each line has its frames and its numbers. */
static void test_folded(void **state)
{
	struct code_sizes *sizes = make(true);

	(void)state;
	for (int by = 0; by < SIZE_BYS; by++) {
		for (int compare = 0; compare < 2; compare++) {
			struct size_asked asked = { .by = (enum size_by)by, .compare = compare };
			char *text = written(sizes, &size_folded, &asked, 0), *line, *rest = text;
			uint64_t sums[2] = { 0, 0 };

			check_harmless(text);
			while ((line = strsep(&rest, "\n")) && *line) {
				char *number = strchr(line, ' ');

				assert_non_null(number);
				sums[0] += strtoull(number, &number, 10);
				sums[1] += compare ? strtoull(number, &number, 10) : 0;
				assert_int_equal(*number, 0);
			}
			assert_int_equal(sums[0], compare ? BEFORE : BEFORE + AFTER);
			assert_int_equal(sums[1], compare ? AFTER : 0);
			free(text);
		}
	}
	code_sizes_free(sizes);
}

static uint64_t number(const cJSON *object, const char *name)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_true(cJSON_IsNumber(value));
	return (uint64_t)value->valuedouble;
}

static void test_json(void **state)
{
	struct code_sizes *sizes = make(true);

	(void)state;
	for (uint32_t top = 0; top < 4; top++) {
		struct size_asked asked = { .compare = true };
		char *text = written(sizes, &size_json, &asked, top);
		cJSON *all = cJSON_Parse(text), *row;
		uint64_t before = 0, after = 0;

		check_harmless(text);
		assert_non_null(all);
		cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(all, "rows")) {
			before += number(row, "before");
			after += number(row, "after");
		}
		row = cJSON_GetObjectItemCaseSensitive(all, "left_out");
		assert_int_equal(before + number(row, "before"), BEFORE);
		assert_int_equal(after + number(row, "after"), AFTER);
		assert_int_equal(number(row, "rows"), top ? 8 - top : 0);
		cJSON_Delete(all);
		free(text);
	}
	code_sizes_free(sizes);
}

static void test_text(void **state)
{
	struct code_sizes *sizes = make(true);
	struct size_asked asked = { .by = SIZE_BY_FILE };
	char *text = written(sizes, &size_text, &asked, 1), *line;

	(void)state;
	assert_string_equal(text,
		"     BYTES       %  FILE\n"
		"       461   69.85  a/one.c\n"
		"       199   30.15  (3 more rows; --top 0 shows all)\n"
		"       660  100.00  all executable sections\n");
	free(text);
	asked.compare = true;
	text = written(sizes, &size_text, &asked, 0);
	check_harmless(text);
	line = strstr(text, "       328        332         +4     +1.22  all executable sections\n");
	assert_non_null(line);
	free(text);
	code_sizes_free(sizes);
}

static void test_name_space(void **state)
{
	static const char *const names[][2] = {
		{ "main", "" }, { "a::b", "a" }, { "a::b::c", "a::b" }, { "a::b<c::d>", "a" },
		{ "a::b<c::d>::e", "a::b" },
		{ "a::b<c>::d<e>", "a::b" }, { "a::~b", "a" }, { "a::operator<", "a" }, { "a::operator->", "a" },
		{ "<a::b<c> as d::e>::f", "a::b" }, { "<&mut a::b as d>::f", "a::b" }, { "a::b::{{closure}}", "a::b" },
		{ "a::b::c::<d::e>", "a::b" }, { "a.cold", "" }, { "", "" }, { "<", "" }, { "::", "" }, { "a::", "a" },
		{ "a<", "" }, { "a<b<", "" }, { "<<<<", "" }, { ">", "" }, { "(anonymous namespace)::f", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t size;
		const char *space = name_space(names[i][0], &size);
		char *text = util_copy(space, size);

		assert_string_equal(text, names[i][1]);
		free(text);
	}
}

static void test_source_path(void **state)
{
	static const char *const paths[][2] = {
		{ "a/b.c", "a/b.c" }, { "./a//b.c", "a/b.c" }, { "a/../b.c", "b.c" }, { "a/b/../../c.c", "c.c" },
		{ "../../a.c", "../../a.c" }, { "../x/../a.c", "../a.c" }, { "/a/../../b.c", "/b.c" },
		{ "/../..", "/" }, { "/a/./b/", "/a/b" }, { "", "" }, { ".", "" }, { "..", ".." }, { "a/..", "" },
		{ "//a", "/a" }, { "a...c", "a...c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *path = util_copy(paths[i][0], strlen(paths[i][0]));

		source_path_clean(path);
		assert_string_equal(path, paths[i][1]);
		free(path);
	}
	assert_int_equal(source_path_folder("a/b/c.c"), 3);
	assert_int_equal(source_path_folder("/c.c"), 1);
	assert_int_equal(source_path_folder("c.c"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_without_files),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_name_space),
		cmocka_unit_test(test_source_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
