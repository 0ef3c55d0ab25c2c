/* SPDX-License-Identifier: MIT */
/* Packets of trace events: where a loss may be, and which event a stack belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "agent/wire/trace_kinds.h"
#include "kernel-hook/wire.h"

enum { WAITS = 8 };

static struct waits {
	struct trace_kinds *kinds;
	struct budget *budget;
	struct trace *trace;
	uint64_t begins[WAITS];
	uint32_t stacks[WAITS];
	int count;
	uint64_t sure;			/* where nothing was missing any more, the last time */
	uint32_t sure_of;		/* of this CPU */
} waits;

static void note_wait(void *context, const struct trace_span *wait)
{
	struct waits *into = context;

	assert_true(into->count < WAITS);
	into->begins[into->count] = wait->begin;
	into->stacks[into->count++] = wait->stack;
}

static void note_sure(void *context, uint64_t time, uint32_t cpu)
{
	struct waits *into = context;

	into->sure = time;
	into->sure_of = cpu;
}

static int set_up(void **state)
{
	(void)state;
	waits = (struct waits) { .kinds = trace_kinds_new(), .budget = budget_new(64 << 20) };
	waits.trace = trace_new(waits.budget, note_wait, note_sure, &waits);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(waits.trace);
	trace_kinds_free(waits.kinds);
	budget_release(waits.budget);
	return 0;
}

/* Returns its stack. */
static uint32_t give(uint32_t cpu, uint64_t time, uint16_t id, const void *fields, size_t size)
{
	const struct event event = { .kind = EVENT_TRACE, .id = id, .cpu = cpu, .time = time, .trace = {
		.kind = trace_kinds_find(waits.kinds, id), .fields = fields, .size = size } };

	return trace_add(waits.trace, time, &event);
}

#define GIVE(cpu, time, name, ...) give(cpu, time, KTOP_EVENT_##name, \
	&(const struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

static void sleeps(uint32_t cpu, uint64_t from, uint64_t to)
{
	GIVE(cpu, from, sched_switch, 6, 7, KTOP_LEAVES_BLOCKED);
	GIVE(cpu, to, sched_wake, 6, KTOP_NO_THREAD);
}

/* Each packet takes 10 ns. */
static void packet(uint32_t cpu, uint64_t begin, uint32_t bytes, uint64_t lost)
{
	trace_packet(waits.trace, &(struct trace_packet) {
		.cpu = cpu, .begin = begin, .end = begin + 10, .bytes = bytes, .lost = lost, .ring = 300 });
}

/*
 * What a full ring dropped came after all that was in it: no wait is told before that has come, however much room there
 * is in a packet.
 */
static void a_loss_may_be_anywhere_in_the_ring(void **state)
{
	(void)state;
	packet(0, 10, 100, 0);
	sleeps(0, 12, 14);
	packet(0, 20, 100, 5);
	sleeps(0, 22, 24);
	packet(0, 30, 200, 0);
	GIVE(0, 32, sched_switch, 6, 7, KTOP_LEAVES_BLOCKED);
	packet(0, 40, 99, 0);
	GIVE(0, 42, sched_wake, 6, KTOP_NO_THREAD);
	packet(0, 50, 1, 0);
	sleeps(0, 52, 54);
	packet(0, 60, 100, 0);
	sleeps(0, 62, 64);
	trace_end(waits.trace);
	assert_int_equal(waits.count, 2);
	assert_true(waits.begins[0] == 12 && waits.begins[1] == 62);
	assert_true(waits.sure == 60 && waits.sure_of == 0);
}

/* A ring that has nothing to send has sent all. */
static void an_empty_packet_ends_the_doubt(void **state)
{
	(void)state;
	packet(0, 10, 100, 5);
	sleeps(0, 12, 14);
	packet(0, 20, 0, 0);
	packet(0, 30, 100, 0);
	sleeps(0, 32, 34);
	packet(0, 40, 0, 7);
	packet(0, 50, 100, 0);
	sleeps(0, 52, 54);
	trace_end(waits.trace);
	assert_int_equal(waits.count, 2);
	assert_true(waits.begins[0] == 32 && waits.begins[1] == 52);
}

/* It may end a packet, with its event at the beginning of the next, and with packets of other CPUs between them. */
static void a_stack_goes_with_the_event_of_its_cpu_time_and_id(void **state)
{
	(void)state;
	packet(0, 10, 100, 0);
	trace_stack(waits.trace, 22, 0, KTOP_EVENT_sched_switch, 41);
	packet(1, 10, 100, 0);
	trace_stack(waits.trace, 22, 1, KTOP_EVENT_sched_switch, 77);
	GIVE(1, 22, sched_switch, 8, 9, KTOP_LEAVES_BLOCKED);
	packet(0, 20, 100, 0);
	assert_int_equal(GIVE(0, 22, sched_switch, 6, 7, KTOP_LEAVES_BLOCKED), 42);
	assert_int_equal(GIVE(0, 24, sched_wake, 6, KTOP_NO_THREAD), 0);
	trace_stack(waits.trace, 25, 0, KTOP_EVENT_irq_enter, 42);	/* its event was lost */
	sleeps(0, 25, 27);
	trace_end(waits.trace);
	assert_int_equal(waits.count, 2);
	assert_true(waits.stacks[0] == 42 && waits.stacks[1] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_loss_may_be_anywhere_in_the_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_packet_ends_the_doubt, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stack_goes_with_the_event_of_its_cpu_time_and_id, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
