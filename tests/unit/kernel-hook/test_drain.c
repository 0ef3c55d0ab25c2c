/* SPDX-License-Identifier: MIT */
/* From rings to packets to buffers, and the books. fake_host.c asserts the shape of every packet. */
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
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "tests/unit/fakes/quick.h"
#include "drained.h"

static void nothing_leaves_without_a_host(void **state)
{
	(void)state;
	trace(0, 10);
	assert_false(ktop_drain(ktop));
	assert_int_equal(host->buffers, 0);
	assert_int_equal(ktop_ring(&ktop->cpu[0], KTOP_TRACE)->committed, 10);
	fake_host_connect(host);
	settle();
	assert_int_equal(host->books[KTOP_TRACE][0].received, 10);
	assert_int_equal(lost(0, KTOP_TRACE), 0);
}

static void events_arrive_as_they_were_written(void **state)
{
	struct ktop_wire_syscall_exit event;

	(void)state;
	fake_host_connect(host);
	fake_port.clock = 5000000;
	fake_cpu = 2;
	ktop_trace_syscall_exit(ktop, 70, 80, 1ull << 40);
	fake_cpu = 0;
	settle();
	assert_int_equal(fake_host_count(host, KTOP_EVENT_syscall_exit), 1);
	assert_int_equal(fake_host_last(host, KTOP_EVENT_syscall_exit)->cpu, 2);
	assert_int_equal(fake_host_last(host, KTOP_EVENT_syscall_exit)->time, 5000000);
	memcpy(&event, fake_host_last(host, KTOP_EVENT_syscall_exit)->payload, sizeof(event));
	assert_true(event.thread == 70 && event.number == 80 && event.result == 1ull << 40);
}

static void every_ring_has_a_heartbeat(void **state)
{
	(void)state;
	fake_host_connect(host);
	settle();
	for (int i = 1; i <= 10; i++) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (uint32_t stream = KTOP_SAMPLES; stream < KTOP_STREAMS; stream++) {
				assert_true(host->books[stream][cpu].empty >= (uint32_t)i);
				assert_int_equal(host->books[stream][cpu].end, fake_port.clock);
			}
		assert_true(fake_host_count(host, KTOP_EVENT_status) >= (uint32_t)i);
		assert_true(fake_host_count(host, KTOP_EVENT_cpu_status) >= (uint32_t)i * 2 * CPUS);
		fake_port.clock += BEAT;
		settle();
	}
	/* No more packets are sent than are needed. */
	assert_true(host->books[KTOP_TRACE][0].packets < 15);
	for (int i = 0; i < 100; i++)
		settle();
	assert_true(host->books[KTOP_TRACE][0].packets < 15);
}

static void drains_when_the_hook_wants_them_are_in_time(void **state)
{
	(void)state;
	ktop->control.events[1] = 0;
	ktop_sampler_renew(ktop);
	fake_host_connect(host);
	settle();
	for (int i = 0; i < 100; i++) {
		uint64_t before = fake_port.clock;

		assert_in_range(ktop_drain_by(ktop), before + BEAT / 2, before + BEAT);
		fake_port.clock = ktop_drain_by(ktop);
		settle();
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (uint32_t stream = KTOP_SAMPLES; stream < KTOP_STREAMS; stream++)
				assert_int_equal(host->books[stream][cpu].end, fake_port.clock);
	}
}

static void put_event(uint32_t cpu, uint16_t id, uint32_t size)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[cpu], KTOP_SAMPLES);
	struct ktop_record *record;

	assert_true(ktop_ring_enter(ring));
	record = ktop_ring_reserve(ring, size, fake_port.clock);
	assert_non_null(record);
	memset(record->payload, 0, size);
	ktop_ring_commit(ring, record, id, size);
}

/* A packet is opened only in a buffer that has room for the event for which it is opened. */
static void events_larger_than_a_sample_fill_packets_too(void **state)
{
	(void)state;
	boot(1 << 18, 1000);
	fake_host_connect(host);
	settle();
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t empty = host->books[KTOP_SAMPLES][1].empty;

		put_event(1, KTOP_EVENT_missed, 4 + 8 * round);
		for (int i = 0; i < 29; i++)
			put_event(1, KTOP_EVENT_raw_sample, KTOP_RAW_SAMPLE_MAX);
		settle();
		assert_int_equal(host->books[KTOP_SAMPLES][1].empty, empty);
	}
	assert_int_equal(fake_host_count(host, KTOP_EVENT_raw_sample), 40 * 29);
	the_books_balance();
}

/* This holds even if the drainer is late by as much time again. */
static void no_ring_fills_between_drains_that_the_hook_wants(void **state)
{
	static const uint32_t rates[] = { 1, 997, 4000, 20000 }, sizes[] = { KTOP_RING_MIN, 1 << 14, 1 << 18 };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]) * 3; i++) {
		fake_host_free(host);
		host = fake_host_new();
		boot(sizes[i % 3], rates[i / 3]);
		ktop->control.events[1] = 0;
		ktop_sampler_renew(ktop);
		fake_host_connect(host);
		settle();
		for (int drains = 0; drains < 20; drains++) {
			uint64_t wait = ktop_drain_by(ktop) - fake_port.clock;

			for (uint64_t at = 0; at + ktop->period <= 2 * wait; at += ktop->period)
				put_event(1, KTOP_EVENT_sample, KTOP_SAMPLE_MAX);
			fake_port.clock += 2 * wait;
			settle();
		}
		assert_int_equal(ktop_lost(ktop, 1, KTOP_SAMPLES), 0);
	}
}

static void events_and_a_deaf_host_are_looked_after_sooner(void **state)
{
	(void)state;
	fake_host_connect(host);
	settle();
	assert_int_equal(ktop_drain_by(ktop), fake_port.clock + BEAT / 2);
	ktop->control.events[1] = 0;
	ktop_sampler_renew(ktop);
	host->free = 0;
	fake_port.clock += BEAT;
	assert_false(ktop_drain(ktop));
	assert_in_range(ktop_drain_by(ktop), fake_port.clock + 1, fake_port.clock + BEAT / 2);
}

static void a_heartbeat_tells_of_late_losses(void **state)
{
	(void)state;
	boot(KTOP_RING_MIN, 1000);
	fake_host_connect(host);
	settle();
	trace(1, 1000);
	settle();
	assert_true(lost(1, KTOP_TRACE) > 500);
	the_books_balance();
}

static void packets_fill_many_buffers_and_calls(void **state)
{
	uint32_t calls = 0;

	(void)state;
	boot(1 << 20, 1000);
	fake_host_connect(host);
	trace(0, 25000);
	trace(1, 25000);
	while (ktop_drain(ktop))
		assert_true(++calls < 1000);
	assert_int_equal(calls, host->buffers / 16);	/* each call sends a bounded number */
	assert_int_equal(host->books[KTOP_TRACE][0].received, 25000);
	assert_int_equal(host->books[KTOP_TRACE][1].received, 25000);
	assert_int_equal(host->books[KTOP_TRACE][0].discarded, 0);
}

static void no_buffer_is_no_reason_to_spin(void **state)
{
	(void)state;
	fake_host_connect(host);
	host->free = 0;
	trace(0, 1000);
	assert_false(ktop_drain(ktop));
	host->free = 1;
	assert_false(ktop_drain(ktop));
	host->free = UINT32_MAX;
	settle();
	assert_int_equal(host->books[KTOP_TRACE][0].received, 1000);
}

static void rings_share_a_scarce_buffer(void **state)
{
	(void)state;
	boot(1 << 18, 1000);
	fake_host_connect(host);
	for (int i = 0; i < 40; i++) {
		trace(0, 2000);				/* more than a buffer holds */
		trace(2, 10);
		host->free = 1;
		ktop_drain(ktop);
	}
	assert_true(host->books[KTOP_TRACE][2].received > 0);
}

/* ---- the books, while everything happens at once ---- */

static void one_tick(uint32_t cpu, unsigned *seed)
{
	struct ktop_regs regs = {
		.pc = 0x1100,
		.sp = (uintptr_t)stack,
		.fp = (uintptr_t)(stack + rand_r(seed) % 250),
	};

	fake_cpu = cpu;
	ktop_tick(ktop, &regs);
	while (fake_port.nmis[cpu]) {
		fake_port.nmis[cpu]--;
		ktop_nmi(ktop, &regs);
	}
	if (ktop_set_aside(ktop, cpu))
		ktop_pace(ktop);
	fake_cpu = 0;
}

static void change_the_connection(unsigned *seed)
{
	if (host->connected && rand_r(seed) % 2) {
		host->connected = false;
		host->deaf = false;
	} else if (host->connected) {
		host->deaf = !host->deaf;		/* the host is gone, but the hook does not know it */
	} else {
		fake_host_connect(host);
	}
}

static void change_a_wish(unsigned *seed)
{
	static const char *const lines[] = {
		"stop\n", "start\n", "start\n", "sampler nmi\n", "sampler timer\n", "rate 20000\n",
		"rate 1000\n", "cpu 1 off\n", "cpu 1 on\n", "events -irq\n", "nonsense\n",
	};

	host->input = lines[(size_t)rand_r(seed) % (sizeof(lines) / sizeof(lines[0]))];
}

static void books_of_one_boot(unsigned seed)
{
	print_message("seed %u\n", seed);
	boot(KTOP_RING_MIN << rand_r(&seed) % 3, 20000);
	for (uint32_t i = 0; i < 256; i++)
		stack[i] = i % 2 ? 0x1200 : (uintptr_t)(stack + i + 2);
	for (size_t i = 0; i < quick_part(20000, 4); i++) {
		uint32_t cpu = (uint32_t)rand_r(&seed) % CPUS;

		fake_port.clock += (uint64_t)rand_r(&seed) % (rand_r(&seed) % 50 ? 60 : 5000);
		one_tick(cpu, &seed);
		trace(cpu, (uint32_t)rand_r(&seed) % 4);
		if (rand_r(&seed) % 20 == 0) {
			host->free = (uint32_t)rand_r(&seed) % 3;
			ktop_drain(ktop);
		}
		if (rand_r(&seed) % 200 == 0)
			change_the_connection(&seed);
		if (rand_r(&seed) % 100 == 0)
			change_a_wish(&seed);
		if (host->count > 10000)
			fake_host_forget(host);
	}
	host->free = UINT32_MAX;
	host->deaf = false;
	if (!host->connected)
		fake_host_connect(host);
	settle();
	fake_port.clock += BEAT;
	settle();
	the_books_balance();
}

static void the_books_balance_to_the_event(void **state)
{
	uint64_t received = 0, missing = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct fake_host *old = host;

		host = fake_host_new();
		books_of_one_boot(seed);
		fake_host_free(old);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (uint32_t stream = KTOP_SAMPLES; stream < KTOP_STREAMS; stream++) {
				received += host->books[stream][cpu].received;
				missing += lost(cpu, stream);
			}
	}
	assert_true(received > quick_part(100000, 4) && missing > quick_part(10000, 4));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_leaves_without_a_host),
		TEST(events_arrive_as_they_were_written),
		TEST(every_ring_has_a_heartbeat),
		TEST(drains_when_the_hook_wants_them_are_in_time),
		TEST(no_ring_fills_between_drains_that_the_hook_wants),
		TEST(events_and_a_deaf_host_are_looked_after_sooner),
		TEST(a_heartbeat_tells_of_late_losses),
		TEST(packets_fill_many_buffers_and_calls),
		TEST(no_buffer_is_no_reason_to_spin),
		TEST(rings_share_a_scarce_buffer),
		TEST(events_larger_than_a_sample_fill_packets_too),
		TEST(the_books_balance_to_the_event),
	};

	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
