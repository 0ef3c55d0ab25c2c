/* SPDX-License-Identifier: MIT */
/*
 * A controller that is plugged in while the kernel runs, on a fake PCI bus. It has no address: its registers are
 * reached only through the window in its configuration (Virtual I/O Device 1.2, 4.1.4.9).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/transport.h"
#include "kernel-hook/virtio/pci.h"
#include "kernel-hook/virtio/virtio.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "kernel-hook/virtio/virtq.h"
#include "tests/unit/fakes/fake_serial.h"

enum { BUS_0_BRIDGE = 1 << 3, BEHIND = 2 << 8 | 5 << 3, SLOTS = 32 * 3 };
enum { COMMON_AT = 0x1000, NOTIFY_AT = 0x3000, CONFIG_AT = 0x2000, STEP = 4, WINDOW = 0x80 };

static struct fake_serial *fake;
static bool plugged;
static uint8_t space[256];		/* the controller's configuration */
static uint32_t reads, maps;
static struct ktop_virtq chosen;	/* the queue that queue_select has chosen, as the driver has set it */
static uint32_t select_half;

static struct ktop_virtio_serial_config config;
static struct ktop_transport *transport;
static uint32_t connections;

/* ---- the device's registers ---- */

static void say(uint32_t at, uint32_t size, uint32_t value)
{
	const struct ktop_virtio_ops *ops = fake->device.ops;

	if (at >= NOTIFY_AT) {
		assert_int_equal(size, 2);
		assert_int_equal(at, NOTIFY_AT + STEP * value);
		chosen.index = (uint16_t)value;
		ops->notify(&fake->device, &chosen);
		return;
	}
	switch (at - COMMON_AT) {
	case 0: case 8: select_half = value; break;
	case 12:
		ops->accept(&fake->device, select_half ? fake->accepted | (uint64_t)value << 32 : value);
		break;
	case 20:
		assert_int_equal(size, 1);
		ops->set_status(&fake->device, (uint8_t)value);
		break;
	case 22: chosen.index = (uint16_t)value; break;
	case 24: chosen.size = (uint16_t)value; break;
	case 28: assert_true(ops->queue_start(&fake->device, &chosen)); break;
	case 32: chosen.physical = value; break;
	case 36: chosen.physical |= (uint64_t)value << 32; break;
	case 40: case 44: case 48: case 52: break;
	default: fail_msg("register %u", at - COMMON_AT);
	}
}

static uint32_t hear(uint32_t at)
{
	const struct ktop_virtio_ops *ops = fake->device.ops;

	switch (at) {
	case COMMON_AT + 4: return (uint32_t)(fake->features >> (select_half ? 32 : 0));
	case COMMON_AT + 18: return 2 * fake->max_ports + 2;
	case COMMON_AT + 20: return ops->status(&fake->device);
	case COMMON_AT + 24: return ops->queue_size(&fake->device, chosen.index);
	case COMMON_AT + 30: return chosen.index;
	case CONFIG_AT + 4: return ops->config(&fake->device, 4);
	}
	fail_msg("register %x", at);
	return 0;
}

/* ---- configuration space, in the place of kernel-hook/virtio/pci_ports.c ---- */

static uint32_t word(uint32_t at)
{
	uint32_t value;

	memcpy(&value, space + at, sizeof(value));
	return value;
}

static void set_word(uint32_t at, uint32_t value)
{
	memcpy(space + at, &value, sizeof(value));
}

uint32_t ktop_pci_read(uint32_t function, uint32_t at)
{
	reads++;
	if (function == 0)
		return at == 0 ? 0x12378086 : 0;
	if (function == BUS_0_BRIDGE)
		return at == 0 ? 0x000c1b36 : at == 0x0c ? 0x10000 : at == 0x18 ? 0x00020200 : 0;
	if (function != BEHIND || !plugged)
		return UINT32_MAX;
	if (at == WINDOW + 16)
		return 0xffff0000 | hear(word(WINDOW + 8));	/* the upper bytes were not asked for */
	return word(at);
}

void ktop_pci_write(uint32_t function, uint32_t at, uint32_t value)
{
	assert_int_equal(function, BEHIND);
	if (!plugged)
		return;
	set_word(at, value);
	if (at == WINDOW + 16)
		say(word(WINDOW + 8), word(WINDOW + 12), value);
}

static void capability(uint32_t at, uint32_t next, uint32_t kind, uint32_t offset, uint32_t size)
{
	set_word(at, 9 | next << 8 | 20 << 16 | kind << 24);
	set_word(at + 4, 4);
	set_word(at + 8, offset);
	set_word(at + 12, size);
	set_word(at + 16, STEP);
}

static void fill_space(void)
{
	memset(space, 0, sizeof(space));
	set_word(0, 0x10431af4);
	set_word(4, 0x100000);
	set_word(0x34, 0x40);
	capability(0x40, 0x54, 1, COMMON_AT, 56);
	capability(0x54, 0x68, 2, NOTIFY_AT, STEP * 200);
	capability(0x68, WINDOW, 4, CONFIG_AT, 12);
	capability(WINDOW, 0, 5, 0, 0);
}

/* ---- the driver ---- */

static uint64_t physical(const void *address)
{
	return (uintptr_t)address;
}

static void *no_map(uint64_t address, size_t size)
{
	(void)address, (void)size;
	maps++;
	return NULL;
}

static int set_up(void **state)
{
	(void)state;
	fake = fake_serial_new();
	fake->ports[1] = (struct fake_serial_port) { .name = "org.ktop.0", .host = true };
	plugged = false;
	reads = maps = 0;
	fill_space();
	config = (struct ktop_virtio_serial_config) {
		.port = "org.ktop.0", .size = ktop_virtio_serial_memory_size(),
		.physical = physical, .map = no_map, .hotplug = true,
	};
	config.memory = aligned_alloc(4096, config.size);
	transport = ktop_virtio_serial_init(&config);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_serial_free(fake);
	free(config.memory);
	return 0;
}

/* Runs rounds of the drainer until the port is connected, and returns how many. */
static uint32_t rounds(uint32_t limit)
{
	uint32_t count = 0;

	while (count++ < limit && !transport->connected(transport, &connections))
		if (plugged)
			fake_serial_run(fake);
	return count;
}

static void one_that_comes_late_is_found(void **state)
{
	(void)state;
	assert_non_null(transport);
	rounds(3 * SLOTS);
	plugged = true;
	assert_in_range(rounds(1000), 1, 2 * SLOTS + 20);
	memcpy(transport->buffer(transport), "hello", 5);
	transport->send(transport, 5);
	fake_serial_run(fake);
	assert_int_equal(fake->out_size, 5);
	assert_memory_equal(fake->out, "hello", 5);
	assert_true(fake->accepted == (1ull << 32 | 1 << 1));
	assert_int_equal(maps, 0);		/* there is no address to map */
}

static void looking_costs_little_in_each_call(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 5 * SLOTS; i++) {
		reads = 0;
		transport->connected(transport, &connections);
		assert_in_range(reads, 1, 22);	/* two for each of eight functions, and more for the controller */
	}
}

static void nothing_is_looked_for_once_there_is_the_port(void **state)
{
	(void)state;
	plugged = true;
	rounds(1000);
	reads = 0;
	transport->connected(transport, &connections);
	assert_in_range(reads, 1, 1);		/* the device's status */
}

static void one_that_goes_and_comes_again_is_found_again(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		plugged = true;
		assert_in_range(rounds(1000), 1, 2 * SLOTS + 20);
		plugged = false;
		assert_false(transport->connected(transport, &connections));
		assert_null(transport->buffer(transport));
		fake->ports[1] = (struct fake_serial_port) { .name = "org.ktop.0", .host = true };
		fake->status = 0;
		fill_space();
	}
}

static void one_that_cannot_be_driven_is_tried_once(void **state)
{
	uint32_t resets;

	(void)state;
	fake->refuses = true;
	plugged = true;
	rounds(2 * SLOTS);
	resets = fake->resets;
	assert_int_not_equal(resets, 0);
	rounds(4 * SLOTS);
	assert_int_equal(fake->resets, resets);
}

/* A controller that is unplugged frees its place: with four places, a fifth one is found. */
static void one_that_was_given_up_leaves_its_place(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * KTOP_VIRTIO_SERIAL_CONTROLLERS; i++) {
		fake->refuses = true;
		fill_space();
		plugged = true;
		rounds(2 * SLOTS);
		plugged = false;
		rounds(1);
	}
	fake->refuses = false;
	fake->status = 0;
	fill_space();
	plugged = true;
	assert_in_range(rounds(1000), 1, 2 * SLOTS + 20);
}

static void one_that_somebody_else_takes_is_left_to_him(void **state)
{
	uint32_t resets;

	(void)state;
	plugged = true;
	rounds(1000);
	fake->device.ops->set_status(&fake->device, 0);
	resets = fake->resets;
	rounds(4 * SLOTS);
	assert_int_equal(fake->resets, resets);
	assert_int_equal(fake->status, 0);
}

static void without_leave_nobody_looks(void **state)
{
	(void)state;
	config.hotplug = false;
	assert_null(ktop_virtio_serial_init(&config));
	plugged = true;
	assert_null(ktop_virtio_serial_init(&config));	/* it has no address, and at boot the window is not used */
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_comes_late_is_found),
		TEST(looking_costs_little_in_each_call),
		TEST(nothing_is_looked_for_once_there_is_the_port),
		TEST(one_that_goes_and_comes_again_is_found_again),
		TEST(one_that_cannot_be_driven_is_tried_once),
		TEST(one_that_was_given_up_leaves_its_place),
		TEST(one_that_somebody_else_takes_is_left_to_him),
		TEST(without_leave_nobody_looks),
	};

	return cmocka_run_group_tests_name("hotplug", tests, NULL, NULL);
}
