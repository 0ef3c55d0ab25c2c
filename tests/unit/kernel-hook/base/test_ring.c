/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/base/ring.h"
#include "kernel-hook/wire.h"

enum { SIZE = KTOP_RING_MIN };

static _Alignas(64) uint8_t memory[SIZE + 64];
static struct ktop_ring ring;

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0xaa, sizeof(memory));
	ktop_ring_init(&ring, memory, SIZE);
	return 0;
}

static int after(void **state)
{
	(void)state;
	for (int i = SIZE; i < SIZE + 64; i++)
		assert_int_equal(memory[i], 0xaa);	/* nothing is written behind the end */
	return 0;
}

static bool put(uint16_t id, uint32_t room, uint32_t size, uint8_t content)
{
	struct ktop_record *record = ktop_ring_enter(&ring) ? ktop_ring_reserve(&ring, room, 0) : NULL;

	if (record == NULL)
		return false;
	memset(record->payload, content, size);
	ktop_ring_commit(&ring, record, id, size);
	return true;
}

/* Takes the first record, and returns its id; 0: there is none. */
static uint16_t take(void)
{
	const struct ktop_record *record = ktop_ring_first(&ring, ktop_ring_head(&ring));
	uint16_t id = record ? record->id : 0;

	if (record)
		ktop_ring_drop(&ring, record);
	return id;
}

static void gives_back_what_was_put(void **state)
{
	const struct ktop_record *record;

	(void)state;
	assert_true(put(7, 100, 3, 0x55));
	record = ktop_ring_first(&ring, ktop_ring_head(&ring));
	assert_non_null(record);
	assert_int_equal(record->id, 7);
	assert_int_equal(record->size, 3);
	assert_int_equal(record->payload[2], 0x55);
	ktop_ring_drop(&ring, record);
	assert_null(ktop_ring_first(&ring, ktop_ring_head(&ring)));
}

static void full_drops_the_new_event_and_counts_it(void **state)
{
	uint16_t stored = 0;

	(void)state;
	while (put((uint16_t)(stored + 1), 48, 48, 1))
		stored++;
	assert_int_equal(stored, SIZE / 64);
	assert_int_equal(ktop_ring_head(&ring) - ring.tail, SIZE);	/* full, not empty */
	assert_false(put(999, 48, 48, 1));
	assert_int_equal(ktop_ring_lost(&ring), 2);
	assert_int_equal(ring.committed, stored);
	for (uint16_t i = 1; i <= stored; i++)
		assert_int_equal(take(), i);
	assert_int_equal(take(), 0);
	assert_true(put(5, 48, 48, 1));
}

static void one_piece_at_the_wrap(void **state)
{
	const struct ktop_record *record;

	(void)state;
	/* Fills up to 16 bytes before the end, so that the next record starts at the begin of the ring. */
	for (int i = 0; i < 2; i++)
		assert_true(put(1, 1000, 1000, 1));
	assert_true(put(1, SIZE - 2 * 1016 - 32, SIZE - 2 * 1016 - 32, 1));
	for (int i = 0; i < 3; i++)
		assert_int_equal(take(), 1);
	assert_true(put(2, 500, 500, 2));
	record = ktop_ring_first(&ring, ktop_ring_head(&ring));
	assert_ptr_equal(record, memory);
	assert_int_equal(record->id, 2);
	assert_int_equal(record->payload[499], 2);
}

static void leaving_leaves_no_trace(void **state)
{
	uint64_t head = ktop_ring_head(&ring);

	(void)state;
	assert_true(ktop_ring_enter(&ring));
	assert_non_null(ktop_ring_reserve(&ring, 100, 0));
	ktop_ring_leave(&ring);
	assert_int_equal(ktop_ring_head(&ring), head);
	assert_int_equal(ring.committed + ktop_ring_lost(&ring), 0);
	assert_true(put(3, 100, 100, 3));
	assert_int_equal(take(), 3);
}

static void nested_writes_are_dropped_and_counted(void **state)
{
	struct ktop_record *record;

	(void)state;
	assert_true(ktop_ring_enter(&ring));
	record = ktop_ring_reserve(&ring, 100, 0);
	assert_non_null(record);
	assert_false(ktop_ring_enter(&ring));
	assert_false(ktop_ring_enter(&ring));
	ktop_ring_commit(&ring, record, 4, 100);
	assert_int_equal(ring.nested, 2);
	assert_int_equal(ring.full, 0);
	assert_int_equal(ktop_ring_lost(&ring), 2);
	assert_true(put(5, 10, 10, 0));
	assert_int_equal(take(), 4);
	assert_int_equal(take(), 5);
}

/* ---- compared with a queue of everything ---- */

struct expected {
	uint16_t id;
	uint32_t size;
	uint8_t content;
};

static void check_first(const struct expected *expected)
{
	const struct ktop_record *record = ktop_ring_first(&ring, ktop_ring_head(&ring));

	assert_non_null(record);
	assert_int_equal(record->id, expected->id);
	assert_int_equal(record->size, expected->size);
	for (uint32_t i = 0; i < record->size; i++)
		assert_int_equal(record->payload[i], expected->content);
	ktop_ring_drop(&ring, record);
}

static void same_as_a_queue(void **state)
{
	enum { STEPS = 100000 };
	struct expected *queue = calloc(STEPS, sizeof(*queue));
	uint64_t first = 0, last = 0, refused = 0;
	unsigned seed = 20;

	(void)state;
	print_message("seed %u\n", seed);
	for (int i = 0; i < STEPS; i++) {
		uint32_t room = (uint32_t)rand_r(&seed) % (KTOP_SAMPLE_MAX + 1);
		uint32_t size = (uint32_t)rand_r(&seed) % (room + 1);
		struct expected event = { (uint16_t)(i % 60000 + 1), size, (uint8_t)i };

		if (rand_r(&seed) % 2 && first != last)
			check_first(&queue[first++]);
		else if (put(event.id, room, size, event.content))
			queue[last++] = event;
		else
			refused++;
		uint64_t used = ktop_ring_head(&ring) - ring.tail;

		assert_true(used <= SIZE && ktop_ring_lost(&ring) == refused);
		/* If there is room for two records, there is room for one in one piece. */
		if (used + 2 * (room + 24) <= SIZE) {
			assert_true(ktop_ring_enter(&ring));
			assert_non_null(ktop_ring_reserve(&ring, room, 0));
			ktop_ring_leave(&ring);
		}
	}
	while (first != last)
		check_first(&queue[first++]);
	assert_null(ktop_ring_first(&ring, ktop_ring_head(&ring)));
	assert_int_equal(ring.committed, last);
	assert_true(refused > 100 && last > 10000);
	free(queue);
}

/* Nobody reads for some time, again and again: what is there then is the newest, without a gap. The rest is counted. */
static void rolling_keeps_the_newest(void **state)
{
	enum { ROUNDS = 200 };
	uint64_t written = 0, read = 0;
	unsigned seed = 21;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t count = (uint32_t)rand_r(&seed) % 300;
		uint64_t before = written, first = 0;
		const struct ktop_record *record;

		ktop_ring_roll(&ring);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t size = (uint32_t)rand_r(&seed) % (SIZE / 4);

			assert_true(put((uint16_t)(written % 60000 + 1), size, size, (uint8_t)written));
			written++;
		}
		assert_int_equal(ktop_ring_taken(&ring), written);
		assert_true(ktop_ring_settle(&ring));
		while ((record = ktop_ring_first(&ring, ktop_ring_head(&ring)))) {
			first = first ? first : written - (written + 60000 - (record->id - 1u)) % 60000;
			assert_int_equal(record->id, first % 60000 + 1);
			if (record->size)
				assert_int_equal(record->payload[record->size - 1u], (uint8_t)first);
			ktop_ring_drop(&ring, record);
			first++;
			read++;
		}
		assert_true(!first || first == written);
		assert_int_equal(read + ktop_ring_lost(&ring), written);
		assert_true(count == 0 || first > before);
	}
	assert_true(ring.given_up > 1000 && read > 1000);
}

static void a_ring_that_is_written_is_not_read(void **state)
{
	struct ktop_record *record;

	(void)state;
	ktop_ring_roll(&ring);
	assert_true(ktop_ring_enter(&ring));
	record = ktop_ring_reserve(&ring, 100, 0);
	assert_false(ktop_ring_settle(&ring));
	ktop_ring_commit(&ring, record, 4, 100);
	assert_true(ktop_ring_settle(&ring));
	assert_int_equal(take(), 4);
	while (put(5, 100, 100, 5))		/* it does not roll any more */
		continue;
	assert_int_equal(ring.given_up, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_back_what_was_put),
		TEST(full_drops_the_new_event_and_counts_it),
		TEST(one_piece_at_the_wrap),
		TEST(leaving_leaves_no_trace),
		TEST(nested_writes_are_dropped_and_counted),
		TEST(rolling_keeps_the_newest),
		TEST(a_ring_that_is_written_is_not_read),
		TEST(same_as_a_queue),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
