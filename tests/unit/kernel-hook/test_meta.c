/* SPDX-License-Identifier: MIT */
/* Meta events: names, facts and status as the host receives them. Settings and memory of the hook. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "told.h"

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

static void numbers_are_told_to_each_host_once(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct fake_event *event;
		struct ktop_wire_arguments arguments;
		struct ktop_wire_number number;

		settle();
		assert_int_equal(fake_host_count(host, KTOP_EVENT_number), 3);
		assert_int_equal(fake_host_count(host, KTOP_EVENT_arguments), 2);
		for (uint32_t at = 0, told = 38; at < host->count; at++) {
			event = &host->events[at];
			if (event->id != KTOP_EVENT_arguments)
				continue;
			memcpy(&arguments, event->payload, sizeof(arguments));
			assert_true(arguments.event == KTOP_EVENT_syscall_enter && arguments.number == told);
			assert_string_equal(fake_text(event, sizeof(arguments), 0),
				told++ == 38 ? "s32 file;u64 size;" : "");
		}
		event = fake_host_last(host, KTOP_EVENT_number);
		memcpy(&number, event->payload, sizeof(number));
		assert_true(number.event == KTOP_EVENT_irq_enter && number.number == 1ull << 40);
		assert_string_equal(fake_text(event, sizeof(number), 0), "disk");
		reconnect();
	}
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

/* Events may be chosen before any host is there. */
static void events_of_the_settings(void **state)
{
	const struct { const char *trace; uint32_t mask; } choices[] = {
		{ "", 0 }, { "+irq", KTOP_UNTRACED(irq_enter) | KTOP_UNTRACED(irq_exit) },
		{ "+fault +irq_exit -irq", KTOP_UNTRACED(fault) }, { "+irq +flush", UINT32_MAX },
		{ "irq", UINT32_MAX }, { "+irq:loud", UINT32_MAX },
	};
	struct ktop_facts facts = { .cpus = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const struct ktop_settings settings = { .ring_size = 4096, .start = true, .trace = choices[i].trace };
		size_t size = ktop_memory_size(1, &settings);
		void *memory = aligned_alloc(64, size);
		struct ktop *made = ktop_init(&facts, &settings, NULL, memory, size);

		assert_int_equal(made == NULL, choices[i].mask == UINT32_MAX);
		if (made)
			assert_int_equal(made->trace[1], choices[i].mask);
		free(memory);
	}
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
		TEST(numbers_are_told_to_each_host_once),
		TEST(the_kernels_symbols_come_in_order_and_once),
		TEST(new_symbols_come_when_they_are_told_of),
		TEST(symbols_that_lead_nowhere_end),
		TEST(long_names_are_cut_between_characters),
		TEST(events_of_the_settings),
		TEST(settings_out_of_range_are_refused),
	};

	return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
