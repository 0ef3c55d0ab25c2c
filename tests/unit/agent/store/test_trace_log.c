/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/store/sample_log.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"

struct fields {
	uint32_t box;
	int8_t change;
	uint64_t address;
} __attribute__((packed));

/* The kinds of one guest, by the descriptors that it sends. */
static struct trace_kinds *guest;

static const struct trace_kind *kind_new(uint16_t id, const char *name, const char *fields)
{
	const struct event descriptor = {
		.kind = EVENT_DESCRIPTOR,
		.descriptor = {
			.event = id, .stream = STREAM_TRACE,
			.name = { name, strlen(name) }, .fields = { fields, strlen(fields) },
		},
	};

	trace_kinds_learn(guest, &descriptor);
	assert_non_null(trace_kinds_find(guest, id));
	return trace_kinds_find(guest, id);
}

static int setup(void **state)
{
	(void)state;
	guest = trace_kinds_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	trace_kinds_free(guest);
	return 0;
}

static void add(struct trace_log *log, const struct trace_kind *kind, uint64_t number, const void *fields, size_t size)
{
	const struct event event = {
		.kind = EVENT_TRACE,
		.id = kind->id,
		.cpu = (uint32_t)(number % 5),
		.trace = { .kind = kind, .fields = fields, .size = size },
	};

	trace_log_add(log, number, &event, number % 3 ? 0 : (uint32_t)number + 1);
}

static void fill(struct trace_log *log, const struct trace_kind *kind, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct fields fields = { (uint32_t)i, (int8_t)(0 - i % 100), i << 32 };

		add(log, kind, i, &fields, sizeof(fields));
	}
}

static void check(const struct trace_log *log, uint64_t count)
{
	struct trace_log_reader *reader = trace_log_open(log);
	struct trace_log_row row;

	for (uint64_t i = 0; i < count; i++) {
		assert_true(trace_log_next(reader, &row));
		assert_int_equal(row.time, i);
		assert_int_equal(row.cpu, i % 5);
		assert_int_equal(row.stack, i % 3 ? 0 : i + 1);
		assert_int_equal(row.values[0], i);
		assert_int_equal((int64_t)row.values[1], -(int64_t)(i % 100));
		assert_int_equal(row.values[2], i << 32);
	}
	assert_false(trace_log_next(reader, &row));
	assert_false(trace_log_failed(reader));
	trace_log_close(reader);
}

static void events_are_read_as_they_came(void **state)
{
	const struct trace_kind *kind = kind_new(100, "mail", "u32 box;s8 change;u64 address;");

	(void)state;
	for (uint64_t count = 0; count <= 1000000; count = 10 * count + 1) {
		struct trace_log *log = trace_log_new(NULL, "/var/tmp");

		fill(log, kind, count);
		assert_int_equal(trace_log_refused(log), 0);
		assert_int_equal(trace_log_kinds(log), count > 0);
		check(log, count);
		trace_log_free(log);
	}
}

static void kinds_are_told_by_their_first_event(void **state)
{
	struct trace_log *log = trace_log_new(NULL, NULL);
	const struct trace_kind *a = kind_new(100, "mail", "u32 box;s8 change;u64 address;");
	const struct trace_kind *b = kind_new(107, "text", "char[] t;u8 n;");

	(void)state;
	fill(log, a, 2);
	add(log, b, 3, "\0\0\0\0\1", 5);
	assert_int_equal(trace_log_kinds(log), 2);
	assert_string_equal(trace_log_kind(log, 0)->name, "mail");
	assert_int_equal(trace_log_kind(log, 0)->count, 3);
	assert_true(trace_log_kind(log, 0)->values[1].is_signed);
	assert_false(trace_log_kind(log, 0)->values[2].is_signed);
	assert_string_equal(trace_log_kind(log, 1)->name, "text");
	assert_int_equal(trace_log_kind(log, 1)->count, 0);
	trace_log_free(log);
}

/* A kind that the guest calls so is another one. */
static void losses_stand_where_they_were(void **state)
{
	struct trace_log *log = trace_log_new(NULL, NULL);
	const struct trace_kind *kind = kind_new(0xffff, "events_lost", "u32 box;");
	static const uint64_t times[] = { 1, 2, 6, 7 }, cpus[] = { 1, 1, 1, 3 }, values[] = { 5, 1ull << 40, 6, 2 };
	struct trace_log_reader *reader;
	struct trace_log_row row;

	(void)state;
	add(log, kind, 1, "\5\0\0\0", 4);
	trace_log_mark(log, 2, 1, TRACE_LOST, 1ull << 40);
	add(log, kind, 6, "\6\0\0\0", 4);
	trace_log_mark(log, 7, 3, TRACE_LOST, 2);
	reader = trace_log_open(log);
	for (int i = 0; i < 4; i++) {
		assert_true(trace_log_next(reader, &row));
		assert_int_equal(row.time, times[i]);
		assert_int_equal(row.cpu, cpus[i]);
		assert_true(row.values[0] == values[i]);
		assert_int_equal(trace_log_kind(log, row.kind)->mark, i % 2 ? TRACE_LOST : TRACE_EVENT);
	}
	assert_int_equal(trace_log_kinds(log), 2);
	assert_int_equal(trace_log_refused(log), 0);
	trace_log_close(reader);
	trace_log_free(log);
}

/* Without a file, or with one that cannot be made. */
static void what_finds_no_room_is_counted(void **state)
{
	static const char *const folders[] = { NULL, "/var/tmp/there is no such folder" };
	const struct trace_kind *kind = kind_new(100, "mail", "u32 box;s8 change;u64 address;");

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace_log *log = trace_log_new(NULL, folders[i]);

		fill(log, kind, 100000);
		assert_in_range(trace_log_refused(log), 1, 99999);
		check(log, 100000 - trace_log_refused(log));
		trace_log_free(log);
	}
}

static void memory_that_is_refused_is_counted(void **state)
{
	struct budget *budget = budget_new(28);
	struct trace_log *log = trace_log_new(budget, "/var/tmp");
	const struct trace_kind *kind = kind_new(100, "mail", "u32 box;s8 change;u64 address;");

	(void)state;
	fill(log, kind, 10);
	assert_int_equal(trace_log_refused(log), 10);
	check(log, 0);
	trace_log_free(log);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_read_as_they_came, setup, teardown),
		cmocka_unit_test_setup_teardown(kinds_are_told_by_their_first_event, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_stand_where_they_were, setup, teardown),
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_is_refused_is_counted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
