/* SPDX-License-Identifier: MIT */
/* Reading the guest's memory on request: what readers get, what is asked for, and what a guest may answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/kernel_reading.h"
#include "agent/wire/event.h"

#define AT UINT64_C(0xffffffffc0123000)

enum { PAGE = 4096 };

static struct guest_memory *memory;
static struct memory_reader reader, physical;
static uint64_t samples;

static int set_up(void **state)
{
	(void)state;
	memory = guest_memory_new(NULL);
	reader = guest_memory_virtual(memory);
	physical = guest_memory_physical(memory);
	samples = 1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	guest_memory_free(memory);
	return 0;
}

/* The guest answers with a page whose bytes are its number, or with as many other bytes. */
static void answer(uint64_t address, bool is_physical, size_t size)
{
	char bytes[PAGE];

	memset(bytes, (int)(address / PAGE), sizeof(bytes));
	assert_true(guest_memory_take(memory, &(struct memory_bytes) {
		.physical = is_physical, .address = address, .bytes = { .bytes = bytes, .size = size },
	}));
}

static void asks(const char *wanted)
{
	char line[COMMANDS_LINE_MAX + 1];

	assert_true(guest_memory_ask(memory, samples, line));
	assert_string_equal(line, wanted);
}

static void asks_nothing(void)
{
	char line[COMMANDS_LINE_MAX + 1];

	assert_false(guest_memory_ask(memory, samples, line));
}

static bool get(const struct memory_reader *from, uint64_t address, size_t size)
{
	uint8_t bytes[2 * PAGE];

	if (!from->read(from->context, address, bytes, size))
		return false;
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], (uint8_t)((address + i) / PAGE));
	return true;
}

static uint64_t awaited(void)
{
	return memory_reader_awaited(&reader);
}

static void a_missing_page_is_asked_for_once(void **state)
{
	(void)state;
	asks_nothing();
	assert_false(get(&reader, AT + 8, 8));
	assert_int_equal(awaited(), 1);
	asks("read virtual ffffffffc0123000 2");	/* and the one behind it */
	assert_false(get(&reader, AT + 8, 8));
	assert_int_equal(awaited(), 2);
	asks_nothing();
	answer(AT, false, PAGE);
	assert_true(get(&reader, AT + 8, 8));
	assert_int_equal(awaited(), 2);
	assert_false(get(&reader, AT + PAGE - 4, 8));	/* half of it lies in the next one */
	answer(AT + PAGE, false, PAGE);
	assert_true(get(&reader, AT + PAGE - 4, 8));
	assert_true(get(&reader, AT, 2 * PAGE));
	asks_nothing();
}

static void physical_memory_is_another_one(void **state)
{
	(void)state;
	assert_false(get(&physical, 0, 4));
	asks("read physical 0 1");
	answer(0, true, PAGE);
	assert_true(get(&physical, 0, 4));
	assert_false(get(&reader, 0, 4));
	asks("read virtual 0 2");
}

static void what_is_nowhere_is_not_awaited(void **state)
{
	uint64_t before;

	(void)state;
	assert_false(get(&reader, AT, 8));
	asks("read virtual ffffffffc0123000 2");
	answer(AT, false, 0);
	answer(AT + PAGE, false, PAGE - 1);		/* half a page is none */
	before = awaited();
	assert_false(get(&reader, AT, 8));
	assert_false(get(&reader, AT + PAGE, 8));
	assert_false(get(&reader, UINT64_MAX - 3, 8));
	assert_int_equal(awaited(), before);
	asks_nothing();
}

static void renewed_memory_is_read_anew(void **state)
{
	(void)state;
	assert_false(get(&reader, AT, 8));
	asks("read virtual ffffffffc0123000 2");
	answer(AT, false, PAGE);
	answer(AT + PAGE, false, PAGE);
	guest_memory_renew(memory);
	assert_false(get(&reader, AT, 8));
	asks("read virtual ffffffffc0123000 2");
	answer(AT, false, PAGE);
	assert_true(get(&reader, AT, 8));
	assert_false(get(&reader, AT + PAGE, 8));
	answer(AT + PAGE, false, PAGE);
	assert_true(get(&reader, AT + PAGE, 8));
}

static void a_refused_line_is_sent_again_later(void **state)
{
	(void)state;
	assert_false(get(&physical, PAGE, 8));
	asks("read physical 1000 1");
	guest_memory_refused(memory);
	assert_false(get(&physical, 8 * PAGE, 8));
	asks_nothing();
	for (int i = 0; i < 2; i++) {
		samples += 2000;
		asks("read physical 1000 1");
		if (i == 0)
			asks("read physical 8000 1");
		else
			asks("read physical 8000 1");
	}
	assert_int_equal(guest_memory_overdue(memory), 0);
	samples += 2000;
	asks("read physical 8000 1");
	assert_int_equal(guest_memory_overdue(memory), 1);	/* that one never came */
	samples += 2000;
	asks_nothing();
	assert_int_equal(guest_memory_overdue(memory), 2);
	assert_false(get(&physical, PAGE, 8));
	asks_nothing();
}

static void few_pages_are_under_way_at_a_time(void **state)
{
	char line[COMMANDS_LINE_MAX + 1];
	unsigned pages = 0, lines = 0, count;

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		get(&physical, i * PAGE, 8);
	for (; guest_memory_ask(memory, samples, line); lines++) {
		assert_int_equal(sscanf(line, "read physical %*x %u", &count), 1);
		pages += count;
	}
	assert_int_equal(lines, 2);
	assert_int_equal(pages, 32);
	for (uint64_t i = 0; i < 16; i++)
		answer(i * PAGE, true, PAGE);
	asks("read physical 20000 16");
	asks_nothing();
}

/* Pages that nobody asked for take no more room than others, and are forgotten as soon. */
static void a_guest_cannot_fill_the_memory(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	char bytes[PAGE] = { 0 };

	(void)state;
	guest_memory_free(memory);
	memory = guest_memory_new(budget);
	for (uint64_t i = 0; i < 20000; i++)
		guest_memory_take(memory, &(struct memory_bytes) {
			.address = i * PAGE, .bytes = { .bytes = bytes, .size = PAGE },
		});
	assert_true(left - budget_left(budget) < 68 << 20);
	assert_true(guest_memory_unkept(memory) >= 20000 - 16384);
	guest_memory_renew(memory);
	guest_memory_renew(memory);
	assert_true(left - budget_left(budget) < 2 << 20);
	guest_memory_free(memory);
	assert_int_equal(budget_left(budget), left);
	memory = NULL;
	budget_release(budget);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_missing_page_is_asked_for_once),
		TEST(physical_memory_is_another_one),
		TEST(what_is_nowhere_is_not_awaited),
		TEST(renewed_memory_is_read_anew),
		TEST(a_refused_line_is_sent_again_later),
		TEST(few_pages_are_under_way_at_a_time),
		TEST(a_guest_cannot_fill_the_memory),
	};

	return cmocka_run_group_tests_name("guest_memory", tests, NULL, NULL);
}
