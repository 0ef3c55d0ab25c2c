/* SPDX-License-Identifier: MIT */
/* The barriers of a virtqueue, between the driver and a device that follows the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/virtio/virtq.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { ENTRIES = 4, BUFFERS = 2, LENGTH = 8 };

static struct {
	struct ktop_virtq queue;
	struct ktop_virtq_memory memory;
	uint64_t data[BUFFERS];
} virtq;
static struct device {
	uint16_t *available, *available_ring, *used_flags, *used;
	uint32_t *used_ring, *length;	/* length: of the first descriptor; the next ones are 4 words apart */
	uint16_t seen;
	bool asleep;
} device;
static bool notified;

static void virtq_set_up(void)
{
	uint8_t *at = virtq.memory.bytes;

	ktop_virtq_init(&virtq.queue, at, (uintptr_t)at, ENTRIES);
	ktop_virtq_set_buffers(&virtq.queue, &(struct ktop_virtq_buffers) {
		.size = LENGTH,
		.count = BUFFERS,
		.device_writes = true,
	});
	device = (struct device) {
		.length = (uint32_t *)(at + 8),
		.available = (uint16_t *)(at + ktop_virtq_available_at(ENTRIES) + 2),
		.available_ring = (uint16_t *)(at + ktop_virtq_available_at(ENTRIES) + 4),
		.used_flags = (uint16_t *)(at + ktop_virtq_used_at(ENTRIES)),
		.used = (uint16_t *)(at + ktop_virtq_used_at(ENTRIES) + 2),
		.used_ring = (uint32_t *)(at + ktop_virtq_used_at(ENTRIES) + 4),
	};
	notified = false;
}

/* The device writes to a buffer that it was offered, and gives it back. */
static void device_step(void)
{
	uint16_t id, slot = device.seen % ENTRIES;

	if (__atomic_load_n(device.available, __ATOMIC_ACQUIRE) == device.seen)
		return;
	id = device.available_ring[slot];
	if (id >= BUFFERS || device.length[4 * id] != LENGTH) {
		scenario_wrong("the device finds half an offer");
		return;
	}
	device.seen++;
	virtq.data[id] = device.seen;
	__atomic_store_n(&device.used_ring[2 * slot], id, __ATOMIC_RELAXED);
	__atomic_store_n(&device.used_ring[2 * slot + 1], LENGTH, __ATOMIC_RELAXED);
	__atomic_store_n(device.used, device.seen, __ATOMIC_RELEASE);
}

static void driver_step(void)
{
	uint32_t buffer, length;

	ktop_virtq_offer_all(&virtq.queue);
	if (!ktop_virtq_take(&virtq.queue, &buffer, &length))
		return;
	if (length != LENGTH || virtq.data[buffer] != virtq.queue.taken)
		scenario_wrong("the driver takes what the device has not yet written");
}

static void device_steps(void)
{
	for (int i = 0; i < 8; i++)
		device_step();
}

static void driver_steps(void)
{
	for (int i = 0; i < 8; i++)
		driver_step();
}

static void the_queue_is_sound(void)
{
	if (virtq.queue.broken)
		scenario_wrong("the driver finds what the device did not say");
}

#define VIRTQ .memory = &virtq, .size = sizeof(virtq)
#define STREAM VIRTQ, .set_up = virtq_set_up, .look = the_queue_is_sound, .threads = { \
	{ .run = driver_steps }, { .run = device_steps } }

static void pair_10_an_offer_is_whole_when_the_index_shows_it(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { STREAM });
}

static void pair_11_a_buffer_is_whole_when_the_index_shows_it(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { STREAM });
}

static void offer_and_notify(void)
{
	ktop_virtq_offer_all(&virtq.queue);
	notified = ktop_virtq_wants_notify(&virtq.queue);
}

/* The device asks to be notified, and then looks once more. */
static void fall_asleep(void)
{
	__atomic_store_n(device.used_flags, 0, __ATOMIC_SEQ_CST);
	device.asleep = __atomic_load_n(device.available, __ATOMIC_SEQ_CST) == 0;
}

static void busy_device_set_up(void)
{
	virtq_set_up();
	*device.used_flags = 1;
}

static void the_device_knows(void)
{
	if (device.asleep && !notified)
		scenario_wrong("the device sleeps over an offer");
}

static void pair_12_a_device_that_sleeps_is_told_of_an_offer(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { VIRTQ, .set_up = busy_device_set_up, .look = the_device_knows,
		.threads = { { .run = offer_and_notify }, { .run = fall_asleep } } });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_10_an_offer_is_whole_when_the_index_shows_it),
		cmocka_unit_test(pair_11_a_buffer_is_whole_when_the_index_shows_it),
		cmocka_unit_test(pair_12_a_device_that_sleeps_is_told_of_an_offer),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("virtq_barriers", tests, NULL, NULL);
}
