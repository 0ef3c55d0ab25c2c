/* SPDX-License-Identifier: MIT */
/* The times in packets, and the order in which events leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/sampler.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "drained.h"

static void *(*real_buffer)(struct ktop_transport *self);

/* While CPU 0's ring is sent, a new process is named and traced on CPU 1. */
static void *buffer_meanwhile(struct ktop_transport *transport)
{
	if (host->buffers == 1 && ktop_ring(&ktop->cpu[1], KTOP_TRACE)->committed == 0) {
		ktop_process(ktop, 7, "late");
		trace(1, 1);
	}
	return real_buffer(transport);
}

static void a_name_goes_out_before_what_it_names(void **state)
{
	uint32_t name = UINT32_MAX, event = 0;

	(void)state;
	fake_host_connect(host);
	settle();
	fake_host_forget(host);
	host->buffers = 0;
	real_buffer = host->transport.buffer;
	host->transport.buffer = buffer_meanwhile;
	trace(0, 2000);				/* more than a buffer holds */
	settle();
	settle();
	for (uint32_t i = 0; i < host->count; i++) {
		if (host->events[i].id == KTOP_EVENT_process)
			name = i;
		if (host->events[i].id == KTOP_EVENT_syscall_exit && host->events[i].cpu == 1)
			event = i;
	}
	assert_true(event != 0);
	assert_true(name < event);
}

static void a_gap_of_the_short_clock_starts_a_packet(void **state)
{
	(void)state;
	fake_host_connect(host);
	trace(0, 1);
	fake_port.clock += 0xffffffff;
	trace(0, 1);
	fake_port.clock += 0x100000000;
	trace(0, 1);
	fake_port.clock += 0x300000000;
	trace(0, 1);
	settle();
	assert_int_equal(host->books[KTOP_TRACE][0].packets, 3);
	assert_int_equal(fake_host_last(host, KTOP_EVENT_syscall_exit)->time, fake_port.clock);
	assert_int_equal(host->books[KTOP_TRACE][0].received, 4);
}

static void an_event_from_before_a_heartbeat_is_moved_to_its_end(void **state)
{
	(void)state;
	fake_host_connect(host);
	fake_port.clock = 9000000;
	settle();
	fake_port.clock = 8999990;			/* its time was taken before the heartbeat */
	trace(0, 1);
	fake_port.clock = 9000100;
	settle();
	assert_int_equal(fake_host_last(host, KTOP_EVENT_syscall_exit)->time, 9000000);
}

static void time_never_runs_back(void **state)
{
	(void)state;
	fake_host_connect(host);
	fake_port.clock = 9000000;
	trace(0, 1);
	fake_port.clock = 8999990;
	trace(0, 1);
	settle();
	assert_int_equal(fake_host_last(host, KTOP_EVENT_syscall_exit)->time, 9000000);
	assert_int_equal(host->books[KTOP_TRACE][0].received, 2);
}

static void nested_events_are_in_the_books(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);
	struct ktop_record *record;

	(void)state;
	fake_host_connect(host);
	assert_true(ktop_ring_enter(ring));
	record = ktop_ring_reserve(ring, 4, fake_port.clock);
	trace(0, 1);
	ktop_ring_commit(ring, record, KTOP_EVENT_irq_enter, 4);
	settle();
	assert_int_equal(ring->nested, 1);
	assert_int_equal(lost(0, KTOP_TRACE), 1);
	the_books_balance();
}

static void cpu_status_agrees_with_the_books(void **state)
{
	struct ktop_wire_cpu_status status;
	uint64_t span = fake_port.clock;

	(void)state;
	boot(KTOP_RING_MIN, 1000);
	fake_host_connect(host);
	trace(2, 500);
	fake_port.clock += 12345;
	span = fake_port.clock - span;
	settle();
	memcpy(&status, fake_host_last(host, KTOP_EVENT_cpu_status)->payload, sizeof(status));
	assert_int_equal(status.cpu, 2);
	assert_int_equal(status.stream, KTOP_TRACE);
	assert_int_equal(status.enabled, 1);
	assert_int_equal(status.taken, 500);
	assert_int_equal(status.lost, lost(2, KTOP_TRACE));
	assert_int_equal(status.span, span);
	assert_int_equal(status.size, KTOP_RING_MIN);
}

static struct ktop_wire_cpu_status told(void)
{
	struct ktop_wire_cpu_status status;

	settle();
	memcpy(&status, fake_host_last(host, KTOP_EVENT_cpu_status)->payload, sizeof(status));
	assert_int_equal(status.stream, KTOP_TRACE);
	return status;
}

static void counts_are_the_last_when_nobody_is_at_it(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[2], KTOP_TRACE);
	struct ktop_record *record;

	(void)state;
	fake_host_connect(host);
	trace(2, 5);
	assert_true(ktop_ring_enter(ring));
	record = ktop_ring_reserve(ring, 4, fake_port.clock);
	assert_non_null(record);
	ktop_sampler_run(ktop, false);
	assert_int_equal(told().enabled, 1);
	ktop_ring_commit(ring, record, KTOP_EVENT_irq_enter, 4);
	ktop_meta_beat(ktop);
	assert_int_equal(told().enabled, 0);
	assert_int_equal(told().taken, 6);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_goes_out_before_what_it_names),
		TEST(a_gap_of_the_short_clock_starts_a_packet),
		TEST(an_event_from_before_a_heartbeat_is_moved_to_its_end),
		TEST(time_never_runs_back),
		TEST(nested_events_are_in_the_books),
		TEST(cpu_status_agrees_with_the_books),
		TEST(counts_are_the_last_when_nobody_is_at_it),
	};

	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
