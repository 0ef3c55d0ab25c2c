/* SPDX-License-Identifier: MIT */
/* Meta events: names, facts and status as the host receives them. Settings and memory of the hook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"

static struct ktop *ktop;
static struct fake_host *host;
static const uint8_t build_id[20] = "0123456789abcdefghi";

/* The facts that the kernel gives. */
static struct ktop_symbol functions[4];

static bool function_after(uint64_t from, struct ktop_symbol *symbol)
{
	for (int i = 0; i < 4; i++) {
		*symbol = functions[i];
		if (functions[i].address + functions[i].size > from)
			return true;
	}
	return false;
}

static int set_up(void **state)
{
	struct ktop_facts facts = {
		.kernel = "demo",
		.version = "0.1",
		.arch = "x86_64",
		.boot_id = { 0xb0 },
		.cpus = 2,
		.clock_hz = 1000000,
		.epoch_ns = 77,
		.anchor = "kernel_main",
		.anchor_address = 0xffffffff80001000,
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
		.symbols = function_after,
	};
	struct ktop_settings settings = { .ring_size = KTOP_RING_MIN };
	size_t size = ktop_memory_size(2, &settings);

	(void)state;
	memset(functions, 0, sizeof(functions));
	fake_port_reset();
	host = fake_host_new();
	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	fake_host_connect(host);
	return ktop == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	fake_host_free(host);
	return 0;
}

static void settle(void)
{
	fake_host_drain(ktop);
}

/* Everything that a new host receives. */
static void reconnect(void)
{
	host->connected = false;
	ktop_drain(ktop);
	fake_host_forget(host);
	fake_host_connect(host);
	settle();
}

static uint64_t meta_lost(void)
{
	struct ktop_wire_status status;

	fake_port.clock += 100000;
	settle();
	memcpy(&status, fake_host_last(host, KTOP_EVENT_status)->payload, sizeof(status));
	return status.meta_lost;
}

static void the_table_of_events_comes_first(void **state)
{
	static const struct {
		uint16_t event;
		uint8_t stream;
		const char *name, *fields;
	} rows[] = {
#define ROW(id, stream, name) { id, stream, #name, KTOP_WIRE_FIELDS(name) },
		KTOP_WIRE_EVENTS(ROW)
	};
	enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

	(void)state;
	settle();
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct fake_event *event = &host->events[i];
		struct ktop_wire_descriptor fixed;

		assert_int_equal(event->id, KTOP_EVENT_descriptor);
		memcpy(&fixed, event->payload, sizeof(fixed));
		assert_int_equal(fixed.event, rows[i].event);
		assert_int_equal(fixed.stream, rows[i].stream);
		assert_string_equal(fake_text(event, sizeof(fixed), 0), rows[i].name);
		assert_string_equal(fake_text(event, sizeof(fixed), 1), rows[i].fields);
	}
	assert_int_equal(host->events[ROWS].id, KTOP_EVENT_guest);
}

#define TOY_EVENTS(KTOP_EVENT) KTOP_EVENT(toy, (u32, box), (s64, change))
KTOP_EVENTS(KTOP_TRACE_USER, TOY_EVENTS)

/* Each host receives it once. */
static void an_event_of_the_kernels_is_described(void **state)
{
	const struct fake_event *event;
	struct ktop_wire_descriptor fixed;

	(void)state;
	settle();
	fake_host_forget(host);
	assert_true(KTOP_TELL(ktop, TOY_EVENTS));
	for (int i = 0; i < 2; i++) {
		settle();
		event = fake_host_last(host, KTOP_EVENT_descriptor);
		memcpy(&fixed, event->payload, sizeof(fixed));
		assert_int_equal(fixed.event, 64);
		assert_int_equal(fixed.stream, KTOP_TRACE);
		assert_string_equal(fake_text(event, sizeof(fixed), 0), "toy");
		assert_string_equal(fake_text(event, sizeof(fixed), 1), "u32 box;s64 change;");
		fake_host_forget(host);
		settle();
		assert_int_equal(fake_host_count(host, KTOP_EVENT_descriptor), 0);
		reconnect();
	}
}

static void the_guest_is_as_the_kernel_said(void **state)
{
	const struct fake_event *event;
	struct ktop_wire_guest guest;

	(void)state;
	settle();
	event = fake_host_last(host, KTOP_EVENT_guest);
	memcpy(&guest, event->payload, sizeof(guest));
	assert_int_equal(guest.cpus, 2);
	assert_int_equal(guest.clock, 1000000);
	assert_int_equal(guest.epoch, 77);
	assert_int_equal(guest.anchor_address, 0xffffffff80001000);
	assert_string_equal(fake_text(event, sizeof(guest), 0), "demo");
	assert_string_equal(fake_text(event, sizeof(guest), 1), "0.1");
	assert_string_equal(fake_text(event, sizeof(guest), 2), "x86_64");
	assert_string_equal(fake_text(event, sizeof(guest), 3), "kernel_main");
	assert_string_equal(fake_text(event, sizeof(guest), 4), (const char *)build_id);
}

static void names_come_once_and_when_they_change(void **state)
{
	(void)state;
	ktop_process(ktop, 3, "shell");
	ktop_thread(ktop, 30, 3, "main");
	settle();
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "shell");
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_thread), 8, 0), "main");
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 1);
	ktop_process(ktop, 3, "editor");
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 2);
	assert_int_equal(fake_host_count(host, KTOP_EVENT_thread), 1);
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "editor");
	reconnect();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_process), 1);
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "editor");
}

static void an_object_is_whole(void **state)
{
	struct ktop_object object = {
		.process = KTOP_KERNEL,
		.start = 0x1000,
		.end = 0x2000,
		.bias = 0x10,
		.name = "demo.elf",
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
	};
	struct ktop_wire_object sent;
	const struct fake_event *event;

	(void)state;
	ktop_object(ktop, &object);
	settle();
	event = fake_host_last(host, KTOP_EVENT_object);
	memcpy(&sent, event->payload, sizeof(sent));
	assert_true(sent.process == KTOP_KERNEL && sent.start == 0x1000 && sent.end == 0x2000);
	assert_int_equal(sent.bias, 0x10);
	assert_string_equal(fake_text(event, sizeof(sent), 0), "demo.elf");
	assert_string_equal(fake_text(event, sizeof(sent), 1), (const char *)build_id);
}

static void know(int index, uint64_t address, uint32_t size, const char *name)
{
	functions[index] = (struct ktop_symbol) { address, size, name };
}

/* The last symbol event says that there are no more. */
static bool all_told(void)
{
	const struct fake_event *last = fake_host_last(host, KTOP_EVENT_symbol);
	struct ktop_wire_symbol symbol;

	memcpy(&symbol, last->payload, sizeof(symbol));
	return symbol.size == 0 && fake_text(last, sizeof(symbol), 0)[0] == '\0';
}

static void the_kernels_symbols_come_in_order_and_once(void **state)
{
	static const char *const names[] = { "start", "work", "stop" };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		know((int)i, 0x1000 + 0x100 * i, 0x80, names[i]);
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 4);
	for (uint32_t i = 0; i < 3; i++) {
		const struct fake_event *event = &host->events[host->count - 4 + i];
		struct ktop_wire_symbol symbol;

		assert_int_equal(event->id, KTOP_EVENT_symbol);
		memcpy(&symbol, event->payload, sizeof(symbol));
		assert_int_equal(symbol.address, 0x1000 + 0x100 * i);
		assert_int_equal(symbol.size, 0x80);
		assert_string_equal(fake_text(event, sizeof(symbol), 0), names[i]);
	}
	assert_true(all_told());
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 4);
	reconnect();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 4);
}

static void new_symbols_come_when_they_are_told_of(void **state)
{
	(void)state;
	know(0, 0x1000, 0x80, "start");
	know(1, 0x1100, 0x80, "old");
	settle();
	know(2, 0x9000, 0x10, "of a module");
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 3);
	ktop_symbols(ktop, 0x9000);
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 5);
	assert_string_equal(fake_text(&host->events[host->count - 2], 12, 0), "of a module");
	assert_true(all_told());
}

static void symbols_that_lead_nowhere_end(void **state)
{
	(void)state;
	know(0, 0x1000, 0x80, "start");
	know(1, UINT64_MAX - 4, 5, "runs over the end");
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_symbol), 2);
	assert_true(all_told());
}

static void long_names_are_cut_between_characters(void **state)
{
	char name[100];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[99] = 0;
	ktop_process(ktop, 1, name);
	settle();
	assert_int_equal(strlen(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0)), 63);
	memcpy(name + 61, "\xe2\x82\xac", 3);		/* three bytes from 61 on: the limit of 63 would cut it */
	ktop_process(ktop, 1, name);
	settle();
	assert_int_equal(strlen(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0)), 61);
	memcpy(name + 60, "\xe2\x82\xac", 3);
	name[63] = 0;
	ktop_process(ktop, 1, name);
	settle();
	assert_int_equal(strlen(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0)), 63);
	ktop_process(ktop, 1, NULL);
	settle();
	assert_string_equal(fake_text(fake_host_last(host, KTOP_EVENT_process), 4, 0), "");
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

static void settings_out_of_range_are_refused(void **state)
{
	struct ktop_settings settings = { 0 };
	struct ktop_facts facts = { .cpus = 1 };
	static _Alignas(64) uint8_t memory[64];

	(void)state;
	assert_int_not_equal(ktop_memory_size(1, NULL), 0);
	assert_int_equal(ktop_memory_size(1, NULL), ktop_memory_size(1, &settings));
	assert_int_equal(ktop_memory_size(0, &settings), 0);
	settings.rate = 20001;
	assert_int_equal(ktop_memory_size(1, &settings), 0);
	settings.rate = 20000;
	assert_int_not_equal(ktop_memory_size(1, &settings), 0);
	settings.ring_size = 5000;
	assert_int_equal(ktop_memory_size(1, &settings), 0);
	settings.ring_size = 2048;
	assert_int_equal(ktop_memory_size(1, &settings), 0);
	assert_null(ktop_init(&facts, NULL, NULL, memory, sizeof(memory)));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_table_of_events_comes_first),
		TEST(an_event_of_the_kernels_is_described),
		TEST(the_guest_is_as_the_kernel_said),
		TEST(names_come_once_and_when_they_change),
		TEST(an_object_is_whole),
		TEST(the_kernels_symbols_come_in_order_and_once),
		TEST(new_symbols_come_when_they_are_told_of),
		TEST(symbols_that_lead_nowhere_end),
		TEST(long_names_are_cut_between_characters),
		TEST(a_full_table_counts_what_it_cannot_hold),
		TEST(what_finds_no_place_is_told_as_long_as_it_lives),
		TEST(all_that_find_no_place_are_counted),
		TEST(tables_are_as_large_as_they_are_set),
		TEST(the_exited_give_their_place),
		TEST(objects_go_with_their_process),
		TEST(same_as_an_array),
		TEST(a_row_half_written_is_skipped_and_comes_later),
		TEST(settings_out_of_range_are_refused),
	};

	return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
