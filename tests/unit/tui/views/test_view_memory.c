/* SPDX-License-Identifier: MIT */
/* The view Memory alone: its order, the stacks of a row, what it says below the rows and in their place, all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/memory_table.h"
#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tui/views/config.h"
#include "tui/views/views.h"
#include "view_stage.h"

enum { LINE = 512 };

static struct config config;

static struct stage raise_stage(int columns)
{
	struct stage stage = stage_raise(&view_memory, &config, 20, columns, true);

	hand_memory(stage.answers, hand_names);
	stage.shown = &stage.answers->memory->answer;
	stage_draw(&stage);
	return stage;
}

/* The sites of the rows, from above, by their first letters; without a stack '-'. */
static const char *order_of(struct stage *stage, char order[LINE])
{
	char *text, *line, *site;
	size_t used = 0;

	stage_draw(stage);
	text = canvas_dump(stage->canvas);
	for (line = strtok(strstr(text, "CALL SITE"), "\n"); line; line = strtok(NULL, "\n")) {
		site = strstr(line, ": ");
		if (site && site > line + 20 && used + 2 < LINE)
			order[used++] = strncmp(site, ": no", 4) == 0 && site[4] == ' ' ? '-' : site[2];
	}
	order[used] = '\0';
	free(text);
	return order;
}

static void test_each_column_sorts(void **state)
{
	static const struct { const char *head, *order; } columns[] = {	/* from LIVE to the right */
		{ "COUNT▼", "npsp-" }, { "PEAK▼", "psnp-" }, { "RATE▼", "pnps-" }, { "FREED%▼", "-ppns" },
		{ "AGE▼", "pns" }, { "CALL SITE▼", NULL }, { "LIVE▼", "psnp-" },
	};
	struct stage stage = raise_stage(100);
	char order[LINE];

	(void)state;
	assert_string_equal(order_of(&stage, order), "psnp-");
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		view_memory.act(stage.view, i % 2 ? ACTION_SORT : ACTION_SORT_RIGHT);
		stage_holds(&stage, columns[i].head, true);
		if (columns[i].order)
			assert_memory_equal(order_of(&stage, order), columns[i].order, strlen(columns[i].order) - 1);
	}
	view_memory.act(stage.view, ACTION_INVERT);
	stage_holds(&stage, "LIVE▲", true);
	assert_string_equal(order_of(&stage, order), "-pnsp");
	stage_strike(&stage);
}

static void test_stacks_of_a_row(void **state)
{
	struct stage stage = raise_stage(80);
	const struct memory_request *request;

	(void)state;
	request = (const struct memory_request *)view_memory.ask(stage.view, &stage.scope);
	assert_int_equal(request->stacks, 0);
	assert_true(view_memory.act(stage.view, ACTION_OPEN));
	request = (const struct memory_request *)view_memory.ask(stage.view, &stage.scope);
	assert_true(request->stacks && request->allocator == 1 && request->site == 0);
	stage_holds(&stage, "who has asked for what lives of pages: page_alloc_clear", true);
	stage_holds(&stage, "4.9M in 1,200 objects\n    traced_alloc\n    page_alloc\n", true);
	view_memory.act(stage.view, ACTION_BOTTOM);
	stage_holds(&stage, "16.4k in 4 objects", true);
	stage_holds(&stage, "...", true);
	assert_true(view_memory.act(stage.view, ACTION_BACK));
	assert_false(view_memory.act(stage.view, ACTION_BACK));
	stage_holds(&stage, "CALL SITE", true);
	stage_strike(&stage);
}

static void test_what_is_said(void **state)
{
	struct stage stage = raise_stage(160);
	struct memory_table *table = stage.answers->memory;

	(void)state;
	stage_holds(&stage, "31 frees are of what was given out before, or unseen", true);
	stage_holds(&stage, "pages 6.9M in 1,684 objects  slab 2.0M in 20,417 objects  what one has", true);
	table->traced = table->ages = table->located = false;
	table->lost = 3;
	table->counts = (struct allocation_counts) { .given = 1, .unkept = 4, .reused = 5, .merged = 6 };
	table->forgot = table->base_forgot = true;
	stage_resize(&stage, 40, 230, true);
	stage_holds(&stage, "the allocators are not traced now", true);
	stage_holds(&stage, "3 trace events were lost: more or less may live", true);
	stage_holds(&stage, "4 objects found no room", true);
	stage_holds(&stage, "5 objects never told their end", true);
	stage_holds(&stage, "6 stacks found no room", true);
	stage_holds(&stage, "older changes were forgotten", true);
	stage_holds(&stage, "the baseline was forgotten", true);
	stage_holds(&stage, "AGE", false);
	table->counts = (struct allocation_counts) { .given = 1 };
	table->lost = 0;
	stage_holds(&stage, "site is told: `ktop ctl events +memory_free", true);
	table->count = 0;
	table->counts.given = 0;
	stage_holds(&stage, "The guest's allocators are not traced.", true);
	table->traced = true;
	stage_holds(&stage, "Nothing that was given out since tracing began lives", true);
	table->hidden = 1;
	stage_holds(&stage, "No call site has the filter's name.", true);
	stage_strike(&stage);
}

/* At any size, with any numbers, nothing is drawn outside. */
static void test_any_size(void **state)
{
	struct stage stage = raise_stage(80);
	struct memory_table *table = stage.answers->memory;

	(void)state;
	memset(table->rows[1].title, 'x', MEMORY_TITLE - 1);
	table->rows[1].is = (struct memory_live) { UINT64_MAX, UINT64_MAX };
	table->rows[1].peak = table->rows[1].given_bytes = table->rows[2].was.bytes = UINT64_MAX;
	table->compared = true;
	for (int rows = 0; rows < 50; rows += rows < 14 ? 1 : 5)
		for (int columns = 0; columns < 210; columns += 7) {
			stage_draw_safely(&stage, rows, columns, columns % 2 == 0);
			view_memory.act(stage.view, rows % 2 ? ACTION_OPEN : ACTION_BACK);
			view_memory.act(stage.view, columns % 2 ? ACTION_PAGE_DOWN : ACTION_SORT_LEFT);
			view_memory.click(stage.view, rows / 2, columns / 2);
			view_memory.click(stage.view, -1, columns + 1);
		}
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_column_sorts),
		cmocka_unit_test(test_stacks_of_a_row),
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_any_size),
	};

	config_init(&config);
	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
