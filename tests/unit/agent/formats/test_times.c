/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "hand_set.h"

struct lines {
	uint32_t count, empty;
	uint64_t samples;
	double first, last;
};

/* The set has samples in two slots of CPU 0, that far apart. */
static struct lines lines_of(uint64_t apart)
{
	struct hand_set *hand = hand_set_new();
	struct lines lines = { .count = 0 };
	char *text, *error = NULL, *line, *next;
	size_t size;
	struct set_writing writing = { .to = util_text_open(&text, &size) };

	hand->apart = apart;
	assert_true(format_csv_times.write(&hand->set, &writing, &error));
	util_text_close(writing.to, &text);
	for (line = strchr(text, '\n') + 1; *line; line = next) {
		double seconds;
		unsigned cpu;
		unsigned long long samples;

		next = strchr(line, '\n') + 1;
		assert_int_equal(sscanf(line, "%lf,%u,%llu,", &seconds, &cpu, &samples), 3);
		assert_int_equal(cpu, 0);
		assert_true(!lines.count || seconds > lines.last);
		lines.first = lines.count ? lines.first : seconds;
		lines.last = seconds;
		lines.count++;
		lines.empty += !samples;
		lines.samples += samples;
	}
	assert_int_equal(lines.samples, hand->set.samples);
	free(text);
	hand_set_free(hand);
	return lines;
}

/* A slot without a sample is 0, so that a plot does not draw a line through it. */
static void each_slot_has_a_line(void **state)
{
	struct lines near = lines_of(20 * NS_PER_MS), far = lines_of(NS_PER_SECOND);

	(void)state;
	assert_int_equal(near.count, 2);
	assert_int_equal(near.empty, 0);
	assert_int_equal(far.count, 51);
	assert_int_equal(far.empty, 49);
	assert_float_equal(far.first, 5, 1e-9);
	assert_float_equal(far.last, 6, 1e-9);
}

/* So a guest that stood still for a year makes no file of gigabytes. */
static void a_long_gap_has_its_ends(void **state)
{
	struct lines just = lines_of(51 * 20 * NS_PER_MS), longer = lines_of(52 * 20 * NS_PER_MS);
	struct lines year = lines_of(365 * 86400 * NS_PER_SECOND);

	(void)state;
	assert_int_equal(just.empty, 50);
	assert_int_equal(longer.empty, 2);
	assert_int_equal(year.empty, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_slot_has_a_line),
		cmocka_unit_test(a_long_gap_has_its_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
