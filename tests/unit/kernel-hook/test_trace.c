/* SPDX-License-Identifier: MIT */
/* Trace points: what they write into the rings, and when. */
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
#include "tests/unit/fakes/fake_port.h"

enum { CPUS = 4 };

static struct ktop *ktop;

static int set_up(void **state)
{
	struct ktop_facts facts = { .cpus = CPUS };
	struct ktop_settings settings = { .start = true };
	size_t size = ktop_memory_size(CPUS, &settings);

	(void)state;
	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	return 0;
}

static void trace_points_write_what_they_were_given(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[2], KTOP_TRACE);
	const struct ktop_record *record;
	struct ktop_wire_syscall_exit exit;
	uint32_t ids[5], count = 0;

	(void)state;
	fake_cpu = 2;
	ktop->trace = 0x1f;
	ktop_trace_switch(ktop, 1, 2);
	ktop_trace_irq_enter(ktop, 3);
	ktop_trace_irq_exit(ktop, 4);
	ktop_trace_syscall_enter(ktop, 5, 6);
	ktop_trace_syscall_exit(ktop, 7, 8, 9);
	assert_int_equal(fake_port.masked, 0);
	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		assert_true(count < 5);
		ids[count++] = record->id;
		if (record->id == KTOP_EVENT_syscall_exit)
			memcpy(&exit, record->payload, sizeof exit);
		ktop_ring_drop(ring, record);
	}
	assert_int_equal(count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(ids[i], KTOP_EVENT_sched_switch + i);
	assert_true(exit.thread == 7 && exit.number == 8 && exit.result == 9);
	assert_int_equal(ktop_ring(&ktop->cpu[2], KTOP_SAMPLES)->committed, 0);
}

static void trace_points_obey_the_mask(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);

	(void)state;
	for (uint32_t bit = 0; bit < 5; bit++) {
		ktop->trace = 1u << bit;
		ktop_trace_switch(ktop, 1, 2);
		ktop_trace_irq_enter(ktop, 3);
		ktop_trace_irq_exit(ktop, 4);
		ktop_trace_syscall_enter(ktop, 5, 6);
		ktop_trace_syscall_exit(ktop, 7, 8, 9);
		assert_int_equal(ring->committed, bit + 1);
	}
	ktop->cpu[0].order = 0;
	ktop_trace_syscall_exit(ktop, 7, 8, 9);
	assert_int_equal(ring->committed, 5);
}

static void stop_inside(void)
{
	ktop_sampler_wish(ktop, KTOP_NONE);
}

static void an_event_overtaken_by_a_stop_is_discarded(void **state)
{
	const struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_TRACE);

	(void)state;
	ktop->trace = 0x1f;
	fake_port.at_clock = stop_inside;
	ktop_trace_irq_enter(ktop, 3);
	assert_int_equal(ktop->trace, 0);
	assert_int_equal(ring->committed + ktop_ring_lost(ring), 0);
	assert_false(ktop_ring_busy(ring));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trace_points_write_what_they_were_given),
		TEST(trace_points_obey_the_mask),
		TEST(an_event_overtaken_by_a_stop_is_discarded),
	};

	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
