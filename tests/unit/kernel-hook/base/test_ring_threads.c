/* SPDX-License-Identifier: MIT */
/*
 * One ring between real threads, a CPU that writes and a drainer that reads. ThreadSanitizer watches, and what arrives
 * is checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "kernel-hook/base/ring.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_port.h"

enum { EVENTS = 200000, SIZE = KTOP_RING_MIN };

struct test {
	struct ktop_ring ring;
	uint32_t finished;		/* the writer has written all */
	uint64_t received;
	uint64_t bad;			/* records that were incomplete or out of order */
};

static uint32_t size_of(uint64_t number)
{
	return 8 + (uint32_t)(number * 37 % 512);
}

/* An event has its number, then a pattern that depends on the number. */
static void fill(uint8_t *payload, uint64_t number)
{
	memcpy(payload, &number, 8);
	memset(payload + 8, (int)(number % 251), size_of(number) - 8);
}

static void *writer(void *argument)
{
	struct test *test = argument;

	for (uint64_t i = 0; i < EVENTS; i++) {
		struct ktop_record *record;

		if (!ktop_ring_enter(&test->ring))
			continue;
		record = ktop_ring_reserve(&test->ring, size_of(i), i);
		if (record == NULL)
			continue;
		fill(record->payload, i);
		ktop_ring_commit(&test->ring, record, (uint16_t)(i % 60000 + 1), size_of(i));
	}
	__atomic_store_n(&test->finished, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool whole(const struct ktop_record *record, uint64_t *number)
{
	uint8_t expected[8 + 512];

	memcpy(number, record->payload, sizeof(*number));
	if (*number >= EVENTS || record->size != size_of(*number) ||
			record->id != *number % 60000 + 1)
		return false;
	fill(expected, *number);
	return memcmp(expected, record->payload, record->size) == 0;
}

static void drain(struct test *test, uint64_t *next)
{
	uint64_t head = ktop_ring_head(&test->ring), number = 0;
	const struct ktop_record *record;

	while ((record = ktop_ring_first(&test->ring, head))) {
		if (!whole(record, &number) || number < *next)
			test->bad++;
		*next = number + 1;
		test->received++;
		ktop_ring_drop(&test->ring, record);
	}
}

static void *drainer(void *argument)
{
	struct test *test = argument;
	uint64_t next = 0;

	while (!__atomic_load_n(&test->finished, __ATOMIC_ACQUIRE))
		drain(test, &next);
	drain(test, &next);
	return NULL;
}

static void all_that_was_taken_is_received_or_lost(void **state)
{
	struct test *test = aligned_alloc(64, sizeof(*test));
	void *memory = aligned_alloc(64, SIZE);
	pthread_t threads[2];

	(void)state;
	fake_port_reset();
	assert_true(test && memory);
	memset(test, 0, sizeof(*test));
	ktop_ring_init(&test->ring, memory, SIZE);
	assert_int_equal(pthread_create(&threads[0], NULL, drainer, test), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, writer, test), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert_int_equal(test->bad, 0);
	assert_int_equal(test->ring.committed, test->received);
	assert_int_equal(test->received + ktop_ring_lost(&test->ring), EVENTS);
	assert_true(test->received > 0);
	free(memory);
	free(test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_was_taken_is_received_or_lost),
	};

	return cmocka_run_group_tests_name("ring_threads", tests, NULL, NULL);
}
