/* SPDX-License-Identifier: MIT */
/*
 * The interface of version 1: registers in memory, which PCI capabilities describe (4.1.4). If that memory cannot be
 * mapped, the same registers are reached one at a time through a window in configuration space (4.1.4.9). That is
 * slow, but needs no address.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtio_pci.h"
#include "virtq.h"

/* 4.1.4.3. Each 64-bit field is written as two of 32 bits (4.1.3.1). */
struct common {
	uint32_t device_feature_select, device_feature;
	uint32_t driver_feature_select, driver_feature;
	uint16_t config_msix_vector, num_queues;
	uint8_t device_status, config_generation;
	uint16_t queue_select, queue_size, queue_msix_vector, queue_enable, queue_notify_off;
	uint32_t queue_desc[2], queue_driver[2], queue_device[2];
};
_Static_assert(sizeof(struct common) == 56, "as the specification has it");

/* Offsets in a capability: id, next, length, kind; bar; offset; length; in NOTIFY the step, in WINDOW the data. */
enum { BAR = 4, OFFSET = 8, LENGTH = 12, STEP = 16, DATA = 16 };

/* ---- registers, of 1, 2 or 4 bytes ---- */

/* Points the window at `size` bytes of a BAR: its data field then reads and writes them. */
static void aim(const struct ktop_virtio_pci *pci, const struct ktop_virtio_region *region,
	uint32_t at, uint32_t size)
{
	ktop_pci_write(pci->function, pci->window + BAR, region->bar);
	ktop_pci_write(pci->function, pci->window + OFFSET, region->offset + at);
	ktop_pci_write(pci->function, pci->window + LENGTH, size);
}

static uint32_t get(const struct ktop_virtio_pci *pci, const struct ktop_virtio_region *region,
	uint32_t at, uint32_t size)
{
	if (region->at == NULL) {
		aim(pci, region, at, size);
		return ktop_pci_read(pci->function, pci->window + DATA) & UINT32_MAX >> (32 - 8 * size);
	}
	return size == 1 ? region->at[at] : size == 2 ? *(volatile uint16_t *)(region->at + at) :
		*(volatile uint32_t *)(region->at + at);
}

static void put(const struct ktop_virtio_pci *pci, const struct ktop_virtio_region *region,
	uint32_t at, uint32_t size, uint32_t value)
{
	if (region->at == NULL) {
		aim(pci, region, at, size);
		ktop_pci_write(pci->function, pci->window + DATA, value);
	} else if (size == 1) {
		region->at[at] = (uint8_t)value;
	} else if (size == 2) {
		*(volatile uint16_t *)(region->at + at) = (uint16_t)value;
	} else {
		*(volatile uint32_t *)(region->at + at) = value;
	}
}

#define SIZE(field) sizeof(((struct common *)NULL)->field)
#define GET(pci, field) get(pci, &(pci)->common, offsetof(struct common, field), SIZE(field))
#define PUT(pci, field, value) \
	put(pci, &(pci)->common, offsetof(struct common, field), SIZE(field), value)

/* ---- what a device can do ---- */

static const struct ktop_virtio_pci *pci_of(const struct ktop_virtio *self)
{
	return (const struct ktop_virtio_pci *)self;
}

static uint8_t status(struct ktop_virtio *self)
{
	return (uint8_t)GET(pci_of(self), device_status);
}

static void set_status(struct ktop_virtio *self, uint8_t bits)
{
	PUT(pci_of(self), device_status, bits);
}

static uint64_t features(struct ktop_virtio *self)
{
	const struct ktop_virtio_pci *pci = pci_of(self);
	uint64_t low, high;

	PUT(pci, device_feature_select, 0);
	low = GET(pci, device_feature);
	PUT(pci, device_feature_select, 1);
	high = GET(pci, device_feature);
	return high << 32 | low;
}

static void accept(struct ktop_virtio *self, uint64_t bits)
{
	const struct ktop_virtio_pci *pci = pci_of(self);

	PUT(pci, driver_feature_select, 0);
	PUT(pci, driver_feature, (uint32_t)bits);
	PUT(pci, driver_feature_select, 1);
	PUT(pci, driver_feature, (uint32_t)(bits >> 32));
}

/* What lies behind the end of a short structure reads as zero. */
static uint32_t config(struct ktop_virtio *self, uint32_t offset)
{
	const struct ktop_virtio_region *region = &pci_of(self)->config;

	if (region->size < offset + sizeof(uint32_t))
		return 0;
	return get(pci_of(self), region, offset, sizeof(uint32_t));
}

/* A queue that is too long for virtq.h is shortened, as the driver may (4.1.4.3.2). */
static uint16_t queue_size(struct ktop_virtio *self, uint16_t index)
{
	const struct ktop_virtio_pci *pci = pci_of(self);
	uint32_t size;

	if (index >= GET(pci, num_queues))
		return 0;
	PUT(pci, queue_select, index);
	size = GET(pci, queue_size);
	return (uint16_t)(size <= KTOP_VIRTQ_SIZE_MAX ? size : KTOP_VIRTQ_SIZE_MAX);
}

/* `at`: of a field of two halves. */
static void set_address(const struct ktop_virtio_pci *pci, uint32_t at, uint64_t physical)
{
	put(pci, &pci->common, at, sizeof(uint32_t), (uint32_t)physical);
	put(pci, &pci->common, at + sizeof(uint32_t), sizeof(uint32_t), (uint32_t)(physical >> 32));
}

/* 4.1.5.1.3. A queue is notified at queue_notify_off * notify_step in the NOTIFY structure (4.1.4.4). */
static bool queue_start(struct ktop_virtio *self, struct ktop_virtq *queue)
{
	const struct ktop_virtio_pci *pci = pci_of(self);
	uint64_t door;

	PUT(pci, queue_select, queue->index);
	door = (uint64_t)GET(pci, queue_notify_off) * pci->notify_step;
	if (door + sizeof(uint16_t) > pci->notify.size)
		return false;
	queue->door = (uint32_t)door;
	PUT(pci, queue_size, queue->size);
	set_address(pci, offsetof(struct common, queue_desc), queue->physical);
	set_address(pci, offsetof(struct common, queue_driver),
		queue->physical + ktop_virtq_available_at(queue->size));
	set_address(pci, offsetof(struct common, queue_device),
		queue->physical + ktop_virtq_used_at(queue->size));
	PUT(pci, queue_enable, 1);
	return true;
}

/* The barrier in ktop_virtq_wants_notify() orders the ring's stores before this (4.1.5.2). */
static void notify(struct ktop_virtio *self, const struct ktop_virtq *queue)
{
	put(pci_of(self), &pci_of(self)->notify, queue->door, sizeof(uint16_t), queue->index);
}

static const struct ktop_virtio_ops modern_ops = {
	.status = status,
	.set_status = set_status,
	.features = features,
	.accept = accept,
	.config = config,
	.queue_size = queue_size,
	.queue_start = queue_start,
	.notify = notify,
};

/* ---- finding the registers ---- */

enum { VENDOR_CAPABILITY = 9 };
enum { COMMON = 1, NOTIFY = 2, CONFIG = 4, WINDOW = 5 };	/* kinds of structure */

/* The first capability of this kind, from the one at `at` on; 0: there is none. */
static uint32_t find_capability(uint32_t function, uint32_t kind, uint32_t at)
{
	for (uint32_t i = 0; at && i < KTOP_PCI_CAPABILITIES; i++) {
		uint32_t head = ktop_pci_read(function, at);

		if ((head & 0xff) == VENDOR_CAPABILITY && head >> 24 == kind &&
				(ktop_pci_read(function, at + BAR) & 0xff) <= 5)
			return at;
		at = ktop_pci_capability(function, at);
	}
	return 0;
}

/* Describes the registers of a capability, and maps them unless `map` is NULL. False: `at` is 0, or they cannot be. */
static bool map_region(struct ktop_virtio_region *region, uint32_t function, uint32_t at,
	void *(*map)(uint64_t physical, size_t size))
{
	uint64_t base;
	bool io;

	if (at == 0)
		return false;
	*region = (struct ktop_virtio_region) {
		.bar = ktop_pci_read(function, at + BAR) & 0xff,
		.offset = ktop_pci_read(function, at + OFFSET),
		.size = ktop_pci_read(function, at + LENGTH),
	};
	if (map == NULL)
		return true;
	base = ktop_pci_bar(function, region->bar, &io);
	if (base == 0 || io)
		return false;
	region->at = map(base + region->offset, region->size);
	return region->at != NULL;
}

/* Finds the first structure of this kind that can be had (4.1.4.1). Returns its capability; 0: there is none. */
static uint32_t find_region(struct ktop_virtio_region *region, uint32_t function, uint32_t kind,
	void *(*map)(uint64_t physical, size_t size))
{
	uint32_t at = ktop_pci_capability(function, 0);

	for (uint32_t i = 0; at && i < KTOP_PCI_CAPABILITIES; i++) {
		at = find_capability(function, kind, at);
		if (map_region(region, function, at, map))
			return at;
		at = at ? ktop_pci_capability(function, at) : 0;
	}
	return 0;
}

bool ktop_virtio_modern_init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size))
{
	uint32_t first = ktop_pci_capability(function, 0), doors;

	*self = (struct ktop_virtio_pci) { .device.ops = &modern_ops, .function = function };
	if (map == NULL)
		self->window = find_capability(function, WINDOW, first);
	doors = find_region(&self->notify, function, NOTIFY, map);
	if (!doors || (map == NULL && !self->window) ||
			!find_region(&self->common, function, COMMON, map) ||
			self->common.size < sizeof(struct common) ||
			!find_region(&self->config, function, CONFIG, map))
		return false;
	self->notify_step = ktop_pci_read(function, doors + STEP);
	if (map)
		ktop_pci_enable(function, KTOP_PCI_MEMORY);
	return true;
}
