/* SPDX-License-Identifier: MIT */
/* Which events are the two ends of one thing, by their names and fields; and which values tell that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"

static struct text text_of(const char *text)
{
	return (struct text) { text, strlen(text) };
}

static const struct trace_kind *learn(struct trace_kinds *kinds, uint16_t id, const char *name, const char *fields)
{
	trace_kinds_learn(kinds, &(struct event) { .kind = EVENT_DESCRIPTOR, .descriptor = {
		.event = id, .stream = STREAM_TRACE, .name = text_of(name), .fields = text_of(fields) } });
	return trace_kinds_find(kinds, id);
}

static void a_pair_is_told_by_its_last_word(void **state)
{
	static const struct { const char *first, *second; bool pair; } names[] = {
		{ "disk_begin", "disk_end", true }, { "disk_enter", "disk_exit", true },
		{ "disk_start", "disk_stop", true }, { "disk_issue", "disk_done", true },
		{ "disk_begin", "disk_done", false }, { "disk_begin", "disks_end", false },
		{ "disk_begin", "disk_begin", false }, { "_begin", "_end", false }, { "begin", "end", false },
		{ "a_begin_begin", "a_begin_end", true }, { "disk_put", "disk_take", false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(*names); i++) {
		bool turned = i % 2, pair = names[i / 2].pair;
		struct trace_kinds *kinds = trace_kinds_new();
		const struct trace_kind *first, *second;

		if (turned)				/* the end is described first */
			learn(kinds, 71, names[i / 2].second, "u8 error;u32 block;");
		first = learn(kinds, 70, names[i / 2].first, "u32 block;u64 at;");
		second = learn(kinds, 71, names[i / 2].second, "u8 error;u32 block;");
		assert_int_equal(first->role, pair ? ROLE_PAIR_BEGIN : ROLE_SINGLE);
		assert_int_equal(second->role, pair ? ROLE_PAIR_END : ROLE_SINGLE);
		assert_int_equal(second->pair, pair ? 70 : 71);
		assert_int_equal(first->role_values[PAIR_KEY], pair ? 0 : TRACE_VALUES);
		assert_int_equal(second->role_values[PAIR_KEY], pair ? 1 : TRACE_VALUES);
		assert_int_equal(first->role_values[PAIR_THREAD], TRACE_VALUES);
		trace_kinds_free(kinds);
	}
}

static void the_fields_of_a_pair(void **state)
{
	struct trace_kinds *kinds = trace_kinds_new();
	const struct trace_kind *kind;

	(void)state;
	learn(kinds, 70, "a_begin", "u32 one;");
	kind = learn(kinds, 71, "a_end", "u32 two;");
	assert_int_equal(kind->role, ROLE_SINGLE);		/* nothing tells which one ends */

	learn(kinds, 72, "b_begin", "u8 a;u8 b;u8 c;u32 thread;u8 d;u8 e;u32 number;u8 g;");
	kind = learn(kinds, 73, "b_end", "u8 e;u8 d;u8 c;u8 b;u8 a;u32 thread;u64 number;");
	assert_int_equal(kind->role, ROLE_SINGLE);		/* seven fields are more than are compared */
	kind = learn(kinds, 76, "b_end", "u8 e;u8 d;u8 c;u8 b;u8 a;u32 thread;");
	assert_int_equal(kind->role, ROLE_PAIR_END);
	assert_int_equal(kind->role_values[PAIR_THREAD], 5);
	assert_int_equal(kind->role_values[PAIR_NUMBER], TRACE_VALUES);
	assert_int_equal(kind->role_values[PAIR_KEY], 4);	/* a is the first of the beginning's */
	assert_int_equal(trace_kinds_find(kinds, 72)->role_values[PAIR_NUMBER], 6);
	assert_int_equal(trace_kinds_find(kinds, 73)->role_values[PAIR_NUMBER], TRACE_VALUES);	/* 64 bits */

	/* A third one of the name finds no partner; ktop's own keep their meaning. */
	assert_int_equal(learn(kinds, 74, "b_end", "u8 a;")->role, ROLE_SINGLE);
	assert_int_equal(trace_kinds_find(kinds, 33)->role, ROLE_IRQ_BEGIN);
	assert_int_equal(learn(kinds, 75, "irq_exit", "u8 other;")->role, ROLE_SINGLE);
	trace_kinds_free(kinds);
}

static void a_frame_tells_which_one_ends(void **state)
{
	struct trace_kinds *kinds = trace_kinds_new();
	const struct trace_kind *begin, *end;

	(void)state;
	begin = learn(kinds, 70, "function_enter", "u32 thread;u32 number;u64 frame;");
	end = learn(kinds, 71, "function_exit", "u64 frame;u32 thread;u32 number;");
	assert_true(begin->role == ROLE_FRAME_BEGIN && end->role == ROLE_FRAME_END && end->pair == 70);
	assert_true(begin->role_values[PAIR_KEY] == 2 && begin->role_values[PAIR_KEY + 1] == TRACE_VALUES);
	assert_true(end->role_values[PAIR_KEY] == 0 && end->role_values[PAIR_NUMBER] == 2);
	learn(kinds, 72, "b_enter", "u32 frame;");		/* of 32 bits it is a number like any other */
	assert_int_equal(learn(kinds, 73, "b_exit", "u32 frame;")->role, ROLE_PAIR_END);
	trace_kinds_free(kinds);
}

static void the_name_of_a_pair(void **state)
{
	char text[FIELD_NAME_SIZE];

	(void)state;
	assert_string_equal(trace_pair_name("disk_begin", text), "disk");
	assert_string_equal(trace_pair_name("disk_issue", text), "disk");
	assert_string_equal(trace_pair_name("disk_end", text), "disk_end");
	assert_string_equal(trace_pair_name("_begin", text), "_begin");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_is_told_by_its_last_word),
		cmocka_unit_test(the_fields_of_a_pair),
		cmocka_unit_test(a_frame_tells_which_one_ends),
		cmocka_unit_test(the_name_of_a_pair),
	};

	return cmocka_run_group_tests_name("trace_kinds", tests, NULL, NULL);
}
