/* SPDX-License-Identifier: MIT */
/* The hook's name tables: what they hold, what gives its place, what finds none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "told.h"

static uint64_t meta_lost(void)
{
	struct ktop_wire_status status;

	fake_port.clock += 100000;
	settle();
	memcpy(&status, fake_host_last(host, KTOP_EVENT_status)->payload, sizeof(status));
	return status.meta_lost;
}

static void a_full_table_counts_what_it_cannot_hold(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < KTOP_PROCESSES + 10; i++)
		ktop_process(ktop, i, "many");
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), KTOP_PROCESSES);
	assert_int_equal(meta_lost(), 10);
	ktop_process(ktop, 5, "changed");		/* this id has a row */
	assert_int_equal(meta_lost(), 10);
}

/* The last `table` event about the table of threads. */
static struct ktop_wire_table threads_told(void)
{
	struct ktop_wire_table table = { 0 };

	for (uint32_t i = 0; i < host->count; i++) {
		struct ktop_wire_table told;

		if (host->events[i].id != KTOP_EVENT_table)
			continue;
		memcpy(&told, host->events[i].payload, sizeof(told));
		if (told.event == KTOP_EVENT_thread)
			table = told;
	}
	return table;
}

static uint32_t missing_threads(void)
{
	fake_port.clock += 100000;
	settle();
	return threads_told().missing;
}

/* The event has the table's size and the missing ids, which are not counted any more when they exit or get a row. */
static void what_finds_no_place_is_told_as_long_as_it_lives(void **state)
{
	(void)state;
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_table), 0);
	for (uint32_t i = 0; i < KTOP_THREADS + 10; i++)
		ktop_thread(ktop, i, 0, "many");
	assert_int_equal(missing_threads(), 10);
	assert_int_equal(threads_told().size, KTOP_THREADS);
	assert_int_equal(threads_told().used, KTOP_THREADS);
	ktop_thread(ktop, KTOP_THREADS + 3, 0, "another name");
	assert_int_equal(missing_threads(), 10);
	for (uint32_t i = 0; i < 4; i++)
		ktop_thread_exit(ktop, KTOP_THREADS + i);
	assert_int_equal(missing_threads(), 6);
	ktop_thread_exit(ktop, 0);
	ktop_thread(ktop, KTOP_THREADS + 9, 0, "has room now");
	assert_int_equal(missing_threads(), 5);
	for (uint32_t i = 0; i < KTOP_THREADS + 10; i++)
		ktop_thread_exit(ktop, i);
	assert_int_equal(missing_threads(), 0);
	assert_int_equal(threads_told().used, 0);
}

/* Ids of one hash: each is counted, and the exit of one does not remove another one's mark. */
static void all_that_find_no_place_are_counted(void **state)
{
	enum { MANY = 200 };
	static const uint32_t steps[] = { 1, 4096, 65536, 3 << 12 };
	uint32_t threads = KTOP_THREADS;

	(void)state;
	for (uint32_t i = 0; i < threads; i++)
		ktop_thread(ktop, i, 0, "many");
	for (uint32_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++) {
		for (uint32_t i = 0; i < MANY; i++)
			ktop_thread(ktop, threads + i * steps[step], 0, "too many");
		assert_int_equal(missing_threads(), MANY);
		for (uint32_t i = 0; i < MANY; i++) {
			ktop_thread_exit(ktop, threads + i * steps[step]);
			ktop_thread_exit(ktop, threads + i * steps[step]);
			if (i % 50 == 0)
				assert_int_equal(missing_threads(), MANY - 1 - i);
		}
	}
}

/* A kernel with many threads may set a larger table. */
static void tables_are_as_large_as_they_are_set(void **state)
{
	struct ktop_settings settings = { .threads = 2 * KTOP_THREADS, .objects = 1 };
	struct ktop_facts facts = { .cpus = 1, .boot_id = { 0xb0 } };
	size_t size = ktop_memory_size(1, &settings), standard = ktop_memory_size(1, NULL);
	struct ktop *large;

	(void)state;
	assert_true(size > standard);
	large = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	assert_non_null(large);
	for (uint32_t i = 0; i < 2 * KTOP_THREADS; i++)
		ktop_thread(large, i, 0, "many");
	assert_int_equal(large->meta.threads.lost, 0);
	free(large);
	settings.threads = 3;
	assert_int_equal(ktop_memory_size(1, &settings), 0);
	settings.threads = 2u << 20;
	assert_int_equal(ktop_memory_size(1, &settings), 0);
}

static void the_exited_give_their_place(void **state)
{
	bool seen[KTOP_PROCESSES + 20] = { false };

	(void)state;
	for (uint32_t i = 0; i < KTOP_PROCESSES; i++)
		ktop_process(ktop, i, "old");
	for (uint32_t i = 0; i < 20; i++)
		ktop_process_exit(ktop, 7 * i);
	ktop_process_exit(ktop, 7);			/* a second time changes nothing */
	ktop_process(ktop, 7, "back");			/* it lives again, in the same row */
	for (uint32_t i = 0; i < 20; i++)
		ktop_process(ktop, KTOP_PROCESSES + i, "new");
	assert_int_equal(meta_lost(), 1);
	reconnect();
	for (uint32_t i = 0; i < host->count; i++) {
		uint32_t process;

		if (host->events[i].id != KTOP_EVENT_process)
			continue;
		memcpy(&process, host->events[i].payload, sizeof(process));
		assert_true(process < KTOP_PROCESSES + 20 && !seen[process]);
		seen[process] = true;
	}
	for (uint32_t i = 0; i < KTOP_PROCESSES + 19; i++)
		assert_int_equal(seen[i], i == 7 || i % 7 != 0 || i >= 140);
}

static uint32_t mark_texts(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < host->count; i++) {
		struct ktop_wire_number number;

		memcpy(&number, host->events[i].payload, sizeof(number));
		count += host->events[i].id == KTOP_EVENT_number && number.event == KTOP_EVENT_mark;
	}
	return count;
}

/* A text of a program is told once, as the name of its number. One that is too many is refused, and missing once. */
static void marks_of_programs_have_texts(void **state)
{
	const struct fake_event *told;
	struct ktop_wire_number number;
	struct ktop_wire_mark mark;
	struct ktop_wire_table table;
	char text[80];

	(void)state;
	assert_true(ktop_mark(ktop, 7, "nobody traces it"));
	host->input = "events +mark\nstart\n";
	settle();
	assert_int_equal(mark_texts(), 0);
	for (int i = 0; i < 2 * KTOP_MARK_TEXTS; i++) {
		snprintf(text, sizeof(text), "%d %070d", i % KTOP_MARK_TEXTS, 0);
		assert_true(ktop_mark(ktop, 100 + (uint32_t)i, text));
	}
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_mark), 2 * KTOP_MARK_TEXTS);
	assert_int_equal(mark_texts(), KTOP_MARK_TEXTS);
	told = fake_host_last(host, KTOP_EVENT_number);
	memcpy(&number, told->payload, sizeof(number));
	memcpy(&mark, fake_host_last(host, KTOP_EVENT_mark)->payload, sizeof(mark));
	assert_true(number.event == KTOP_EVENT_mark && number.number == mark.number);
	assert_true(number.number == KTOP_MARKS_WRITTEN + KTOP_MARK_TEXTS - 1);
	assert_int_equal(mark.thread, 100 + 2 * KTOP_MARK_TEXTS - 1);
	text[KTOP_NAME_MAX] = 0;
	assert_string_equal(fake_text(told, sizeof(number), 0), text);
	for (int i = 0; i < 3; i++)
		assert_false(ktop_mark(ktop, 1, i % 2 ? "one more" : "and more"));
	reconnect();
	assert_int_equal(mark_texts(), KTOP_MARK_TEXTS);
	for (uint32_t i = 0; i < host->count; i++)
		if (host->events[i].id == KTOP_EVENT_table)
			memcpy(&table, host->events[i].payload, sizeof(table));
	assert_true(table.event == KTOP_EVENT_number && table.used == KTOP_MARK_TEXTS && table.missing == 2);
}

static void objects_go_with_their_process(void **state)
{
	struct ktop_object object = { .name = "lib" };

	(void)state;
	for (uint32_t i = 0; i < 4 * KTOP_OBJECTS; i++) {
		object.process = i / 4;
		object.start = 0x1000 * (i % 4);
		ktop_object(ktop, &object);
		if (i % 4 == 3)
			ktop_process_exit(ktop, i / 4);
	}
	assert_int_equal(meta_lost(), 0);
	reconnect();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_object), KTOP_OBJECTS);
}

enum { KEYS = 40, ROWS = 16 };

/* Reads one row, which must be the newest of its id and not read before. False: there is none. */
static bool hear(struct ktop_table *table, const uint32_t *put, uint32_t *heard)
{
	uint64_t payload[KTOP_ROW_WORDS];
	uint32_t row[2];

	if (ktop_table_next(table, payload) == 0)
		return false;
	memcpy(row, payload, sizeof(row));
	assert_true(row[0] < KEYS);
	assert_int_equal(row[1], put[row[0]]);
	assert_true(row[1] > heard[row[0]]);
	heard[row[0]] = row[1];
	return true;
}

/* Compares a table with an array of what was put last: puts, exits and reads in random order. */
static void same_as_an_array(void **state)
{
	uint32_t put[KEYS] = { 0 }, heard[KEYS] = { 0 };
	void *memory = malloc(ktop_table_memory(ROWS));
	struct ktop_table table;
	unsigned seed = 9;

	(void)state;
	print_message("seed %u\n", seed);
	ktop_table_init(&table, memory, ROWS, KTOP_EVENT_process);
	for (uint32_t i = 1; i < 50000; i++) {
		uint32_t id = (uint32_t)rand_r(&seed) % KEYS;
		uint64_t lost = table.lost;

		ktop_table_put(&table, (struct ktop_key) { .id = id }, &(uint32_t[]) { id, i }, 8);
		if (table.lost == lost)
			put[id] = i;
		ktop_table_exit(&table, (uint32_t)rand_r(&seed) % KEYS);
		while (rand_r(&seed) % 4 && hear(&table, put, heard))
			;
	}
	assert_true(table.lost > 100 && table.lost < 49000);
	for (int i = 0; i < 2; i++)			/* the walk that has begun, and one more */
		while (hear(&table, put, heard))
			;
	for (uint32_t i = 0; i < ROWS; i++)
		assert_int_equal(heard[table.rows[i].key.id], put[table.rows[i].key.id]);
	free(memory);
}

static void a_row_half_written_is_skipped_and_comes_later(void **state)
{
	struct ktop_row *row;

	(void)state;
	ktop_process(ktop, 1, "one");
	ktop_process(ktop, 2, "two");
	row = &ktop->meta.processes.rows[0];
	row->sequence++;				/* the writer was interrupted in the row */
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 1);
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "two");
	row->sequence++;
	ktop->meta.processes.changes++;
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 2);
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "one");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_full_table_counts_what_it_cannot_hold),
		TEST(what_finds_no_place_is_told_as_long_as_it_lives),
		TEST(all_that_find_no_place_are_counted),
		TEST(tables_are_as_large_as_they_are_set),
		TEST(the_exited_give_their_place),
		TEST(marks_of_programs_have_texts),
		TEST(objects_go_with_their_process),
		TEST(same_as_an_array),
		TEST(a_row_half_written_is_skipped_and_comes_later),
	};

	return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
