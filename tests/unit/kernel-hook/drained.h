/* SPDX-License-Identifier: MIT */
/* A hook that is drained to a host. */
#ifndef DRAINED_H
#define DRAINED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/sampler.h"
#include "kernel-hook/trace.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "hosted.h"

enum { CPUS = 3, HZ = 1000000, BEAT = HZ / 10 };

static uint64_t stack[256];

static inline void boot(uint32_t ring_size, uint32_t rate)
{
	struct ktop_facts facts = { .cpus = CPUS, .boot_id = { 0xb0 }, .clock_hz = HZ };
	struct ktop_settings settings = { .ring_size = ring_size, .rate = rate, .start = true };
	size_t size = ktop_memory_size(CPUS, &settings);

	free(ktop);
	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	ktop->control.events[1] = 0x1f;
	ktop->control.event_words = 2;
	ktop_sampler_renew(ktop);
}

static inline int set_up(void **state)
{
	(void)state;
	fake_port_reset();
	for (int i = 0; i < FAKE_CPUS; i++)
		fake_port.current[i] = (struct ktop_current) {
			.stack_low = (uintptr_t)stack,
			.stack_high = (uintptr_t)(stack + 256),
		};
	host = fake_host_new();
	ktop = NULL;
	boot(1 << 18, 1000);
	return 0;
}

static inline uint64_t taken(uint32_t cpu, enum ktop_stream stream)
{
	return ktop_ring_taken(ktop_ring(&ktop->cpu[cpu], stream));
}

/* The events that a reader of the packets counts as lost (docs/wire.md). */
static inline uint64_t lost(uint32_t cpu, enum ktop_stream stream)
{
	const struct fake_books *books = &host->books[stream][cpu];

	return books->sent + books->discarded - books->received;
}

static inline void the_books_balance(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (uint32_t stream = KTOP_SAMPLES; stream < KTOP_STREAMS; stream++)
			assert_int_equal(taken(cpu, stream),
				host->books[stream][cpu].received + lost(cpu, stream));
}

static inline void trace(uint32_t cpu, uint32_t events)
{
	fake_cpu = cpu;
	for (uint32_t i = 0; i < events; i++)
		ktop_trace_syscall_exit(ktop, i, cpu, 5);
	fake_cpu = 0;
}

#endif
