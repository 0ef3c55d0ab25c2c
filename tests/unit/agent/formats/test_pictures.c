/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/palette.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "agent/formats/set_format.h"
#include "agent/query/tree/contexts.h"
#include "hand_set.h"
#include "xml.h"

enum { MOST = 1000 * 1000 /* bytes of a picture */ };

static char *written(const struct set_format *format, const struct sample_set *set, bool flame)
{
	char *text = NULL, *error = NULL;
	size_t size;
	struct set_writing writing = { .to = util_text_open(&text, &size), .title = "a <b> & \"c\"", .flame = flame };

	assert_true(format->write(set, &writing, &error));
	assert_null(error);
	return util_text_close(writing.to, &text);
}

/* ---- the picture's boxes: each begins with a title, whose first line is the function's name ---- */

struct boxes {
	uint64_t whole, count;
	uint64_t top;			/* the weight of all boxes right below the root */
	const char *wanted;		/* a name */
	int names;			/* boxes that have it */
	uint64_t weight;		/* of the boxes of that name */
	double width, gone;		/* theirs, in percent; and what is gone in them */
	bool before;			/* one of them says what it was before */
};

/* 0: there is none. */
static double number_of(const struct xml_element *element, const char *name)
{
	char *text = xml_attribute(element, name);
	double number = text ? strtod(text, NULL) : 0;

	free(text);
	return number;
}

static void take_box(void *context, const struct xml_element *element)
{
	struct boxes *boxes = context;
	char *weight = xml_is(element, "svg") ? xml_attribute(element, "data-w") : NULL, *y, *title;

	if (!weight)
		return;
	y = xml_attribute(element, "y");
	assert_memory_equal(element->content, "<title>", 7);
	title = xml_text(&(struct xml_element) { .content = element->content + 7 });
	if (!boxes->count++)
		boxes->whole = strtoull(weight, NULL, 10);
	if (strcmp(y, "18") == 0)
		boxes->top += strtoull(weight, NULL, 10);
	if (boxes->wanted && strncmp(title, boxes->wanted, strlen(boxes->wanted)) == 0 &&
		title[strlen(boxes->wanted)] == '\n') {
		boxes->names++;
		boxes->weight += strtoull(weight, NULL, 10);
		boxes->before |= strstr(title, "before ") != NULL;
		boxes->width += number_of(element, "width");
		boxes->gone += number_of(element, "data-g");
	}
	free(weight);
	free(y);
	free(title);
}

static struct boxes boxes_of(const char *text, const char *wanted)
{
	struct boxes boxes = { .wanted = wanted };

	xml_read(text, take_box, &boxes);
	return boxes;
}

static void boxes_have_the_sums_of_the_set(void **state)
{
	static const struct { const char *name; uint64_t weight; } known[] = {
		{ "entry_syscall", 10 + 300 + 40 + 50 + HAND_HOSTILE }, { "vm_fault", 340 }, { "page_zero", 340 },
		{ "irq_entry", 40 }, { "ext4_read", 50 }, { "main", 91 }, { "[idle]", 499 }, { "[unknown]", 1 },
	};
	struct hand_set *hand = hand_set_new();
	char *text = written(&format_svg, &hand->set, false);

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct boxes boxes = boxes_of(text, known[i].name);

		assert_int_equal(boxes.names, 1);
		assert_int_equal(boxes.weight, known[i].weight);
		assert_int_equal(boxes.whole, hand->set.weight);
		assert_int_equal(boxes.top, hand->set.weight);
	}
	assert_non_null(strstr(text, "no frame is merged"));
	free(text);
	hand_set_free(hand);
}

static void hostile_names_are_harmless_and_kept_apart(void **state)
{
	static const char *const seen[HAND_HOSTILE - 1] = {
		"a\"b'c", "semi;colon", "</script><script>alert(1)</script>", "]]><svg onload=\"x\">",
		"new\\x0aline", "new\\\\x0aline", "esc\\x1b[31m", "bad\\xff\\xc3 utf",
	};
	struct hand_set *hand = hand_set_new();
	char *text = written(&format_svg, &hand->set, true);

	(void)state;
	for (int i = 0; i < HAND_HOSTILE - 1; i++)
		assert_int_equal(boxes_of(text, seen[i]).names, 1);
	assert_non_null(strstr(text, "(10240 bytes, #"));
	assert_null(strstr(text, "<script>alert"));
	free(text);
	hand_set_free(hand);
}

/* Pictures of a set whose memory comes from a budget. Afterwards all is given back, whether they found room or not. */
static void a_picture_is_paid_for(void **state)
{
	const struct set_format *const formats[] = { &format_svg, &format_html };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t all = budget_left(budget), refused = 0;

	(void)state;
	for (size_t left = 64; left < 1 << 20; left *= 2)
		for (size_t i = 0; i < 2; i++) {
			struct hand_set *hand = hand_set_new();
			char *text = NULL, *error = NULL;
			size_t size;
			FILE *to = util_text_open(&text, &size);

			hand->set.budget = budget;
			assert_true(budget_take(budget, all - left));
			if (!formats[i]->write(&hand->set, &(struct set_writing) { .to = to, .title = "t" }, &error)) {
				assert_non_null(strstr(error, "no memory is left"));
				refused++;
			}
			util_text_close(to, &text);
			budget_give(budget, all - left);
			assert_int_equal(budget_left(budget), all);
			free(error);
			free(text);
			hand_set_free(hand);
		}
	assert_in_range(refused, 4, 24);		/* of 28 */
	budget_release(budget);
}

/* Two names that differ behind what is written of them still differ. */
static void long_names_are_kept_apart(void **state)
{
	struct cells *cells = cells_new(NULL);
	char *one = util_alloc(2000), *other = util_alloc(2000), *text = NULL;
	size_t size;
	FILE *to = util_text_open(&text, &size);
	struct picture picture = { .cells = cells, .title = "", .unit = "bytes" };
	const char *first, *second;

	(void)state;
	memset(one, 'x', 1999);
	memset(other, 'x', 1999);
	other[1998] = 'y';
	for (int i = 0; i < 2; i++)
		cells_add(cells, cells_child(cells, CELLS_ROOT,
			&(struct set_function) { i ? one : other, "", "", 0, 0, SET_KERNEL }),
			MODE_KERNEL, &(struct cell_amount) { .weight = 50 });
	assert_true(cells_settle(cells));
	assert_true(svg_write(&picture, to));
	util_text_close(to, &text);
	first = strstr(text, "(1999 bytes, #");
	assert_non_null(first);
	second = strstr(first + 1, "(1999 bytes, #");
	assert_non_null(second);
	assert_memory_not_equal(first, second, 24);
	cells_free(cells);
	free(text);
	free(one);
	free(other);
}

/* Of the fewer stacks, all cells are wide enough to be seen, and too many still. */
static void many_stacks_are_merged_to_a_small_picture(void **state)
{
	uint32_t stacks = *(const uint32_t *)*state;
	struct hand_set *hand = hand_set_new_large(stacks);
	char *text = written(&format_svg, &hand->set, false);
	struct boxes boxes = boxes_of(text, NULL);

	assert_true(strlen(text) < MOST);
	assert_true(boxes.count > 100);
	assert_int_equal(boxes.whole, hand->set.weight);
	assert_int_equal(boxes.top, hand->set.weight);
	assert_non_null(strstr(text, "% are merged"));
	free(text);
	hand_set_free(hand);
}

static void a_change_is_said(void **state)
{
	struct cells *cells = cells_new(NULL);
	char *text = NULL;
	size_t size;
	FILE *to = util_text_open(&text, &size);
	struct picture picture = {
		.cells = cells, .title = "", .before = "another build", .colours = COLOURS_CHANGE,
	};
	struct set_function more = { "more", "kernel", "", 0, 0, SET_KERNEL };
	struct set_function new = { "new", "kernel", "", 0, 0, SET_KERNEL };

	(void)state;
	cells_add(cells, cells_child(cells, CELLS_ROOT, &more), MODE_KERNEL,
		&(struct cell_amount) { .weight = 6000, .samples = 6000, .before = 10000, .samples_before = 10000 });
	cells_add(cells, cells_child(cells, CELLS_ROOT, &new), MODE_KERNEL,
		&(struct cell_amount) { .weight = 4000, .samples = 4000 });
	assert_true(cells_settle(cells));
	assert_true(svg_write(&picture, to));
	util_text_close(to, &text);
	assert_true(boxes_of(text, "more").before);
	assert_non_null(strstr(text, "-40.00 points"));
	assert_non_null(strstr(text, "+40.00 points, new"));
	assert_non_null(strstr(text, " d8\""));
	assert_non_null(strstr(text, " d0\""));
	free(text);
	cells_free(cells);
}

static char *drawn(const struct cells *cells, const char *unit)
{
	const struct picture picture = {
		.cells = cells, .title = "", .unit = unit, .before = "another build", .colours = COLOURS_CHANGE,
	};
	char *text = NULL;
	size_t size;
	FILE *to = util_text_open(&text, &size);

	assert_true(svg_write(&picture, to));
	return util_text_close(to, &text);
}

static void expect_box(const char *text, const char *name, double width, uint64_t weight, double gone)
{
	struct boxes boxes = boxes_of(text, name);

	assert_int_equal(boxes.names, 1);
	assert_int_equal(boxes.weight, weight);
	assert_float_equal(boxes.width, width, 0.01);
	assert_float_equal(boxes.gone, gone, 0.01);
}

/* What was a quarter before is as wide as a quarter of what there is now; bytes are as wide as they were. */
static void what_is_gone_is_as_wide_as_it_was(void **state)
{
	const struct set_function caller = { "caller", "", "", 0, 0, SET_KERNEL };
	const struct set_function kept = { "kept", "", "", 0, 0, SET_KERNEL };
	const struct set_function gone = { "gone", "", "", 0, 0, SET_KERNEL };
	const struct set_function below = { "below", "", "", 0, 0, SET_KERNEL };
	struct cells *cells = cells_new(NULL);
	uint32_t parent = cells_child(cells, CELLS_ROOT, &caller);
	char *samples, *bytes;

	(void)state;
	cells_add(cells, cells_child(cells, parent, &kept), MODE_KERNEL,
		&(struct cell_amount) { .weight = 600, .samples = 600, .before = 1500, .samples_before = 1500 });
	cells_add(cells, cells_child(cells, cells_child(cells, parent, &gone), &below), MODE_KERNEL,
		&(struct cell_amount) { .before = 500, .samples_before = 500 });
	assert_true(cells_settle(cells));
	samples = drawn(cells, NULL);
	bytes = drawn(cells, "bytes");
	expect_box(samples, "caller", 100, 600, 150);
	expect_box(samples, "kept", 80, 600, 0);
	expect_box(samples, "gone", 20, 0, 150);
	expect_box(samples, "below", 20, 0, 150);
	expect_box(bytes, "caller", 100, 600, 500);
	expect_box(bytes, "gone", 100 * 500.0 / 1100, 0, 500);
	assert_non_null(strstr(bytes, "before 1,500: -900<"));
	assert_non_null(strstr(bytes, "all is as wide as 600 bytes and these 500<"));
	free(samples);
	free(bytes);
	cells_free(cells);
}

/* A bit for each colour by object that the boxes have; `twice`: two boxes have one. */
struct used_colours {
	uint32_t bits;
	bool twice;
};

static void take_colour(void *context, const struct xml_element *element)
{
	struct used_colours *used = context;
	char *weight = xml_is(element, "svg") ? xml_attribute(element, "data-w") : NULL;
	char *class = weight ? xml_attribute(element, "class") : NULL, *colour = class ? strstr(class, " o") : NULL;

	if (colour) {
		uint32_t bit = UINT32_C(1) << strtoul(colour + 2, NULL, 10);

		used->twice |= (used->bits & bit) != 0;
		used->bits |= bit;
	}
	free(class);
	free(weight);
}

/* Objects as many as there are colours, and what is of none: no two of them look alike. */
static void each_object_has_a_colour_of_its_own(void **state)
{
	struct cells *cells = cells_new(NULL);
	char names[PALETTE_OBJECTS + 1][16] = { "" }, *text;
	struct used_colours used = { .bits = 0 };

	(void)state;
	for (unsigned i = 0; i <= PALETTE_OBJECTS; i++) {
		if (i)
			snprintf(names[i], sizeof(names[i]), "object-%u", i);
		cells_add(cells, cells_child(cells, CELLS_ROOT, &(struct set_function) {
			.name = "main", .object = names[i], .file = "", .kind = SET_USER,
		}), MODE_USER, &(struct cell_amount) { .weight = 100 + i, .samples = 100 + i });
	}
	assert_true(cells_settle(cells));
	text = drawn(cells, NULL);
	xml_read(text, take_colour, &used);
	assert_int_equal(used.bits, (UINT32_C(1) << (PALETTE_OBJECTS + 1)) - 1);
	assert_false(used.twice);
	assert_true(strstr(text, ">object-12<") < strstr(text, ">object-11<"));	/* the legend has the widest first */
	assert_null(strstr(text, ">object-4<"));
	free(text);
	cells_free(cells);
}

enum { LARGE = 40000 };

/* Each stack is either new or gone, and all are wide enough to be seen. */
static void a_large_change_is_a_small_picture(void **state)
{
	struct cells *cells = cells_new(NULL);
	char (*names)[32] = util_alloc(LARGE * sizeof(*names)), *text;

	(void)state;
	for (unsigned i = 0; i < LARGE; i++) {
		struct set_function function = { "", "/lib/an-object.so", "folder/file.c", 0, 0, SET_USER };
		uint32_t cell = CELLS_ROOT;

		snprintf(names[i], sizeof(names[i]), "function_of_some_length_%u", i);
		for (unsigned depth = 0; depth < 12; depth++) {
			function.name = names[depth < 8 ? i % (2u << depth) : i];
			cell = cells_child(cells, cell, &function);
		}
		cells_add(cells, cell, MODE_USER, i % 2 ? &(struct cell_amount) { .weight = 1, .samples = 1 } :
			&(struct cell_amount) { .before = 1, .samples_before = 1 });
	}
	assert_true(cells_settle(cells));
	text = drawn(cells, NULL);
	assert_in_range(strlen(text), MOST / 8, MOST);
	assert_non_null(strstr(text, "% are merged; "));
	assert_non_null(strstr(text, "with 100% of what was before"));
	free(text);
	free(names);
	cells_free(cells);
}

/* ---- the report ---- */

static void take_data(void *context, const struct xml_element *element)
{
	char **data = context, *id = xml_is(element, "script") ? xml_attribute(element, "id") : NULL;

	if (id && strcmp(id, "data") == 0)
		*data = xml_text(element);
	free(id);
}

static uint64_t sum_of(const cJSON *list)
{
	const cJSON *item;
	uint64_t sum = 0;

	cJSON_ArrayForEach(item, list)
		sum += (uint64_t)item->valuedouble;
	return sum;
}

/* Of all parts in all bins: the weights, which stand at place 1, or the samples, at place 2. */
static uint64_t sum_of_bins(const cJSON *lists, unsigned place)
{
	const cJSON *list, *item;
	uint64_t sum = 0;
	unsigned at;

	cJSON_ArrayForEach(list, lists) {
		at = 0;
		cJSON_ArrayForEach(item, list) {
			sum += at % 3 == place ? (uint64_t)item->valuedouble : 0;
			at++;
		}
	}
	return sum;
}

static void the_reports_data_have_the_sums_of_the_set(void **state)
{
	struct hand_set *hand = hand_set_new();
	char *text = written(&format_html, &hand->set, false), *json = NULL;
	cJSON *data, *bins;

	(void)state;
	xml_read(text, take_data, &json);
	assert_non_null(json);
	data = cJSON_Parse(json);
	assert_non_null(data);
	bins = cJSON_GetObjectItem(data, "bins");
	assert_int_equal(sum_of(cJSON_GetObjectItem(data, "weight")), hand->set.weight);
	assert_int_equal(sum_of(cJSON_GetObjectItem(data, "samples")), hand->set.samples);
	assert_int_equal(sum_of(cJSON_GetObjectItem(data, "ns")), hand->set.ns);
	assert_int_equal(sum_of_bins(cJSON_GetObjectItem(bins, "lists"), 1), hand->set.weight);
	assert_int_equal(sum_of_bins(cJSON_GetObjectItem(bins, "lists"), 2), hand->set.samples);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(data, "names")), hand->set.function_count);
	assert_non_null(strstr(text, "id=\"missed\">77<"));
	assert_non_null(strstr(text, ">344 ns a sample, 0.05 %<"));
	assert_non_null(strstr(text, ">1,003<"));	/* taken: 1,000 received, 3 lost */
	assert_non_null(strstr(text, "Content-Security-Policy"));
	cJSON_Delete(data);
	free(json);
	free(text);
	hand_set_free(hand);
}

static void hostile_names_stay_in_the_data(void **state)
{
	struct hand_set *hand = hand_set_new();
	char *text = written(&format_html, &hand->set, false), *json = NULL;
	const char *at = text;
	cJSON *data;
	int scripts = 0, whole = 0;

	(void)state;
	for (; (at = strstr(at, "</script")); at++)
		scripts++;
	assert_int_equal(scripts, 2);	/* the data's and the script's own */
	xml_read(text, take_data, &json);
	data = cJSON_Parse(json);
	for (const cJSON *name = cJSON_GetObjectItem(data, "names")->child; name; name = name->next)
		whole += strcmp(name->valuestring, hand_set_hostile[2]) == 0 ||
			strcmp(name->valuestring, hand->long_name) == 0;
	assert_int_equal(whole, 2);
	cJSON_Delete(data);
	free(json);
	free(text);
	hand_set_free(hand);
}

static void a_set_without_times_has_no_bins(void **state)
{
	struct hand_set *hand = hand_set_new();
	char *text;

	(void)state;
	hand->set.rows = NULL;
	text = written(&format_html, &hand->set, false);
	assert_null(strstr(text, "\"bins\":{"));
	free(text);
	hand_set_free(hand);
}

static void an_empty_set_is_refused(void **state)
{
	static const struct set_format *const both[] = { &format_svg, &format_html };
	struct sample_set empty = { .sum_count = 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct set_writing writing = { .title = "" };
		char *error = NULL;

		assert_false(both[i]->write(&empty, &writing, &error));
		assert_string_equal(error, "no sample is in it; choose another range or filter");
		free(error);
	}
}

int main(void)
{
	uint32_t few = 2000, many = 20000;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_have_the_sums_of_the_set),
		cmocka_unit_test(hostile_names_are_harmless_and_kept_apart),
		cmocka_unit_test(long_names_are_kept_apart),
		cmocka_unit_test_prestate(many_stacks_are_merged_to_a_small_picture, &few),
		cmocka_unit_test_prestate(many_stacks_are_merged_to_a_small_picture, &many),
		cmocka_unit_test(a_change_is_said),
		cmocka_unit_test(what_is_gone_is_as_wide_as_it_was),
		cmocka_unit_test(each_object_has_a_colour_of_its_own),
		cmocka_unit_test(a_large_change_is_a_small_picture),
		cmocka_unit_test(the_reports_data_have_the_sums_of_the_set),
		cmocka_unit_test(hostile_names_stay_in_the_data),
		cmocka_unit_test(a_set_without_times_has_no_bins),
		cmocka_unit_test(an_empty_set_is_refused),
		cmocka_unit_test(a_picture_is_paid_for),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
