/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/diff/diff_request.h"
#include "agent/diff/set_diff.h"
#include "agent/import/set_import.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/filter_of.h"

#define BEFORE "main;work 600\nmain;idle 300\nmain;old 100\n"
#define AFTER "main;work 300\nmain;idle 302\nmain;fresh;fresh 398\n"

static struct sample_set *set_of(const char *text)
{
	char *copy = util_copy(text, strlen(text)), *error = NULL;
	struct sample_set *set = set_import_bytes(copy, strlen(text), NULL, &error);

	assert_non_null(set);
	free(copy);
	return set;
}

struct compared {
	struct sample_set *before, *after;
	struct set_diff diff;
};

static struct compared compare(const char *before, const char *after, bool total)
{
	struct compared compared = { .before = set_of(before), .after = set_of(after) };

	assert_true(set_diff_make(&compared.diff, compared.before, compared.after,
		(struct diff_question) { .total = total, .inlined = true }, NULL));
	return compared;
}

static void end(struct compared *compared)
{
	set_diff_clear(&compared->diff);
	sample_set_free(compared->before);
	sample_set_free(compared->after);
}

/* The same, with a question of its own, over sets that are the test's. */
static struct compared ask(struct sample_set *before, struct sample_set *after, struct diff_question question)
{
	struct compared compared = { .before = before, .after = after };

	assert_true(set_diff_make(&compared.diff, before, after, question, NULL));
	return compared;
}

static const struct diff_row *row_of(const struct compared *compared, const char *name)
{
	for (uint32_t i = 0; i < compared->diff.count; i++)
		if (strcmp(compared->diff.rows[i].name, name) == 0)
			return &compared->diff.rows[i];
	return NULL;
}

static void expect(const struct compared *compared, const char *name, double points, const char *how)
{
	const struct diff_row *row = row_of(compared, name);

	assert_non_null(row);
	assert_true(fabs(100 * row->change.share - points) < 1e-9);
	assert_int_equal(row->change.chance, strcmp(how, "chance") == 0);
	assert_int_equal(row->change.appeared, strcmp(how, "new") == 0);
	assert_int_equal(row->change.gone, strcmp(how, "gone") == 0);
}

static void shares_of_functions_are_compared(void **state)
{
	struct compared compared = compare(BEFORE, AFTER, false);
	double sum = 0;

	(void)state;
	assert_int_equal(compared.diff.count, 4);		/* main itself ran nothing */
	expect(&compared, "fresh", 39.8, "new");
	expect(&compared, "work", -30, "");
	expect(&compared, "old", -10, "gone");
	expect(&compared, "idle", 0.2, "chance");
	assert_string_equal(compared.diff.rows[0].name, "fresh");
	assert_string_equal(compared.diff.rows[3].name, "idle");
	for (uint32_t i = 0; i < compared.diff.count; i++)
		sum += compared.diff.rows[i].change.share;
	assert_true(fabs(sum) < 1e-12);
	end(&compared);
}

static void names_choose_rows_and_leave_their_shares(void **state)
{
	const struct filter filter = filter_of("!work o");
	struct compared compared = ask(set_of(BEFORE), set_of(AFTER), (struct diff_question) { .filter = &filter });

	(void)state;
	assert_int_equal(compared.diff.count, 1);
	expect(&compared, "old", -10, "gone");
	assert_null(set_diff_grown(&compared.diff, 2));		/* "fresh" has grown by more */
	end(&compared);
}

static void a_function_counts_once_in_a_stack(void **state)
{
	struct compared compared = compare(BEFORE, AFTER, true);

	(void)state;
	assert_int_equal(compared.diff.count, 5);
	expect(&compared, "main", 0, "chance");
	expect(&compared, "fresh", 39.8, "new");
	assert_int_equal(row_of(&compared, "main")->before.weight, 1000);
	assert_int_equal(row_of(&compared, "fresh")->after.weight, 398);
	end(&compared);
}

static void what_is_the_same_has_not_changed(void **state)
{
	for (int total = 0; total < 2; total++) {
		struct compared compared = compare(AFTER, AFTER, total);

		for (uint32_t i = 0; i < compared.diff.count; i++) {
			assert_true(compared.diff.rows[i].change.share == 0);
			assert_true(compared.diff.rows[i].change.chance);
		}
		assert_null(set_diff_grown(&compared.diff, 0));
		end(&compared);
	}
	(void)state;
}

/* Shares are compared, not counts: B may be longer. */
static void a_longer_set_is_no_change(void **state)
{
	struct compared compared = compare("a 10\nb 30\n", "a 1000\nb 3000\n", false);

	(void)state;
	expect(&compared, "a", 0, "chance");
	expect(&compared, "b", 0, "chance");
	end(&compared);
}

static void growth_counts_if_it_is_no_chance(void **state)
{
	struct compared few = compare("a 5\nb 5\n", "a 7\nb 3\n", false);
	struct compared many = compare("a 500\nb 500\n", "a 700\nb 300\n", false);

	(void)state;
	assert_null(set_diff_grown(&few.diff, 2));
	assert_string_equal(set_diff_grown(&many.diff, 2)->name, "a");
	assert_string_equal(set_diff_grown(&many.diff, 19.9)->name, "a");
	assert_null(set_diff_grown(&many.diff, 20.1));
	end(&few);
	end(&many);
}

/* Half of the code has no name in A, and all has in B: nothing has changed. It is told; growth beside it counts. */
static void names_that_a_side_lacks_are_no_growth(void **state)
{
	const char *full = "main;work 700\nmain;rest 300\n";
	const char *lacks = "main;work 350\nmain;rest 150\nmain;[unknown] 500\n";
	const char *grown = "main;work 850\nmain;rest 150\n";

	(void)state;
	for (int total = 0; total < 2; total++) {
		struct compared known = compare(lacks, full, total), unknown = compare(full, lacks, total);
		struct compared more = compare(lacks, grown, total);

		expect(&known, "work", 35, "");
		assert_null(set_diff_grown(&known.diff, 2));
		assert_null(set_diff_grown(&unknown.diff, 2));
		assert_int_equal(known.diff.unnamed_before.weight, 500);
		assert_int_equal(known.diff.unnamed_after.weight, 0);
		assert_string_equal(set_diff_grown(&more.diff, 14.9)->name, "work");
		assert_null(set_diff_grown(&more.diff, 15.1));
		end(&known);
		end(&unknown);
		end(&more);
	}
}

/* B lacks names of a part that is never this row's. Of what has names, the row is more; of all, it is not. */
static void names_that_only_the_second_side_lacks_are_no_growth(void **state)
{
	const char *full = "main;work 500\nmain;rest 500\n";
	const char *lacks = "main;work 510\nmain;rest 390\nmain;[unknown] 100\n";
	const char *grown = "main;work 600\nmain;rest 300\nmain;[unknown] 100\n";
	struct compared same = compare(full, lacks, false), more = compare(full, grown, false);

	(void)state;
	assert_null(set_diff_grown(&same.diff, 2));
	assert_string_equal(set_diff_grown(&more.diff, 9.9)->name, "work");
	assert_null(set_diff_grown(&more.diff, 10.1));
	end(&same);
	end(&more);
}

/* As a profile of pprof has it: with an address, but neither a function nor a mapping. */
static void code_without_a_name_has_none_wherever_it_is(void **state)
{
	static const enum set_kind kinds[] = { SET_KERNEL, SET_MODULE, SET_USER, SET_UNKNOWN };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct sample_set *lacks = sample_set_new(NULL);
		struct set_line line = { .function = sample_set_function(lacks, &(struct set_function) {
			.name = "[unknown]", .object = "", .file = "", .kind = kinds[i] }) };
		struct set_sum sum = { .samples = 3, .weight = 3, .who = { .thread = SET_NONE, .cpu = SET_NONE } };
		struct compared compared;

		sum.stack = sample_set_stack(lacks, SET_NONE,
			sample_set_location(lacks, 0x1000, SET_NONE, &line, 1), false);
		sample_set_add(lacks, &sum);
		compared = ask(lacks, set_of("main;work 3\n"), (struct diff_question) { .total = false });
		assert_int_equal(compared.diff.unnamed_before.weight, 3);
		assert_int_equal(compared.diff.unnamed_after.weight, 0);
		end(&compared);
	}
}

static void inlined_functions_count_for_the_one_they_are_in(void **state)
{
	struct compared whole = ask(set_of("main;outer;in_[i] 4\n"), set_of("main;outer 4\n"),
		(struct diff_question) { .total = true });
	struct compared apart = ask(set_of("main;outer;in_[i] 4\n"), set_of("main;outer 4\n"),
		(struct diff_question) { .inlined = true });

	(void)state;
	assert_int_equal(whole.diff.count, 2);
	expect(&whole, "outer", 0, "chance");
	assert_null(row_of(&whole, "in"));
	assert_int_equal(apart.diff.count, 2);
	assert_int_equal(row_of(&apart, "in")->before.weight, 4);
	assert_int_equal(row_of(&apart, "outer")->before.weight, 0);
	end(&whole);
	end(&apart);
}

/* Two samples: of a program, with a weight of 30; of idle time, with 10. */
static struct sample_set *set_with_all(void)
{
	struct sample_set *set = sample_set_new(NULL);
	const struct set_function work = { "work", "tool", "src/work.c", 3, 0, SET_USER };
	const struct set_function idle = { "[idle]", "", "", 0, 0, SET_IDLE };
	struct set_line lines[] = { { sample_set_function(set, &work), 7 }, { sample_set_function(set, &idle), 0 } };
	struct set_sum sum = {
		.stack = sample_set_stack(set, SET_NONE, sample_set_location(set, 1, SET_NONE, &lines[0], 1), false),
		.who = { .cpu = 2, .mode = 1 }, .samples = 1, .weight = 30,
	};

	sum.who.thread = sample_set_thread(set, &(struct set_thread) { 5, 6, "", "shell" });
	sample_set_add(set, &sum);
	sum.stack = sample_set_stack(set, SET_NONE, sample_set_location(set, 2, SET_NONE, &lines[1], 1), false);
	sum.who = (struct set_who) { .thread = SET_NONE, .cpu = 2, .mode = 2 };
	sum.weight = 10;
	sample_set_add(set, &sum);
	return set;
}

static void rows_are_what_was_asked_for(void **state)
{
	static const struct {
		enum group_by by;
		const char *name;
	} cases[] = {
		{ GROUP_FUNCTION, "work" }, { GROUP_LINE, "src/work.c:7" }, { GROUP_FILE, "src/work.c" },
		{ GROUP_OBJECT, "tool" }, { GROUP_PROCESS, "shell" }, { GROUP_THREAD, "thread 5" },
		{ GROUP_COMM, "thread 5" }, { GROUP_CPU, "CPU 2" }, { GROUP_MODE, "user" },
	};
	struct sample_set *folded = set_of("work 1\n");

	(void)state;
	for (size_t i = 0; i < GROUPS; i++) {
		struct compared compared = ask(set_with_all(), set_with_all(),
			(struct diff_question) { .by = cases[i].by });

		assert_int_equal(compared.diff.count, 2);
		assert_int_equal(row_of(&compared, cases[i].name)->before.weight, 30);
		assert_int_equal(row_of(&compared, "[idle]")->after.weight, 10);
		assert_true(set_diff_knows(compared.before, cases[i].by));
		assert_int_equal(set_diff_knows(folded, cases[i].by), cases[i].by == GROUP_FUNCTION);
		end(&compared);
	}
	sample_set_free(folded);
}

static void shares_are_of_time_or_of_samples(void **state)
{
	struct compared time = ask(set_with_all(), set_of("work 1\n"), (struct diff_question) { .samples = false });
	struct compared samples = ask(set_with_all(), set_of("work 1\n"), (struct diff_question) { .samples = true });

	(void)state;
	assert_true(fabs(row_of(&time, "work")->change.share - 0.25) < 1e-9);
	assert_true(fabs(row_of(&samples, "work")->change.share - 0.5) < 1e-9);
	end(&time);
	end(&samples);
}

static void without_a_change_the_largest_are_first(void **state)
{
	struct compared compared = compare("a 10\nb 30\nc 60\n", "a 10\nb 30\nc 60\n", false);

	(void)state;
	assert_int_equal(compared.diff.count, 3);
	assert_string_equal(compared.diff.rows[0].name, "c");
	assert_string_equal(compared.diff.rows[1].name, "b");
	assert_string_equal(compared.diff.rows[2].name, "a");
	end(&compared);
}

static void a_picture_has_new_and_gone_stacks(void **state)
{
	struct compared compared = compare(BEFORE "<a&\"b> 1\n", AFTER, false);
	const struct diff_side sides[DIFF_SIDES] = {
		{ .name = "old<.folded", .set = compared.before }, { .name = "new.folded", .set = compared.after },
	};

	(void)state;
	for (int html = 0; html < 2; html++) {
		char *text, *error = NULL;
		size_t size;
		FILE *to = util_text_open(&text, &size);

		assert_true(diff_picture(&compared.diff, sides, (struct diff_look) { .html = html }, to, &error));
		util_text_close(to, &text);
		assert_null(strstr(text, "<a&"));
		assert_null(strstr(text, "old<."));
		assert_non_null(strstr(text, "compared with old&lt;.folded: 1001 samples"));
		assert_non_null(strstr(text, html ? "\"scheme\":\"change\"" : "class=\"by-change\""));
		if (!html) {
			assert_non_null(strstr(text, "398 samples\nbefore 0"));
			assert_non_null(strstr(text, ": +39.80 points, new<"));
			assert_non_null(strstr(text, "2 frames are gone, with 10.1% of what was before: all is as "
				"wide as 100% and these 10.1%<"));
			assert_non_null(strstr(text, "data-g=\"99.9001\" class=\"t60 o12 d0 gone\"><title>old\n"));
			assert_non_null(strstr(text, ": -9.99 points, gone<"));
			assert_non_null(strstr(text, "data-w=\"1000\" data-g=\"100.899\" class=\"root\">"));
		}
		free(text);
	}
	end(&compared);
}

static char *written(void (*write)(const struct set_diff *, const struct diff_side *, uint32_t, FILE *),
	const struct set_diff *diff, uint32_t top)
{
	const struct diff_side sides[DIFF_SIDES] = {
		{ .name = "old\n.folded", .set = (struct sample_set *)diff->before, .unnamed = (char *)"why" },
		{ .name = "new.folded", .set = (struct sample_set *)diff->after, .unnamed = (char *)"why" },
	};
	char *text;
	size_t size;
	FILE *stream = util_text_open(&text, &size);

	write(diff, sides, top, stream);
	return util_text_close(stream, &text);
}

static void the_table_says_which_is_which(void **state)
{
	struct compared compared = compare(BEFORE "hos\033tile 1\n", AFTER, false);
	char *text = written(diff_text, &compared.diff, 3);

	(void)state;
	assert_string_equal(text,
		"A (before): old\\x0a.folded: 1001 samples\n"
		"B (after):  new.folded: 1000 samples\n"
		"Shares of functions themselves, in percent; + means more in B, ~ may be chance.\n\n"
		"      CHANGE       A       B  FUNCTION\n"
		" new  +39.80    0.00   39.80  fresh\n"
		"      -29.94   59.94   30.00  work\n"
		"gone   -9.99    9.99    0.00  old\n"
		"... and 2 more; --top 0 shows all\n");
	free(text);
	text = written(diff_json, &compared.diff, 0);
	assert_non_null(strstr(text, "\"source\":\"old\\\\x0a.folded\",\"samples\":1001,\"weight\":1001}"));
	assert_non_null(strstr(text, "{\"name\":\"hos\\\\x1btile\","));
	assert_non_null(strstr(text, "\"change\":0.398000000,\"chance\":false,\"new\":true,\"gone\":false}"));
	free(text);
	end(&compared);
}

/* Callers without a name: told from 1 % on. Where they count, a name that one side alone knows is no growth. */
static void callers_without_a_name_are_told(void **state)
{
	const char *lacks = "main;work 690\n[unknown];work 300\nmain;[unknown];[unknown] 10\n";
	const char *few = "main;work 991\n[unknown];[unknown];work 9\n";
	struct compared compared = compare(lacks, few, true), self = compare(few, lacks, false);
	char *text = written(diff_text, &compared.diff, 1), *json = written(diff_json, &compared.diff, 0);

	(void)state;
	assert_non_null(strstr(text, ": 1000 samples; incomplete: 1.00% of it has no name: why; "
		"incomplete: 30.00% of it has a caller without a name: why\nB (after):  new.folded: 1000 samples\n"));
	assert_non_null(strstr(json, "\"incomplete\":{\"share\":0.010000000,\"callers\":0.300000000,"
		"\"reason\":\"why\"}},\n\"after\":{\"source\":\"new.folded\",\"samples\":1000,\"weight\":1000},"));
	assert_null(set_diff_grown(&compared.diff, 2));
	assert_null(set_diff_grown(&self.diff, 2));
	free(json);
	free(text);
	end(&self);
	end(&compared);
	compared = compare("[unknown];work 500\nmain;work 500\n", "main;work 500\nmain;rest 500\n", true);
	assert_string_equal(set_diff_grown(&compared.diff, 2)->name, "rest");
	end(&compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_functions_are_compared),
		cmocka_unit_test(names_choose_rows_and_leave_their_shares),
		cmocka_unit_test(a_function_counts_once_in_a_stack),
		cmocka_unit_test(what_is_the_same_has_not_changed),
		cmocka_unit_test(a_longer_set_is_no_change),
		cmocka_unit_test(growth_counts_if_it_is_no_chance),
		cmocka_unit_test(names_that_a_side_lacks_are_no_growth),
		cmocka_unit_test(names_that_only_the_second_side_lacks_are_no_growth),
		cmocka_unit_test(code_without_a_name_has_none_wherever_it_is),
		cmocka_unit_test(inlined_functions_count_for_the_one_they_are_in),
		cmocka_unit_test(rows_are_what_was_asked_for),
		cmocka_unit_test(shares_are_of_time_or_of_samples),
		cmocka_unit_test(without_a_change_the_largest_are_first),
		cmocka_unit_test(a_picture_has_new_and_gone_stacks),
		cmocka_unit_test(the_table_says_which_is_which),
		cmocka_unit_test(callers_without_a_name_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
