/* SPDX-License-Identifier: MIT */
/*
 * The CPU that is set aside and a CPU that answers its NMIs, as real threads, with new starts in between.
 * ThreadSanitizer watches, and the rounds that are due must add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "tests/unit/fakes/fake_port.h"

enum { ROUNDS = 300000, PERIOD = 1000 };

static struct ktop *ktop;
static uint32_t finished, taken;	/* flags */
static uint32_t rounds;			/* counted by the pacer; read when it has finished */

/* Also does the drainer's part: a new start every few rounds. It goes on until an NMI was answered. */
static void *pacer(void *argument)
{
	(void)argument;
	fake_cpu = 1;
	for (; rounds < ROUNDS || !__atomic_load_n(&taken, __ATOMIC_RELAXED); rounds++) {
		if (rounds % 3 == 0)
			__atomic_store_n(&ktop->generation, ktop->generation + 1, __ATOMIC_RELEASE);
		ktop_pace(ktop);
		__atomic_add_fetch(&fake_port.clock, PERIOD, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Takes the samples out of the ring, and returns the sum of their weights and gaps. */
static uint64_t take_all(void)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);
	const struct ktop_record *record;
	uint64_t sum = 0;

	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		struct ktop_wire_sample sample;
		struct ktop_wire_missed missed;

		memcpy(&sample, record->payload, sizeof(sample));
		memcpy(&missed, record->payload, sizeof(missed));
		sum += record->id == KTOP_EVENT_sample ? sample.weight : missed.ticks;
		ktop_ring_drop(ring, record);
	}
	return sum;
}

static void no_start_makes_more_due_than_there_was(void **state)
{
	const struct ktop_regs in_user = { .pc = 0x400000, .user = true };
	struct ktop_settings settings = { .start = true, .nmi = true, .rate = 1000 };
	struct ktop_facts facts = { .cpus = 2, .clock_hz = 1000 * PERIOD };
	size_t size = ktop_memory_size(2, &settings);
	void *memory = aligned_alloc(64, size);
	uint64_t sum = 0;
	pthread_t thread;

	(void)state;
	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, memory, size);
	assert_non_null(ktop);
	assert_int_equal(ktop->sampler, KTOP_NMI);
	assert_int_equal(pthread_create(&thread, NULL, pacer, NULL), 0);
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
		ktop_nmi(ktop, &in_user);
		sum += take_all();
		__atomic_store_n(&taken, sum != 0, __ATOMIC_RELAXED);
	}
	pthread_join(thread, NULL);
	assert_in_range(sum, 1, rounds);
	assert_true(ktop->cpu[0].missed <= rounds);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_start_makes_more_due_than_there_was),
	};

	return cmocka_run_group_tests_name("pace_threads", tests, NULL, NULL);
}
