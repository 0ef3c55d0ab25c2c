/* SPDX-License-Identifier: MIT */
/* Groups beside what the random questions show: the filter of a row, and what is read late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/store/run.h"
#include "agent/wire/event.h"
#include "tests/unit/agent/query/fake_symbols.h"
#include "tests/unit/fakes/filter_of.h"

/* Each row of a guest with these names; the filter of a row lets its samples pass, and none of another row. */
static void the_filter_of_a_row_is_for_its_samples_alone(void **state)
{
	static const enum group_by kinds[] = { GROUP_PROCESS, GROUP_THREAD, GROUP_COMM, GROUP_CPU, GROUP_MODE };
	struct grouping grouping = { .symbols = symbols_new(NULL), .threads = threads_new(NULL) };
	static const char *const names[8] = { "work", "work:er", "work er", " work|er", "\"work\"", "wo\"rk e\" ", ":x",
		"!work er" };
	struct who who[24 * CONTEXTS];
	uint32_t count = 0;

	(void)state;
	threads_process(grouping.threads, 1, (struct text) { .bytes = "init", .size = 4 });
	threads_process(grouping.threads, 2, (struct text) { .bytes = "init", .size = 4 });
	for (uint32_t thread = 1; thread <= 12; thread++)	/* the names of half of them are parts of the others' */
		threads_thread(grouping.threads, thread, 1,
			(struct text) { names[thread % 8], strlen(names[thread % 8]) });
	for (uint32_t thread = 1; thread <= 12; thread++)
		for (uint8_t kind = 0; kind <= CONTEXTS; kind++)
			who[count++] = (struct who) { .process = thread % 4, .thread = thread,
				.cpu = (uint16_t)(thread % 2), .mode = kind < CONTEXTS ? MODE_KERNEL : MODE_USER,
				.context = kind % CONTEXTS };
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
		grouping.by = kinds[kind];
		for (uint32_t i = 0; i < count; i++) {
			uint32_t row = grouping_who(&grouping, &who[i], CONTEXT_UNTOLD);
			char words[FILTER_TEXT];
			struct filter filter;

			grouping_filter(grouping.by, symbols_get(grouping.symbols, row)->name, NULL, words,
				sizeof(words));
			assert_string_not_equal(words, "");
			filter = filter_of(words);
			for (uint32_t k = 0; k < count; k++)
				assert_int_equal(filter_passes(&filter, grouping.threads, &who[k], CONTEXT_UNTOLD),
					grouping_who(&grouping, &who[k], CONTEXT_UNTOLD) == row);
		}
	}
	grouping_clear(&grouping);
	symbols_free(grouping.symbols);
	threads_free(grouping.threads);
}

static void what_no_word_can_name_has_no_filter(void **state)
{
	static const struct { enum group_by by; const char *name, *words; } rows[] = {
		{ GROUP_FUNCTION, "memcpy", "" }, { GROUP_LINE, "mm/page.c:120", "" },
		{ GROUP_FILE, "mm/page.c", "file:mm/page.c" },
		{ GROUP_FILE, "[no source]", "" }, { GROUP_FILE, "my page.c", "file:\"my page.c\"" },
		{ GROUP_OBJECT, "kernel", "object:kernel" }, { GROUP_OBJECT, "[unknown]", "" },
		{ GROUP_OBJECT, "a b", "object:\"a b\"" }, { GROUP_OBJECT, "a|b", "object:\"a|b\"" },
		{ GROUP_THREAD, "[idle]", "" }, { GROUP_THREAD, "[no thread]", "" },
		{ GROUP_THREAD, "a|b/12", "thread:12" }, { GROUP_THREAD, "thread 5", "thread:5" },
		{ GROUP_COMM, "kworker/0:1", "comm:kworker/0:1" }, { GROUP_COMM, "a|b", "comm:\"a|b\"" },
		{ GROUP_COMM, "tmux: server", "comm:\"tmux: server\"" }, { GROUP_COMM, ":a", "comm:\":a\"" },
		{ GROUP_COMM, "a\"b c\"", "comm:\"a\"\"b c\"\"\"" }, { GROUP_COMM, "\"", "comm:\"\"\"\"" },
		{ GROUP_COMM, "[no thread]", "comm:\"[no thread]\"" }, { GROUP_COMM, "[idle]", "" },
		{ GROUP_PROCESS, "kernel", "process:kernel" }, { GROUP_CPU, "CPU 12", "cpu:12" },
		{ GROUP_CPU, "[CPU forgotten]", "" }, { GROUP_MODE, "user", "mode:user" },
		{ GROUP_MODE, "softirq", "mode:softirq" },
	};
	char words[FILTER_TEXT], of_machine[FILTER_TEXT + 16];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(grouping_filter(rows[i].by, rows[i].name, NULL, words, sizeof(words)),
			rows[i].words);
		snprintf(of_machine, sizeof(of_machine), "%s%s", *words ? "machine:12 " : "", words);
		assert_string_equal(grouping_filter(rows[i].by, rows[i].name, "12 web 3", words, sizeof(words)),
			of_machine);
	}
	assert_string_equal(grouping_machine_filter("12 web 3", words, sizeof(words)), "machine:12");
}

/* A file that a worker reads late changes the rows once, and not again. */
static void a_late_file_changes_the_rows_once(void **state)
{
	struct grouping grouping = { .by = GROUP_FILE, .symbols = symbols_new(NULL) };
	uint32_t function = symbols_function(grouping.symbols, 3, 0x200);

	(void)state;
	assert_string_equal(symbols_get(grouping.symbols, grouping_frame(&grouping, 0, function))->name,
		"[not read yet]");
	assert_false(grouping_changed(&grouping));
	fake_symbols_read_lines(grouping.symbols, function + 1);
	assert_true(grouping_changed(&grouping));
	assert_string_equal(symbols_get(grouping.symbols, grouping_frame(&grouping, 0, function))->name, "a.c");
	assert_false(grouping_changed(&grouping));
	grouping_clear(&grouping);
	symbols_free(grouping.symbols);
}

/* Without memory for the rows, each call finds its row anew: nothing that was kept can change. */
static void without_memory_nothing_is_kept(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct grouping grouping = { .by = GROUP_FILE, .symbols = symbols_new(NULL), .budget = budget };
	uint32_t function = symbols_function(grouping.symbols, 3, 0x200);

	(void)state;
	budget_charge(budget, budget_left(budget));
	assert_string_equal(symbols_get(grouping.symbols, grouping_frame(&grouping, 0, function))->name,
		"[not read yet]");
	assert_false(grouping_changed(&grouping));
	fake_symbols_read_lines(grouping.symbols, function + 1);
	assert_string_equal(symbols_get(grouping.symbols, grouping_frame(&grouping, 0, function))->name, "a.c");
	assert_false(grouping_changed(&grouping));
	grouping_clear(&grouping);
	symbols_free(grouping.symbols);
	budget_release(budget);
}

/* Names that agree for longer than any row has room, as a hostile guest may give them. */
static void a_long_name_keeps_its_number(void **state)
{
	struct grouping grouping = { .by = GROUP_THREAD, .symbols = symbols_new(NULL), .threads = threads_new(NULL) };
	const struct who who[] = { { .thread = 7 }, { .thread = 70 } };
	char name[2000], words[FILTER_TEXT];
	uint32_t rows[2];

	(void)state;
	memset(name, 'n', sizeof(name));
	for (int i = 0; i < 2; i++) {
		threads_thread(grouping.threads, who[i].thread, 1,
			(struct text) { .bytes = name, .size = sizeof(name) });
		rows[i] = grouping_who(&grouping, &who[i], CONTEXT_UNTOLD);
	}
	assert_int_not_equal(rows[0], rows[1]);
	assert_string_equal(grouping_filter(GROUP_THREAD, symbols_get(grouping.symbols, rows[1])->name, NULL,
		words, sizeof(words)), "thread:70");
	grouping_clear(&grouping);
	symbols_free(grouping.symbols);
	threads_free(grouping.threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_filter_of_a_row_is_for_its_samples_alone),
		cmocka_unit_test(what_no_word_can_name_has_no_filter),
		cmocka_unit_test(a_late_file_changes_the_rows_once),
		cmocka_unit_test(without_memory_nothing_is_kept),
		cmocka_unit_test(a_long_name_keeps_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
