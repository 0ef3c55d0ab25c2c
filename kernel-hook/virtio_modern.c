/* The interface of version 1: registers in memory, found by PCI capabilities (4.1.4). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pci.h"
#include "virtio_pci.h"
#include "virtq.h"

/* 4.1.4.3. Each 64-bit field is two of 32 (4.1.3.1). */
struct common {
	uint32_t device_feature_select, device_feature;
	uint32_t driver_feature_select, driver_feature;
	uint16_t config_msix_vector, num_queues;
	uint8_t device_status, config_generation;
	uint16_t queue_select, queue_size, queue_msix_vector, queue_enable, queue_notify_off;
	uint32_t queue_desc[2], queue_driver[2], queue_device[2];
};
_Static_assert(sizeof(struct common) == 56, "as the specification has it");

static struct ktop_virtio_pci *pci_of(struct ktop_virtio *self)
{
	return (struct ktop_virtio_pci *)self;
}

static volatile struct common *common_of(struct ktop_virtio *self)
{
	return (volatile struct common *)pci_of(self)->common.at;
}

static uint8_t status(struct ktop_virtio *self)
{
	return common_of(self)->device_status;
}

static void set_status(struct ktop_virtio *self, uint8_t bits)
{
	common_of(self)->device_status = bits;
}

static uint64_t features(struct ktop_virtio *self)
{
	volatile struct common *common = common_of(self);
	uint64_t low, high;

	common->device_feature_select = 0;
	low = common->device_feature;
	common->device_feature_select = 1;
	high = common->device_feature;
	return high << 32 | low;
}

static void accept(struct ktop_virtio *self, uint64_t bits)
{
	volatile struct common *common = common_of(self);

	common->driver_feature_select = 0;
	common->driver_feature = (uint32_t)bits;
	common->driver_feature_select = 1;
	common->driver_feature = (uint32_t)(bits >> 32);
}

/* What lies behind the end of a short structure reads as zero. */
static uint32_t config(struct ktop_virtio *self, uint32_t offset)
{
	const struct ktop_virtio_region *region = &pci_of(self)->config;

	if (region->size < offset + sizeof(uint32_t))
		return 0;
	return *(volatile uint32_t *)(region->at + offset);
}

/* A queue that is too long for virtq.h is shortened, as the driver may (4.1.4.3.2). */
static uint16_t queue_size(struct ktop_virtio *self, uint16_t index)
{
	volatile struct common *common = common_of(self);
	uint16_t size;

	if (index >= common->num_queues)
		return 0;
	common->queue_select = index;
	size = common->queue_size;
	return size <= KTOP_VIRTQ_SIZE_MAX ? size : KTOP_VIRTQ_SIZE_MAX;
}

static void set_address(volatile uint32_t *field, uint64_t physical)
{
	field[0] = (uint32_t)physical;
	field[1] = (uint32_t)(physical >> 32);
}

/* 4.1.5.1.3; the queue's place to be notified at: 4.1.4.4 */
static bool queue_start(struct ktop_virtio *self, struct ktop_virtq *queue)
{
	struct ktop_virtio_pci *pci = pci_of(self);
	volatile struct common *common = common_of(self);
	uint64_t door;

	common->queue_select = queue->index;
	door = (uint64_t)common->queue_notify_off * pci->notify_step;
	if (door + sizeof(uint16_t) > pci->notify.size)
		return false;
	queue->door = (uint32_t)door;
	common->queue_size = queue->size;
	set_address(common->queue_desc, queue->physical);
	set_address(common->queue_driver, queue->physical + ktop_virtq_available_at(queue->size));
	set_address(common->queue_device, queue->physical + ktop_virtq_used_at(queue->size));
	common->queue_enable = 1;
	return true;
}

/* The caller's ktop_barrier has put the ring before this (4.1.5.2). */
static void notify(struct ktop_virtio *self, const struct ktop_virtq *queue)
{
	*(volatile uint16_t *)(pci_of(self)->notify.at + queue->door) = queue->index;
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

enum {
	VENDOR_CAPABILITY = 9,
	COMMON = 1, NOTIFY = 2, CONFIG = 4,	/* kinds of structure */

	/* in a capability: id, next, length, kind; bar; offset; length; and of NOTIFY: step */
	BAR = 4, OFFSET = 8, LENGTH = 12, STEP = 16,
};

/* Where the device's BAR and capability together put a structure. */
struct structure {
	uint32_t capability;
	uint64_t physical;
	uint32_t size;
};

static bool read_structure(uint32_t function, uint32_t at, uint32_t kind, struct structure *found)
{
	uint32_t head = ktop_pci_read(function, at), bar = ktop_pci_read(function, at + BAR) & 0xff;
	uint64_t base;
	bool io;

	if ((head & 0xff) != VENDOR_CAPABILITY || head >> 24 != kind || bar > 5)
		return false;
	base = ktop_pci_bar(function, bar, &io);
	*found = (struct structure){
		.capability = at,
		.physical = base + ktop_pci_read(function, at + OFFSET),
		.size = ktop_pci_read(function, at + LENGTH),
	};
	return base && !io;
}

/* The first of its kind that lies in memory: the driver takes what it can (4.1.4.1). */
static bool find_structure(uint32_t function, uint32_t kind, struct structure *found)
{
	uint32_t at = ktop_pci_capability(function, 0);

	for (uint32_t i = 0; at && i < KTOP_PCI_CAPABILITIES; i++) {
		if (read_structure(function, at, kind, found))
			return true;
		at = ktop_pci_capability(function, at);
	}
	return false;
}

static struct ktop_virtio_region map_structure(const struct structure *structure,
	void *(*map)(uint64_t physical, size_t size))
{
	return (struct ktop_virtio_region){
		.at = map(structure->physical, structure->size),
		.size = structure->size,
	};
}

bool ktop_virtio_modern_init(struct ktop_virtio_pci *self, uint32_t function,
	void *(*map)(uint64_t physical, size_t size))
{
	struct structure common, doors, own;

	if (!find_structure(function, COMMON, &common) || common.size < sizeof(struct common) ||
			!find_structure(function, NOTIFY, &doors) ||
			!find_structure(function, CONFIG, &own))
		return false;
	*self = (struct ktop_virtio_pci){
		.device.ops = &modern_ops,
		.common = map_structure(&common, map),
		.notify = map_structure(&doors, map),
		.config = map_structure(&own, map),
		.notify_step = ktop_pci_read(function, doors.capability + STEP),
	};
	if (!self->common.at || !self->notify.at || !self->config.at)
		return false;
	ktop_pci_enable(function, KTOP_PCI_MEMORY);
	return true;
}
