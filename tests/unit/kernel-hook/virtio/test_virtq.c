/* SPDX-License-Identifier: MIT */
/* The driver's side of a virtqueue, with a device's side that was written from the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/virtio/virtq.h"
#include "tests/unit/fakes/device_queue.h"

enum { SIZE = 16, BUFFERS = 8, BYTES = 64 };

struct pair {
	struct ktop_virtq driver;
	struct device_queue device;
	uint8_t *memory;
	uint8_t data[BUFFERS][BYTES];
};

static void begin(struct pair *pair, uint16_t size, bool device_writes)
{
	pair->memory = aligned_alloc(KTOP_VIRTQ_PAGE, KTOP_VIRTQ_MEMORY);
	assert_non_null(pair->memory);
	memset(pair->memory, 0xa5, KTOP_VIRTQ_MEMORY);
	ktop_virtq_init(&pair->driver, pair->memory, (uintptr_t)pair->memory, size);
	ktop_virtq_set_buffers(&pair->driver, &(struct ktop_virtq_buffers) {
		.physical = (uintptr_t)pair->data,
		.size = BYTES,
		.count = BUFFERS,
		.device_writes = device_writes,
	});
	pair->device = device_queue_at(pair->memory, size);
}

static int set_up(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	begin(pair, SIZE, true);
	*state = pair;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *pair = *state;

	free(pair->memory);
	free(pair);
	return 0;
}

static void parts_lie_where_the_specification_puts_them(void **state)
{
	(void)state;
	for (uint16_t size = 1; size <= KTOP_VIRTQ_SIZE_MAX; size = (uint16_t)(2 * size)) {
		struct device_queue device = device_queue_at(NULL, size);

		assert_int_equal(ktop_virtq_available_at(size), (uintptr_t)device.available);
		assert_int_equal(ktop_virtq_used_at(size), (uintptr_t)device.used);
		assert_true((uintptr_t)device.used + 6 + 8u * size <= KTOP_VIRTQ_MEMORY);
	}
}

static void an_offered_buffer_reaches_the_device(void **state)
{
	struct pair *pair = *state;
	struct device_buffer buffer;

	assert_false(device_pop(&pair->device, &buffer));
	ktop_virtq_offer(&pair->driver, 5, 17);
	assert_true(device_pop(&pair->device, &buffer));
	assert_ptr_equal(buffer.data, pair->data[5]);
	assert_int_equal(buffer.length, 17);
	assert_int_equal(buffer.flags, 2);
	assert_false(device_pop(&pair->device, &buffer));
	assert_int_equal(device_get16(pair->device.available) & 1, 1);	/* no interrupts */
}

static void a_buffer_to_be_read_is_marked_so(void **state)
{
	struct pair *pair = *state;
	struct device_buffer buffer;

	free(pair->memory);
	begin(pair, SIZE, false);
	ktop_virtq_offer(&pair->driver, 0, 1);
	assert_true(device_pop(&pair->device, &buffer));
	assert_int_equal(buffer.flags, 0);
}

static void all_in_flight_is_none_idle(void **state)
{
	struct pair *pair = *state;
	struct device_buffer one;
	uint32_t buffer, written;

	ktop_virtq_offer_all(&pair->driver);
	assert_false(ktop_virtq_idle(&pair->driver, &buffer));
	assert_false(ktop_virtq_take(&pair->driver, &buffer, &written));
	for (uint32_t i = 0; i < 4; i++)
		assert_true(device_pop(&pair->device, &one));
	device_push(&pair->device, one.id, 9);
	assert_true(ktop_virtq_take(&pair->driver, &buffer, &written));
	assert_int_equal(buffer, one.id);
	assert_int_equal(written, 9);
	assert_true(ktop_virtq_idle(&pair->driver, &buffer));
	assert_int_equal(buffer, one.id);
}

static void a_short_queue_takes_fewer_buffers(void **state)
{
	struct pair *pair = *state;
	struct device_buffer one;
	uint32_t count = 0;

	free(pair->memory);
	begin(pair, 4, true);
	ktop_virtq_offer_all(&pair->driver);
	while (device_pop(&pair->device, &one))
		count++;
	assert_int_equal(count, 4);
}

/* Buffers come back in any order, until both 16-bit indices have wrapped. */
static void buffers_go_round_for_ever(void **state)
{
	struct pair *pair = *state;
	struct device_buffer held[BUFFERS];
	uint32_t count = 0, buffer, written, taken = 0, random = 1;
	uint32_t size_of[BUFFERS] = { 0 };

	while (taken < 3 * 65536) {
		while (ktop_virtq_idle(&pair->driver, &buffer)) {
			random = random * 1664525 + 1013904223;
			size_of[buffer] = random >> 26;
			ktop_virtq_offer(&pair->driver, buffer, size_of[buffer]);
		}
		while (count < BUFFERS && device_pop(&pair->device, &held[count]))
			count++;
		for (random = random * 1664525 + 1013904223; count && random >> 30; random <<= 2) {
			uint32_t pick = (random >> 8) % count;

			device_push(&pair->device, held[pick].id, held[pick].length);
			held[pick] = held[--count];
		}
		while (ktop_virtq_take(&pair->driver, &buffer, &written)) {
			assert_int_equal(written, size_of[buffer]);
			taken++;
		}
		assert_false(pair->driver.broken);
	}
}

static void a_length_beyond_the_buffer_is_cut(void **state)
{
	struct pair *pair = *state;
	uint32_t buffer, written;

	ktop_virtq_offer_all(&pair->driver);
	device_push(&pair->device, 3, UINT32_MAX);
	assert_true(ktop_virtq_take(&pair->driver, &buffer, &written));
	assert_int_equal(written, BYTES);
}

static void is_broken(struct pair *pair)
{
	uint32_t buffer, written;

	assert_false(ktop_virtq_take(&pair->driver, &buffer, &written));
	assert_true(pair->driver.broken);
	device_push(&pair->device, 0, 1);
	assert_false(ktop_virtq_take(&pair->driver, &buffer, &written));
}

static void an_id_that_does_not_exist_breaks_the_queue(void **state)
{
	struct pair *pair = *state;

	ktop_virtq_offer_all(&pair->driver);
	device_push(&pair->device, BUFFERS, 1);
	is_broken(pair);
}

static void a_huge_id_breaks_the_queue(void **state)
{
	struct pair *pair = *state;

	ktop_virtq_offer_all(&pair->driver);
	device_push(&pair->device, 0x80000001u, 1);
	is_broken(pair);
}

static void an_id_that_was_not_offered_breaks_the_queue(void **state)
{
	struct pair *pair = *state;

	ktop_virtq_offer(&pair->driver, 1, BYTES);
	device_push(&pair->device, 2, 1);
	is_broken(pair);
}

static void an_id_twice_breaks_the_queue(void **state)
{
	struct pair *pair = *state;
	uint32_t buffer, written;

	ktop_virtq_offer_all(&pair->driver);
	device_push(&pair->device, 2, 1);
	device_push(&pair->device, 2, 1);
	assert_true(ktop_virtq_take(&pair->driver, &buffer, &written));
	is_broken(pair);
}

static void an_index_too_far_breaks_the_queue(void **state)
{
	struct pair *pair = *state;

	ktop_virtq_offer(&pair->driver, 0, BYTES);
	device_put16(pair->device.used + 2, 2);
	is_broken(pair);
}

static void an_index_that_runs_back_breaks_the_queue(void **state)
{
	struct pair *pair = *state;

	device_put16(pair->device.used + 2, 0xffff);
	is_broken(pair);
}

static void the_device_may_want_no_notice(void **state)
{
	struct pair *pair = *state;

	assert_true(ktop_virtq_wants_notify(&pair->driver));
	device_put16(pair->device.used, 1);
	assert_false(ktop_virtq_wants_notify(&pair->driver));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(parts_lie_where_the_specification_puts_them),
		TEST(an_offered_buffer_reaches_the_device),
		TEST(a_buffer_to_be_read_is_marked_so),
		TEST(all_in_flight_is_none_idle),
		TEST(a_short_queue_takes_fewer_buffers),
		TEST(buffers_go_round_for_ever),
		TEST(a_length_beyond_the_buffer_is_cut),
		TEST(an_id_that_does_not_exist_breaks_the_queue),
		TEST(a_huge_id_breaks_the_queue),
		TEST(an_id_that_was_not_offered_breaks_the_queue),
		TEST(an_id_twice_breaks_the_queue),
		TEST(an_index_too_far_breaks_the_queue),
		TEST(an_index_that_runs_back_breaks_the_queue),
		TEST(the_device_may_want_no_notice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
