/* SPDX-License-Identifier: MIT */
/* The functions that a guest tells itself: alone, and as symbols.c turns them into names. */
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
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/guest_symbols.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/work.h"

#define KERNEL 0xffffffff81000000u
#define MODULE 0xffffffffc0000000u

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static bool add(struct guest_symbols *symbols, uint64_t address, uint32_t size, const char *name)
{
	return guest_symbols_add(symbols, address, size, text_of(name));
}

static const char *name_at(struct guest_symbols *symbols, uint64_t address)
{
	struct guest_symbol *symbol = guest_symbols_find(symbols, address);

	return symbol ? guest_symbols_name(symbols, symbol) : "";
}

static void a_symbol_covers_its_bytes(void **state)
{
	struct guest_symbols *symbols = guest_symbols_new(NULL);

	(void)state;
	assert_string_equal(name_at(symbols, 0), "");
	assert_true(add(symbols, 0x1000, 0x100, "one"));
	assert_true(add(symbols, 0x1200, 0x100, "two"));
	assert_string_equal(name_at(symbols, 0xfff), "");
	assert_string_equal(name_at(symbols, 0x1000), "one");
	assert_string_equal(name_at(symbols, 0x10ff), "one");
	assert_string_equal(name_at(symbols, 0x1100), "");
	assert_string_equal(name_at(symbols, 0x12ff), "two");
	assert_string_equal(name_at(symbols, 0x1300), "");
	assert_string_equal(name_at(symbols, UINT64_MAX), "");
	guest_symbols_free(symbols);
	guest_symbols_free(NULL);
}

static void what_is_known_changes_nothing(void **state)
{
	struct guest_symbols *symbols = guest_symbols_new(NULL);

	(void)state;
	add(symbols, 0x1000, 0x100, "one");
	guest_symbols_find(symbols, 0x1000)->function = 7;
	assert_false(add(symbols, 0x1000, 0x100, "one"));
	assert_int_equal(guest_symbols_find(symbols, 0x1000)->function, 7);
	assert_true(add(symbols, 0x1000, 0x100, "on"));
	assert_int_equal(guest_symbols_find(symbols, 0x1000)->function, FUNCTION_NONE);
	assert_string_equal(name_at(symbols, 0x1000), "on");
	guest_symbols_free(symbols);
}

static void nonsense_is_passed_over(void **state)
{
	struct guest_symbols *symbols = guest_symbols_new(NULL);

	(void)state;
	assert_false(add(symbols, 0x1000, 0, "no size"));
	assert_false(add(symbols, UINT64_MAX - 4, 8, "over the end"));
	assert_false(add(symbols, 0x1000, 8, ""));
	assert_false(guest_symbols_add(symbols, 0x1000, 8, (struct text) { .bytes = "\0a", .size = 2 }));
	assert_string_equal(name_at(symbols, 0x1000), "");
	assert_int_equal(guest_symbols_refused(symbols), 0);
	guest_symbols_free(symbols);
}

enum { CELLS = 256 };

/* Compared with an array that holds the newest name of each address. No function is replaced in part. */
static void same_as_an_array(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct guest_symbols *symbols = guest_symbols_new(NULL);
		uint32_t cells[CELLS] = { 0 };
		uint64_t random = seed;

		for (uint32_t i = 1; i <= 300; i++) {
			uint32_t at = random_next(&random) % CELLS & ~7u, size = 8;
			char name[16];

			snprintf(name, sizeof(name), "%u", i);
			add(symbols, at, size, name);
			for (uint32_t cell = at; cell < at + size; cell++)
				cells[cell] = i;
			if (random_next(&random) % 4)
				continue;
			at = random_next(&random) % CELLS;
			assert_int_equal(atoi(name_at(symbols, at)), cells[at]);
		}
		guest_symbols_free(symbols);
	}
}

/* Of functions that overlap, in any order, the newest is found, and no address has two. */
static void the_newest_of_those_that_overlap_stays(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct guest_symbols *symbols = guest_symbols_new(NULL);
		uint64_t random = seed, last = 0;

		for (uint32_t i = 0; i < 200; i++) {
			uint64_t at = random_next(&random) % CELLS;

			if (add(symbols, at, 1 + (uint32_t)(random_next(&random) % 40), "name"))
				last = at;
		}
		add(symbols, last, 50, "newest");
		for (uint64_t at = last; at < last + 50; at++)
			assert_string_equal(name_at(symbols, at), "newest");
		guest_symbols_free(symbols);
	}
}

/* A question after each function that is told, in an order that fits no other: none sorts all that came before. */
static void a_question_between_two_functions_is_cheap(void **state)
{
	enum { MANY = 100000 };
	struct guest_symbols *symbols = guest_symbols_new(NULL);
	uint64_t begun = work_done();
	uint32_t found = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t at = i * 7919 % MANY * 16;

		assert_true(add(symbols, at, 16, i % 2 ? "odd" : "even"));
		assert_string_equal(name_at(symbols, at + 15), i % 2 ? "odd" : "even");
	}
	for (uint64_t i = 0; i < MANY; i++)
		found += *name_at(symbols, i * 16) != 0;
	assert_int_equal(found, MANY);
	assert_in_range(work_done() - begun, 0, 10000 * MANY);	/* with a sort for each, a hundred times that */
	assert_true(add(symbols, 8, 16 * MANY, "over all"));
	assert_string_equal(name_at(symbols, 16 * MANY - 1), "over all");
	assert_string_equal(name_at(symbols, 7), "");
	guest_symbols_free(symbols);
}

static void what_has_no_room_is_counted(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct guest_symbols *symbols = guest_symbols_new(budget);
	size_t left = budget_left(budget);
	char name[1024];

	(void)state;
	memset(name, 'n', sizeof(name));
	for (uint32_t i = 0; i < 100000; i++)
		guest_symbols_add(symbols, 16 * (uint64_t)i, 16,
			(struct text) { .bytes = name, .size = sizeof(name) });
	assert_true(guest_symbols_refused(symbols) > 1000);
	assert_true(guest_symbols_refused(symbols) < 99000);
	assert_int_equal(strlen(name_at(symbols, 16 * 900)), sizeof(name));
	guest_symbols_free(symbols);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

/* ---- as symbols.c turns them into names ---- */

static void tell(struct symbols *symbols, uint64_t address, const char *name)
{
	symbols_tell(symbols, address, 0x100, text_of(name));
}

static void load(struct symbols *symbols, uint64_t start, const char *name)
{
	const char *const folders[] = { NULL };
	struct object object = {
		.process = EVENT_KERNEL, .start = start, .end = start + 0x1000, .bias = 0x10,
		.name = text_of(name),
	};

	symbols_map(symbols, &object, folders);
}

static uint32_t check(struct symbols *symbols, uint64_t address, const char *name,
	const char *object)
{
	uint32_t id = symbols_function(symbols, EVENT_KERNEL, address);
	const struct function *function = symbols_get(symbols, id);

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, object);
	assert_true(function->kernel);
	assert_int_equal(function->known, strcmp(name, "[unknown]") != 0);
	return id;
}

static void functions_have_their_module_as_object(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint32_t id;

	(void)state;
	tell(symbols, KERNEL, "do_work");
	load(symbols, KERNEL, "kernel");
	load(symbols, MODULE, "loop");
	tell(symbols, MODULE, "lo_\x1b[2Jread");
	id = check(symbols, KERNEL + 8, "do_work", "kernel");
	assert_int_equal(symbols_function(symbols, EVENT_KERNEL, KERNEL + 9), id);
	assert_int_equal(symbols_get(symbols, id)->address, KERNEL - 0x10);
	check(symbols, MODULE + 8, "lo_?[2Jread", "loop");
	check(symbols, MODULE + 0x200, "[unknown]", "loop");
	assert_string_equal(symbols_get(symbols, symbols_function(symbols, 7, KERNEL))->name,
		"[unknown]");
	symbols_free(symbols);
}

static void a_module_takes_the_place_of_another(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint64_t generation;

	(void)state;
	load(symbols, MODULE, "loop");
	tell(symbols, MODULE, "init_module");
	tell(symbols, MODULE + 0x100, "lo_read");
	check(symbols, MODULE, "init_module", "loop");
	generation = symbols_generation(symbols);
	load(symbols, MODULE, "dummy");
	tell(symbols, MODULE, "init_module");
	tell(symbols, MODULE + 0x80, "dummy_xmit");
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, MODULE, "[unknown]", "dummy");		/* the old one would reach into dummy_xmit */
	check(symbols, MODULE + 0x80, "dummy_xmit", "dummy");
	symbols_tell(symbols, MODULE, 0x80, text_of("init_module"));
	check(symbols, MODULE, "init_module", "dummy");
	symbols_free(symbols);
}

static void the_same_name_in_another_module_is_another_function(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint32_t id;

	(void)state;
	load(symbols, MODULE, "loop");
	tell(symbols, MODULE, "init_module");
	id = check(symbols, MODULE, "init_module", "loop");
	load(symbols, MODULE, "dummy");
	tell(symbols, MODULE, "init_module");
	assert_int_not_equal(check(symbols, MODULE, "init_module", "dummy"), id);
	assert_string_equal(symbols_get(symbols, id)->object, "loop");
	symbols_free(symbols);
}

static void no_file_is_missed(void **state)
{
	static const uint8_t boot_id[16];
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	struct event event = {
		.kind = EVENT_SYMBOL, .id = 10,
		.symbol = { .address = KERNEL, .size = 16, .name = text_of("do_work") },
	};
	char text[REMARKS_SIZE];

	(void)state;
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "no names"));
	epoch_events(epoch, &event, 1);
	assert_string_equal(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "");
	check(epoch->inputs.symbols, KERNEL, "do_work", "kernel");
	epoch_release(epoch);
}

/* A remark may contain paths that the user did not choose. */
static void remarks_are_harmless(void **state)
{
	static const uint8_t boot_id[16];
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	char text[REMARKS_SIZE], *error = NULL;

	(void)state;
	assert_false(symbols_load_kernel(epoch->inputs.symbols, "/no/\x1b]0;title\x07", &error));
	util_print(epoch->remark, sizeof(epoch->remark), "no names: %s", error);
	free(error);
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "/no/?]0;title?"));
	assert_null(strchr(text, '\x1b'));
	epoch_release(epoch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_covers_its_bytes),
		cmocka_unit_test(what_is_known_changes_nothing),
		cmocka_unit_test(nonsense_is_passed_over),
		cmocka_unit_test(same_as_an_array),
		cmocka_unit_test(the_newest_of_those_that_overlap_stays),
		cmocka_unit_test(a_question_between_two_functions_is_cheap),
		cmocka_unit_test(what_has_no_room_is_counted),
		cmocka_unit_test(functions_have_their_module_as_object),
		cmocka_unit_test(a_module_takes_the_place_of_another),
		cmocka_unit_test(the_same_name_in_another_module_is_another_function),
		cmocka_unit_test(no_file_is_missed),
		cmocka_unit_test(remarks_are_harmless),
	};

	return cmocka_run_group_tests_name("guest_symbols", tests, NULL, NULL);
}
