/* SPDX-License-Identifier: MIT */
/* Kinds of events: their names, which of them are traced, how many came from each CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/guest/guest_events.h"
#include "tests/unit/fakes/sums.h"

static void count(struct guest_events *events, uint16_t id, uint32_t cpu)
{
	const struct event event = { .id = id, .cpu = cpu };

	guest_events_count(events, &event, 1);
}

static void describe(struct guest_events *events, uint16_t id, const char *name, const char *fields)
{
	const struct event event = { .kind = EVENT_DESCRIPTOR, .descriptor = {
		.event = id, .stream = STREAM_TRACE, .name = { name, strlen(name) },
		.fields = { fields, strlen(fields) } } };

	guest_events_describe(events, &event);
}

static void kinds_come_in_the_order_of_their_ids(void **state)
{
	static const uint16_t ids[] = { 9, 64, 1000, UINT16_MAX };
	struct guest_events *events = guest_events_new(NULL);
	const struct guest_event *kind;
	uint32_t at = 0;

	(void)state;
	for (int i = 3; i >= 0; i--)
		count(events, ids[i], 5);
	count(events, 64, 5);
	count(events, 64, 4095);
	for (int i = 0; i < 4; i++, at = kind->id + 1u) {
		kind = guest_events_from(events, at);
		assert_int_equal(kind->id, ids[i]);
		assert_false(kind->described);
	}
	assert_null(guest_events_from(events, at));
	assert_int_equal(events_sum(events, 64, 5), 2);
	assert_int_equal(events_sum(events, 64, 4095), 1);
	assert_int_equal(events_sum(events, 64, 4), 0);
	assert_int_equal(events_sum(events, 65, 5), 0);
	guest_events_free(events);
}

static void what_it_is_called_first_stays_and_is_printable(void **state)
{
	struct guest_events *events = guest_events_new(NULL);

	(void)state;
	describe(events, 100, "mail\x1b[2J", "u32 box;");
	describe(events, 100, "other", "u8 a;");
	assert_string_equal(guest_events_from(events, 0)->name, "mail?[2J");
	assert_string_equal(guest_events_from(events, 0)->fields, "u32 box;");
	assert_int_equal(guest_events_from(events, 0)->stream, STREAM_TRACE);
	guest_events_free(events);
}

/* A hook that traces more than 32 ids sends a mask of its own. Then the status' mask is ignored. */
static void a_mask_of_any_length(void **state)
{
	static const uint32_t mask[] = { 0, 0, 0, 1u << 4 };
	const struct event tracing = { .kind = EVENT_TRACING, .tracing = {
		.ids = 1024, .words = 4, .mask = mask } };
	const struct status status = { .trace_mask = 1 | 8 };
	struct guest_events *events = guest_events_new(NULL);

	(void)state;
	guest_events_traced_before(events, &status);
	assert_true(guest_events_on(events, 32) && guest_events_on(events, 35));
	assert_false(guest_events_on(events, 33) || guest_events_on(events, 100));
	guest_events_traced(events, &tracing);
	guest_events_traced_before(events, &status);
	assert_true(guest_events_on(events, 100));
	assert_false(guest_events_on(events, 32) || guest_events_on(events, UINT16_MAX));
	guest_events_free(events);
}

static void what_there_is_no_memory_for_is_counted(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct guest_events *events = guest_events_new(budget);
	size_t left = budget_left(budget);

	(void)state;
	assert_true(budget_take(budget, left));
	count(events, 64, 0);
	count(events, 64, 0);
	assert_int_equal(guest_events_refused(events), 2);
	budget_give(budget, left);
	count(events, 64, 0);
	assert_int_equal(events_sum(events, 64, 0), 1);
	for (uint32_t id = 0; id < GUEST_EVENTS + 10; id++)
		count(events, (uint16_t)(30 * id), 0);
	guest_events_free(events);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void call(struct guest_events *events, uint16_t id, uint64_t number, const char *name)
{
	guest_events_number(events, &(struct event) { .kind = EVENT_NUMBER, .number = {
		.event = id, .number = number, .name = { name, strlen(name) } } });
}

/* A beginning and its end have the same numbers, and the kernel's own events of these names have them, too. */
static void numbers_have_names(void **state)
{
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct guest_events *events = guest_events_new(budget);

	(void)state;
	describe(events, 100, "irq_enter", "u32 irq;");
	call(events, 39, 39, "getpid");
	call(events, 39, 40, "send\x1b");
	call(events, 100, 39, "disk");
	call(events, 100, 39, "net");
	call(events, 99, 1, "of no kind");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 39), "getpid");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 40), "send?");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 41), "");
	assert_string_equal(guest_events_called(events, ROLE_IRQ_BEGIN, 39), "net");
	for (uint64_t i = 0; i < GUEST_NUMBERS + 10; i++)
		call(events, 39, 100 + i, "many");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 39), "getpid");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 109 + GUEST_NUMBERS), "");
	guest_events_free(events);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void tell(struct guest_events *events, uint64_t number, const char *fields)
{
	guest_events_tell_arguments(events, &(struct event) { .kind = EVENT_ARGUMENTS, .arguments = {
		.event = 39, .number = number, .fields = { fields, strlen(fields) } } });
}

static void calls_have_arguments(void **state)
{
	struct guest_events *events = guest_events_new(NULL);
	const struct field *fields;

	(void)state;
	tell(events, 3, "s32 file;u64 bad\x1bname;");
	tell(events, 4, "");
	tell(events, 5, "u64 a;u64 b;u64 c;u64 d;u64 e;u64 f;u64 g;");
	tell(events, 6, "u64[] list;");
	tell(events, 7, "u64");
	assert_int_equal(guest_events_arguments(events, 3, &fields), 2);
	assert_int_equal(fields[0].type, FIELD_S32);
	assert_string_equal(fields[0].name, "file");
	assert_string_equal(fields[1].name, "field_1");
	assert_string_equal(guest_events_called(events, ROLE_CALL_BEGIN, 3), "");
	assert_int_equal(guest_events_arguments(events, 4, &fields), 0);
	for (uint64_t number = 5; number < 9; number++)
		assert_int_equal(guest_events_arguments(events, number, &fields), -1);
	tell(events, 3, "u8 other;");
	assert_int_equal(guest_events_arguments(events, 3, &fields), 1);
	guest_events_free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_come_in_the_order_of_their_ids),
		cmocka_unit_test(what_it_is_called_first_stays_and_is_printable),
		cmocka_unit_test(a_mask_of_any_length),
		cmocka_unit_test(what_there_is_no_memory_for_is_counted),
		cmocka_unit_test(numbers_have_names),
		cmocka_unit_test(calls_have_arguments),
	};

	return cmocka_run_group_tests_name("guest_events", tests, NULL, NULL);
}
